"""Static files: addresses that change with what they name, and how they are served."""

from __future__ import annotations

import gzip
import hashlib
import os
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from bobusang.entry.web import assets
from bobusang.entry.web.assets import Assets
from bobusang.kit.errors import Invalid, Missing

if TYPE_CHECKING:
    from pathlib import Path

CSS = b"body { margin: 0 }\n" * 100
SCRIPT = b"window.belt = 1;\n" * 100
FOREVER = "public, max-age=31536000, immutable"


def short(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    vendor = tmp_path / "vendor"
    vendor.mkdir()
    (tmp_path / "app.css").write_bytes(CSS)
    (tmp_path / "dot.png").write_bytes(b"\x89PNG")
    (tmp_path / ".hidden.css").write_bytes(CSS)
    (tmp_path / "notes.md").write_bytes(b"not served")
    (vendor / "belt.js").write_bytes(SCRIPT)
    (vendor / "belt.js.gz").write_bytes(gzip.compress(SCRIPT, 9, mtime=0))
    return tmp_path


def browser(served: Assets) -> httpx.AsyncClient:
    """Asks for nothing packed unless told to."""
    app = Starlette(routes=[Route("/ui/static/{name:path}", served.serve)])
    base = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test")
    base.headers["Accept-Encoding"] = "identity"
    return base


def test_an_address_carries_the_hash_of_what_it_names(folder: Path) -> None:
    served = Assets(folder)

    assert served.url("app.css") == f"/ui/static/app.{short(CSS)}.css"
    assert served.url("vendor/belt.js") == f"/ui/static/vendor/belt.{short(SCRIPT)}.js"


def test_another_content_has_another_address(folder: Path) -> None:
    before = Assets(folder).url("app.css")
    (folder / "app.css").write_bytes(CSS + b"p {}")

    assert Assets(folder).url("app.css") == f"/ui/static/app.{short(CSS + b'p {}')}.css" != before


async def test_a_file_is_kept_by_browsers_for_ever(folder: Path) -> None:
    served = Assets(folder)

    async with browser(served) as asking:
        answer = await asking.get(served.url("app.css"))

    assert (answer.status_code, answer.content) == (200, CSS)
    assert dict(answer.headers) == {
        "cache-control": FOREVER,
        "content-length": str(len(CSS)),
        "content-type": "text/css; charset=utf-8",
        "cross-origin-resource-policy": "same-origin",
        "vary": "Accept-Encoding",
        "x-content-type-options": "nosniff",
    }


@pytest.mark.parametrize("name", ["app.css", "vendor/belt.js"])
@pytest.mark.parametrize(
    ("accepted", "packed"),
    [
        ("gzip, deflate, br", True),
        ("br;q=1.0, GZIP;q=0.2", True),
        ("*", True),
        ("br", False),
        ("gzip;q=0", False),
        ("gzip; q=0.000, *", False),
        ("", False),
    ],
)
async def test_gzip_goes_to_who_takes_it(folder: Path, name: str, accepted: str, *, packed: bool) -> None:
    served = Assets(folder)

    async with browser(served) as asking:
        answer = await asking.get(served.url(name), headers={"Accept-Encoding": accepted})

    whole = (folder / name).read_bytes()
    assert answer.content == whole
    assert answer.headers.get("content-encoding") == ("gzip" if packed else None)
    assert (int(answer.headers["content-length"]) < len(whole)) is packed
    assert answer.headers["vary"] == "Accept-Encoding"


async def test_a_picture_is_not_packed_again(folder: Path) -> None:
    served = Assets(folder)

    async with browser(served) as asking:
        answer = await asking.get(served.url("dot.png"), headers={"Accept-Encoding": "gzip"})

    assert (answer.content, answer.headers["content-type"]) == (b"\x89PNG", "image/png")
    assert "content-encoding" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "app.css",
        "app.000000000000.css",
        f"app.{short(CSS)}.js",
        f".hidden.{short(CSS)}.css",
        f"notes.{short(b'not served')}.md",
        "vendor/belt.js.gz",
        "../assets.py",
        "%2e%2e/assets.py",
        "",
    ],
)
async def test_any_other_address_is_not_found_and_not_kept(folder: Path, path: str) -> None:
    async with browser(Assets(folder)) as asking:
        answer = await asking.get(f"/ui/static/{path}".replace("/../", "/%2e%2e/"))

    assert answer.status_code == 404
    assert (answer.headers["cache-control"], answer.headers["x-content-type-options"]) == ("no-cache", "nosniff")


@pytest.mark.parametrize("accepted", ["gzip", "identity"])
async def test_a_script_that_was_replaced_is_not_served_under_the_old_hash(folder: Path, accepted: str) -> None:
    """Another version is installed while this process runs: browsers would keep the wrong one for a year."""
    served = Assets(folder)
    (folder / "vendor" / "belt.js").write_bytes(b"another")
    (folder / "vendor" / "belt.js.gz").write_bytes(gzip.compress(b"another"))

    async with browser(served) as asking:
        answer = await asking.get(served.url("vendor/belt.js"), headers={"Accept-Encoding": accepted})

    assert (answer.status_code, answer.headers["cache-control"]) == (404, "no-cache")


async def test_who_works_on_the_files_sees_a_change_at_once(folder: Path) -> None:
    served = Assets(folder, watch=True)
    old = served.url("app.css")
    (folder / "app.css").write_bytes(b"p {}")
    os.utime(folder / "app.css", ns=(1, 1))
    (folder / "new.css").write_bytes(b"q {}")

    async with browser(served) as asking:
        answers = [await asking.get(url) for url in (served.url("app.css"), served.url("new.css"), old)]

    assert [(one.status_code, one.content) for one in answers[:2]] == [(200, b"p {}"), (200, b"q {}")]
    assert answers[2].status_code == 404


def test_otherwise_files_are_read_once(folder: Path) -> None:
    served = Assets(folder)
    (folder / "app.css").write_bytes(b"p {}")

    assert served.url("app.css") == f"/ui/static/app.{short(CSS)}.css"


def test_a_name_that_does_not_exist_says_what_does(folder: Path) -> None:
    with pytest.raises(Missing) as caught:
        Assets(folder).url("ap.css")

    assert str(caught.value) == "there is no static file 'ap.css' (did you mean app.css?)"


def test_a_script_that_was_not_built_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(Missing, match="make assets"):
        Assets(tmp_path).url("vendor/htmx.js")


def test_what_is_too_large_is_refused_at_start(folder: Path) -> None:
    (folder / "big.js").write_bytes(b" " * (assets.MOST_BYTES + 1))

    with pytest.raises(Invalid, match=r"big\.js"):
        Assets(folder)
