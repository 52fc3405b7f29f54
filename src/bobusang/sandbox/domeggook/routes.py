"""Domeggook's one address: what is meant stands in the query, what is wrong stands inside HTTP 200."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.kit.errors import Invalid
from bobusang.sandbox.chance import drawn
from bobusang.sandbox.desk import Asked, Route, number
from bobusang.sandbox.domeggook import goods
from bobusang.sandbox.domeggook.meter import KEY
from bobusang.sandbox.fault import Mishap
from bobusang.sandbox.ledger import entries
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.reply import Reply, data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.sandbox.ledger import Entry
    from bobusang.sandbox.scene import Scene

PAGE, MOST_PAGE = 20, 200
RANK = 91
MARKETS = ("dome", "supply")


def _api(asked: Asked) -> Reply:
    query = asked.query
    if query.get("om") != "json":
        return error("400", "INVALID_OM", "om은 json만 지원합니다.")
    if query.get("aid") != KEY:
        return error("401", "INVALID_AID", "유효하지 않은 API KEY 입니다.")
    if exceeded := asked.desk.meter.exceeded():
        words = {"day": "일일 호출 허용량을 초과하였습니다.", "minute": "분당 호출 허용량을 초과하였습니다."}
        return error("429", f"QUOTA_{exceeded.upper()}", words[exceeded])
    if asked.hit is not None and asked.hit.fault.kind == Mishap.ERROR_INSIDE:
        if asked.hit.turn % 2:
            return error("500", "SYSTEM_ERROR", "시스템 오류가 발생하였습니다.")
        return data({"domeggook": {"error": {"code": "500", "message": "시스템 오류가 발생하였습니다."}}})
    try:
        match query.get("mode"):
            case "getItemList":
                return _list(asked, query)
            case "getItemView":
                return _view(asked, query)
    except Invalid as problem:
        return error("400", "INVALID_PARAM", problem.message)
    return error("400", "INVALID_MODE", "존재하지 않는 mode 입니다.")


def error(code: str, dcode: str, message: str) -> Reply:
    """Something is wrong, with HTTP 200."""
    return data({"errors": {"code": code, "message": "요청 처리 중 오류", "dcode": dcode, "dmessage": message}})


def _list(asked: Asked, query: Mapping[str, str]) -> Reply:
    market = query.get("market", "")
    if market not in MARKETS:
        raise Invalid("market은 필수입니다.")
    size = max(1, min(MOST_PAGE, number(query, "sz", PAGE)))
    page = max(1, number(query, "pg", 1))
    wanted = {name: query[name] for name in ("so", "ca", "id", "kw") if query.get(name)}
    key = ("domeggook/list", market, size, page, tuple(sorted(wanted.items())))
    return asked.kept(key, lambda scene: data(listing(scene, market, page, size, wanted)))


def listing(scene: Scene, market: str, page: int, size: int, wanted: Mapping[str, str]) -> dict[str, Any]:
    """A page of a list: many as a list, one as an object, none as an empty object."""
    found = [one for one in entries(scene.world, "domeggook") if _is_listed(scene, one, market, wanted)]
    if wanted.get("so") == "da":
        found.sort(key=lambda one: (one.created, one.no), reverse=True)
    else:
        found.sort(key=lambda one: drawn(scene.world.seed, RANK, one.no))
    start, stop = scene.page(len(found), page, size)
    shown = [goods.listed(scene, one, market) for one in scene.listed("domeggook", [e.no for e in found[start:stop]])]
    header = {
        "numberOfItems": str(scene.total(len(found))),
        "currentPage": str(page),
        "itemsPerPage": str(size),
        "numberOfPages": str(-(-len(found) // size)),
    }
    listed: Any = {"item": shown[0] if len(shown) == 1 else shown} if shown else {}
    return {"domeggook": {"header": header, "list": listed}}


def _is_listed(scene: Scene, entry: Entry, market: str, wanted: Mapping[str, str]) -> bool:
    """Only what is on sale, in this market, of the category, the seller and the keyword."""
    one = None if entry.gone else scene.world.standing("domeggook", entry.no)
    if one is None or one.sold_out:
        return False
    product = one.product
    prefix = wanted.get("ca", "").partition("_00")[0]
    return (
        (market == "dome" or product.seed % goods.SUPPLY_LESS != 0)
        and goods.category(product).startswith(prefix)
        and wanted.get("id", goods.seller(product)[0]) == goods.seller(product)[0]
        and (not (word := wanted.get("kw")) or word in product.title or word in (product.brand.ko, product.brand.en))
    )


def _view(asked: Asked, query: Mapping[str, str]) -> Reply:
    no = number(query, "no", 0, 10**12)

    def render(scene: Scene) -> Reply:
        entry = next((one for one in entries(scene.world, "domeggook") if one.no == no), None)
        if entry is None:
            return error("404", "ITEM_NOT_FOUND", "상품이 존재하지 않습니다.")
        return data({"domeggook": goods.viewed(scene, entry)})

    return asked.kept(("domeggook/view", no), render)


def _picture(asked: Asked) -> Reply:
    return Reply(jpeg(asked.request.path, *asked.desk.world.picture_size), "image/jpeg", tagged=True)


ROUTES = (
    Route("/domeggook/ssl/api/", "domeggook", "api", _api),
    Route("/domeggook/upload/{path:.+}", "domeggook", "image", _picture),
)
