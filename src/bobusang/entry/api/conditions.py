"""Conditions of a request: the ETag of what is shown, and changes that go through only on what the caller has seen."""

from __future__ import annotations

from hashlib import blake2b
from typing import Annotated, Any

import msgspec
from fastapi import Header
from starlette.responses import Response

from bobusang.entry.api.problems import Outdated

MEDIA = "application/json"
_encoder = msgspec.json.Encoder()

IfMatch = Annotated[
    str | None,
    Header(max_length=1000, description="the `ETag` that was seen; 412 when it has changed since", examples=['"5f0c"']),
]
IfNoneMatch = Annotated[
    str | None, Header(description="the `ETag` that is known; 304 when it still is", examples=['"5f0c"'])
]
UNCHANGED: dict[int | str, dict[str, Any]] = {304: {"description": "It is as it was"}}


def encoded(value: Any) -> bytes:
    """JSON of one of our views, without a detour over models."""
    return _encoder.encode(value)


def etag(body: bytes) -> str:
    """A strong one: other bytes have another."""
    return f'"{blake2b(body, digest_size=12).hexdigest()}"'


def shown(value: Any, status: int = 200, known: str | None = None, *, of: Any = None, **headers: str) -> Response:
    """An answer with its ETag; nothing but that when the caller knows it. `of`: what the ETag stands for, where the
    answer also tells what nobody changes by hand."""
    body = encoded(value)
    tag = etag(body if of is None else encoded(of))
    if known is not None and status == 200 and _names(known, tag):
        return Response(status_code=304, headers={"ETag": tag})
    return Response(body, status, {"ETag": tag, **headers}, MEDIA)


def must_match(wanted: str | None, value: Any) -> None:
    """Refuse a change of what the caller has not seen."""
    if wanted is not None and not _names(wanted, etag(encoded(value)), strong=True):
        raise Outdated(
            "it has changed since you read it",
            hint="read it again, and send the ETag that it has then",
            field="If-Match",
        )


def _names(header: str, tag: str, *, strong: bool = False) -> bool:
    """Whether a list of ETags has this one; a weak one never stands for what is to be changed."""
    given = [one.strip() for one in header.split(",")]
    return "*" in given or tag in given or (not strong and f"W/{tag}" in given)
