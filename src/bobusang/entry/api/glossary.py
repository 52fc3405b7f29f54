"""The glossary: the operator's Korean words and what they are called in Japanese, one by one and as a file."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.fields import Flag, Form
from bobusang.entry.api.files import BODY, handed, sent_text
from bobusang.entry.api.pages import Page, Paged, pack, unpacked
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.platform import audit
from bobusang.platform.audit import Entry, Subject
from bobusang.stages.convert import memory, terms
from bobusang.stages.convert.glossary import Term
from bobusang.stages.convert.tables import KIND_LENGTH, TERM_LENGTH
from bobusang.views import glossary as view
from bobusang.views.glossary import GlossaryLine

router = Resource("glossary", "/glossary")

AT_ONCE = 500

Word = Annotated[str, Field(min_length=1, max_length=TERM_LENGTH)]


class GlossaryQuery(Paged):
    """Which terms."""

    q: Annotated[Word | None, Field(description="part of the word or of its translation")] = None
    shipped: Annotated[bool, Field(description="those that come with the program too")] = False


class TermForm(Form):
    """A word of the malls and what it is called."""

    term: Word
    translation: Word
    kind: Annotated[str, Field(max_length=KIND_LENGTH, examples=["colour"])] = ""
    case_sensitive: Annotated[Flag, Field(description="only as it is written; of words with Latin letters")] = False


class GlossaryForm(Form):
    """Terms to add, or to put in the place of those of the same word."""

    terms: Annotated[
        list[TermForm],
        Field(min_length=1, max_length=AT_ONCE, examples=[[{"term": "블랙", "translation": "ブラック"}]]),
    ]


class DropForm(Form):
    """Terms to take away, by their words."""

    terms: Annotated[list[Word], Field(min_length=1, max_length=AT_ONCE, examples=[["블랙"]])]


class TermsPut(BaseModel):
    """How many terms were given, and how many of them are new or changed."""

    terms: int
    changed: int


class TermsDropped(BaseModel):
    """Which terms were taken away; others were none of the operator's."""

    terms: list[str]


@router.get("", summary="List the glossary")
async def list_glossary(desk: Viewer, query: Annotated[GlossaryQuery, Query()]) -> Page[GlossaryLine]:
    """The operator's terms, newest first; after them the shipped ones that he has not replaced, if asked for."""
    is_shipped, last = unpacked("glossary", query.cursor, int, int) or (0, None)
    room = query.limit + 1
    async with desk.read() as tx:
        found = [] if is_shipped else await view.own(tx, query.q or "", before=last, limit=room)
        if query.shipped and len(found) < room:
            after = last if is_shipped else 0
            found += await view.unreplaced(tx, query.q or "", after=after, limit=room - len(found))
    shown = found[: query.limit]
    more = len(found) > query.limit
    return Page(items=shown, next=pack("glossary", int(shown[-1].shipped), shown[-1].id) if more else None)


@router.put("", summary="Add or replace terms")
async def put_terms(desk: Operator, form: GlossaryForm) -> TermsPut:
    """All of them or none. They come before the shipped ones; the next FULL makes products anew by them."""
    given = terms.gathered(
        (f"terms[{place}]", f"terms[{place}].", Term(one.term, one.translation, one.kind, one.case_sensitive))
        for place, one in enumerate(form.terms)
    )
    return await _put(desk, given)


@router.post("/drop", summary="Take terms away")
async def drop_terms(desk: Operator, form: DropForm) -> TermsDropped:
    """Only the operator's can be; a shipped one of the same word counts again."""

    async def work(tx: Tx) -> TermsDropped:
        gone = await memory.drop_terms(tx, form.terms)
        said = (Entry(desk.actor, "glossary.drop", Subject("term", one.term), before=one) for one in gone)
        await audit.record_all(tx, *said)
        return TermsDropped(terms=[one.term for one in gone])

    return await desk.write(work)


@router.get("/file", summary="Export the glossary", response_class=Response)
async def export_glossary(desk: Viewer) -> Response:
    """The operator's terms as a CSV file that the import takes."""
    async with desk.read() as tx:
        found = await memory.own_terms(tx)
    return handed(terms.written(found), "glossary.csv")


@router.post("/file", summary="Import a glossary", openapi_extra=BODY)
async def import_glossary(desk: Operator, request: Request) -> TermsPut:
    """All terms of the file or none; those that it does not name stay."""
    return await _put(desk, await asyncio.to_thread(terms.parsed, await sent_text(request)))


async def _put(desk: Desk, given: Sequence[Term]) -> TermsPut:
    async def work(tx: Tx) -> TermsPut:
        changed = await memory.put_terms(tx, given)
        said = (
            Entry(desk.actor, "glossary.put", Subject("term", one.after.term), one.before, one.after) for one in changed
        )
        await audit.record_all(tx, *said)
        return TermsPut(terms=len(given), changed=len(changed))

    return await desk.write(work)
