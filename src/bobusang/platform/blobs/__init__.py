"""Where blobs are kept: files, or any S3 API, chosen by one address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean
from bobusang.platform.blob import SETTING
from bobusang.platform.blobs.files import FileBlobs
from bobusang.platform.blobs.place import place

if TYPE_CHECKING:
    from bobusang.kit.clock import Clock
    from bobusang.platform.blob import Blobs

KNOWN = ("file", "s3")


def opened(url: str, *, folder: Path, clock: Clock | None = None) -> Blobs:
    """The store at an address: `file:///folder`, `s3://bucket/prefix?endpoint=…&region=…`, or empty: files in `folder`.

    Nothing is reached yet: `check` does that. A wrong address raises Invalid, naming the setting.
    """
    if not url:
        return FileBlobs(folder, clock=clock)
    scheme, separator, _ = url.partition("://")
    match scheme if separator else "":
        case "file":
            return FileBlobs(_folder(url), clock=clock)
        case "s3":
            return _s3(url, clock)
        case "":
            raise Invalid(f"{SETTING} is no address", hint="file:///folder or s3://bucket/prefix", field="blob_url")
        case _:
            raise Invalid(f"{SETTING}: no store is called {scheme}", hint=did_you_mean(scheme, KNOWN), field="blob_url")


def _folder(url: str) -> Path:
    parts = urlsplit(url)
    folder = Path(unquote(parts.path))
    if parts.netloc or not parts.path or parts.query:
        raise Invalid(f"{SETTING}: '{url}' names no folder", hint="file:///folder, three slashes", field="blob_url")
    return folder


def _s3(url: str, clock: Clock | None) -> Blobs:
    try:
        from bobusang.platform.blobs.s3 import S3Blobs
    except ModuleNotFoundError as error:
        raise Invalid(
            f"{SETTING} names a bucket, but {error.name} is not installed",
            hint="pip install 'bobusang[s3]'",
            field="blob_url",
        ) from error
    return S3Blobs(place(url), clock=clock)
