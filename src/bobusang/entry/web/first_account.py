"""Two of the first steps that are taken once: the market's lists are fetched, and an account is added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bobusang.entry.api import accounts, masters
from bobusang.entry.tables import Role
from bobusang.entry.web import forms
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.kit.errors import BobusangError, Invalid

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.forms import Fields
    from bobusang.entry.web.visit import Visit

pages = Pages()

PATH = "/start/account"
FIELDS = (
    *("name", "seller_name", "shop_name", "buying_area", "shipping_area", "shipping_methods"),
    *("shipping_charge", "duty", "token_ref", "secret_ref"),
)
DUTIES = (
    ("", N_("not told")),
    ("included", N_("included in the price")),
    ("refundable", N_("refunded")),
    ("none", N_("the buyer pays")),
)


@pages.post("/start/lists")
async def fetch_lists(visit: Visit) -> Response:
    """From where the settings say."""
    found = (await masters.fetch_masters(visit.desk, masters.MasterQuery())).items
    rows = sum(one.rows for one in found)
    return visit.done(N_("%(lists)s lists with %(rows)s rows were imported."), lists=len(found), rows=rows)


@pages.get(PATH, role=Role.ADMIN)
async def form(visit: Visit) -> Response:
    """What an account needs."""
    return _form(visit, {})


@pages.post(PATH, role=Role.ADMIN)
async def add(visit: Visit) -> Response:
    """Add it; what is wrong is said beside what was typed, but for secrets, which nobody should have typed."""
    typed = await visit.form()
    try:
        made = await accounts.add_account(visit.desk, accounts.AccountForm.model_validate(_wanted(typed)))
    except (BobusangError, ValidationError) as error:
        kept = {name: typed.get(name) for name in FIELDS if not name.endswith("_ref")}
        return _form(visit, kept, forms.wrong(error))
    return visit.done(N_("The account %(name)s was added."), "/start", name=made.name)


def _wanted(typed: Fields) -> dict[str, Any]:
    found: dict[str, Any] = typed.some(*FIELDS)
    methods = [part.strip() for part in typed.get("shipping_methods").split(",") if part.strip()]
    if not all(one.isascii() and one.isdecimal() for one in methods):
        raise Invalid("shipping methods are the market's numbers, by commas", field="shipping_methods")
    charge = typed.get("shipping_charge")
    if charge and not (charge.isascii() and charge.isdecimal()):
        raise Invalid("what buyers pay for shipping is a whole number", field="shipping_charge")
    told = {"shipping_charge": int(charge)} if charge else {}
    return found | told | {"shipping_methods": [int(one) for one in methods]}


def _form(visit: Visit, filled: dict[str, str], error: BobusangError | None = None) -> Response:
    visit.entry = "/"
    filled = dict.fromkeys(FIELDS, "") | filled
    return visit.page("first_account.html", status=422 if error else 200, filled=filled, error=error, duties=DUTIES)
