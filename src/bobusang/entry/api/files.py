"""Files as bodies: CSV text that is sent in, and handed out to be saved."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from starlette.responses import Response

from bobusang.entry.api.problems import Malformed, Unsupported

CSV = "text/csv"
TEXT = (CSV, "text/plain", "application/csv", "application/vnd.ms-excel")
BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "A CSV file in UTF-8.",
        "content": {CSV: {"schema": {"type": "string"}}},
    }
}


async def sent_bytes(request: Request) -> bytes:
    """The file that was sent."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in TEXT:
        raise Unsupported(f"a body of type '{kind}' is not read here", hint=f"send the file as {CSV}")
    return await request.body()


async def sent_text(request: Request) -> str:
    """The text that was sent."""
    body = await sent_bytes(request)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        hint = "save the file as UTF-8"
        raise Malformed(f"the file is not UTF-8: {error.reason} at byte {error.start}", hint=hint) from error
    if "\0" in text:
        raise Malformed("the file contains a NUL character", hint="save the file as UTF-8")
    return text


def handed(text: str, name: str) -> Response:
    """A CSV file to be saved."""
    return Response(text, media_type=CSV, headers={"Content-Disposition": f'attachment; filename="{name}"'})
