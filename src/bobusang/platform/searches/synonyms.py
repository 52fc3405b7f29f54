"""Words of the trade that people type in another script or spelling than the mall writes: 패딩, padding, ダウン."""

from __future__ import annotations

from functools import lru_cache

GROUPS = (
    ("패딩", "padding", "padded", "다운재킷", "puffer", "ダウン"),
    ("재킷", "자켓", "쟈켓", "jacket", "ジャケット"),
    ("코트", "coat", "コート"),
    ("점퍼", "잠바", "jumper", "ジャンパー"),
    ("바람막이", "윈드브레이커", "windbreaker", "ウインドブレーカー"),
    ("가디건", "카디건", "cardigan", "カーディガン"),
    ("니트", "스웨터", "knit", "sweater", "ニット", "セーター"),
    ("맨투맨", "스웨트셔츠", "스웻셔츠", "sweatshirt", "トレーナー"),
    ("후드", "후디", "hood", "hoodie", "パーカー"),
    ("집업", "zipup", "zip", "ジップ"),
    ("티셔츠", "티", "tshirt", "tee", "シャツ"),
    ("셔츠", "남방", "shirt", "シャツ"),
    ("블라우스", "blouse", "ブラウス"),
    ("원피스", "드레스", "dress", "ワンピース"),
    ("스커트", "치마", "skirt", "スカート"),
    ("팬츠", "바지", "pants", "trousers", "パンツ"),
    ("데님", "청바지", "진", "denim", "jeans", "デニム"),
    ("반바지", "쇼츠", "shorts"),
    ("조거", "jogger", "ジョガー"),
    ("조끼", "베스트", "vest", "ベスト"),
    ("스니커즈", "운동화", "sneakers", "sneaker", "スニーカー"),
    ("러닝화", "런닝화", "running", "ランニング"),
    ("신발", "슈즈", "shoes", "シューズ"),
    ("로퍼", "loafer", "loafers", "ローファー"),
    ("부츠", "boots", "ブーツ"),
    ("샌들", "sandal", "sandals", "サンダル"),
    ("슬리퍼", "슬라이드", "slide", "slides", "スリッパ"),
    ("가방", "백", "bag", "バッグ"),
    ("백팩", "배낭", "backpack", "リュック"),
    ("크로스백", "crossbody", "ショルダー"),
    ("토트백", "토트", "tote", "トート"),
    ("지갑", "wallet", "財布"),
    ("벨트", "belt", "ベルト"),
    ("모자", "캡", "cap", "hat", "帽子", "キャップ"),
    ("볼캡", "야구모자", "ballcap"),
    ("비니", "beanie", "ビーニー"),
    ("머플러", "목도리", "스카프", "muffler", "scarf", "マフラー"),
    ("장갑", "gloves", "手袋"),
    ("양말", "삭스", "socks", "ソックス"),
    ("시계", "워치", "watch", "時計"),
    ("반팔", "short", "半袖"),
    ("긴팔", "롱슬리브", "long", "長袖"),
    ("남성", "남자", "맨즈", "mens", "men", "メンズ"),
    ("여성", "여자", "우먼", "womens", "women", "レディース"),
    ("블랙", "검정", "검은색", "black", "黒", "ブラック"),
    ("화이트", "흰색", "하양", "white", "白", "ホワイト"),
    ("네이비", "남색", "navy", "ネイビー"),
    ("그레이", "회색", "gray", "grey", "グレー"),
    ("베이지", "beige", "ベージュ"),
    ("카키", "khaki", "カーキ"),
    ("브라운", "갈색", "brown", "ブラウン"),
    ("레드", "빨강", "red", "レッド"),
    ("블루", "파랑", "blue", "ブルー"),
    ("그린", "초록", "green", "グリーン"),
    ("핑크", "분홍", "pink", "ピンク"),
    ("구스다운", "거위털", "goosedown"),
    ("가죽", "레더", "leather", "レザー"),
    ("캐시미어", "캐시미아", "cashmere", "カシミヤ"),
)

_BY_WORD: dict[str, dict[str, None]] = {}
for _group in GROUPS:
    for _word in _group:
        _BY_WORD.setdefault(_word, {}).update(dict.fromkeys(_group))


@lru_cache(100_000)
def synonyms(word: str) -> tuple[str, ...]:
    """Other words for a folded word; what a compound is comes last in Korean, so `롱패딩` is a `padding` too."""
    for start in range(max(len(word) - 1, 1) if word >= "가" else 1):
        if (found := _BY_WORD.get(word[start:])) and (start == 0 or len(word) - start > 1):
            return tuple(one for one in found if one != word)
    return ()
