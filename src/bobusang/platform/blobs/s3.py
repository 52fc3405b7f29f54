"""Blobs as objects of any S3 API (AWS S3, Cloudflare R2, SeaweedFS): `ab/abc…` below the prefix."""

from __future__ import annotations

import asyncio
import secrets
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import quote

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from bobusang.kit.clock import Clock, SystemClock
from bobusang.kit.errors import Drifted, Missing, Unavailable
from bobusang.kit.redact import scrub
from bobusang.platform.blob import LARGEST, RENEW_AFTER, SETTING, address_of, checked, is_address
from bobusang.platform.blobs.packing import packed, unpacked

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from datetime import datetime

    from obstore.store import ClientConfig, RetryConfig, S3Config

    from bobusang.platform.blobs.place import Place

AT_ONCE = 16
PAGE = 1000
RETRIES: RetryConfig = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=30),
    "backoff": {"init_backoff": timedelta(milliseconds=100), "max_backoff": timedelta(seconds=2), "base": 2},
}
REFUSED = ("403 Forbidden", "401 Unauthorized")


class S3Blobs:
    """Content-addressed objects in one bucket."""

    def __init__(self, place: Place, *, clock: Clock | None = None) -> None:
        self._place = place
        self._clock = clock or SystemClock()
        self._store = _store(place)
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def put(self, data: bytes, *, media: str = "application/octet-stream") -> str:
        return (await self.put_many([(data, media)]))[0]

    async def put_many(self, many: Sequence[tuple[bytes, str]]) -> list[str]:
        addresses = await asyncio.to_thread(_addresses, many)
        by_address = dict(zip(addresses, many, strict=True))
        done = await asyncio.gather(*(self._keep(a, *one) for a, one in by_address.items()), return_exceptions=True)
        for failed in done:  # only now: none of them goes on behind the back of whoever hears of the failure
            if failed is not None:
                raise failed
        return addresses

    async def get(self, address: str) -> bytes:
        key = _key(checked(address))
        async with self._slots:
            with self._told(absent=Missing(f"there is no blob {address}")):
                answer = await obstore.get_async(self._store, key)
                if answer.meta["size"] > LARGEST:
                    raise Drifted(f"blob {address} is larger than any that was put", hint=f"look at {key}")
                stored = (await answer.bytes_async()).to_bytes()
        return await asyncio.to_thread(unpacked, address, stored)

    async def has(self, address: str) -> bool:
        async with self._slots:
            return await self._kept_at(checked(address)) is not None

    async def delete(self, addresses: Sequence[str]) -> None:
        keys = [_key(checked(address)) for address in addresses]
        for start in range(0, len(keys), PAGE):
            async with self._slots:
                with self._told():
                    await obstore.delete_async(self._store, keys[start : start + PAGE])

    async def addresses(self, *, older_than: datetime | None = None) -> AsyncIterator[str]:
        with self._told():
            async for page in obstore.list(self._store, chunk_size=PAGE):
                for meta in page:
                    address = meta["path"].rpartition("/")[2]
                    if is_address(address) and (older_than is None or meta["last_modified"] < older_than):
                        yield address

    def path(self, address: str) -> str:
        prefix = f"{self._place.prefix}/" if self._place.prefix else ""
        return quote(prefix + _key(checked(address)))

    async def check(self) -> None:
        key = f"check-{secrets.token_hex(8)}"
        with self._told():
            await obstore.put_async(self._store, key, b"may we write?")
            await obstore.delete_async(self._store, key)

    async def close(self) -> None:
        """Nothing to give back: the client has no state that outlives its calls."""

    async def _keep(self, address: str, data: bytes, media: str) -> None:
        """Ask first: that costs a tenth of a write, and the same page comes again and again.

        Two who both find nothing write the same bytes twice, which changes nothing.
        """
        async with self._slots:
            at = await self._kept_at(address)
            if at is not None and self._clock.now() - at <= RENEW_AFTER:
                return
            stored = await asyncio.to_thread(packed, data, media)
            kind = media if stored is data else "application/zstd"
            with self._told():
                await obstore.put_async(
                    self._store, _key(address), stored, attributes={"Content-Type": kind}, use_multipart=False
                )

    async def _kept_at(self, address: str) -> datetime | None:
        with self._told(absent=Missing(address)):
            try:
                return (await obstore.head_async(self._store, _key(address)))["last_modified"]
            except FileNotFoundError:  # of the object or of the bucket: a HEAD does not say, the PUT will
                return None

    @contextmanager
    def _told(self, *, absent: Missing | None = None) -> Iterator[None]:
        """Their errors as ours. A 404 means the bucket, unless the object itself may be absent."""
        try:
            yield
        except FileNotFoundError as error:
            if absent is not None and "NoSuchBucket" not in str(error):
                raise absent from None
            raise self._no_bucket() from error
        except (PermissionDeniedError, UnauthenticatedError) as error:
            raise self._refused() from error
        except BaseError as error:
            raise self._away(str(error)) from error

    def _no_bucket(self) -> Unavailable:
        return Unavailable(
            f"{SETTING}: there is no bucket {self._place.bucket} ({self._place})",
            hint="make the bucket or mend the address",
        )

    def _refused(self) -> Unavailable:
        return Unavailable(
            f"{SETTING}: {self._place} refuses our key or what we may do with it",
            hint="s3://key:secret@bucket or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; it must list, read and write",
        )

    def _away(self, text: str) -> Unavailable:
        """The remaining ones say only in words what happened."""
        if "NoSuchBucket" in text:
            return self._no_bucket()
        if any(word in text for word in REFUSED):
            return self._refused()
        said = scrub(text.partition("\n")[0])[:300]  # the rest is a dump of their structures
        return Unavailable(
            f"{SETTING}: {self._place} is away: {said}",
            hint="check the endpoint, the network and, where none are set, the credentials",
        )


def _store(place: Place) -> S3Store:
    config: S3Config = {}
    if place.endpoint:
        config["endpoint"] = place.endpoint
    if place.region:
        config["region"] = place.region
    if place.key:
        config["access_key_id"] = place.key
        config["secret_access_key"] = place.secret
    client: ClientConfig = {
        "allow_http": place.endpoint.startswith("http://"),
        "connect_timeout": timedelta(seconds=5),
        "timeout": timedelta(seconds=120),
    }
    return S3Store(
        place.bucket, prefix=place.prefix or None, config=config, client_options=client, retry_config=RETRIES
    )


def _addresses(many: Sequence[tuple[bytes, str]]) -> list[str]:
    return [address_of(data) for data, _ in many]


def _key(address: str) -> str:
    return f"{address[:2]}/{address}"
