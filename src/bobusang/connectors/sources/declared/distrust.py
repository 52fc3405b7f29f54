"""What of a shop is compared, how fresh it must be, and what is not believed: groups, freshness, guards, contract."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.catalog.model import Group
from bobusang.connectors.sources.declared import units
from bobusang.connectors.sources.declared.contract import TYPES, Contract, Term
from bobusang.kit.errors import Invalid
from bobusang.kit.lined.fields import named
from bobusang.kit.money import CURRENCIES, currency
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.collect.policy import Freshness, Guards

if TYPE_CHECKING:
    from bobusang.connectors.sources.declared.section import Section

MOST_MONEY = range(10**15)


def groups(shop: Section) -> dict[str, str]:
    """Field → group."""
    section = shop.inner("groups")
    found: dict[str, str] = {}
    for name in section.values if section else ():
        assert section is not None
        if name not in named(Group):
            section.refuse(name, f"unknown group '{name[:50]}'", did_you_mean(name, named(Group)))
        for field in section.words(name):
            if field in found:
                section.refuse(name, f"{field} is in the group {found[field]} already")
            found[field] = name
    return found


def freshness(shop: Section) -> dict[str, Freshness]:
    """How old a group may become."""
    section = shop.inner("freshness")
    found: dict[str, Freshness] = {}
    for name in section.values if section else ():
        assert section is not None
        if name not in named(Group):
            section.refuse(name, f"unknown group '{name[:50]}'", did_you_mean(name, named(Group)))
        span = section.inner(name)
        if span is None:
            continue
        span.required("min", "max")
        least = span.measured("min", units.duration, timedelta(minutes=30))
        most = span.measured("max", units.duration, timedelta(days=1))
        if least > most:
            span.refuse("min", "the least is more than the most")
        span.refuse_others()
        found[name] = Freshness(least, most)
    return found


def guards(shop: Section) -> Guards:
    """When a write is held and a person asked."""
    section = shop.inner("guards")
    default = Guards()
    if section is None:
        return default
    jump, confirm = _hold(section, "price_jump", default.price_jump, "confirm", default.price_confirm)
    mass, least = _hold(section, "mass_change", default.mass_change, "least", default.mass_least)
    fall, _ = _hold(section, "option_fall", default.option_fall, "", 0)
    nulls = section.inner("null_rate")
    found = Guards(
        coverage=section.measured("coverage", units.share, default.coverage),
        absence_runs=_absence(section, default.absence_runs),
        price_jump=jump,
        price_confirm=confirm,
        mass_change=mass,
        mass_least=least,
        option_fall=fall,
        null_rate={name: nulls.measured(name, units.share, 0.01) for name in nulls.values}
        if nulls
        else default.null_rate,
    )
    section.refuse_others()
    return found


def _hold(section: Section, name: str, share: float, count: str, default: int) -> tuple[float, int]:
    """`{hold_if: "> 40%", confirm: 2}`."""
    inner = section.inner(name)
    if inner is None:
        return share, default
    found = (
        inner.measured("hold_if", units.share, share),
        inner.whole(count, default, range(1_000_001)) if count else default,
    )
    inner.refuse_others()
    return found


def _absence(section: Section, default: int) -> int:
    inner = section.inner("absence")
    if inner is None:
        return default
    inner.choice("only_if", {"coverage": "coverage"}, "coverage", what="proof")
    found = inner.whole("confirm_runs", default, range(1, 101))
    inner.refuse_others()
    return found


def contract(shop: Section) -> Contract:
    """What the values of fields must be."""
    section = shop.inner("contract")
    if section is None:
        return Contract({})
    report = section.choice("new_fields", {"report": True, "ignore": False}, default=False, what="choice")
    section.choice("type_change", {"quarantine": "quarantine"}, "quarantine", what="choice")
    names = [name for name in section.values if name not in ("new_fields", "type_change")]
    terms = {name: _term(inner) for name in names if (inner := section.inner(name)) is not None}
    return Contract(terms, report_new=report)


def _term(section: Section) -> Term:
    found = Term(
        type=section.choice("type", {name: name for name in TYPES}, "", what="type"),
        currency=section.text("currency", most=3) or "",
        least=section.measured("min", units.count, None),
        most=section.measured("max", units.count, None),
        required=section.flag("required", default=False),
    )
    try:
        if found.currency:
            currency(found.currency)
    except Invalid:
        section.refuse("currency", f"unknown currency '{found.currency}'", did_you_mean(found.currency, CURRENCIES))
    section.refuse_others()
    return found
