"""Ownerclan's lists: Relay connections over items and over what happened to them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from bobusang.sandbox.ledger import entries, events
from bobusang.sandbox.ownerclan import goods
from bobusang.sandbox.ownerclan.graphql import GraphError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from bobusang.sandbox.ledger import Entry
    from bobusang.sandbox.scene import Scene

MOST = 1000
LONGEST_WINDOW = timedelta(days=7)
FIRST_CURSOR = 170_000

PAGES = frozenset({"first", "last", "after", "before", "dateFrom", "dateTo"})
HISTORIES = PAGES | {"kind", "itemKey"}
ITEMS = PAGES | {
    *("minPrice", "maxPrice", "search", "vendor", "status", "category", "attributes", "vcode", "vprdcode"),
    *("shippingLocationType", "openmarketSellable", "grade", "sortBy", "lang", "currency", "isUsed"),
}
EARLIEST, LATEST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)


def items(scene: Scene, told: Mapping[str, Any]) -> dict[str, Any]:
    """`allItems`, by number: what is new comes last."""
    _known("allItems", told, ITEMS)
    since, until = _window(told)
    found = [one for one in entries(scene.world, "ownerclan") if since <= one.updated < until]
    wanted = [one for one in found if _is_wanted(scene, one, told)]
    return _page(wanted, told, lambda one: goods.item(scene, one), lambda one: str(one.no), "Item")


def item(scene: Scene, told: Mapping[str, Any]) -> dict[str, Any] | None:
    """`item`: null where there is none."""
    _known("item", told, frozenset({"key", "lang", "currency"}))
    no = goods.number_of(str(told.get("key", "")))
    found = next((one for one in entries(scene.world, "ownerclan") if one.no == no), None)
    return None if found is None else goods.item(scene, found)


def by_keys(scene: Scene, told: Mapping[str, Any]) -> list[dict[str, Any]]:
    """`itemsByKeys`."""
    _known("itemsByKeys", told, frozenset({"keys", "lang", "currency"}))
    wanted = {goods.number_of(str(key)) for key in told.get("keys", [])}
    return [goods.item(scene, one) for one in entries(scene.world, "ownerclan") if one.no in wanted]


def histories(scene: Scene, told: Mapping[str, Any]) -> dict[str, Any]:
    """`itemHistories`: a window of more than seven days is an error."""
    _known("itemHistories", told, HISTORIES)
    since, until = _window(told)
    if until - since > LONGEST_WINDOW:
        raise GraphError("The period between dateFrom and dateTo must be 7 days or less.")
    found = [one for one in events(scene.world, "ownerclan") if since <= one.at < until]
    if kind := told.get("kind"):
        found = [one for one in found if one.kind == kind]
    if key := told.get("itemKey"):
        found = [one for one in found if goods.key_of(one.no) == key]

    def node(one: Any) -> dict[str, Any]:
        return {
            "__typename": "ItemHistory",
            "itemKey": goods.key_of(one.no),
            "kind": one.kind,
            "title": scene.world.mall("ownerclan").product(one.no).title,
            "valueBefore": one.before,
            "valueAfter": one.after,
            "createdAt": goods.milliseconds(one.at),
        }

    places = {id(one): str(FIRST_CURSOR + place) for place, one in enumerate(events(scene.world, "ownerclan"))}
    return _page(found, told, node, lambda one: places[id(one)], "ItemHistory")


def _known(field: str, told: Mapping[str, Any], names: frozenset[str]) -> None:
    for name in told:
        if name not in names:
            raise GraphError(f'Unknown argument "{name}" on field "{field}" of type "Query".')


def _window(told: Mapping[str, Any]) -> tuple[datetime, datetime]:
    return _moment(told.get("dateFrom"), EARLIEST), _moment(told.get("dateTo"), LATEST)


def _moment(value: Any, otherwise: datetime) -> datetime:
    if value is None:
        return otherwise
    if type(value) is not int or value < 10_000_000_000:
        raise GraphError(f"Timestamp must be milliseconds since the epoch, not {value!r}.")
    return datetime.fromtimestamp(value / 1000, UTC)


def _is_wanted(scene: Scene, one: Entry, told: Mapping[str, Any]) -> bool:
    mall = scene.world.mall("ownerclan")
    product = mall.product(one.no)
    checks: dict[str, Callable[[Any], bool]] = {
        "search": lambda text: text in product.title or text in (product.brand.ko, product.brand.en),
        "vendor": lambda text: text == goods.vendor(product),
        "category": lambda text: text == str(product.kind.leaf),
        "status": lambda text: text == goods.status(product, scene.standing("ownerclan", one.no)),
        "openmarketSellable": lambda is_so: is_so is goods.sellable(product),
    }
    return all(check(told[name]) for name, check in checks.items() if name in told)


def _page(found: Sequence[Any], told: Mapping[str, Any], node: Any, cursor: Any, kind: str) -> dict[str, Any]:
    first = told.get("first", MOST)
    if type(first) is not int or not 1 <= first <= MOST:
        raise GraphError(f"first must be between 1 and {MOST}.")
    after = told.get("after", "")
    if after and not (isinstance(after, str) and after.isdigit()):
        raise GraphError("after must be a cursor string.")
    left = [one for one in found if not after or int(cursor(one)) > int(after)]
    shown = left[:first]
    edges = [{"__typename": f"{kind}Edge", "cursor": cursor(one), "node": node(one)} for one in shown]
    return {
        "__typename": f"{kind}Connection",
        "pageInfo": {
            "__typename": "PageInfo",
            "hasNextPage": len(left) > len(shown),
            "hasPreviousPage": bool(after),
            "startCursor": edges[0]["cursor"] if edges else None,
            "endCursor": edges[-1]["cursor"] if edges else None,
        },
        "edges": edges,
    }


def halved(answer: Any, name: str) -> tuple[Any, list[dict[str, Any]]]:
    """Half of a list, with an error beside it: what `half_data` makes of an answer."""
    edges = answer.get(name, {}).get("edges", []) if isinstance(answer, dict) else []
    del edges[len(edges) // 2 :]
    return answer, [{"message": "Internal server error", "path": [name, "edges", len(edges)]}]
