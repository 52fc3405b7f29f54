"""What the truth becomes when a page speaks: pure functions over the fields of a record."""

from __future__ import annotations

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

_DIGEST_BYTES = 16
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
    return blake2b(data, digest_size=_DIGEST_BYTES).hexdigest()


def saying(snapshot: Snapshot) -> str:
    """The digest of what a page said: while it stays, the page says nothing new."""
    return digest((snapshot.fields, snapshot.unknown, snapshot.options_complete))


def merge(before: Mapping[str, Any], snapshot: Snapshot) -> Fields:
    """The fields after a page has spoken.

    What it does not know, or was not asked, stays as it was. What it shows to be absent becomes None. Options are
    merged one by one (see `options.merge`). A thing that was proved absent and is described again is listed again.
    """
    after = dict(before)
    unknown = snapshot.unknown
    for name, value in snapshot.fields.items():
        if name in unknown:
            continue
        if name == "options":
            after[name] = options.merge(after.get(name), value, complete=snapshot.options_complete)
        else:
            after[name] = value
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
    assigned = {**DEFAULT_GROUPS, **groups} if groups else DEFAULT_GROUPS
    parts: dict[str, Fields] = {}
    for name, value in fields.items():
        if value is not None:
            parts.setdefault(assigned.get(name, CONTENT), {})[name] = value
    if "options" in fields:
        _split_options(parts, assigned)
    return {group: digest(part) for group, part in sorted(parts.items())}


def _split_options(parts: dict[str, Fields], assigned: Mapping[str, str]) -> None:
    """The prices of options belong to the group of prices, the rest of them to that of stock."""
    mine = parts.get(assigned["options"], {})
    said = mine.pop("options", None)
    if not said:
        return
    stock, prices = options.split(said)
    mine["options"] = stock
    if prices:
        parts.setdefault(assigned["price"], {})["options"] = prices
