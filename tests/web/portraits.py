"""`make pictures`: the main pages as docs show them, from the demo's data, in both languages, light and dark."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from tests.e2e.program import patiently, up
from tests.web import browser as browsers
from tests.web.coming_in import signed_in
from tests.web.shop import PATIENCE

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.program import Up

FOLDER = Path(__file__).parents[2] / "docs" / "pictures" / "screen"
SIZE = {"width": 1280, "height": 860}
LOCALES = {"en": "en-US", "ko": "ko-KR"}
THEMES = ("light", "dark")
COLOURS = 128
"""A page has few; as many as these make a file a fifth as large, and nobody sees it."""


def main() -> int:
    """Make the demo, take the pictures, leave nothing behind."""
    if not _can_write_korean():
        sys.stderr.write("no font has Korean letters: install the package `fonts-noto-cjk`\n")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        done = patiently(PATIENCE, "demo", "--home", "shop", "--quiet", cwd=Path(folder))
        if done.code:
            sys.stderr.write(done.err)
            return 1
        with up(Path(folder), BOBUSANG_HOME="shop", BOBUSANG_LOG_LEVEL="ERROR") as running:
            _taken(running)
    return 0


def _can_write_korean() -> bool:
    """Without a font every letter is a box, and nobody notices until the pictures are in the docs."""
    listed = shutil.which("fc-list")
    return listed is None or bool(subprocess.run([listed, ":lang=ko"], check=True, capture_output=True).stdout)


def _taken(running: Up) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    cookies = signed_in(running)["admin"]
    batch = running.get("/batches")["items"][-1]["batch_id"]
    listed = running.get("/listings?state=LIVE&limit=1")["items"][0]
    places = {
        "overview": "/",
        "run": f"/runs/{batch}",
        "product": f"/products/{listed['product_id']}",
        "listing": f"/listings/{listed['sku']}",
        "held": "/held?kind=categories",
        "search": "/search?q=ㄴㅇㅋ",
    }
    with browsers.started() as browser:
        for language, locale in LOCALES.items():
            for theme in THEMES:
                with browsers.window(browser, running.url, cookies, locale=locale, color_scheme=theme) as window:
                    window.page.set_viewport_size(SIZE)  # type: ignore[arg-type]
                    for name, path in places.items():
                        _take(window.go(path), FOLDER / f"{name}-{language}-{theme}.png")


def _take(page: Page, path: Path) -> None:
    page.wait_for_load_state("networkidle")
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").quantize(COLOURS).save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
