"""What holds for every page of the screen, whoever wrote it: it is there in both languages, asks the database little,
and bears whatever stands in its address."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest

from bobusang.entry.people import links
from bobusang.entry.tables import Role
from tests.web.addresses import found
from tests.web.counting import statements
from tests.web.furnishing import furnished
from tests.web.test_words import korean

if TYPE_CHECKING:
    from pathlib import Path

    from selectolax.lexbor import LexborHTMLParser

    from tests.web.addresses import Found
    from tests.web.screen import Page, Screen, Visitor

MOST_STATEMENTS = 8
WORDS = "h1, h2, h3, thead th, dt, button, summary, legend, .button, .pill, .label, .tabs a, .menu a"
BROKEN = ["-1", "9" * 40, "' or 1=1 --", "<script>🙂\u202e", "%", "a" * 3000, "a,b,,c"]
BROKEN_PATHS = ["0", "9" * 40, "%00%ff", "a" * 300, "🙂"]


WALKED: list[Found] = []
"""The walk over a shop, which is the same for each test: it is copied from one."""


@pytest.fixture(scope="module")
def shop(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return furnished(shop, tmp_path_factory.mktemp("busy"))


@pytest.fixture
async def pages(screen: Screen) -> Found:
    """The addresses of a shop where something went wrong."""
    if not WALKED:
        WALKED.append(await found(lambda path: asked(screen.admin, path)))
    return WALKED[0]


async def asked(visitor: Visitor, path: str, **query: str) -> httpx.Response:
    """What is answered; 500 with the reason where a page breaks, as a browser would see it."""
    try:
        return await visitor.client.get(f"/ui{path}", params=query or None, follow_redirects=True)
    except Exception as error:
        return httpx.Response(500, html=repr(error))


async def test_every_page_is_reached_by_links_and_every_link_leads_somewhere(pages: Found) -> None:
    broken = {address: status for address, status in pages.failed.items() if status >= 500}

    assert (pages.unknown, pages.lost, broken) == ([], {}, {})


@pytest.mark.parametrize("language", ["ko", "en"])
async def test_every_page_is_whole_in_both_languages(screen: Screen, pages: Found, language: str) -> None:
    untranslated = {str(one.id) for one in korean() if one.id and one.string != one.id} if language == "ko" else set()
    screen.admin.client.headers["accept-language"] = language
    token = await screen.app.engine.db.transact(lambda tx: links.make(tx, "the admin", Role.VIEWER))
    shown = {address: await screen.admin.get(address) for address in pages.pages.values()}
    screen.stranger.client.headers["accept-language"] = language
    shown |= {address: await screen.stranger.get(address) for address in ("/sign-in", f"/welcome/{token}")}

    wrong = {address: found for address, page in shown.items() if (found := _wrong(page, language, untranslated))}

    assert wrong == {}


def _wrong(page: Page, language: str, untranslated: set[str]) -> list[str]:
    found = []
    if page.status != 200:
        found.append(f"status {page.status}: {page.text()[:300]}")
    if len(page.texts("h1")) != 1 or not page.text("h1"):
        found.append(f"h1: {page.texts('h1')}")
    if page.tree.css("html")[0].attributes.get("lang") != language:
        found.append("its language")
    if "{{" in page.html or "{%" in page.html or re.search(r"%\(\w+\)s", page.html):
        found.append("a placeholder that was not filled in")
    if len(ids := [one.attributes["id"] or "" for one in page.tree.css("[id]")]) != len(set(ids)):
        found.append(f"ids that stand twice: {sorted({one for one in ids if ids.count(one) > 1})}")
    return found + [f"not translated: {text}" for text in sorted(untranslated & set(page.texts(WORDS)))]


async def test_every_page_takes_few_statements(screen: Screen, pages: Found) -> None:
    taken = {}
    for address in (*pages.pages.values(), *pages.files.values()):
        await screen.admin.get(address)
        with statements(screen) as count:
            await screen.admin.get(address)
            taken[address] = count()

    assert {address: count for address, count in taken.items() if count > MOST_STATEMENTS} == {}


async def test_whatever_stands_in_an_address_is_answered(screen: Screen, pages: Found) -> None:
    """And nobody is locked out of a list by a filter that was kept."""
    wrong = []
    for path, address in {**pages.pages, **pages.files}.items():
        names = _names((await screen.admin.get(address)).tree)
        for value in BROKEN:
            answer = await asked(screen.admin, address.partition("?")[0], **dict.fromkeys(names, value))
            if answer.status_code >= 500:
                wrong.append(f"{path}, {sorted(names)} are {value[:50]!r}: {answer.text[:300]}")
        for value in BROKEN_PATHS if "{" in path else ():
            answer = await asked(screen.admin, re.sub(r"{[^}]+}", value, path))
            if answer.status_code >= 500:
                wrong.append(f"{path} with {value[:50]!r}: {answer.text[:300]}")
        again = await asked(screen.admin, address)
        if again.status_code != 200:
            wrong.append(f"{path} is not shown again: {again.status_code} {again.url}")

    assert wrong == []


def _names(tree: LexborHTMLParser) -> set[str]:
    fields = {one.attributes.get("name") or "" for one in tree.css('form[method="get"] [name]')}
    asked = {
        name for one in tree.css("a[href*='?']") for name in re.findall(r"[?&](\w+)=", one.attributes["href"] or "")
    }
    return (fields | asked | {"cursor", "columns"}) - {"", "q"} | {"q"}
