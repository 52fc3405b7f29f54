"""The shop behind the counter: a JSON list by page, where the grammar of `shop.yaml` is not wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.model import Snapshot
from bobusang.kit.errors import Drifted, Invalid, Unavailable
from bobusang.stages.collect.policy import Limits, Policy
from bobusang.stages.collect.source import Ask, Extent, Kind, Page, Reads, Source, Target

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = 10


class Counter(Source):
    """It asks and it reads. Raise `version` whenever `read` would read the same page otherwise."""

    name = "counter"
    version = "1"
    base = "https://counter.example.com"
    policy = Policy(limits=Limits(rate=1.0, concurrency=1), currency="KRW")

    def seeds(self, target: Target) -> Iterator[Ask]:
        """All of it; there is nothing smaller to ask for."""
        if target.kind != "list":
            raise Invalid(f"{self.name} is not collected by {target.kind}", hint="by list", field="target")
        yield self._page(target.name, 1)

    def read(self, page: Page) -> Iterator[Reads]:
        """A page of the list, and the next one. A page without these names has drifted: who calls says so."""
        data = page.json()
        total, goods, number = data["total"], data["goods"], int(page.ask.given["page"])
        if type(total) is not int or not isinstance(goods, list):
            raise Drifted("the list is not where it was")
        if not goods and (number - 1) * PAGE < total:
            raise Unavailable(f"page {number} is empty although {total} are announced")
        found = [self._read(one) for one in goods]
        yield Extent(tuple(one.key for one in found), total, number, last=number * PAGE >= total)
        yield from found
        if number * PAGE < total:
            yield self._page(str(page.ask.given["target"]), number + 1)

    def _read(self, one: dict[str, object]) -> Snapshot:
        """What cannot be read with certainty is unknown; it is never guessed, and never zero."""
        fields: dict[str, object] = {}
        name, price, left = one.get("name"), one.get("price"), one.get("left")
        if isinstance(name, str) and name.strip() and "\ufffd" not in name:
            fields["name"] = " ".join(name.split())
        if type(price) is int and price >= 100:
            fields |= {"price": price, "currency": "KRW"}
        if type(left) is int and left >= 0:
            fields["sold_out"] = left == 0
        unknown = tuple(field for field in ("name", "price", "sold_out") if field not in fields)
        return Snapshot(self.name, str(one["no"]), fields, unknown)

    def _page(self, target: str, number: int) -> Ask:
        given = {"target": target, "page": number}
        key = f"list:{target}:{number}"
        return Ask(f"{self.base}/goods.json?page={number}", Kind.LIST, "list", given=given, key=key)
