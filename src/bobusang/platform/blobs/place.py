"""Where a bucket is, read from `s3://key:secret@bucket/prefix?endpoint=https://…&region=…`."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean
from bobusang.platform.blob import SETTING

KNOWN = ("endpoint", "region")


@dataclass(frozen=True, slots=True)
class Place:
    """A bucket and how to reach it; without key and secret those of the environment (AWS_ACCESS_KEY_ID) are used."""

    bucket: str
    prefix: str = ""
    endpoint: str = ""
    region: str = ""
    key: str = field(default="", repr=False)
    secret: str = field(default="", repr=False)

    def __str__(self) -> str:
        """As it may be logged."""
        where = f"s3://{self.bucket}/{self.prefix}".rstrip("/")
        return f"{where} at {self.endpoint}" if self.endpoint else where


def place(url: str) -> Place:
    """Read an address; what is wrong with it is said without its secret."""
    parts = urlsplit(url)
    bucket = parts.netloc.rpartition("@")[2]
    if not bucket:
        raise Invalid(f"{SETTING} names no bucket", hint="s3://bucket/prefix?endpoint=https://…", field="blob_url")
    if bool(parts.username) != bool(parts.password):
        raise Invalid(
            f"{SETTING} has a key or a secret, but not both",
            hint="s3://key:secret@bucket with '/' in the secret written as %2F, or neither and AWS_ACCESS_KEY_ID",
            field="blob_url",
        )
    asked = dict(parse_qsl(parts.query))
    for name in asked:
        if name not in KNOWN:
            raise Invalid(f"{SETTING}: '{name}' is unknown", hint=did_you_mean(name, KNOWN), field="blob_url")
    return Place(
        bucket,
        unquote(parts.path).strip("/"),
        _endpoint(asked.get("endpoint", "")),
        asked.get("region", ""),
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )


def _endpoint(given: str) -> str:
    parts = urlsplit(given)
    if given and (parts.scheme not in {"http", "https"} or not parts.hostname or parts.username):
        raise Invalid(
            f"{SETTING}: the endpoint is no address", hint="such as https://account.example.com", field="blob_url"
        )
    return given.rstrip("/")
