"""The conformance suite of blobs: what every store must do.

`class TestFiles(BlobSuite)` needs three fixtures: `blobs` (an empty store), `other` (the same store as a second process
has it) and `spoil` (puts bytes in the place of those of an address).
"""

from __future__ import annotations

import asyncio
import random
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
import zstandard

from bobusang.kit.errors import Drifted, Invalid, Missing
from bobusang.platform.blob import address_of
from bobusang.platform.blobs.bundle import bundled

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from bobusang.platform.blob import Blobs

    Spoil = Callable[[str, bytes], Awaitable[None]]

HTML = "text/html; charset=utf-8"
PAGE = "<p>캐시미어 코트 129,000원</p>\n".encode() * 50
NOWHERE = sha256(b"nobody ever put this").hexdigest()
CONTENTS = {
    "nothing": (b"", HTML),
    "a byte": (b"\x00", "image/jpeg"),
    "Hangul": (PAGE, HTML),
    "EUC-KR": ("캐시미어 코트".encode("euc-kr") * 99, "text/html; charset=euc-kr"),
    "5 MB that do not shrink": (random.Random(1).randbytes(5_000_000), "image/jpeg"),
    "5 MB that call themselves text": (random.Random(2).randbytes(5_000_000), "application/json"),
    "5 MB that shrink": (b'{"key": 1}' * 500_000, "application/json"),
    "a frame": (zstandard.compress(PAGE), "application/octet-stream"),
    "a frame that calls itself text": (zstandard.compress(PAGE), HTML),
    "what looks like many in one": (bundled({NOWHERE: b"one", address_of(b"two"): b"two"}), "image/jpeg"),
    "half a frame": (zstandard.compress(PAGE)[:20], "application/octet-stream"),
}


class BlobSuite:
    """Tests that hold for blobs wherever they are kept."""

    @pytest.mark.parametrize(("data", "media"), CONTENTS.values(), ids=CONTENTS)
    async def test_what_is_put_comes_back(self, blobs: Blobs, other: Blobs, data: bytes, media: str) -> None:
        address = await blobs.put(data, media=media)

        assert address == sha256(data).hexdigest()
        assert (await blobs.get(address), await other.get(address)) == (data, data)
        assert (await blobs.has(address), await other.has(address)) == (True, True)

    async def test_many_are_kept_in_order_and_the_same_ones_once(self, blobs: Blobs) -> None:
        pages = [PAGE + str(number % 150).encode() for number in range(200)]

        addresses = await blobs.put_many([(page, HTML) for page in pages])

        assert addresses == [sha256(page).hexdigest() for page in pages]
        assert [await blobs.get(address) for address in addresses[:150]] == pages[:150]
        assert [address async for address in blobs.addresses()] == sorted(set(addresses))

    async def test_none_are_kept_at_once(self, blobs: Blobs) -> None:
        assert await blobs.put_many([]) == []
        assert [address async for address in blobs.addresses()] == []

    async def test_the_same_under_another_media_type_is_the_same(self, blobs: Blobs) -> None:
        addresses = [await blobs.put(PAGE, media=media) for media in (HTML, "image/jpeg", HTML)]

        assert [address async for address in blobs.addresses()] == list(set(addresses))
        assert await blobs.get(addresses[0]) == PAGE

    async def test_putting_the_same_at_the_same_time_keeps_it_once(self, blobs: Blobs, other: Blobs) -> None:
        addresses = await asyncio.gather(*(store.put(PAGE, media=HTML) for store in (blobs, other) * 10))

        assert set(addresses) == {sha256(PAGE).hexdigest()}
        assert [address async for address in other.addresses()] == [addresses[0]]
        assert await other.get(addresses[0]) == PAGE

    async def test_what_is_there_is_not_written_again(self, blobs: Blobs, other: Blobs, spoil: Spoil) -> None:
        address = await blobs.put(PAGE, media=HTML)
        await spoil(address, b"a mark that writing would wipe out")

        assert await other.put(PAGE, media=HTML) == address

        with pytest.raises(Drifted):
            await blobs.get(address)

    async def test_what_is_not_there_is_missing(self, blobs: Blobs) -> None:
        assert await blobs.has(NOWHERE) is False
        with pytest.raises(Missing, match=rf"^there is no blob {NOWHERE}$"):
            await blobs.get(NOWHERE)

    @pytest.mark.parametrize("address", ["", "../../etc/passwd", NOWHERE.upper(), NOWHERE[:-1], f"{NOWHERE}\n"])
    async def test_what_is_no_address_is_refused(self, blobs: Blobs, address: str) -> None:
        for ask in (blobs.get(address), blobs.has(address), blobs.delete([address])):
            with pytest.raises(Invalid, match="is no address of a blob"):
                await ask

    @pytest.mark.parametrize(
        "instead",
        [b"", b"something else", zstandard.compress(b"something else"), zstandard.compress(PAGE)[:-5], PAGE[:-1]],
        ids=["nothing", "other bytes", "a frame of other bytes", "half a frame", "half the bytes"],
    )
    async def test_what_was_changed_has_drifted(self, blobs: Blobs, spoil: Spoil, instead: bytes) -> None:
        address = await blobs.put(PAGE, media=HTML)
        await spoil(address, instead)

        with pytest.raises(Drifted, match=rf"^blob {address} was changed where it is stored"):
            await blobs.get(address)

    async def test_deleted_ones_are_gone_and_others_stay(self, blobs: Blobs, other: Blobs) -> None:
        one, two, three = await blobs.put_many([(b"one", HTML), (b"two", HTML), (b"three", HTML)])

        await blobs.delete([one, NOWHERE, three])
        await blobs.delete([])

        assert [await other.has(address) for address in (one, two, three)] == [False, True, False]
        assert [address async for address in other.addresses()] == [two]

    async def test_a_deleted_one_can_be_put_again(self, blobs: Blobs) -> None:
        address = await blobs.put(PAGE, media=HTML)
        await blobs.delete([address])

        assert await blobs.put(PAGE, media=HTML) == address
        assert await blobs.get(address) == PAGE

    async def test_the_old_are_told_from_the_young(self, blobs: Blobs) -> None:
        addresses = sorted(await blobs.put_many([(b"one", HTML), (b"two", HTML)]))
        now = datetime.now(UTC)

        assert [found async for found in blobs.addresses(older_than=now - timedelta(hours=1))] == []
        assert [found async for found in blobs.addresses(older_than=now + timedelta(hours=1))] == addresses

    async def test_a_check_leaves_nothing(self, blobs: Blobs) -> None:
        await blobs.check()

        assert [address async for address in blobs.addresses()] == []
