"""What states are called on the screen, and of which colour they are: one table for all pages, so that the same state
looks the same everywhere."""

from __future__ import annotations

from dataclasses import dataclass

from bobusang.entry.web.languages import N_


@dataclass(frozen=True, slots=True)
class Word:
    """A state's name, to be translated, and its tone: good, busy, bad, warn or idle."""

    label: str
    tone: str = "idle"


WORDS = {
    "PENDING": Word(N_("waiting")),
    "RUNNING": Word(N_("running"), "busy"),
    "SUCCESS": Word(N_("done"), "good"),
    "COMPLETED": Word(N_("done"), "good"),
    "DONE": Word(N_("done"), "good"),
    "FAILED": Word(N_("failed"), "bad"),
    "ERROR": Word(N_("failed"), "bad"),
    "CANCELLED": Word(N_("cancelled")),
    "RETRYING": Word(N_("trying again"), "warn"),
    "SKIPPED": Word(N_("skipped")),
    "PARKED": Word(N_("dead letter"), "bad"),
    "PAUSED": Word(N_("paused"), "warn"),
    "ACTIVE": Word(N_("active"), "good"),
    "HELD": Word(N_("held"), "warn"),
    "APPROVED": Word(N_("approved"), "good"),
    "REJECTED": Word(N_("rejected"), "bad"),
    "READY": Word(N_("ready"), "busy"),
    "DELAYED": Word(N_("delayed"), "warn"),
    "CLAIMED": Word(N_("at work"), "busy"),
    "DEAD": Word(N_("dead letter"), "bad"),
    "NONE": Word(N_("nowhere")),
    "OPEN": Word(N_("open"), "bad"),
    "CLOSED": Word(N_("closed"), "good"),
    "HALF_OPEN": Word(N_("probing"), "warn"),
    "HALTED": Word(N_("halted"), "bad"),
    "FULL": Word(N_("FULL")),
    "PARTIAL": Word(N_("PARTIAL")),
    "NEW": Word(N_("not sent yet")),
    "SENT": Word(N_("sent, not judged yet"), "busy"),
    "DRAFT": Word(N_("draft"), "busy"),
    "IN_REVIEW": Word(N_("under review"), "busy"),
    "NOT_APPROVED": Word(N_("not approved"), "bad"),
    "LIVE": Word(N_("on sale"), "good"),
    "SOLD_OUT": Word(N_("sold out"), "warn"),
    "SUSPENDED": Word(N_("off sale"), "warn"),
    "BLOCKED": Word(N_("blocked"), "bad"),
    "DELETED": Word(N_("deleted")),
    "REMOVED": Word(N_("removed by the market"), "bad"),
    "INTENT": Word(N_("intended"), "busy"),
    "ACCEPTED": Word(N_("accepted"), "busy"),
    "UNKNOWN": Word(N_("no answer"), "warn"),
    "LOST": Word(N_("never answered"), "bad"),
    "CONFIRMED": Word(N_("confirmed"), "good"),
    "SUPERSEDED": Word(N_("replaced by a newer one")),
    "CREATE": Word(N_("new listing"), "busy"),
    "EDIT": Word(N_("change"), "busy"),
    "STOCK": Word(N_("stock only"), "busy"),
    "CLOSE": Word(N_("off sale"), "warn"),
    "REVIVE": Word(N_("on sale again"), "busy"),
    "EXTEND": Word(N_("end date moved"), "busy"),
    "IDLE": Word(N_("free"), "good"),
    "RATE_LIMITED": Word(N_("quota used up"), "warn"),
    "DISABLED": Word(N_("out of use"), "bad"),
    "RECOVERED": Word(N_("recovered"), "good"),
    "proposed": Word(N_("to review"), "warn"),
    "accepted": Word(N_("accepted"), "good"),
    "blocked": Word(N_("blocked"), "bad"),
    "Active": Word(N_("active"), "good"),
    "Paused": Word(N_("paused"), "warn"),
    "Disabled": Word(N_("switched off")),
    "PROVED": Word(N_("list complete"), "good"),
    "UNPROVED": Word(N_("list incomplete"), "warn"),
    "INCREMENTAL": Word(N_("changes only")),
    "viewer": Word(N_("viewer")),
    "operator": Word(N_("operator"), "busy"),
    "admin": Word(N_("admin"), "warn"),
    "CRITICAL": Word(N_("critical"), "bad"),
    "WARNING": Word(N_("warning"), "warn"),
    "INFO": Word(N_("info"), "busy"),
    "QUOTE": Word(N_("new price"), "good"),
    "KEEP": Word(N_("price kept"), "idle"),
    "HOLD": Word(N_("no price"), "bad"),
    "REFUSED": Word(N_("refused"), "bad"),
    "OK": Word(N_("all right"), "good"),
    "RECEIVED": Word(N_("received")),
    "PREVIEWED": Word(N_("looked through"), "warn"),
    "IMPORTING": Word(N_("being imported"), "busy"),
    "DISCARDED": Word(N_("thrown away")),
}


def of(value: object) -> Word:
    """The word for a state; one that has none is shown as it is."""
    text = str(value)
    return WORDS.get(text) or Word(text.replace("_", " ").lower())
