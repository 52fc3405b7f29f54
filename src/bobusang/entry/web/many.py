"""Something done to many lines of a list: shown first, then done one by one, and told with what was refused."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from bobusang.entry.web import deciding
from bobusang.entry.web.languages import N_

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response

    from bobusang.entry.web.deciding import Chosen, Question
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx

T = TypeVar("T")

Deed: TypeAlias = Callable[[int], Awaitable[Any]]
TOLD = 3


async def changed(
    visit: Visit,
    question: Question,
    names: Iterable[str],
    load: Callable[[Tx, Chosen], Awaitable[list[T]]],
    fits: Callable[[T], bool],
    line: Callable[[T], str],
    deed: Deed,
) -> Response:
    """Do it to those of the chosen lines that it fits, once a person has seen which these are."""
    form = await visit.form()
    chosen = deciding.chosen(form, names)
    if chosen is None:
        return deciding.nothing(visit)
    async with visit.desk.read() as tx:
        found: list[Any] = await load(tx, chosen)
    fitting = [one for one in found if fits(one)]
    if not form.ticked("sure"):
        told = [line(one) for one in fitting]
        return deciding.asked(visit, question, chosen, count=len(fitting), total=len(found), examples=told)
    outcome = await deciding.one_by_one([one.id for one in fitting], deed)
    if not outcome.refused:
        return visit.done(N_("%(done)s were changed."), question.back, done=outcome.done)
    why = "; ".join(dict.fromkeys(outcome.refused[:TOLD]))
    text = N_("%(done)s were changed, %(refused)s were refused: %(why)s")
    said = visit.say(text, done=outcome.done, refused=len(outcome.refused), why=why)
    return visit.refused(said, to=question.back)
