"""Many products at once: upserted from NDJSON with a result a line, and exported as CSV or NDJSON."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Literal

from fastapi import Query, Request
from pydantic import BaseModel, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response, StreamingResponse

from bobusang.catalog.model import ChangeKind
from bobusang.entry.api.conditions import encoded
from bobusang.entry.api.desk import Desk, Operator, Viewer
from bobusang.entry.api.duplex import NDJSON, Duplex, lines
from bobusang.entry.api.narrowing import narrowed
from bobusang.entry.api.problems import Malformed, TooLarge, Unsupported, wrong
from bobusang.entry.api.product_forms import EXAMPLE, ProductForm
from bobusang.entry.api.products import NAMES, ProductChoice
from bobusang.entry.api.records import groups_of
from bobusang.entry.api.resource import Resource
from bobusang.flows.catalogue.upserting import Outcome, Wanted, upsert
from bobusang.kit.errors import BobusangError, Invalid, Unavailable
from bobusang.kit.formula import defused
from bobusang.views import product_lists
from bobusang.views.products import ProductLine

router = Resource("products", "/products")

AT_ONCE = 500
"""Products of one transaction."""
LONGEST = 256 * 1024
"""Bytes of a line."""
MOST = 100_000
"""Lines of a body: what bounds the results that nobody has read yet."""
KINDS = (NDJSON, "application/jsonl", "application/x-jsonlines", "text/plain")


class LineError(BaseModel):
    """Why a line could not be taken."""

    code: str
    detail: str
    field: str | None = None
    hint: str | None = None


class LineResult(BaseModel):
    """What became of one line: the product and whether it is new, changed or the same, or an error."""

    line: int = Field(examples=[1])
    id: int | None = Field(default=None, examples=[EXAMPLE["id"]])
    result: ChangeKind | None = Field(default=None, examples=["new"])
    error: LineError | None = None


class ExportQuery(ProductChoice):
    """Which products, and how they are written."""

    format: Literal["csv", "ndjson"] = "csv"


PART = {"$ref": "#/components/schemas/ProductPart"}
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": f"A product a line, as POST /products takes it; at most {MOST:,} lines of {LONGEST:,} bytes.",
        "content": {NDJSON: {"schema": {"type": "string"}, "example": '{"product_id": "1", "name": "패딩"}\n'}},
    }
}


@router.post(
    "/bulk",
    summary="Make or change many products",
    status_code=200,
    response_class=Duplex,
    responses={200: {"model": LineResult, "description": "A result a line"}},
    openapi_extra=BODY,
)
async def put_products(desk: Operator, request: Request) -> Response:
    """NDJSON in, a result a line out, in their order and while the body is still sent. A line that cannot be taken
    spoils no other. Sent again it changes nothing more."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in KINDS:
        raise Unsupported(f"a body of type '{kind}' is not read here", hint=f"send {NDJSON}")
    return Duplex(_results(desk, request))


async def _results(desk: Desk, request: Request) -> AsyncIterator[bytes]:
    """One part of the answer for each batch of lines."""
    waiting: list[tuple[int, Wanted | BobusangError]] = []
    number = 0
    try:
        async for line in lines(request.stream(), LONGEST):
            number += 1
            if number > MOST + 1:
                continue  # read to its end all the same: the caller is still sending it
            if number > MOST:
                waiting.append((number, TooLarge(f"only {MOST:,} lines are read", hint="send the rest by itself")))
            elif line is None or line.strip():
                waiting.append((number, _wanted(line)))
            if len(waiting) >= AT_ONCE:
                yield await _batch(desk, waiting)
                waiting = []
    except HTTPException as error:  # the guard has stopped reading
        waiting.append((number + 1, TooLarge(str(error.detail), hint="send several smaller files")))
    if waiting:
        yield await _batch(desk, waiting)


def _wanted(line: bytes | None) -> Wanted | BobusangError:
    if line is None:
        return TooLarge(f"the line has more than {LONGEST:,} bytes", hint="a product a line")
    try:
        return ProductForm.model_validate_json(line).wanted()
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        if found[0]["type"] == "json_invalid":
            return Malformed(f"the line is not JSON: {found[0]['ctx']['error']}")
        first = wrong(found)[0]
        return Invalid(f"{first.field}: {first.message}" if first.field else first.message, field=first.field)


async def _batch(desk: Desk, told: Sequence[tuple[int, Wanted | BobusangError]]) -> bytes:
    """The results of some lines, in their order."""
    good = [one for _, one in told if isinstance(one, Wanted)]
    outcomes = iter(await _written(desk, good))
    found = [(number, next(outcomes) if isinstance(one, Wanted) else Outcome(error=one)) for number, one in told]
    return b"".join(encoded(_result(number, outcome)) + b"\n" for number, outcome in found)


async def _written(desk: Desk, good: Sequence[Wanted]) -> list[Outcome]:
    """All in one transaction; when that fails as a whole, each by itself, to find the one that spoils it."""
    if not good:
        return []
    try:
        return await desk.write(lambda tx: upsert(tx, good, desk.actor, lambda mall: groups_of(desk, mall)))
    except Unavailable as error:
        return [Outcome(error=error)] * len(good)
    except BobusangError as error:
        if len(good) == 1:
            return [Outcome(error=error)]
        return [outcome for one in good for outcome in await _written(desk, [one])]


def _result(number: int, outcome: Outcome) -> dict[str, Any]:
    error = outcome.error
    if error is None:
        return {"line": number, "id": outcome.id, "result": outcome.kind}
    told = {"code": error.code, "detail": error.message, "field": error.field, "hint": error.hint}
    return {"line": number, "error": {name: value for name, value in told.items() if value}}


@router.get(
    "/export",
    summary="Export products",
    response_class=StreamingResponse,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}, NDJSON: {"schema": PART}}}},
)
async def export_products(desk: Viewer, query: Annotated[ExportQuery, Query()]) -> Response:
    """All that the filter lets through, by id, as a file that is written while it is read."""
    names = query.names()
    found = product_lists.exported(desk.read, query.wanted())
    if query.format == "ndjson":
        made, kind = _ndjson(found, names), NDJSON
    else:
        made, kind = _csv(found, names or NAMES), "text/csv; charset=utf-8"
    saved = {"Content-Disposition": f'attachment; filename="products.{query.format}"'}
    return StreamingResponse(made, media_type=kind, headers=saved)


async def _ndjson(found: AsyncIterator[list[ProductLine]], names: tuple[str, ...]) -> AsyncIterator[bytes]:
    async for part in found:
        yield b"".join(encoded(narrowed(line, names)) + b"\n" for line in part)


async def _csv(found: AsyncIterator[list[ProductLine]], names: tuple[str, ...]) -> AsyncIterator[bytes]:
    """With the mark by which a spreadsheet knows UTF-8."""
    yield b"\xef\xbb\xbf" + _rows([names])
    async for part in found:
        yield _rows([tuple(cell(getattr(line, name)) for name in names) for line in part])


def _rows(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def cell(value: Any) -> str:
    """A value in a spreadsheet: text that would be run as a formula is marked as text."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case list():
            return defused(" ".join(value))
        case str():
            return defused(value)
        case int():
            return str(value)
    found: str = value.isoformat()
    return found
