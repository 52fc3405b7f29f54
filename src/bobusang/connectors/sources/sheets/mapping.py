"""Which column is which field: proposed by the names that suppliers use, settled by a person, made into a shop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.connectors.sources.declared.cells import normal
from bobusang.connectors.sources.declared.sheet import KIND
from bobusang.connectors.sources.declared.shop import Declared, compile_values
from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

STREAM = "list"
MOST_ALTERNATIVES = 20


@dataclass(frozen=True, slots=True)
class Known:
    """A field that a column can be: how it is read, and what suppliers call it."""

    name: str
    filters: str = ""
    called: str = ""
    option: bool = False
    """It tells options of a product apart, one a row."""

    @property
    def words(self) -> list[str]:
        """Names of its column, as they are compared."""
        return [normal(word) for word in self.called.split()]


_SOLD = (
    "map{품절: true, 일시품절: true, 단종: true, 판매중지: true, 판매종료: true, 없음: true, Y: true, y: true, "
    "true: true, 판매중: false, 정상: false, 판매: false, 재고있음: false, 있음: false, N: false, n: false, "
    "false: false}"
)
_GENDER = (
    "map{남성: men, 남: men, 여성: women, 여: women, 남녀공용: unisex, 공용: unisex, 아동: kids, 키즈: kids, "
    "M: men, W: women, *: null}"
)
FIELDS: tuple[Known, ...] = (
    Known(
        "key",
        "",
        "상품코드 품번 상품번호 제품코드 자체상품코드 판매자상품코드 관리코드 상품관리코드 sku productcode productid "
        "itemcode itemno code 바코드 barcode 코드",
    ),
    Known("name", "strip", "상품명 제품명 품명 상품이름 품목명 name productname itemname title"),
    Known("brand", "strip", "브랜드 브랜드명 brand brandname 제조사브랜드"),
    Known("model", "strip", "모델명 모델번호 모델 스타일코드 스타일번호 model modelno stylecode styleno"),
    Known(
        "price",
        "won",
        "공급가 공급가격 공급단가 도매가 도매가격 판매가 판매가격 단가 가격 매입가 납품가 입고가 공급가원 price "
        "supplyprice cost wholesaleprice",
    ),
    Known("list_price", "won", "소비자가 소비자가격 정가 시중가 권장소비자가 시장가 tag가 listprice msrp retailprice"),
    Known("sold_out", _SOLD, "품절여부 품절 판매상태 상태 상품상태 soldout status"),
    Known("stock", "int", "재고 재고수량 수량 현재고 가용재고 stock qty quantity inventory"),
    Known("option_key", "", "옵션코드 단품코드 옵션번호 옵션바코드 optioncode variantsku"),
    Known("color", "strip", "색상 컬러 색 color colour 칼라", option=True),
    Known("size", "strip", "사이즈 치수 호수 size", option=True),
    Known("option", "strip", "옵션 옵션명 옵션값 option optionname", option=True),
    Known(
        "images",
        "split{,} | abs_url | unique",
        "이미지 이미지url 대표이미지 상품이미지 이미지주소 이미지경로 목록이미지 image imageurl images picture",
    ),
    Known("category", "split{>}", "카테고리 분류 상품분류 품목 category 대분류"),
    Known("gender", _GENDER, "성별 gender sex"),
    Known("season", "strip", "시즌 season"),
    Known("origin", "strip", "원산지 제조국 생산지 origin madein countryoforigin"),
    Known("url", "abs_url", "상품url 상품주소 링크 상품링크 url link"),
    Known("shipping_fee", "won", "배송비 택배비 배송료 shippingfee deliveryfee"),
    Known(
        "minimum_resale_price",
        "won",
        "최저판매가 최저판매가격 판매최저가 준수가 준수가격 판매준수가 minimumresaleprice minprice",
    ),
    Known("description", "", "상세설명 상품설명 설명 상세 상품상세 description"),
    Known("seller", "strip", "판매자 공급사 거래처 업체명 공급업체 seller vendor supplier"),
)
BY_NAME = {one.name: one for one in FIELDS}
WORDS = frozenset(word for one in FIELDS for word in one.words)
"""Names of columns that one hopes for when looking for the header."""
REQUIRED = ("key", "name", "price")


class Settled(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person has settled for a supplier."""

    columns: dict[str, list[str]] = {}
    """Field → headings that it has been read under, the latest first."""
    header_row: int = 0
    sheet: str = ""
    complete: bool = True
    encoding: str = ""
    currency: str = "KRW"


def proposed(headings: Sequence[str], settled: Settled | None = None) -> dict[str, str]:
    """Field → heading of this file: what was settled before counts first, then what suppliers call it."""
    left = {normal(heading): heading for heading in reversed(headings)}
    found: dict[str, str] = {}
    for names in (_settled(settled), {one.name: one.words for one in FIELDS}):
        for field, words in names.items():
            if field in found:
                continue
            name = next((word for word in words if word in left), None)
            if name is not None:
                found[field] = left.pop(name)
    return {one.name: found[one.name] for one in FIELDS if one.name in found}


def _settled(settled: Settled | None) -> dict[str, list[str]]:
    return {field: [normal(one) for one in names] for field, names in (settled.columns if settled else {}).items()}


def chosen(settled: Settled | None, columns: Mapping[str, str], headings: Iterable[str] = ()) -> Settled:
    """What is settled after a person has said which column is which; earlier names stay as alternatives."""
    base = settled or Settled()
    there = {normal(heading) for heading in headings}
    found: dict[str, list[str]] = {}
    for field, heading in columns.items():
        if field not in BY_NAME:
            raise Invalid(f"there is no field '{field}'", hint=did_you_mean(field, BY_NAME), field="columns")
        if there and normal(heading) not in there:
            raise Invalid(f"the sheet has no column '{heading}'", hint=did_you_mean(heading, headings), field="columns")
        # An earlier name that this file has for something else would be read instead of this one one day.
        earlier = [one for one in base.columns.get(field, []) if normal(one) != normal(heading)]
        found[field] = [heading, *(one for one in earlier if normal(one) not in there)][:MOST_ALTERNATIVES]
    return msgspec.structs.replace(base, columns=found)


def shop_of(name: str, settled: Settled) -> Declared:
    """A shop that reads as was settled: the same grammar, contract and guards as any other."""
    lacking = [field for field in REQUIRED if not settled.columns.get(field)]
    if lacking:
        raise Invalid(
            f"no column was chosen for {', '.join(lacking)}",
            hint="say which column of the sheet it is",
            field="columns",
        )
    return compile_values(name, values(name, settled))


def values(name: str, settled: Settled) -> dict[str, Any]:
    """The shop as `shop.yaml` would have it."""
    columns = settled.columns
    of_options = [one for one in FIELDS if one.option and columns.get(one.name)]
    plain = [
        one
        for one in FIELDS
        if columns.get(one.name) and one.name not in ("key", "option_key", "stock") and not one.option
    ]
    fields = {_name(one): _cell(columns[one.name], one.filters) for one in plain}
    stream: dict[str, Any] = {"key": _cell(columns["key"], "")}
    if columns.get("stock") and not of_options:
        fields["stock?"] = _cell(columns["stock"], "int")
        fields.setdefault("sold_out?", _cell(columns["stock"], "int | positive | not"))
    stream["fields"] = fields
    if of_options:
        inner = {f"{one.name}?": _cell(columns[one.name], one.filters) for one in of_options}
        if columns.get("stock"):
            inner["stock?"] = _cell(columns["stock"], "int")
            inner["available?"] = _cell(columns["stock"], "int | positive")
        stream["variants"] = {"fields": inner}
        if columns.get("option_key"):
            stream["variants"]["key"] = _cell(columns["option_key"], "")
    intake: dict[str, Any] = {"kind": KIND, "complete": settled.complete}
    intake |= {"header_row": settled.header_row} if settled.header_row else {}
    intake |= {"sheet": settled.sheet} if settled.sheet else {}
    intake |= {"encoding": settled.encoding} if settled.encoding else {}
    return {
        "shop": name,
        "intake": intake,
        "streams": {STREAM: stream},
        "contract": {
            "price": {"type": "money", "currency": settled.currency, "min": 1, "required": True},
            "name": {"type": "text", "required": True},
        },
    }


def _name(one: Known) -> str:
    return one.name if one.name in REQUIRED else f"{one.name}?"


def _cell(headings: Sequence[str], filters: str) -> str:
    names = "/".join(heading.replace("|", " ").replace("/", "//") for heading in headings)
    return f"cell:{names} | {filters}" if filters else f"cell:{names}"
