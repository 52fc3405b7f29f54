"""Pictures are served to the world by their content; nothing else of the store is."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import obstore
import pytest
from obstore.store import S3Store

from bobusang.kit.errors import Invalid
from bobusang.platform.blob import address_of
from bobusang.platform.blobs import opened as opened_blobs
from bobusang.platform.blobs.place import place
from bobusang.stages.image import store
from bobusang.stages.image.decoding import Prepared, prepare
from bobusang.stages.image.model import Limits
from bobusang.stages.image.recipe import Recipe, public_url
from tests.integration.api.door import opened
from tests.unit.image.pictures import encoded, photo

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from bobusang.platform.blobs.place import Place
    from tests.integration.api.door import Door


@pytest.fixture
async def door(empty_sqlite: str, tmp_path: Path) -> AsyncIterator[Door]:
    async with opened(empty_sqlite, tmp_path) as found:
        yield found


async def kept(door: Door) -> Prepared:
    """A picture whose files are written down and stored."""
    made = prepare(encoded(photo(1, (400, 300)), "PNG"), Limits(), Recipe(side=200))
    assert isinstance(made, Prepared)
    assert made.derivative is not None
    files, derivatives = [made.file], [made.derivative]
    await door.app.engine.db.transact(lambda tx: store.keep(tx, files, derivatives))
    await door.app.collector.blobs.put_many([(made.data, "image/png"), (made.derived, "image/jpeg")])
    return made


async def test_a_market_fetches_a_picture_without_a_key_and_for_ever(door: Door) -> None:
    made = await kept(door)
    assert made.derivative is not None

    for address, data, media in (
        (made.derivative.sha256, made.derived, "image/jpeg"),
        (made.file.sha256, made.data, "image/png"),
    ):
        answer = await door.stranger.get(f"/media/{address}")

        assert (answer.status_code, answer.content) == (200, data)
        told = {
            "content-type": media,
            "cache-control": "public, max-age=31536000, immutable",
            "x-content-type-options": "nosniff",
            "content-security-policy": "default-src 'none'; sandbox",
            "cross-origin-resource-policy": "cross-origin",
            "etag": f'"{address}"',
        }
        assert {name: answer.headers[name] for name in told} == told
        head = await door.stranger.head(f"/media/{address}")
        assert (head.status_code, head.headers["content-length"]) == (200, str(len(data)))
        again = await door.stranger.get(f"/media/{address}", headers={"If-None-Match": f'"{address}"'})
        assert (again.status_code, again.content) == (304, b"")


async def test_a_market_that_insists_on_an_ending_gets_one(door: Door) -> None:
    made = await kept(door)
    assert made.derivative is not None

    answer = await door.stranger.get(f"/media/{made.derivative.sha256}.jpg")
    other = await door.stranger.get(f"/media/{made.derivative.sha256}.html")

    assert (answer.status_code, answer.content, other.status_code) == (200, made.derived, 404)


async def test_a_bucket_hands_out_a_picture_at_the_address_that_markets_are_given(fresh_s3: str) -> None:
    """Signed, for the bucket of these tests is open to nobody: the path must be the very one."""
    where, picture = place(fresh_s3), encoded(photo(1, (400, 300)), "PNG")
    blobs = opened_blobs(fresh_s3, folder=Path("/nowhere"))
    address = await blobs.put(picture, media="image/png")

    found = public_url(f"{where.endpoint}/{where.bucket}", address, "image/png", blobs.path(address))

    assert found == f"{where.endpoint}/{where.bucket}/{where.prefix}/{address[:2]}/{address}"
    assert await fetched(where, found) == (200, "image/png", picture)


async def test_what_cannot_be_a_public_address_is_said_at_the_start(empty_sqlite: str, tmp_path: Path) -> None:
    settings = {"blob_url": "s3://key:secret@bucket", "public_url": "https://img.example.com/{sha256}"}

    with pytest.raises(Invalid, match=r"^BOBUSANG_PUBLIC_URL: .* which lie in a bucket"):
        async with opened(empty_sqlite, tmp_path, **settings):
            pass


async def fetched(where: Place, url: str) -> tuple[int, str, bytes]:
    """What a plain GET with the bucket's signature gives."""
    key = url.removeprefix(f"{where.endpoint}/{where.bucket}/")
    bucket = S3Store(
        where.bucket,
        config={
            "endpoint": where.endpoint,
            "region": where.region,
            "access_key_id": where.key,
            "secret_access_key": where.secret,
        },
        client_options={"allow_http": True},
    )
    signed = await obstore.sign_async(bucket, "GET", key, timedelta(minutes=1))
    async with httpx.AsyncClient() as client:
        answer = await client.get(f"{url}?{signed.partition('?')[2]}")
    return answer.status_code, answer.headers["content-type"], answer.content


async def test_nothing_but_pictures_is_found(door: Door) -> None:
    """Raw pages and spreadsheets with customers lie in the same store."""
    secret = await door.app.collector.blobs.put(b"<html>orders</html>", media="text/html")
    made = await kept(door)
    await door.app.collector.blobs.delete([made.file.sha256])  # refused ones are written down, and not kept

    for name in (secret, made.file.sha256, address_of(b"nothing"), made.file.sha256.upper(), "..%2f..%2fetc", "1"):
        answer = await door.stranger.get(f"/media/{name}")
        assert answer.status_code == 404, name
        assert answer.headers["cache-control"] == "no-store"
    for path in ("/media", "/media/"):
        assert (await door.stranger.get(path)).status_code == 404
    assert (await door.stranger.delete(f"/media/{secret}")).status_code == 405


async def test_a_picture_goes_the_short_way_and_is_told_as_on_the_usual_one(door: Door) -> None:
    """`HEAD` goes the usual one, and what it says is what `GET` says."""
    made = await kept(door)
    own = {"x-request-id": "r"}

    for name in (made.file.sha256, address_of(b"nothing")):
        short = await door.stranger.get(f"/media/{name}", headers=own)
        usual = await door.stranger.head(f"/media/{name}", headers=own)

        assert (short.status_code, dict(short.headers)) == (usual.status_code, dict(usual.headers))
