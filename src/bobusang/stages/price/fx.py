"""Exchange rates: dated words of a source, distrusted when they jump, and applied against us by their spread."""

from __future__ import annotations

import csv
import io
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.kit import money
from bobusang.kit.clock import utc
from bobusang.kit.commas import reading
from bobusang.kit.errors import Drifted, Invalid
from bobusang.kit.formula import defused, plain
from bobusang.stages.price.model import FxQuote

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS = ("base", "quote", "rate", "per", "spread", "source", "quoted_at")
AHEAD = timedelta(minutes=10)
"""How far a source's clock may run before ours; a rate of tomorrow would never grow old."""
DAY = timedelta(hours=24)
MILLISECONDS = 100_000_000_000
"""A number of seconds beyond this (the year 5138) is one of milliseconds."""

_documents = msgspec.json.Decoder(float_hook=Decimal)  # a rate never passes through a binary fraction


@dataclass(frozen=True, slots=True)
class FxTrust:
    """When a new rate is believed without a person."""

    jump: Decimal = Decimal("0.05")
    """Against the last trusted one."""
    day: Decimal = Decimal("0.08")
    """Against the trusted one of a day before: nine small steps are a jump, too."""
    bands: tuple[tuple[str, str, Decimal, Decimal], ...] = (("JPY", "KRW", Decimal(5), Decimal(20)),)
    """(base, quote, least, most) for the first of all: banks in Korea write the rate of 100 yen."""


@lru_cache(maxsize=256)
def factor(quote: FxQuote, have: str, local: str) -> Fraction:
    """Minor units of `local` that one minor unit of `have` costs us; the spread makes it dearer."""
    rate, kept = Fraction(quote.rate), 1 - Fraction(quote.spread)
    if (quote.base, quote.quote) == (local, have):
        major = 1 / (rate * kept)
    elif (quote.base, quote.quote) == (have, local):
        major = rate / kept
    else:
        raise Invalid(f"a rate {quote.base}/{quote.quote} does not turn {have} into {local}", field="currency")
    return major * Fraction(10) ** (money.currency(local).exponent - money.currency(have).exponent)


def is_stale(quote: FxQuote, limit: timedelta, now: datetime) -> bool:
    """Whether nobody knows any more what the rate is."""
    return now - quote.quoted_at > limit


def doubt(new: FxQuote, trusted: Sequence[FxQuote], trust: FxTrust) -> str:
    """Why a person should look at a new rate first; empty when it may be used.

    `trusted` are those of its pair, whichever way they are written, the oldest first.
    """
    if not trusted:
        return _outside(new, trust)
    last = trusted[-1]
    dearer = last.base if Fraction(last.rate) >= 1 else last.quote
    jumped = _moved(new, last, dearer, trust.jump)
    before = trusted[max(bisect_right(trusted, new.quoted_at - DAY, key=quoted_at) - 1, 0)]
    if jumped or before.quoted_at > new.quoted_at:  # a rate of long ago has no day before it
        return jumped
    return _moved(new, before, dearer, trust.day, " in a day")


def quoted_at(quote: FxQuote) -> datetime:
    """By what rates are put in order."""
    return quote.quoted_at


def turned(quote: FxQuote, base: str) -> Fraction:
    """What one `base` costs in the other currency, whichever way the rate is written."""
    return Fraction(quote.rate) if quote.base == base else 1 / Fraction(quote.rate)


def _moved(new: FxQuote, old: FxQuote, base: str, most: Decimal, span: str = "") -> str:
    moved = abs(turned(new, base) / turned(old, base) - 1)
    if moved <= Fraction(most):
        return ""
    pair = f"{base}/{new.quote if new.base == base else new.base}"
    then, now = _shown(old, base), _shown(new, base)
    return f"{pair} {then} → {now}{span} ({float(moved):.1%}, more than {float(most):.1%} is held)"


def _outside(new: FxQuote, trust: FxTrust) -> str:
    for base, quote, least, most in trust.bands:
        if {base, quote} == {new.base, new.quote} and not least <= turned(new, base) <= most:
            shown = _shown(new, base)
            return f"{shown} {quote} for one {base} is outside {least} … {most}; perhaps it is the rate of 100"
    return ""


def _shown(quote: FxQuote, base: str) -> str:
    return quote.rate if quote.base == base else f"{float(turned(quote, base)):.6g}"


def checked(quote: FxQuote, now: datetime) -> FxQuote:
    """The quote in exact decimals, unless it cannot be one."""
    for code in (quote.base, quote.quote):
        money.currency(code)
    if quote.base == quote.quote:
        raise Invalid(f"{quote.base}/{quote.quote} is no pair", field="quote")
    rate, spread = _decimal(quote.rate, "rate"), _decimal(quote.spread or "0", "spread")
    if rate <= 0:
        raise Invalid(f"a rate of {quote.rate}", hint="a rate is more than 0", field="rate")
    if not 0 <= spread < 1:
        raise Invalid(f"a spread of {quote.spread}", hint="a share of 1, such as 0.0175 for 1.75 %", field="spread")
    if not quote.source:
        raise Invalid("a rate without a source", hint="say who quotes it", field="source")
    if quote.quoted_at > now + AHEAD:
        raise Invalid(f"a rate of {quote.quoted_at:%Y-%m-%d %H:%M}, which is still to come", field="quoted_at")
    return FxQuote(quote.base, quote.quote, f"{rate:f}", quote.source, quote.quoted_at, f"{spread:f}", quote.state)


def read_csv(text: str, spread: str = "0") -> list[FxQuote]:
    """The quotes of a file with the columns `COLUMNS`; `per` (1 unless said) is of how many base units it speaks,
    `spread` is that of rows that say none."""
    with reading("the file of rates", COLUMNS):
        table = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
        names, rows = set(table.fieldnames or ()), list(table)
    missing = {"base", "quote", "rate", "source", "quoted_at"} - names
    if missing:
        raise Invalid(f"the file has no column {', '.join(sorted(missing))}", hint=f"columns: {', '.join(COLUMNS)}")
    found = []
    for number, row in enumerate(rows, start=2):
        try:
            found.append(_quote(row, spread))
        except Invalid as error:
            raise Invalid(f"line {number}: {error.message}", hint=error.hint, field=error.field) from error
    return found


def write_csv(quotes: list[FxQuote]) -> str:
    """Quotes as a file that `read_csv` takes."""
    out = io.StringIO()
    sheet = csv.writer(out, lineterminator="\n")
    sheet.writerow(COLUMNS)
    for one in quotes:
        sheet.writerow((one.base, one.quote, one.rate, 1, one.spread, defused(one.source), one.quoted_at.isoformat()))
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class FxFeed:
    """Where in a JSON answer a rate is; `rate_at` and `time_at` are dotted paths (`rates.KRW`, `data.0.basePrice`)."""

    base: str
    quote: str
    source: str
    rate_at: str
    time_at: str
    per: int = 1
    spread: str = "0.0175"


def read_json(body: bytes, feed: FxFeed) -> FxQuote:
    """The rate in a feed's answer; an answer without one has drifted, and nothing takes its place."""
    try:
        document = _documents.decode(body)
        rate, when = _at(document, feed.rate_at), _at(document, feed.time_at)
        row = {"rate": str(rate), "per": str(feed.per), "quoted_at": _instant(when)}
        fixed = {"base": feed.base, "quote": feed.quote, "source": feed.source}
        return _quote({**fixed, **row}, feed.spread)
    except (Invalid, LookupError, TypeError, ValueError, OverflowError, OSError) as error:
        raise Drifted(f"the answer of {feed.source} has no rate at {feed.rate_at}: {error}") from error


def _instant(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise Invalid(f"{value!r} is no time", field="quoted_at")
    if isinstance(value, str):
        return value
    seconds = int(value) / 1000 if value > MILLISECONDS else int(value)
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat()


def _at(document: Any, path: str) -> Any:
    for part in path.split("."):
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def _quote(row: Mapping[str, str | None], spread: str) -> FxQuote:
    said = {name: plain((row.get(name) or "").strip()) for name in COLUMNS}
    rate, per = _decimal(said["rate"], "rate"), _decimal(said["per"] or "1", "per")
    if per <= 0 or rate <= 0:
        raise Invalid(f"a rate of {rate} for {per}", hint="both are more than 0", field="rate")
    try:
        when = utc(datetime.fromisoformat(said["quoted_at"]))
    except ValueError:
        hint = "write an instant as 2026-01-31T09:00:00+09:00"
        raise Invalid(f"quoted_at is '{said['quoted_at']}'", hint=hint, field="quoted_at") from None
    text = f"{(rate / per).normalize():f}"
    return FxQuote(said["base"], said["quote"], text, said["source"], when, said["spread"] or spread)


def _decimal(text: str, field: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or abs(value.adjusted()) > 12 or len(text) > 40:
        raise Invalid(f"{field} is '{text}'", hint="write a decimal number", field=field)
    return value
