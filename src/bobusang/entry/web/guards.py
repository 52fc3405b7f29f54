"""Guards in words: what each stops, what a person may do about it, and their reasons in the visitor's language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bobusang.entry.web.languages import N_
from bobusang.stages.collect.guards import Guard as Change
from bobusang.stages.register.guards import Guard as Send

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bobusang.entry.web.visit import Visit


@dataclass(frozen=True, slots=True)
class Told:
    """A guard's name, what it means, and what to do; all to be translated."""

    label: str
    means: str
    do: str


CHANGES: Mapping[Change, Told] = {
    Change.PRICE_JUMP: Told(
        N_("Price jump"),
        N_("The price moves further at once than is believed, or is gone."),
        N_("Look at the page of the mall: if it says so, approve; if it is a misreading, reject."),
    ),
    Change.OPTION_FALL: Told(
        N_("Options vanish"),
        N_("Too many options vanish at once: most likely half a page was read."),
        N_("If the mall really sells fewer options now, approve; otherwise reject."),
    ),
    Change.MASS_CHANGE: Told(
        N_("Too many changes"),
        N_("Too much of what is known changes in one run: the pages, or our reading of them, may have changed."),
        N_("Look at some of them. If a sale has begun, approve them all; if prices are misread, reject them all."),
    ),
    Change.NULL_RATE: Told(
        N_("Unreadable pages"),
        N_("A field that pages should tell could not be read too often."),
        N_("Most likely the mall has changed its pages: reject, and have the reader mended."),
    ),
    Change.COVERAGE: Told(
        N_("List too short"),
        N_("The list of the mall shows far fewer products than before."),
        N_("If the products are really gone, approve: they are taken off the market. Otherwise reject."),
    ),
    Change.CONTRADICTION: Told(
        N_("Contradiction"),
        N_("The product's own page says that it is gone, but the list shows it."),
        N_("Open the product at the mall: approve if it is gone, reject if it is there."),
    ),
}

SENDS: Mapping[Send, Told] = {
    Send.SWITCH: Told(
        N_("Account switched off"),
        N_("Somebody has switched the account off: nothing is sent."),
        N_("Switch the account on again; what waits is sent with the next run."),
    ),
    Send.NO_PRICE: Told(
        N_("No price"),
        N_("There is no price to send."),
        N_("See the explanation of the price: what it lacks stands there."),
    ),
    Send.NO_FLOOR: Told(
        N_("No floor"),
        N_("There is no lowest price; nothing is sold without one."),
        N_("See the explanation of the price: what the floor lacks stands there."),
    ),
    Send.NO_CEILING: Told(
        N_("No ceiling"), N_("There is no highest price."), N_("Mend the price policy: it gives no ceiling.")
    ),
    Send.BELOW_FLOOR: Told(
        N_("Below the floor"),
        N_("The price would be a loss. No person lets it out."),
        N_("Change what the floor stands on: cost, fees, the rate of exchange or the least margin."),
    ),
    Send.ABOVE_CEILING: Told(
        N_("Above the ceiling"),
        N_("The price is higher than the policy allows. No person lets it out."),
        N_("Change the ceiling in the price policy if the price is right."),
    ),
    Send.STEP: Told(
        N_("Price step"),
        N_("The price moves further in one step than is allowed."),
        N_("If the new price is right, approve: exactly this price may be sent for a day."),
    ),
    Send.DAY: Told(
        N_("Price moves in a day"),
        N_("The price moves further in a day than is allowed."),
        N_("If the new price is right, approve: exactly this price may be sent for a day."),
    ),
    Send.CLOSED: Told(
        N_("Too many closings"),
        N_("One run would close too many listings: the source may be broken."),
        N_("Look whether the mall really sold out. If it did, approve; if not, reject."),
    ),
    Send.CHANGED: Told(
        N_("Too many changes in a run"),
        N_("One run would change too many listings: a rate or a rule may be wrong."),
        N_("Look at the rate of exchange and at the policy. If the changes are meant, approve."),
    ),
    Send.UNANSWERED: Told(
        N_("No answer of the market"),
        N_("The market never said what became of a call."),
        N_("Look at the market whether it is there. Approving lets the call go, so that it may be made again."),
    ),
    Send.UNCLOSED: Told(
        N_("Cannot be closed"),
        N_("It, or one of its options, must not be sold, and the market refuses to take it off sale."),
        N_("Suspend it at the market by hand; this is over as soon as the market tells of it."),
    ),
    Send.TWO_PRODUCTS: Told(
        N_("Two products"),
        N_("The market has two products for one listing of ours."),
        N_("Delete one of them at the market; then reject this."),
    ),
    Send.SAME_GOODS: Told(
        N_("Same goods"),
        N_("Another listing of this account sells the same goods from another mall."),
        N_("Approve only if both should be sold."),
    ),
}

_N = r"[\d,]+"
_PAIR = r"(?P<pair>[A-Z]{3}/[A-Z]{3})"
_REASONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), said)
    for pattern, said in (
        (
            rf"price (?P<old>{_N}) → (?P<new>{_N}) \((?P<by>[+-]\d+%), more than (?P<most>\d+%) is held\)",
            N_("The price goes from %(old)s to %(new)s (%(by)s); more than %(most)s is held."),
        ),
        (rf"price (?P<old>{_N}) → (?:none|0)", N_("The price was %(old)s; now there is none.")),
        (
            r"(?P<gone>\d+) of (?P<known>\d+) options vanish at once \(more than (?P<most>\d+%) is held\)",
            N_("%(gone)s of %(known)s options vanish at once; more than %(most)s is held."),
        ),
        (
            r"its own page says that it is no more, but the list of this run shows it",
            N_("Its own page says that it is gone, but the list of the same run shows it."),
        ),
        (
            rf"(?P<changed>{_N}) of (?P<known>{_N}) known items change in one run \(more than (?P<most>\d+%)\)",
            N_("%(changed)s of %(known)s known products change in one run; more than %(most)s is held."),
        ),
        (
            (
                rf"(?P<field>\w+) could not be read in (?P<unknown>{_N}) of (?P<seen>{_N}) readings "
                r"\(limit (?P<most>[\d.]+%)\)"
            ),
            N_("“%(field)s” could not be read in %(unknown)s of %(seen)s readings; at most %(most)s is believed."),
        ),
        (
            (
                rf"the list shows (?P<left>{_N}) of the (?P<known>{_N}) items it had "
                r"\((?P<share>[\d.]+%), below (?P<most>\d+%) absence is held\)"
            ),
            N_("The list shows %(left)s of the %(known)s products it had (%(share)s); below %(most)s this is held."),
        ),
        (r"there is no price \(.*\)", N_("There is no price.")),
        (r"there is no floor \(.*\): nothing is sold without one", N_("There is no lowest price.")),
        (r"there is no ceiling \(.*\)", N_("There is no highest price.")),
        (
            rf"(?P<price>{_N}) is below the floor (?P<floor>{_N})",
            N_("The price %(price)s is below the floor %(floor)s."),
        ),
        (
            rf"(?P<price>{_N}) is above the ceiling (?P<ceiling>{_N})",
            N_("The price %(price)s is above the ceiling %(ceiling)s."),
        ),
        (
            rf"(?P<old>{_N}) → (?P<new>{_N}) is (?P<by>[+-]\d+ %) in one step, at most (?P<most>\d+ %) are allowed",
            N_("From %(old)s to %(new)s is %(by)s in one step; at most %(most)s is allowed."),
        ),
        (
            rf"(?P<old>{_N}) → (?P<new>{_N}) is (?P<by>[+-]\d+ %) in a day, at most (?P<most>\d+ %) are allowed",
            N_("From %(old)s to %(new)s is %(by)s in a day; at most %(most)s is allowed."),
        ),
        (
            r"(?P<count>\d+) of (?P<live>\d+) live listings would be closed, at most (?P<most>\d+) are in a run",
            N_("%(count)s of %(live)s live listings would be closed; at most %(most)s in a run."),
        ),
        (
            r"(?P<count>\d+) of (?P<live>\d+) live listings would change, at most (?P<most>\d+) do in a run",
            N_("%(count)s of %(live)s live listings would change; at most %(most)s in a run."),
        ),
        (r"the account is switched off: (?P<why>.*)", N_("The account is switched off: %(why)s")),
        (
            r"call (?P<id>\d+) \((?P<kind>\w+)\) was sent (?P<sends>\d+) times and the market never said .*",
            N_("Call %(id)s (%(kind)s) was sent %(sends)s times, and the market never answered."),
        ),
        (
            r"it must not be sold, and the market refuses to close it: (?P<why>.*)",
            N_("It must not be sold, and the market refuses to close it: %(why)s"),
        ),
        (r"same goods as (?P<sku>\S+) of (?P<mall>\S+)", N_("The same goods as %(sku)s of %(mall)s.")),
        (
            rf"{_PAIR} (?P<old>[\d.]+) → (?P<new>[\d.]+) \((?P<by>[\d.]+%), more than (?P<most>[\d.]+%) is held\)",
            N_("%(pair)s from %(old)s to %(new)s is a jump of %(by)s; more than %(most)s is held."),
        ),
        (
            (
                rf"{_PAIR} (?P<old>[\d.]+) → (?P<new>[\d.]+) in a day "
                r"\((?P<by>[\d.]+%), more than (?P<most>[\d.]+%) is held\)"
            ),
            N_("%(pair)s from %(old)s to %(new)s within a day is %(by)s; more than %(most)s is held."),
        ),
        (
            (
                r"(?P<rate>[\d.]+) (?P<quote>[A-Z]{3}) for one (?P<base>[A-Z]{3}) is outside (?P<least>[\d.]+) … "
                r"(?P<most>[\d.]+); perhaps it is the rate of 100"
            ),
            N_("%(rate)s %(quote)s for one %(base)s is outside %(least)s to %(most)s; perhaps it is the rate of 100."),
        ),
    )
)


def retold(visit: Visit, reason: str) -> str:
    """A guard's reason in the visitor's language, with its numbers; one that is not known here stays as it is."""
    for pattern, said in _REASONS:
        if found := pattern.fullmatch(reason):
            return visit.say(said, **found.groupdict())
    return reason
