"""The blob contract: bytes kept by what they are (SHA-256), written once, never changed."""

from __future__ import annotations

import re
from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Protocol

from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from datetime import datetime

SETTING = "BOBUSANG_BLOB_URL"
LARGEST = 256 << 20
"""Bytes of one blob: what a spreadsheet or a film may have, and what unpacking one may cost."""
RENEW_AFTER = timedelta(days=1)
"""Bytes put again after this time count as written anew, so that whoever tidies up by age leaves them alone."""

_ADDRESS = re.compile(r"[0-9a-f]{64}", re.ASCII)


class Blobs(Protocol):
    """A store of content-addressed bytes. What `put` has returned survives a crash of this machine.

    An address that is none raises Invalid, a store that cannot be reached or written Unavailable.
    """

    async def put(self, data: bytes, *, media: str = "application/octet-stream") -> str:
        """Keep these bytes; their address (64 hexadecimal digits). Keeping the same twice keeps them once.

        Text (HTML, JSON, XML) is compressed on the way; the address is that of the bytes as given.
        """
        ...

    async def put_many(self, many: Sequence[tuple[bytes, str]]) -> list[str]:
        """Keep several (data, media) at the price of few syncs; their addresses in order."""
        ...

    async def get(self, address: str) -> bytes:
        """The bytes; Missing when there are none, Drifted when they are not what the address says."""
        ...

    async def has(self, address: str) -> bool: ...

    async def delete(self, addresses: Sequence[str]) -> None:
        """Forget them; one that is not there is no error."""
        ...

    def addresses(self, *, older_than: datetime | None = None) -> AsyncIterator[str]:
        """All that is kept, or what was last put before then (to within `RENEW_AFTER`)."""
        ...

    def path(self, address: str) -> str | None:
        """Where these bytes lie below the store's own public address; None where it has none: only we hand them out."""
        ...

    async def check(self) -> None:
        """Raise Unavailable, naming the setting, when the store cannot be written."""
        ...

    async def close(self) -> None: ...


def address_of(data: bytes) -> str:
    """The address of these bytes in any store; `put` gives the same one."""
    return sha256(data).hexdigest()


def is_address(text: str) -> bool:
    """Is this text an address, rather than the name of some other file?"""
    return _ADDRESS.fullmatch(text) is not None


def checked(address: str) -> str:
    """The address, or Invalid: it becomes part of a path, so nothing else may pass."""
    if not is_address(address):
        raise Invalid(
            f"'{address[:80]}' is no address of a blob", hint="64 hexadecimal digits in lower case", field="address"
        )
    return address
