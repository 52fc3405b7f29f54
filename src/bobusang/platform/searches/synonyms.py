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
    ("하프집업", "하프", "half", "ハーフ"),
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
    ("러닝화", "런닝화", "러닝", "running", "ランニング"),
    ("러닝화", "런닝화", "운동화", "shoes"),
    ("신발", "슈즈", "shoes", "シューズ"),
    ("로퍼", "loafer", "loafers", "ローファー"),
    ("부츠", "boots", "ブーツ"),
    ("샌들", "sandal", "sandals", "サンダル"),
    ("슬리퍼", "슬라이드", "slide", "slides", "スリッパ"),
    ("가방", "백", "bag", "バッグ"),
    ("백팩", "배낭", "backpack", "リュック"),
    ("크로스백", "크로스", "crossbody", "ショルダー"),
    ("크로스백", "토트백", "숄더백", "bag", "バッグ"),
    ("토트백", "토트", "tote", "トート"),
    ("지갑", "wallet", "財布"),
    ("반지갑", "bifold"),
    ("벨트", "belt", "ベルト"),
    ("모자", "캡", "cap", "hat", "帽子", "キャップ"),
    ("볼캡", "야구모자", "ballcap", "ball", "cap", "キャップ"),
    ("비니", "beanie", "ビーニー"),
    ("머플러", "목도리", "스카프", "muffler", "scarf", "マフラー"),
    ("장갑", "gloves", "手袋"),
    ("양말", "삭스", "socks", "ソックス"),
    ("시계", "워치", "watch", "時計"),
    ("반팔", "short", "半袖"),
    ("긴팔", "롱슬리브", "長袖"),
    ("반팔", "긴팔", "sleeve"),
    ("롱", "long", "ロング"),
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
    ("와인", "wine", "ワイン"),
    ("스카이블루", "하늘색", "skyblue", "sky"),
    ("구스다운", "거위털", "goosedown", "goose", "down", "ダウン"),
    ("램스울", "lambswool", "ラムズウール"),
    ("울", "모직", "wool", "ウール"),
    ("옥스포드", "옥스퍼드", "oxford", "オックスフォード"),
    ("벨티드", "belted"),
    ("클래식", "classic", "クラシック"),
    ("에센셜", "essential", "エッセンシャル"),
    ("오버사이즈", "오버핏", "oversize", "oversized", "オーバーサイズ"),
    ("슬림", "slim", "スリム"),
    ("핏", "fit", "フィット"),
    ("드라이", "dry", "ドライ"),
    ("라이트", "경량", "light", "ライト"),
    ("빈티지", "vintage", "ヴィンテージ"),
    ("스트라이프", "줄무늬", "stripe", "striped", "ストライプ"),
    ("체크", "check", "チェック"),
    ("로고", "logo", "ロゴ"),
    ("패치", "와펜", "patch", "ワッペン"),
    ("트레일", "trail", "トレイル"),
    ("모노그램", "monogram", "モノグラム"),
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
    ends = [word[start:] for start in range(1, len(word) - 1)] if word >= "가" else []
    found = dict.fromkeys(other for one in (word, *ends) for other in _BY_WORD.get(one, ()))
    return tuple(other for other in found if other != word)
