"""Static files: an address carries the hash of what it names, so a browser asks once and never again."""

from __future__ import annotations

import gzip
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.nearest import did_you_mean

FOLDER = Path(__file__).parent / "static"
PREFIX = "/ui/static/"
MEDIA = {
    ".css": "text/css; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webp": "image/webp",
    ".woff2": "font/woff2",
}
PACKED_ALREADY = frozenset({".ico", ".png", ".webp", ".woff2"})
MOST_FILES = 500
MOST_BYTES = 2 * 1024 * 1024
HASH_LETTERS = 12
REFUSED = re.compile(r"q\s*=\s*0(\.0*)?")

EVERY = {"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin", "Vary": "Accept-Encoding"}
FOREVER = {**EVERY, "Cache-Control": "public, max-age=31536000, immutable"}
NOT_KEPT = {**EVERY, "Cache-Control": "no-cache"}


@dataclass(frozen=True, slots=True)
class Form:
    """The bytes of a file, plain or by gzip: held here, or left on disk and known again by their hash."""

    digest: str
    path: Path | None = None
    held: bytes = b""

    def read(self) -> bytes | None:
        """Nothing if the disk has something else by now, as while another version is being installed."""
        if self.path is None:
            return self.held
        try:
            found = self.path.read_bytes()
        except OSError:
            return None
        return found if hashlib.sha256(found).hexdigest() == self.digest else None


@dataclass(frozen=True, slots=True)
class Asset:
    """A file as it is served."""

    url: str
    media: str
    changed: int
    plain: Form
    packed: Form | None


class Assets:
    """The files of a folder by their names (`app.css`, `vendor/htmx.js`), read once.

    Small files are kept in memory. One with a `.gz` beside it, as the build makes for third-party scripts, stays on
    disk. With `watch`, for whoever works on the files, a changed one is read again when its address is asked for.
    """

    def __init__(self, folder: Path = FOLDER, *, watch: bool = False) -> None:
        self._folder = folder
        self._watch = watch
        self._by_name: dict[str, Asset] = {}
        self._by_url: dict[str, Asset] = {}
        paths = [path for path in sorted(folder.rglob("*")) if _is_served(path)]
        if len(paths) > MOST_FILES:
            raise Invalid(f"{folder} has {len(paths)} files", hint=f"at most {MOST_FILES} are served")
        for path in paths:
            self._take(path)

    def url(self, name: str) -> str:
        """The address to write into a page."""
        if self._watch:
            self._look_again(name)
        found = self._by_name.get(name)
        if found is None:
            hint = did_you_mean(name, self._by_name)
            if name.startswith("vendor/"):
                hint = "third-party scripts come with the build: run `make assets`, or install the package again"
            raise Missing(f"there is no static file '{name}'", hint=hint)
        return found.url

    async def serve(self, request: Request) -> Response:
        """The route behind `/ui/static/{name:path}`, for GET and HEAD."""
        found = self._by_url.get(f"{PREFIX}{request.path_params['name']}")
        if found is None:
            return _not_found()
        headers = {**FOREVER, "Content-Type": found.media}
        form = found.plain
        if found.packed is not None and _takes_gzip(request.headers.get("accept-encoding", "")):
            form = found.packed
            headers["Content-Encoding"] = "gzip"
        body = form.held if form.path is None else await run_in_threadpool(form.read)
        return _not_found() if body is None else Response(body, headers=headers)

    def _look_again(self, name: str) -> None:
        path = self._folder / name
        known = self._by_name.get(name)
        if _is_served(path) and (known is None or path.stat().st_mtime_ns != known.changed):
            self._take(path)

    def _take(self, path: Path) -> None:
        name = path.relative_to(self._folder).as_posix()
        about = path.stat()
        if about.st_size > MOST_BYTES:
            raise Invalid(
                f"the static file '{name}' has {about.st_size} bytes", hint=f"at most {MOST_BYTES} are served"
            )
        content = path.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        url = f"{PREFIX}{name.removesuffix(path.suffix)}.{digest[:HASH_LETTERS]}{path.suffix}"
        plain, packed = _forms(path, content, digest)
        found = Asset(url, MEDIA[path.suffix], about.st_mtime_ns, plain, packed)
        old = self._by_name.get(name)
        if old is not None:
            self._by_url.pop(old.url, None)
        self._by_name[name] = self._by_url[url] = found


def _forms(path: Path, content: bytes, digest: str) -> tuple[Form, Form | None]:
    beside = path.with_name(f"{path.name}.gz")
    if beside.is_file():
        return Form(digest, path), Form(hashlib.sha256(beside.read_bytes()).hexdigest(), beside)
    plain = Form(digest, held=content)
    if path.suffix in PACKED_ALREADY:
        return plain, None
    packed = gzip.compress(content, 9, mtime=0)
    return plain, Form("", held=packed) if len(packed) < len(content) else None


def _is_served(path: Path) -> bool:
    return path.suffix in MEDIA and not path.name.startswith(".") and path.is_file()


def _takes_gzip(accepted: str) -> bool:
    """Does the browser say so? What it gives the weight 0 it refuses."""
    weights = {}
    for part in accepted.lower().split(","):
        coding, _, weight = part.partition(";")
        weights[coding.strip()] = not REFUSED.fullmatch(weight.strip())
    return weights.get("gzip", weights.get("*", False))


def _not_found() -> Response:
    return Response("There is no such file.", 404, headers=NOT_KEPT, media_type="text/plain")
