"""Decisions that a person makes on many lines: shown first, then made, and told with what was refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from bobusang.entry.web.languages import N_
from bobusang.kit.errors import BobusangError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from starlette.responses import Response

    from bobusang.entry.web.forms import Fields
    from bobusang.entry.web.visit import Visit

EXAMPLES = 10
AT_ONCE = 1000
"""Where lines are decided one by one, at most so many in one go."""
TOLD = 3

Kept = list[tuple[str, str]]


@dataclass(slots=True)
class Outcome:
    """How many were decided, and why others were not."""

    done: int = 0
    refused: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What was ticked: lines by their ids, or all that match the filters."""

    ids: list[int]
    every: bool
    kept: Kept

    @property
    def fields(self) -> Kept:
        """The same as fields of the form that asks once more."""
        chosen = [("all", "1")] if self.every else [("ids", str(id)) for id in self.ids]
        return [*chosen, *self.kept]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked before it is done; `title`, `text`: to be translated."""

    title: str
    text: str
    action: str
    back: str


def kept(form: Fields, names: Iterable[str]) -> Kept:
    """The filters that came with a form."""
    return list(form.some(*names).items())


def plain(value: str | None, most: int = 200) -> str:
    """What was typed into a filter, as every database can compare it; what is too long matches nothing anyway."""
    return (value or "").replace("\0", "")[:most]


def chosen(form: Fields, names: Iterable[str]) -> Chosen | None:
    """What was ticked; None: nothing."""
    found = Chosen(form.numbers("ids")[:AT_ONCE], form.ticked("all"), kept(form, names))
    return found if found.every or found.ids else None


def address(path: str, filters: Kept) -> str:
    """A list's address with its filters; without any, not those that are remembered."""
    return along(path, filters) if filters else f"{path}?clear=1"


def along(path: str, filters: Kept) -> str:
    """The address of one line, which takes the filters of its list along, so that the next of them is found."""
    return f"{path}?{urlencode(filters)}" if filters else path


def nothing(visit: Visit) -> Response:
    """Nothing was ticked."""
    return visit.refused(visit.say(N_("Nothing is ticked. Tick lines, or “all that match the filters”.")))


def asked(
    visit: Visit, question: Question, found: Chosen, *, count: int, total: int, examples: Sequence[str]
) -> Response:
    """Show what would be done."""
    return visit.page(
        "confirm.html",
        title=visit.say(question.title),
        question=visit.say(question.text),
        count=count,
        total=total,
        examples=examples[:EXAMPLES],
        action=question.action,
        fields=found.fields,
        back=question.back,
    )


async def one_by_one(ids: Sequence[int], decide: Callable[[int], Awaitable[Any]]) -> Outcome:
    """Decide each by itself: one that is refused does not stop the others."""
    found = Outcome()
    for id in ids:
        try:
            await decide(id)
            found.done += 1
        except BobusangError as error:
            found.refused.append(error.message)
    return found


def told(visit: Visit, found: Outcome, to: str) -> Response:
    """Say what came of it."""
    visit.site.standing.expire()
    if not found.refused:
        return visit.done(N_("%(done)s were decided."), to, done=found.done)
    why = "; ".join(dict.fromkeys(found.refused[:TOLD]))
    text = visit.say(
        N_("%(done)s were decided, %(refused)s were refused: %(why)s"),
        done=found.done,
        refused=len(found.refused),
        why=why,
    )
    return visit.refused(text, to=to)
