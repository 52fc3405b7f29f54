"""What the world is made of: brands, kinds of goods, colours, sizes, sellers. Names are real, goods are not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Brand:
    """A brand, with its number at MustIt and its weight among the others."""

    index: int
    ko: str
    en: str
    weight: int
    model: str
    """How its model numbers look: A a letter, 9 a digit, the rest as it is."""
    level: int
    """What its goods cost, in thousands of won, about."""

    @property
    def name(self) -> str:
        """As OKmall writes it."""
        return f"{self.ko}({self.en})"

    @property
    def code(self) -> int:
        """As MustIt numbers it."""
        return 101 + self.index * 7


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of goods: what it is called, where it stands in the mall, how it is sized and measured."""

    ko: str
    en: str
    path: tuple[str, ...]
    sizes: str
    measures: tuple[str, ...]
    materials: tuple[str, ...]

    @property
    def leaf(self) -> int:
        """OKmall's number of its deepest category."""
        return category(self.path)


_BRANDS = (
    ("나이키", "NIKE", 9, "AA9999-999", 70),
    ("아디다스", "ADIDAS", 7, "AA9999", 65),
    ("스톤 아일랜드", "STONE ISLAND", 6, "999999999 A0099", 390),
    ("몽클레르", "MONCLER", 5, "9A00099 99999 999", 1200),
    ("메종 키츠네", "MAISON KITSUNE", 4, "AA09999AA9999-A999", 160),
    ("아미", "AMI", 4, "AAAAA999.999-999", 210),
    ("톰브라운", "THOM BROWNE", 3, "AAA999A-99999-999", 800),
    ("구찌", "GUCCI", 4, "999999 AAAAA 9999", 1100),
    ("프라다", "PRADA", 3, "9AA999_AAA9_A0009", 1300),
    ("버버리", "BURBERRY", 3, "8099999", 900),
    ("생로랑", "SAINT LAURENT", 2, "999999 A9AAA 1000", 1250),
    ("막스마라", "MAX MARA", 2, "99999999999 999", 1150),
    ("비비안웨스트우드", "VIVIENNE WESTWOOD", 3, "99999999A A999A A999", 480),
    ("CP컴퍼니", "C.P. COMPANY", 3, "99AAAA999A-999999A-999", 330),
    ("노스페이스", "THE NORTH FACE", 5, "AA9AA99A", 150),
    ("아크테릭스", "ARC'TERYX", 4, "A00000999999", 420),
    ("파타고니아", "PATAGONIA", 4, "99999-AAA", 140),
    ("살로몬", "SALOMON", 4, "L99999999", 180),
    ("뉴발란스", "NEW BALANCE", 5, "A999AA9", 120),
    ("아식스", "ASICS", 4, "9999A999-999", 130),
    ("컨버스", "CONVERSE", 2, "A99999A", 75),
    ("폴로 랄프로렌", "POLO RALPH LAUREN", 4, "999999999999", 170),
    ("에이피씨", "A.P.C.", 2, "AAAAA-A99999-AAA", 260),
    ("질 샌더", "JIL SANDER", 2, "A99AA9999 A99999 999", 700),
    ("꼼데가르송", "COMME DES GARCONS", 3, "AZ-T999-051-9", 190),
    ("마르니", "MARNI", 2, "AAAAA9999A-A9999 99A99", 540),
    ("돌체앤가바나", "DOLCE & GABBANA", 2, "A99AA9-AAAA9-A9999", 950),
    ("캐나다구스", "CANADA GOOSE", 2, "9999A 99", 1050),
)
BRANDS = tuple(Brand(index, *values) for index, values in enumerate(_BRANDS))

_TOP = ("어깨 너비", "가슴 너비", "팔길이", "소매너비", "총장", "무게")
_BOTTOM = ("허리 너비", "엉덩이 너비", "허벅지 너비", "밑위 길이", "밑단 너비", "총장")
_SHOES = ("굽 높이", "발볼 너비", "무게")
_BAG = ("가로", "세로", "폭", "끈 길이", "무게")
_CLOTH = ("겉감", "안감")
_PADDED = ("겉감", "안감", "충전재")

KINDS = (
    Kind("하프집업", "HALF ZIP", ("ACTIVITY·LIFE", "액티비티", "러닝", "상의"), "top", _TOP, ("겉감",)),
    Kind("맨투맨", "SWEATSHIRT", ("MEN & WOMEN", "상의", "맨투맨/후드"), "top", _TOP, ("겉감",)),
    Kind("후드 집업", "ZIP HOODIE", ("MEN & WOMEN", "상의", "맨투맨/후드"), "top", _TOP, _CLOTH),
    Kind("반팔 티셔츠", "SHORT SLEEVE TEE", ("MEN & WOMEN", "상의", "티셔츠"), "top", _TOP, ("겉감",)),
    Kind("램스울 니트", "LAMBSWOOL KNIT", ("MEN & WOMEN", "상의", "니트"), "top", _TOP, ("겉감",)),
    Kind("옥스포드 셔츠", "OXFORD SHIRT", ("MEN & WOMEN", "상의", "셔츠"), "top", _TOP, ("겉감",)),
    Kind("구스다운 패딩", "GOOSE DOWN JACKET", ("MEN & WOMEN", "아우터", "패딩"), "top", _TOP, _PADDED),
    Kind("바람막이 자켓", "WINDBREAKER", ("ACTIVITY·LIFE", "아웃도어", "자켓"), "top", _TOP, _CLOTH),
    Kind("벨티드 롱 코트", "BELTED COAT", ("MEN & WOMEN", "아우터", "코트"), "top", _TOP, _CLOTH),
    Kind("조거 팬츠", "JOGGER PANTS", ("MEN & WOMEN", "하의", "팬츠"), "bottom", _BOTTOM, _CLOTH),
    Kind("데님 팬츠", "DENIM PANTS", ("MEN & WOMEN", "하의", "데님"), "bottom", _BOTTOM, ("겉감",)),
    Kind("러닝화", "RUNNING SHOES", ("ACTIVITY·LIFE", "액티비티", "러닝", "신발"), "shoes", _SHOES, ("소재",)),
    Kind("스니커즈", "SNEAKERS", ("SHOES & BAG", "신발", "스니커즈"), "shoes", _SHOES, ("소재",)),
    Kind("로퍼", "LOAFER", ("SHOES & BAG", "신발", "구두/로퍼"), "shoes", _SHOES, ("소재",)),
    Kind("백팩", "BACKPACK", ("SHOES & BAG", "가방", "백팩"), "one", _BAG, ("겉감", "안감")),
    Kind("크로스백", "CROSSBODY BAG", ("SHOES & BAG", "가방", "크로스백"), "one", _BAG, ("겉감", "안감")),
    Kind("반지갑", "BIFOLD WALLET", ("SHOES & BAG", "지갑", "반지갑"), "one", ("가로", "세로", "폭"), ("소재",)),
    Kind("볼캡", "BALL CAP", ("SHOES & BAG", "모자", "볼캡"), "one", ("머리 둘레", "챙 길이"), ("소재",)),
)

SIZES: dict[str, tuple[tuple[str, str], ...]] = {
    "top": (("XS", "90"), ("S", "95"), ("M", "100"), ("L", "105"), ("XL", "110"), ("XXL", "115")),
    "bottom": (("28", "28"), ("30", "30"), ("32", "32"), ("34", "34"), ("36", "36")),
    "shoes": tuple((f"US {4 + n / 2:g}", f"{225 + 5 * n}") for n in range(14)),
    "one": (("FREE", "FREE"),),
}
"""Size on the tag, and as OKmall measures it."""

COLOURS = (
    ("Black", "블랙"),
    ("White", "화이트"),
    ("Navy", "네이비"),
    ("Gray", "그레이"),
    ("Beige", "베이지"),
    ("Khaki", "카키"),
    ("Brown", "브라운"),
    ("Wine", "와인"),
    ("Sky Blue", "스카이블루"),
    ("Pink", "핑크"),
)
LINES = (
    *("드라이 핏", "와펜 패치", "컴팩트 로고", "클래식", "에센셜", "폭스 헤드", "하이랜드", "트레일", "오버사이즈"),
    *("슬림 핏", "헤리티지", "테크", "아카이브", "모노그램", "스트라이프", "빈티지", "라이트 다운", "올오버"),
)
TRAPS = ("XL", "블랙", "남녀공용", "95", "2 COLOR", "NVY", "기모")
"""What may stand in a parenthesis before the one with the model number."""
FIBRES = ("폴리에스테르", "면", "나일론", "양모", "폴리우레탄", "소가죽", "레이온", "거위솜털")
ORIGINS = (
    ("미국", "인도네시아, 스리랑카, 중국"),
    ("이탈리아", "이탈리아, 루마니아"),
    ("프랑스", "포르투갈"),
    ("일본", "일본, 베트남"),
    ("독일", "중국, 캄보디아"),
)
SEASONS = ("", "25FW", "25SS", "24FW", "26SS")
SELLERS = (
    *("dmont", "LIKEASTAR", "dinapino2014", "milanstyle", "boutique_k", "euroselect", "hanastore", "luxnine"),
    *("seoulcloset", "parismarket", "onedayone", "vipbuyer"),
)
SELLER_TITLES = {"dmont": "디몬트", "LIKEASTAR": "라이크어스타", "milanstyle": "밀란스타일", "luxnine": "럭스나인"}
"""What a seller puts before the names of its goods."""
GENDERS = {"M": "남성", "F": "여성", "U": "공용"}


def category(path: tuple[str, ...]) -> int:
    """OKmall's number of a category."""
    from bobusang.sandbox.chance import seeded

    return 20_000_000 + seeded("category", *path) % 10_000
