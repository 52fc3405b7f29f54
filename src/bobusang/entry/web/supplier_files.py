"""Suppliers' spreadsheets: sent in, looked through cell by cell, columns chosen, imported, and watched."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from bobusang.connectors.sources.sheets.grid import LARGEST_FILE
from bobusang.connectors.sources.sheets.mapping import FIELDS, REQUIRED
from bobusang.entry.api import supplier_files as api
from bobusang.entry.api.pages import Paged
from bobusang.entry.api.supplier_files import FileShown, PreviewForm
from bobusang.entry.web import lists, sheet_words, suppliers, uploads
from bobusang.entry.web.languages import N_
from bobusang.entry.web.lists import PAGE
from bobusang.entry.web.pages import Pages
from bobusang.flows.sheets.importing import ROWS
from bobusang.flows.sheets.supplying import declared
from bobusang.kit.errors import BobusangError, Missing
from bobusang.stages.collect import files
from bobusang.stages.collect.intake_tables import FileState
from bobusang.views import jobs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from bobusang.entry.web.forms import Fields
    from bobusang.entry.web.live import Draw
    from bobusang.entry.web.rendering import Eyes
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx

pages = Pages()

PARTS = "supplier_file_parts.html"
OPEN = (FileState.RECEIVED, FileState.PREVIEWED, FileState.FAILED)
SKIPPED = {
    "totals": N_("sums"),
    "notes": N_("notes"),
    "repeated headers": N_("repeated headers"),
    "skipped": N_("left out by the shop"),
}
ENCODINGS = ("utf-8", "cp949", "utf-16")
COLUMN = "column."
"""Before the name of a field in the form."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an import is; before its file is cut into parts nobody knows of how many."""

    file: FileShown
    over: int = 0
    parts: int = 0


@pages.get("/suppliers/{name}/files")
async def listed(visit: Visit) -> Response:
    """All files of a supplier, the newest first."""
    given, name = suppliers.frame(visit), visit.path["name"]
    asked = lists.given(visit, f"{suppliers.TAB}/{quote(name, safe='')}/files", [])
    found = await api.list_files_of(visit.desk, name, Paged(limit=PAGE, cursor=asked.cursor or None))
    asked.fill_page(found.items, found.next)
    return visit.page("supplier_files.html", list=asked, name=name, **given)


@pages.post("/suppliers/{name}/files", largest=LARGEST_FILE + uploads.AROUND)
async def send(visit: Visit) -> Response:
    """Keep the file, look it through at once, and show what was found."""
    sent = (await visit.form()).file("file")
    file, _ = await api.receive(visit.desk, visit.path["name"], sent.name, sent.data)
    to = f"/supplier-files/{file.id}"
    if file.state not in OPEN:
        return visit.done(N_("This file was sent before."), to)
    return await _looked_through(visit, file.id, PreviewForm(), N_("It was looked through; nothing is stored yet."), to)


@pages.get("/supplier-files/{file_id:int}")
async def shown(visit: Visit) -> Response:
    """The file: its columns, what is wrong with which cell, how far its import is or how it ended."""
    given = suppliers.frame(visit)
    file = await api.show_file(visit.desk, visit.number("file_id"))
    async with visit.desk.read() as tx:
        progress = await _progress(tx, file)
    return visit.page(
        "supplier_file.html",
        file=file,
        progress=progress,
        open=file.state in OPEN,
        **(_found(visit, file) if "headings" in file.report else {"report": None}),
        **given,
    )


def _found(visit: Visit, file: FileShown) -> dict[str, Any]:
    """What was found in a file that could be read."""
    report, called = file.report, partial(sheet_words.field, visit)
    read = set(report["columns"].values())
    return {
        "report": report,
        "chosen": _read_as(file),
        "is_by_shop": declared(visit.desk.app.collector, file.supplier) is not None,
        "fields": FIELDS,
        "required": REQUIRED,
        "skipped": SKIPPED,
        "called": called,
        "wrong": partial(sheet_words.problem, visit),
        "headings": [(one, one) for one in report["headings"]],
        "sheets_of_it": [(one, one) for one in report["sheets"]],
        "encodings": [(one, one) for one in ENCODINGS],
        "lacking": ", ".join(called(one) for one in report["lacking"]),
        "names": list(dict.fromkeys(name for row in report["shown"] for name in row["values"])),
        "unread": ", ".join(one for one in report["headings"] if one not in read),
    }


@pages.get("/supplier-files/{file_id:int}/body")
async def download(visit: Visit) -> Response:
    """The file as it came."""
    return await api.download_file(visit.desk, visit.number("file_id"))


@pages.post("/supplier-files/{file_id:int}/preview")
async def preview(visit: Visit) -> Response:
    """Read it again by the columns that were chosen."""
    file = await api.show_file(visit.desk, visit.number("file_id"))
    wish = _of_this_table(file, _wished(await visit.form()))
    return await _looked_through(visit, file.id, wish, N_("It was looked through; nothing is stored yet."))


@pages.post("/supplier-files/{file_id:int}/import")
async def import_(visit: Visit) -> Response:
    """Import it as it was looked through last. What was chosen since is looked through first: nobody imports what he
    has not seen."""
    file_id, wish = visit.number("file_id"), _wished(await visit.form())
    file = await api.show_file(visit.desk, file_id)
    to = f"/supplier-files/{file_id}"
    if wish is not None and file.state in OPEN and wish != _read_as(file):
        told = N_("You have chosen something else. This is what is found by it: import it now if it is right.")
        return await _looked_through(visit, file_id, _of_this_table(file, wish), told, to)
    done = await api.import_file(visit.desk, file_id)
    return visit.done(N_("Job %(job)s imports it. The columns are kept for the next file."), to, job=done.job_id)


@pages.post("/supplier-files/{file_id:int}/discard")
async def discard(visit: Visit) -> Response:
    """Throw it away."""
    done = await api.discard_file(visit.desk, visit.number("file_id"))
    to = f"{suppliers.TAB}/{quote(done.supplier, safe='')}"
    return visit.done(N_("%(name)s was thrown away."), to, name=done.name)


@pages.live("supplier-file:{file_id}")
async def live(site: Site, topic: Mapping[str, str]) -> Draw:
    """How far its import is."""
    name = topic["file_id"]
    if not (name.isascii() and name.isdecimal() and len(name) < 19):
        raise Missing("there is no such file")
    async with site.app.engine.db.read() as tx:
        found = await _progress(tx, api.shown_of(await files.get(tx, int(name))))

    def draw(eyes: Eyes) -> Mapping[str, str]:
        return {"file-progress": site.rendering.macro(PARTS, "progress", eyes, found)}

    return draw


async def _progress(tx: Tx, file: FileShown) -> Progress:
    if file.state is not FileState.IMPORTING or file.job_id is None:
        return Progress(file)
    step = next((one for one in await jobs.steps(tx, file.job_id) if one.name == ROWS), None)
    if step is None:
        return Progress(file)
    return Progress(file, step.succeeded + step.failed + step.skipped + step.cancelled, step.created)


async def _looked_through(visit: Visit, file_id: int, wish: PreviewForm, told: str, to: str = "") -> Response:
    to = to or f"/supplier-files/{file_id}"
    try:
        await api.preview_file(visit.desk, file_id, wish)
    except BobusangError as error:
        return visit.refused(error.message, error.hint, to)
    return visit.done(told, to)


def _read_as(file: FileShown) -> PreviewForm:
    """How a file was read last."""
    columns = {name: tried[0] for name, tried in file.mapping.get("columns", {}).items() if tried}
    return PreviewForm(
        columns=columns,
        header_row=file.mapping.get("header_row", 0),
        sheet=file.mapping.get("sheet", ""),
        complete=file.mapping.get("complete", True),
        encoding=file.mapping.get("encoding", ""),
    )


def _wished(form: Fields) -> PreviewForm | None:
    """How it is to be read; None where the page had nothing to choose, as of a file that a shop reads."""
    if not form.ticked("chosen"):
        return None
    given = {
        "columns": {one.name: heading for one in FIELDS if (heading := form.get(f"{COLUMN}{one.name}"))},
        "header_row": next(iter(form.numbers("header_row")), 0),
        "sheet": form.get("sheet"),
        "complete": form.ticked("complete"),
        "encoding": form.get("encoding"),
    }
    return PreviewForm.model_validate(given)


def _of_this_table(file: FileShown, wish: PreviewForm | None) -> PreviewForm:
    """A wish as it can be read: of another table of the file the columns are found anew."""
    if wish is None:
        return PreviewForm()
    last = _read_as(file)
    same = all(getattr(wish, name) == getattr(last, name) for name in ("header_row", "sheet", "encoding"))
    return wish if same else wish.model_copy(update={"columns": None})
