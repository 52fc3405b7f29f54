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
    "viewer": Word(N_("viewer")),
    "operator": Word(N_("operator"), "busy"),
    "admin": Word(N_("admin"), "warn"),
    "CRITICAL": Word(N_("critical"), "bad"),
    "WARNING": Word(N_("warning"), "warn"),
    "INFO": Word(N_("info"), "busy"),
    "OK": Word(N_("all right"), "good"),
}


def of(value: object) -> Word:
    """The word for a state; one that has none is shown as it is."""
    text = str(value)
    return WORDS.get(text) or Word(text.replace("_", " ").lower())
