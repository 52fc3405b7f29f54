"""What a run sent to markets."""

from typing import Annotated

from fastapi import Query

from bobusang.entry.api.desk import Viewer
from bobusang.entry.api.fields import Form
from bobusang.entry.api.pages import Page
from bobusang.entry.api.resource import Resource
from bobusang.views import calls as view
from bobusang.views.calls import Sent

router = Resource("listings", "/calls")


class CallQuery(Form):
    """Of which run."""

    run: Annotated[str, Query(min_length=1, max_length=50, examples=["20260127_01"])]


@router.get("", summary="Count the calls of a run")
async def count_calls(desk: Viewer, query: Annotated[CallQuery, Query()]) -> Page[Sent]:
    """By kind (CREATE, EDIT, STOCK, CLOSE, REVIVE, EXTEND) and by what became of them."""
    async with desk.read() as tx:
        return Page(items=list(await view.of_run(tx, query.run)), next=None)
