"""Filters that read one value: numbers, money, truth, dates; what is not certain is unclear."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Flaw
from bobusang.kit.money import CURRENCIES
from bobusang.kit.nearest import did_you_mean
from bobusang.kit.won import won_text

if TYPE_CHECKING:
    from bobusang.connectors.sources.declared.document import Document
    from bobusang.connectors.sources.declared.known import Change

# What a database keeps in eight bytes.
LARGEST = 2**63 - 1
SEOUL = "Asia/Seoul"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Milliseconds from 1990 to 2100: seconds taken for milliseconds lie before it.
EARLIEST, LATEST = 631_152_000_000, 4_102_444_800_000

_WHOLE = re.compile(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,19})")
_DECIMAL = re.compile(r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,18})(?:\.[0-9]{1,10})?")
_TRUTH = {"true": True, "false": False, "y": True, "n": False, "yes": True, "no": False, "1": True, "0": False}
_STEP = re.compile(r"([1-9][0-9]{0,8})\+([0-9]{1,3}(?:,[0-9]{3})+|[0-9]{1,15})")
_DAY = re.compile(r"([0-9]{4})[-./년] ?([0-9]{1,2})[-./월] ?([0-9]{1,2})[.일]?")
_TIME = re.compile(_DAY.pattern + r"[ T] ?([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?")


def won(value: Any, _: Document) -> Any:
    """An amount of won, from a number or from Korean money text."""
    match value:
        case bool():
            return UNCLEAR
        case int():
            return value if 0 <= value <= LARGEST else UNCLEAR
        case float():
            return int(value) if value.is_integer() and 0 <= value <= 2**53 else UNCLEAR
        case str():
            amount = won_text(value)
            return UNCLEAR if amount is None else amount
    return UNCLEAR


def money(argument: str | None) -> Change:
    """`money{USD}`: an amount in minor units, of `129.00`, `1,290` or 129; part of a unit is unclear."""
    code = (argument or "").strip()
    if code not in CURRENCIES:
        raise Flaw(f"unknown currency '{code[:20]}'", did_you_mean(code, CURRENCIES) or "as in money{USD}")
    exponent = CURRENCIES[code].exponent

    def change(value: Any, document: Document) -> Any:
        text = decimal(value, document)
        if text is UNCLEAR:
            return UNCLEAR
        amount = Decimal(text).scaleb(exponent)
        if amount != amount.to_integral_value() or not 0 <= amount <= LARGEST:
            return UNCLEAR
        return int(amount)

    return change


def whole(value: Any, _: Document) -> Any:
    """A whole number, from one or from its digits."""
    match value:
        case bool():
            return UNCLEAR
        case int():
            return value if abs(value) <= LARGEST else UNCLEAR
        case float():
            return int(value) if value.is_integer() and abs(value) <= 2**53 else UNCLEAR
        case str() if _WHOLE.fullmatch(text := value.strip()):
            number = int(text.replace(",", ""))
            return number if abs(number) <= LARGEST else UNCLEAR
    return UNCLEAR


def decimal(value: Any, _: Document) -> Any:
    """A decimal number as text (`4.6`): exact, and JSON keeps it so."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return UNCLEAR
    text = repr(value) if isinstance(value, float) else str(value).strip()
    if not _DECIMAL.fullmatch(text):
        return UNCLEAR
    try:
        return format(Decimal(text.replace(",", "")).normalize(), "f")
    except InvalidOperation:
        return UNCLEAR


def truth(value: Any, _: Document) -> Any:
    """True or false, also written Y, N, yes, no, 1, 0."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str | int):
        return _TRUTH.get(str(value).strip().lower(), UNCLEAR)
    return UNCLEAR


def negation(value: Any, _: Document) -> Any:
    """The opposite of true or false."""
    return not value if isinstance(value, bool) else UNCLEAR


def positive(value: Any, _: Document) -> Any:
    """Whether a whole number is above zero."""
    return value > 0 if type(value) is int else UNCLEAR


def dated(argument: str | None) -> Change:
    """`date` or `date{Asia/Tokyo}`: an instant in UTC, or a day, as ISO text. A time without a zone is of that zone.
    `date{ms}` reads milliseconds since 1970."""
    if argument == "ms":
        return _of_milliseconds
    try:
        zone = ZoneInfo(argument or SEOUL)
    except (ZoneInfoNotFoundError, ValueError):
        raise Flaw(f"unknown time zone '{argument}'", "as in Asia/Seoul") from None

    def change(value: Any, _: Document) -> Any:
        if not isinstance(value, str) or len(value) > 60:
            return UNCLEAR
        text = value.strip()
        try:
            return _day(text) or _instant(text, zone)
        except (ValueError, TypeError, OverflowError):
            return UNCLEAR

    return change


def _of_milliseconds(value: Any, document: Document) -> Any:
    number = whole(value, document)
    if number is UNCLEAR or not EARLIEST <= number <= LATEST:
        return UNCLEAR  # seconds, or no instant of ours
    return (EPOCH + timedelta(milliseconds=number)).isoformat()


def tiers(argument: str | None) -> Change:
    """`tiers`: a list of {from, price}, the fewest pieces first. `tiers{1}`: the price of one of so many pieces."""
    if argument is not None and not re.fullmatch(r"[1-9][0-9]{0,8}", argument):
        raise Flaw(f"'{argument[:20]}' is no number of pieces", "as in tiers{1}")
    pieces = int(argument) if argument else 0

    def change(value: Any, document: Document) -> Any:
        found = _steps(value, document)
        if found is UNCLEAR or not pieces:
            return found
        reached = [one["price"] for one in found if one["from"] <= pieces]
        return reached[-1] if reached else NOTHING

    return change


def _steps(value: Any, document: Document) -> Any:
    if not isinstance(value, str) or "+" not in value:
        price = won(value, document)
        return UNCLEAR if price is UNCLEAR else [{"from": 1, "price": price}]
    found: list[dict[str, int]] = []
    for part in value.split("|"):
        step = _STEP.fullmatch(part.strip())
        if step is None or (found and int(step[1]) <= found[-1]["from"]):
            return UNCLEAR
        found.append({"from": int(step[1]), "price": int(step[2].replace(",", ""))})
    return found


def _day(text: str) -> str | None:
    found = _DAY.fullmatch(text)
    return date(*(int(part) for part in found.groups())).isoformat() if found else None


def _instant(text: str, zone: ZoneInfo) -> str:
    if found := _TIME.fullmatch(text):
        instant = datetime(*(int(part or 0) for part in found.groups()))  # type: ignore[arg-type]  # noqa: DTZ001
    elif text[:4].isdigit():
        instant = datetime.fromisoformat(text)
    else:
        instant = parsedate_to_datetime(text)
    aware = instant if instant.tzinfo else instant.replace(tzinfo=zone)
    return aware.astimezone(UTC).isoformat()


def mapped(argument: str | None) -> Change:
    """`map{InStock: true, OutOfStock: false, *: null}`: what is not named is unclear, unless * says what it is."""
    table = {name: constant(value) for name, value in _pairs(argument)}
    other = table.pop("*", UNCLEAR)

    def change(value: Any, _: Document) -> Any:
        if isinstance(value, bool):
            value = str(value).lower()
        text = str(value) if isinstance(value, str | int | float) else ""
        if text in table:
            return table[text]
        return table.get(text.removeprefix("https://schema.org/").removeprefix("http://schema.org/"), other)

    return change


def _pairs(argument: str | None) -> list[tuple[str, str]]:
    pairs = [part.rpartition(":")[::2] for part in (argument or "").split(",") if part.strip()]
    if not pairs or not all(name.strip() and value.strip() for name, value in pairs):
        raise Flaw("map needs names with values", "as in map{InStock: true, OutOfStock: false}")
    return [(name.strip(), value.strip()) for name, value in pairs]


def constant(text: str) -> Any:
    """A value as YAML would read it: true, false, null, a whole number, or else the text."""
    words = {"true": True, "false": False, "null": None, "''": "", '""': ""}
    if text in words:
        return words[text]
    return int(text) if re.fullmatch(r"-?(0|[1-9][0-9]{0,17})", text) else text
