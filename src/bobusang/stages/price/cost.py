"""The full cost of selling one product, line by line: what is fixed, and what share of the price is not ours."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from bobusang.kit.money import Money, Rounding, rounded
from bobusang.stages.price import fx as exchange
from bobusang.stages.price.model import Hold, Reason, Step
from bobusang.stages.price.policy import MarginBasis
from bobusang.stages.price.rates import Fee, FeeKind, Goods, Leg

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import date
    from decimal import Decimal

    from bobusang.stages.price.model import Fx, FxQuote, Wanted
    from bobusang.stages.price.policy import Policy
    from bobusang.stages.price.rates import Duty, Rates, Tax


@dataclass(frozen=True, slots=True)
class Line:
    """One exact cost in minor units of its own currency."""

    name: str
    exact: Fraction
    currency: str
    basis: str
    source: str
    dated: str


@dataclass(frozen=True, slots=True)
class Cost:
    """All costs in minor units of the market's currency, exact."""

    fixed: Fraction
    share: Fraction
    """Of the price."""
    refund: Fraction
    """What of `fixed` is only right if the tax office refunds it."""
    steps: tuple[Step, ...]
    quotes: tuple[FxQuote, ...]
    least: Fraction = Fraction(0)
    """The least price that the supplier allows; nothing where he says none."""

    def price_at(self, margin: Fraction, basis: MarginBasis) -> Fraction | None:
        """The price that leaves this margin; None where no price does."""
        if basis is MarginBasis.COST:
            return self.fixed * (1 + margin) / (1 - self.share) if self.share < 1 else None
        left = 1 - self.share - margin
        return self.fixed / left if left > 0 else None

    def margin(self, price: int, basis: MarginBasis, *, refunded: bool = True) -> Fraction:
        """What a price leaves; without the refund, what it leaves until the refund has come."""
        fixed = self.fixed if refunded else self.fixed + self.refund
        profit = price * (1 - self.share) - fixed
        return profit / (price if basis is MarginBasis.REVENUE else fixed)


def stack(wanted: Wanted, rates: Rates, fx: Mapping[str, Fx], policy: Policy, day: date) -> Cost | Hold:
    """The cost of a product on a day of the market's; a row or a rate that is missing is a hold, never a zero."""
    purchase = wanted.purchase
    if purchase is None or purchase.amount_minor <= 0:
        return Hold(Reason.NO_COST, f"the source's price is {purchase or 'unknown'}")
    converted = _Exchange(fx, policy.currency)
    problem = converted.prepare((purchase.currency,))
    if problem is not None:
        return problem
    lines: list[Line] = [
        Line("purchase", Fraction(purchase.amount_minor), purchase.currency, "source price", "source", "")
    ]
    fees = _fees(wanted, rates, day)
    if isinstance(fees, Hold):
        return fees
    for found in (
        _freight(wanted, rates, policy, day),
        _import(wanted, rates, policy, converted, day),
        _per_order(fees),
        _expected(purchase, policy),
    ):
        if isinstance(found, Hold):
            return found
        lines.extend(found)
    problem = converted.prepare(line.currency for line in lines)
    problem = problem or converted.prepare([wanted.resale_floor.currency] if wanted.resale_floor else ())
    return problem if problem is not None else _summed(lines, fees, wanted.resale_floor, converted)


def _summed(lines: list[Line], fees: Mapping[FeeKind, Fee], resale_floor: Money | None, converted: _Exchange) -> Cost:
    exact = [converted.local(line.exact, line.currency) for line in lines]
    steps = [_step(line, local, converted.currency) for line, local in zip(lines, exact, strict=True)]
    taken = sum((share(fee.rate) for fee in fees.values()), Fraction(0))
    fixed = sum(exact, Fraction(0))
    steps.append(Step("fixed cost", None, _shown(fixed, converted.currency), "sum of the lines above"))
    steps += [
        Step(
            f"{kind} fee",
            None,
            None,
            f"{_percent(share(fee.rate))} of the price{_tier(fee)}",
            fee.source,
            fee.valid_from,
        )
        for kind, fee in fees.items()
        if fee.rate or kind is FeeKind.SALE
    ]
    least = Fraction(0)
    if resale_floor is not None:
        least = converted.local(Fraction(resale_floor.amount_minor), resale_floor.currency)
        shown = _shown(least, converted.currency)
        steps.append(Step("least resale price", resale_floor, shown, "the supplier allows no less", "source"))
    refund = -sum((local for line, local in zip(lines, exact, strict=True) if line.name == "VAT refund"), Fraction(0))
    return Cost(fixed, taken, refund, (*converted.steps(), *steps), tuple(converted.used), least)


def _freight(wanted: Wanted, rates: Rates, policy: Policy, day: date) -> list[Line] | Hold:
    grams = wanted.weight_grams or policy.unknown_weight_grams
    if not grams or grams < 0:
        return _no_rate("the weight is unknown, and the policy has none for that case")
    said = f"{grams:,} g" + ("" if wanted.weight_grams else ", taken because nobody weighed it")
    lines = []
    for leg in Leg:
        row = rates.freight(leg, policy.route, wanted.category, grams, day)
        if row is None:
            return _no_rate(f"no {leg} freight {policy.route} for {grams:,} g of category '{wanted.category}'")
        basis = f"{said}, row up to {row.up_to_grams:,} g"
        lines.append(Line(f"{leg} freight", Fraction(row.amount), row.currency, basis, row.source, row.valid_from))
    return lines


def _import(wanted: Wanted, rates: Rates, policy: Policy, converted: _Exchange, day: date) -> list[Line] | Hold:
    """Duty and consumption tax on a share of the retail price abroad."""
    if wanted.duty_included is not None and wanted.duty_included is not policy.pays_duty:
        return _duty_unclear(policy)
    if not policy.pays_duty:
        return []
    tax = rates.tax(policy.country, day)
    if tax is None:
        return _no_rate(f"no tax row of {policy.country}")
    if tax.currency != policy.currency:
        return _no_rate(f"{tax.country} taxes in {tax.currency}, the market sells in {policy.currency}")
    assert wanted.purchase is not None
    value = converted.local(Fraction(wanted.purchase.amount_minor), wanted.purchase.currency) * share(tax.taxable_share)
    goods = Goods(policy.country, wanted.category, wanted.material, wanted.construction)
    rows = rates.duty(goods, value, day)
    if not rows:
        return _no_duty(goods, tax, value, rates.duty_ends(goods, day))
    return max(
        (_taxed(row, tax, value, len(rows)) for row in rows), key=lambda lines: sum(line.exact for line in lines)
    )


def _taxed(row: Duty, tax: Tax, value: Fraction, could: int) -> list[Line]:
    free = row.is_exemptable and value <= tax.exempt_up_to
    duty = Fraction(0) if free else max(value * share(row.rate), Fraction(row.least))
    vat = Fraction(0) if free else (value + duty) * share(tax.consumption_rate)
    of = f"taxable {_shown(value, tax.currency)}, {_kind(row)}"
    doubtful = f"; the dearest of {could} rows that may hold" if could > 1 else ""
    said = f"free up to {_shown(Fraction(tax.exempt_up_to), tax.currency)}" if free else _duty_basis(row, tax)
    lines = [
        Line("duty", duty, tax.currency, f"{said}; {of}{doubtful}", row.source, row.valid_from),
        Line("consumption tax", vat, tax.currency, _percent(share(tax.consumption_rate)), tax.source, tax.valid_from),
    ]
    if tax.clearance and not free:
        lines.append(Line("clearance", Fraction(tax.clearance), tax.currency, "per parcel", tax.source, tax.valid_from))
    return lines


def _duty_basis(row: Duty, tax: Tax) -> str:
    least = f", at least {_shown(Fraction(row.least), tax.currency)}" if row.least else ""
    return f"{_percent(share(row.rate))}{least}"


def _fees(wanted: Wanted, rates: Rates, day: date) -> dict[FeeKind, Fee] | Hold:
    """What the market takes, of each kind: one that costs nothing has a row that says so."""
    found: dict[FeeKind, Fee] = {}
    for kind in FeeKind:
        fee = rates.fee(kind, wanted.market, wanted.tier, wanted.category, day)
        if fee is None:
            said = f"no {kind} fee of {wanted.market} for tier '{wanted.tier}', category '{wanted.category}'"
            return _no_rate(said)
        found[kind] = fee
    return found


def _per_order(fees: Mapping[FeeKind, Fee]) -> list[Line]:
    return [
        Line(
            f"{kind} fee, fixed",
            Fraction(fee.amount),
            fee.currency,
            f"an order{_tier(fee)}",
            fee.source,
            fee.valid_from,
        )
        for kind, fee in fees.items()
        if fee.amount
    ]


def _expected(purchase: Money, policy: Policy) -> list[Line]:
    """What orders that fall through cost, and the refund where there is evidence for it."""
    amount, code = Fraction(purchase.amount_minor), purchase.currency
    lines = []
    if policy.cancel_rate:
        rate = share(policy.cancel_rate)
        lines.append(Line("expected cancels", amount * rate, code, f"{_percent(rate)} of purchase", "policy", ""))
    if policy.refunds_vat:
        basis = f"{policy.vat_refund} of purchase, with export evidence"
        lines.append(Line("VAT refund", -amount * policy.refund_share, code, basis, "policy", ""))
    return lines


class _Exchange:
    """Turns amounts into the market's currency and remembers by which rates."""

    def __init__(self, fx: Mapping[str, Fx], currency: str) -> None:
        self.currency = currency
        self.used: list[FxQuote] = []
        self._fx = fx
        self._factors: dict[str, Fraction] = {currency: Fraction(1)}

    def prepare(self, currencies: Iterable[str]) -> Hold | None:
        """Have a rate for each of these, or say which is missing."""
        for code in currencies:
            if code in self._factors:
                continue
            known = self._fx.get(code)
            if known is not None and known.held is not None:
                said = f"{known.held.rate} of {known.held.source}"
                return Hold(Reason.FX_JUMP, f"the rate {code}/{self.currency} jumped to {said}: a person must agree")
            if known is None or known.quote is None:
                return Hold(Reason.NO_FX, f"there is no rate between {code} and {self.currency}")
            self._factors[code] = exchange.factor(known.quote, code, self.currency)
            self.used.append(known.quote)
        return None

    def local(self, amount: Fraction, code: str) -> Fraction:
        return amount * self._factors[code]

    def steps(self) -> list[Step]:
        return [
            Step(
                f"rate {one.base}/{one.quote}",
                None,
                None,
                f"{one.rate}, spread {_percent(share(one.spread))}",
                one.source,
                one.quoted_at.isoformat(),
            )
            for one in self.used
        ]


def _step(line: Line, local: Fraction, currency: str) -> Step:
    shown = _shown(local, currency)
    return Step(line.name, _shown(line.exact, line.currency), shown, line.basis, line.source, line.dated)


def _shown(exact: Fraction, currency: str) -> Money:
    return Money(rounded(exact, Rounding.HALF_UP) if exact.denominator > 1 else exact.numerator, currency)


@lru_cache(maxsize=1024)
def share(text: Decimal | str) -> Fraction:
    """A share, exact; the same few are asked for with every product."""
    return Fraction(text)


@lru_cache(maxsize=1024)
def _percent(share: Fraction) -> str:
    return f"{float(share * 100):.4g} %"


def _kind(row: Duty) -> str:
    return " ".join(part for part in (row.material, row.construction, row.category) if part) or "any goods"


def _tier(fee: Fee) -> str:
    parts = [part for part in (fee.tier and f"tier {fee.tier}", fee.category) if part]
    return f" ({', '.join(parts)})" if parts else ""


def _duty_unclear(policy: Policy) -> Hold:
    """Duty that is promised and not priced is a loss with every sale; priced and not promised, it is paid twice."""
    told, priced = ("buyers pay it", "it is ours") if policy.pays_duty else ("it is included", "buyers pay it")
    said = f"the account tells of duty that {told}, the policy's pays_duty says that {priced}: change one of them"
    return Hold(Reason.DUTY_UNCLEAR, said)


def _no_duty(goods: Goods, tax: Tax, value: Fraction, ends: int) -> Hold:
    said = f"no duty row of {goods.country} for category '{goods.category}'"
    if ends:
        said += f" above {_shown(Fraction(ends), tax.currency)}, and {_shown(value, tax.currency)} are taxable"
    return _no_rate(said)


def _no_rate(detail: str) -> Hold:
    return Hold(Reason.NO_RATE, detail)
