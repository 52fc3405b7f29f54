"""Translations: what the memory holds, and a person's own word, which counts more than glossary, memory and model."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query
from pydantic import BaseModel, Field

from bobusang.entry.api.desk import Operator, Viewer
from bobusang.entry.api.fields import Form
from bobusang.entry.api.pages import Page, Paged, pack, unpack
from bobusang.entry.api.resource import Resource
from bobusang.kit.db import Tx
from bobusang.stages.convert import memory
from bobusang.views import translations as view
from bobusang.views.translations import TranslationLine

router = Resource("translations", "/translations")

LONGEST = 20_000

Text = Annotated[str, Field(min_length=1, max_length=LONGEST)]


class TranslationQuery(Paged):
    """Which translations."""

    q: Annotated[
        str | None, Field(min_length=1, max_length=200, description="part of the text or of its translation")
    ] = None
    origin: Annotated[Literal["model", "person"] | None, Field(description="who translated")] = None


class CorrectionForm(Form):
    """A text of the malls as it was translated, and what it is to be called."""

    text: Annotated[Text, Field(description="with Korean in it, as the list shows it")]
    translation: Annotated[Text, Field(description="without any Korean")]


class TakeBackForm(Form):
    """A text that a person has corrected."""

    text: Annotated[Text, Field(description="the whole text, as the list shows it")]


class TakenBack(BaseModel):
    """What counted until now."""

    text: str
    translation: str


@router.get("", summary="List translations")
async def list_translations(desk: Viewer, query: Annotated[TranslationQuery, Query()]) -> Page[TranslationLine]:
    """Newest first; a page of a search may hold fewer than there are, until `next` is null."""
    before = unpack("translations", query.cursor)
    async with desk.read() as tx:
        found = await view.listed(tx, query.q or "", query.origin, before=before, limit=query.limit)
    return Page(items=found.lines, next=None if found.resume is None else pack("translations", found.resume))


@router.put("", summary="Correct a translation")
async def correct_translation(desk: Operator, form: CorrectionForm) -> TranslationLine:
    """It counts from now on, whatever a model says; the next FULL makes products anew by it."""

    async def work(tx: Tx) -> TranslationLine:
        done = await memory.correct(tx, form.text, form.translation)
        if done.before != done.after:
            said = {"before": done.before, "after": done.after}
            await desk.note(tx, "translation.correct", "translation", done.hash, **said)
        return await view.one(tx, done.hash)

    return await desk.write(work)


@router.post("/drop", summary="Take a correction back")
async def drop_translation(desk: Operator, form: TakeBackForm) -> TakenBack:
    """Glossary, memory and model count again. What a model has said is not taken back but corrected."""

    async def work(tx: Tx) -> TakenBack:
        gone = await memory.take_back(tx, form.text)
        await desk.note(tx, "translation.drop", "translation", memory.digest(form.text), before=gone)
        return TakenBack(text=gone.text, translation=gone.translation)

    return await desk.write(work)
