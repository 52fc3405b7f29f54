"""Forms as browsers send them, and that it was a page of ours that sent them."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from bobusang.entry.api.problems import Forbidden, TooLarge
from bobusang.entry.web import uploads
from bobusang.entry.web.uploads import Upload
from bobusang.kit.errors import BobusangError, Invalid

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import ValidationError
    from starlette.datastructures import Headers
    from starlette.requests import Request

FIELDS = 5_000
NONCE = 16


class Fields:
    """What was filled in. Empty is the same as not there."""

    def __init__(self, pairs: list[tuple[str, str]], files: Mapping[str, Upload] | None = None) -> None:
        self._pairs = pairs
        self._files = files or {}

    def get(self, name: str, default: str = "") -> str:
        """The last value of a field."""
        return next((value for key, value in reversed(self._pairs) if key == name), "").strip() or default

    def text(self, name: str) -> str:
        """The same as it was typed, with its lines and blanks."""
        return next((value for key, value in reversed(self._pairs) if key == name), "").replace("\r\n", "\n")

    def all(self, name: str) -> list[str]:
        """All values of a field, as of boxes that were ticked."""
        return [value for key, value in self._pairs if key == name and value]

    def numbers(self, name: str) -> list[int]:
        """All values of a field that holds ids."""
        found = self.all(name)
        if not all(one.isascii() and one.isdecimal() and len(one) < 19 for one in found):
            raise Invalid(f"{name} must be numbers", field=name)
        return [int(one) for one in found]

    def some(self, *names: str) -> dict[str, str]:
        """Those of these fields that were filled in."""
        return {name: value for name in names if (value := self.get(name))}

    def ticked(self, name: str) -> bool:
        """Whether a box is ticked."""
        return bool(self.get(name))

    def file(self, name: str) -> Upload:
        """The file that was chosen in a field."""
        if name not in self._files:
            raise Invalid("no file was chosen", hint="choose one first", field=name)
        return self._files[name]


def wrong(error: BobusangError | ValidationError) -> BobusangError:
    """What is wrong with a form, as an error of ours; of what a form of the API found, the first."""
    if isinstance(error, BobusangError):
        return error
    found = error.errors(include_url=False, include_input=False)[0]
    field = ".".join(str(part) for part in found["loc"])
    return Invalid(f"{field}: {found['msg']}" if field else found["msg"], field=field)


async def read(request: Request, *, files: bool = False) -> Fields:
    """The body of a form, where `files` says so with files; its size was bounded at the door."""
    given = request.headers.get("content-type", "")
    kind = given.partition(";")[0].strip().lower()
    if files and kind == uploads.KIND:
        sent = uploads.parsed(await request.body(), given)
        return Fields(_sound(sent.pairs), sent.files)
    if kind != "application/x-www-form-urlencoded":
        raise Invalid("a form was expected", hint="send application/x-www-form-urlencoded")
    body = await request.body()
    try:
        text = body.decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=FIELDS)
    except ValueError as error:
        raise Invalid(f"the form cannot be read: {error}") from None
    return Fields(_sound(pairs))


def _sound(pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    if any("\0" in value for _, value in pairs):
        raise Invalid("the form contains a NUL character")
    return pairs


def token(secret: str) -> str:
    """What a form of ours carries; another one on every page, so that compressing says nothing about it."""
    nonce = secrets.token_hex(NONCE // 2)
    return nonce + _signed(secret, nonce)


def check_token(secret: str, given: str) -> None:
    """Refuse what no page of ours has sent."""
    nonce = given[:NONCE]
    if not hmac.compare_digest(given[NONCE:].encode(), _signed(secret, nonce).encode()):
        raise Forbidden("this form is of another session, or of another site", hint="load the page again")


def check_origin(headers: Headers, host: str) -> None:
    """Refuse what a page of another site has our visitor's browser send."""
    site = headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        raise Forbidden("this request comes from a page of another site")
    origin = headers.get("origin")
    if origin is not None and urlsplit(origin).netloc != host:
        raise Forbidden("this request comes from a page of another site")


def check_size(headers: Headers, most: int) -> None:
    """Refuse a file that says that it is too large before anything of it is read."""
    length = headers.get("content-length", "")
    if length.isdecimal() and int(length) > most:
        raise TooLarge(f"the file has more than {most >> 20} MB", hint="split it")


def _signed(secret: str, nonce: str) -> str:
    return hmac.new(secret.encode(), nonce.encode(), hashlib.sha256).hexdigest()
