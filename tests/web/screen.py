"""The screen without a browser: pages over ASGI, by people of each role, with forms filled in as browsers do."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import httpx
from selectolax.lexbor import LexborHTMLParser
from starlette.routing import Mount

from bobusang.entry import web
from bobusang.entry.api import create_app
from bobusang.entry.people import passwords, signed_in, users
from bobusang.entry.tables import Role
from bobusang.entry.web.cookies import HOST
from bobusang.wiring import opened as opened_app
from tests.integration.api.door import settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from fastapi import FastAPI

    from bobusang.entry.web.site import Site
    from bobusang.wiring import App

PASSWORD = "correct horse battery"
COOKIE = f"{HOST}bobusang-session"
_hashes: list[str] = []


@dataclass(frozen=True, slots=True)
class Page:
    """What was answered."""

    status: int
    url: str
    html: str
    headers: httpx.Headers
    tree: LexborHTMLParser

    def texts(self, selector: str) -> list[str]:
        """The words of all that match, with single spaces."""
        return [" ".join(one.text().split()) for one in self.tree.css(selector)]

    def text(self, selector: str = "main") -> str:
        """The words of the first that matches."""
        found = self.texts(selector)
        assert found, f"{selector} is not in {self.url}: {self.html[:2000]}"
        return found[0]

    def links(self, selector: str) -> list[str]:
        """Where all that match lead to."""
        return [one.attributes.get("href") or "" for one in self.tree.css(selector)]

    @property
    def csrf(self) -> str:
        return next((one.attributes.get("value") or "" for one in self.tree.css('input[name="csrf"]')), "")


@dataclass(slots=True)
class Visitor:
    """A person before the screen."""

    client: httpx.AsyncClient

    async def get(self, path: str, **query: Any) -> Page:
        """A page, by an address below `/ui`; redirects are followed."""
        return _page(await self.client.get(f"/ui{path}", params=query or None, follow_redirects=True))

    async def post(self, path: str, on: str = "/", **form: Any) -> Page:
        """Send a form that stands on a page, and see what comes of it."""
        return await self._sent(path, on, form, None)

    async def send(self, path: str, on: str, name: str, data: bytes) -> Page:
        """The same with a file that was chosen."""
        return await self._sent(path, on, {}, {"file": (name, data)})

    async def _sent(self, path: str, on: str, form: dict[str, Any], files: dict[str, tuple[str, bytes]] | None) -> Page:
        data = {"csrf": (await self.get(on)).csrf, **form}
        headers = {"referer": f"https://shop.test/ui{on}", "origin": "https://shop.test"}
        asked = self.client.post(f"/ui{path}", data=data, files=files, headers=headers, follow_redirects=True)
        return _page(await asked)


@dataclass(slots=True)
class Screen:
    """The site of an application, and people of each role."""

    app: App
    api: FastAPI
    site: Site
    people: dict[Role | None, Visitor] = field(default_factory=dict)

    @property
    def viewer(self) -> Visitor:
        return self.people[Role.VIEWER]

    @property
    def operator(self) -> Visitor:
        return self.people[Role.OPERATOR]

    @property
    def admin(self) -> Visitor:
        return self.people[Role.ADMIN]

    @property
    def stranger(self) -> Visitor:
        return self.people[None]


async def _stored() -> str:
    """The password as it is stored: hashed once, for that is meant to take long."""
    if not _hashes:
        _hashes.append(await passwords.hashed(PASSWORD))
    return _hashes[0]


@asynccontextmanager
async def opened(home: Path, url: str = "", *, language: str = "en", **said: Any) -> AsyncIterator[Screen]:
    """The screen on a folder's database, or on another that is migrated."""
    address = url or f"sqlite:///{home / 'bobusang.db'}"
    async with opened_app(settings(address, home, **said)) as app:
        api = create_app(app)
        screen = Screen(app, api, web.opened(app))
        api.router.routes.insert(0, Mount("/ui", screen.site.asgi()))
        stored = await _stored()
        for role in (*Role, None):
            client = httpx.AsyncClient(
                transport=httpx.ASGITransport(api), base_url="https://shop.test", headers={"accept-language": language}
            )
            if role is not None:
                token = await app.engine.db.transact(
                    lambda tx, role=role: _signed_in(tx, role, stored)  # type: ignore[misc]
                )
                client.cookies.set(COOKIE, token, domain="shop.test", path="/")
            screen.people[role] = Visitor(client)
        try:
            yield screen
        finally:
            for visitor in screen.people.values():
                await visitor.client.aclose()
            await screen.site.hub.close()


async def _signed_in(tx: Any, role: Role, stored: str) -> str:
    user = await users.make(tx, f"the {role}", role, stored)
    return await signed_in.begin(tx, user.id, "a test")


def _page(answer: httpx.Response) -> Page:
    return Page(answer.status_code, str(answer.url), answer.text, answer.headers, LexborHTMLParser(answer.text))
