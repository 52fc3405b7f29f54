"""What the truth becomes when a page speaks: pure functions over the fields of a record."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.catalog import options
from bobusang.catalog.model import FieldChange, Group
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bobusang.catalog.model import Snapshot

Fields = dict[str, Any]

PRICE, STOCK, IMAGES, CONTENT = (group.value for group in Group)

DEFAULT_GROUPS: Mapping[str, str] = {
    "price": PRICE,
    "list_price": PRICE,
    "currency": PRICE,
    "shipping_fee": PRICE,
    "minimum_resale_price": PRICE,
    "sold_out": STOCK,
    "stock": STOCK,
    "listed": STOCK,
    "options": STOCK,
    "images": IMAGES,
    "image": IMAGES,
}
"""Field → group; whatever is not here is content."""

_NOTHING_YET = blake2b(digest_size=16)
_SETS_OF_FIELDS = 256
"""Of which a source's groups are remembered: its pages have a handful of them."""
_encoder = msgspec.json.Encoder(order="sorted")


def canonical(value: object) -> bytes:
    """JSON with sorted keys: equal values have equal bytes, in whatever order they were read."""
    try:
        return _encoder.encode(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"not representable as JSON: {error}", hint="mend the reader of this source") from error


def digest(value: object) -> str:
    """A short fingerprint of any JSON value."""
    return fingerprint(canonical(value))


def fingerprint(data: bytes) -> str:
    """A short fingerprint of bytes."""
    state = _NOTHING_YET.copy()  # a third cheaper than to say the size each time
    state.update(data)
    return state.hexdigest()


def saying(snapshot: Snapshot) -> str:
    """The digest of what a page said: while it stays, the page says nothing new."""
    return digest((snapshot.fields, snapshot.unknown, snapshot.options_complete))


def merge(before: Mapping[str, Any], snapshot: Snapshot) -> Fields:
    """The fields after a page has spoken.

    What it does not know, or was not asked, stays as it was. What it shows to be absent becomes None. Options are
    merged one by one (see `options.merge`). A thing that was proved absent and is described again is listed again.
    """
    said, unknown = snapshot.fields, snapshot.unknown
    if unknown:
        said = {name: value for name, value in said.items() if name not in unknown}
    after = {**before, **said} if before else dict(said)
    if "options" in said:
        after["options"] = options.merge(before.get("options"), said["options"], complete=snapshot.options_complete)
    if before.get("listed") is False and snapshot.fields and "listed" not in snapshot.fields:
        after["listed"] = True
    return after


def diff(before: Mapping[str, Any], after: Mapping[str, Any], groups: Mapping[str, str]) -> tuple[FieldChange, ...]:
    """What differs, by name; a field that is not there equals one that is None.

    Between any two versions; from one to the next an option is never taken away.
    """
    changes = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if name == "options" and old:
            changes += [
                FieldChange(path, group_of(path, groups), was, now) for path, was, now in options.diff(old, new or [])
            ]
        elif old or new or name != "options":
            changes.append(FieldChange(name, group_of(name, groups), old, new))
    return tuple(changes)


def replay(before: Mapping[str, Any], changes: Iterable[FieldChange]) -> Fields:
    """The fields after these changes: what `diff` found, done again."""
    after = dict(before)
    touched = []
    for change in changes:
        if change.field.startswith(options.PREFIX):
            touched.append(change)
        else:
            after[change.field] = change.new
    if touched:
        after["options"] = options.replay(after.get("options"), touched)
    return after


def group_of(field: str, groups: Mapping[str, str]) -> str:
    """The group of a field, as the source assigns it or by default; an option's price is a price."""
    if not field.startswith(options.PREFIX):
        return groups.get(field) or DEFAULT_GROUPS.get(field, CONTENT)
    attribute = field.rpartition(".")[2]
    return group_of("price" if attribute in options.PRICES else "options", groups)


def hashes(fields: Mapping[str, Any], groups: Mapping[str, str]) -> dict[str, str]:
    """The hash of each group of fields."""
    return grouping(groups).hashes(fields)


def grouping(groups: Mapping[str, str]) -> Grouping:
    """How a source groups its fields, known again while the process lives."""
    return _grouping(tuple(sorted(groups.items())))


class Grouping:
    """Which fields make which group at one source: worked out once for all records that have the same fields."""

    def __init__(self, groups: Iterable[tuple[str, str]]) -> None:
        self.groups: Mapping[str, str] = dict(groups)
        self._assigned = {**DEFAULT_GROUPS, **self.groups}
        self._of = lru_cache(maxsize=_SETS_OF_FIELDS)(self._worked_out)

    def hashes(self, fields: Mapping[str, Any]) -> dict[str, str]:
        """The hash of each group of fields."""
        of, groups = self._of(tuple(fields))
        parts: dict[str, Fields] = {group: {} for group in groups}
        for group, name, value in zip(of, fields, fields.values(), strict=True):
            if value is not None:
                parts[group][name] = value
        emptied = None if fields.get("options") is None else self._split_options(parts)
        return {group: fingerprint(canonical(part)) for group, part in parts.items() if part or group == emptied}

    def _worked_out(self, names: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The group of each of these fields, and all groups that they can make, in the order of the alphabet."""
        of = tuple(self._assigned.get(name, CONTENT) for name in names)
        split = (self._assigned["options"], self._assigned["price"]) if "options" in names else ()
        return of, tuple(sorted({*of, *split}))

    def _split_options(self, parts: dict[str, Fields]) -> str | None:
        """The prices of options belong to the group of prices, the rest of them to that of stock. The group that has
        said nothing but that there are none: it has a hash too."""
        mine = self._assigned["options"]
        said = parts[mine].pop("options")
        if not said:
            return mine
        parts[mine]["options"], prices = options.split(said)
        if prices:
            parts[self._assigned["price"]]["options"] = prices
        return None


_grouping = lru_cache(maxsize=256)(Grouping)
