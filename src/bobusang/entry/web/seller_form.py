"""The form of a seller: added, or what is known of it changed; what is wrong is said beside what was typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bobusang.entry.api import sellers as api
from bobusang.entry.api.sellers import SellerFacts, SellerForm
from bobusang.entry.api.sources import collected_by
from bobusang.entry.tables import Role
from bobusang.entry.web import forms, sellers
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.kit.errors import BobusangError
from bobusang.views import sellers as view

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from bobusang.entry.web.forms import Fields
    from bobusang.entry.web.visit import Visit

pages = Pages()

KEYS = ("mall", "seller_id")
FACTS = ("name", "company", "contact", "email", "cadence")


@pages.get("/sellers/new", role=Role.OPERATOR)
async def new(visit: Visit) -> Response:
    """An empty form."""
    return _form(visit, {"cadence": "1d"})


@pages.post("/sellers/new")
async def add(visit: Visit) -> Response:
    """Add it."""
    form = await visit.form()
    try:
        made = await api.add_seller(visit.desk, visit.request, SellerForm.model_validate(_given(form, *KEYS)), None)
    except (BobusangError, ValidationError) as error:
        return _form(visit, _typed(form), error=forms.wrong(error))
    text = N_("The seller was added; it is first crawled one cadence from now.")
    return visit.done(text, made.headers["location"])


@pages.get("/sellers/{id:int}/edit", role=Role.OPERATOR)
async def edit(visit: Visit) -> Response:
    """The form with what is known now."""
    async with visit.desk.read() as tx:
        found = await view.one(tx, visit.number())
    said = {name: getattr(found, name) or "" for name in (*KEYS, *FACTS)}
    return _form(visit, said | {"adaptive": "1" if found.adaptive else ""}, id=found.id)


@pages.post("/sellers/{id:int}/edit")
async def change(visit: Visit) -> Response:
    """Change it."""
    form, id = await visit.form(), visit.number()
    try:
        done = await api.replaced(visit.desk, id, SellerFacts.model_validate(_given(form)))
    except (BobusangError, ValidationError) as error:
        return _form(visit, _typed(form), id=id, error=forms.wrong(error))
    return visit.done(N_("%(name)s was changed."), f"/sellers/{id}", name=done.name or done.seller_id)


def _given(form: Fields, *more: str) -> dict[str, Any]:
    return form.some(*more, *FACTS) | {"adaptive": form.ticked("adaptive")}


def _typed(form: Fields) -> dict[str, str]:
    return {name: form.text(name) for name in (*KEYS, *FACTS, "adaptive")}


def _form(
    visit: Visit, filled: Mapping[str, str], *, id: int | None = None, error: BobusangError | None = None
) -> Response:
    visit.entry = sellers.ENTRY
    said = dict.fromkeys((*KEYS, *FACTS, "adaptive"), "") | dict(filled)
    status = 422 if error else 200
    malls = collected_by(visit.desk, "seller")
    return visit.page("seller_form.html", status=status, filled=said, id=id, error=error, malls=malls)
