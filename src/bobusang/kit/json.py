"""JSON text in and out, bounded, and free of what some database would refuse."""

from __future__ import annotations

from typing import Any

import msgspec

from bobusang.kit.errors import Invalid

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder()

NUL = "\\u0000"


def dumps(value: object) -> str:
    """Encode; anything that is not JSON is the caller's mistake."""
    try:
        return _encoder.encode(value).decode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Invalid(f"not representable as JSON: {error}") from error


def loads(text: str | bytes) -> Any:
    """Decode; broken JSON is the caller's mistake."""
    try:
        return _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid(f"not JSON: {error}") from error


def payload(value: object, *, limit: int, name: str) -> str:
    """Encode what will be stored, refusing what is too large or holds a NUL (PostgreSQL cannot keep one)."""
    encoded = dumps(value)
    if len(encoded) > limit:
        raise Invalid(
            f"{name} has {len(encoded):,} characters, at most {limit:,} are allowed",
            hint="store large data in the blob store and pass its address",
            field=name,
        )
    if NUL in encoded:
        raise Invalid(f"{name} contains a NUL character", hint="remove it before storing", field=name)
    return encoded
