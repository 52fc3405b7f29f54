"""One request as a page sees it: who asks, what for, and how to answer."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from bobusang.entry.api.desk import Desk
from bobusang.entry.api.problems import Forbidden
from bobusang.entry.people import preferences
from bobusang.entry.tables import Role
from bobusang.entry.web import cookies, forms, languages
from bobusang.entry.web.formats import HOME_ZONE
from bobusang.entry.web.forms import Fields
from bobusang.entry.web.rendering import Eyes

if TYPE_CHECKING:
    from starlette.requests import Request

    from bobusang.entry.people.signed_in import SignedIn
    from bobusang.entry.web.site import Site
    from bobusang.kit.db import Tx

SMALLEST_PACKED = 1000
SAID_LIVES = timedelta(minutes=1)
UI = "/ui"


@dataclass(slots=True)
class Visit:
    """A visitor's request. `said` is what the page before wants to be told once."""

    site: Site
    request: Request
    signed_in: SignedIn | None
    said: list[str] = field(default_factory=list)
    entry: str = ""
    largest: int = 0
    """Of a form with a file, how many bytes it may have; 0: a form without one."""
    _filled: Fields | None = None

    @property
    def desk(self) -> Desk:
        """The same desk that the API works with, on behalf of this person."""
        assert self.signed_in is not None
        return Desk(self.site.app, self.signed_in.user.name, self.signed_in.user.role)

    @property
    def path(self) -> dict[str, Any]:
        """The parts of the address."""
        return self.request.path_params

    def number(self, name: str = "id") -> int:
        """A number of the address, of a route that asks for one (`{id:int}`): it is one that a database can have."""
        found: int = self.request.path_params[name]
        return found

    @property
    def query(self) -> Fields:
        """What stands behind the question mark."""
        return Fields(self.request.query_params.multi_items())

    @property
    def language(self) -> str:
        user = self.signed_in.user.language if self.signed_in else ""
        cookie = self.site.cookies.get(self.request, cookies.LANGUAGE)
        return languages.chosen(user, cookie, accepts=self.request.headers.get("accept-language", ""))

    @property
    def eyes(self) -> Eyes:
        """As whom to render."""
        if self.signed_in is None:
            return Eyes(self.language, HOME_ZONE, Role.VIEWER, "")
        user = self.signed_in.user
        return Eyes(self.language, user.zone or HOME_ZONE, user.role, forms.token(self.signed_in.csrf))

    def say(self, text: str, **values: object) -> str:
        """A text in the visitor's language."""
        return self.site.rendering.say(self.language, text, **values)

    async def form(self) -> Fields:
        """What was filled in; only a form of ours gets so far."""
        if self._filled is None:
            self._filled = await forms.read(self.request, files=self.largest > 0)
        return self._filled

    def page(self, template: str, *, status: int = 200, **given: Any) -> Response:
        """A whole page."""
        body = self.site.rendering.render(template, self.eyes, visit=self, **given)
        return self._html(body, status)

    def to(self, path: str, **query: str | int) -> Response:
        """Go on to another page of ours."""
        behind = f"?{urlencode(query)}" if query else ""
        return RedirectResponse(f"{UI}{path}{behind}", 303)

    def done(self, text: str, to: str = "", **values: object) -> Response:
        """It is done: say so on the page that comes next, by default the one that the form was on."""
        return self._told("done", self.say(text, **values), to)

    def refused(self, text: str, hint: str = "", to: str = "") -> Response:
        """It is not done, and why, in words of an error of ours."""
        return self._told("refused", f"{text} ({hint})" if hint else text, to)

    async def remembered(self, tx: Tx, name: str) -> Any:
        """What this person chose here before."""
        assert self.signed_in is not None
        return await preferences.get(tx, self.signed_in.user.id, name)

    async def remember(self, name: str, value: Any) -> None:
        """Keep it for this person."""
        assert self.signed_in is not None
        user_id = self.signed_in.user.id
        await self.site.app.engine.db.transact(lambda tx: preferences.put(tx, user_id, name, value))

    def demand(self, role: Role) -> None:
        """Refuse whoever may not."""
        assert self.signed_in is not None
        user = self.signed_in.user
        if not user.role.includes(role):
            raise Forbidden(f"this needs the role {role}, '{user.name}' has {user.role}", hint="ask an admin")

    def back(self) -> str:
        """The page that a form was on: an address of ours, whatever was sent."""
        origin = f"{self.request.url.scheme}://{self.request.headers.get('host', '')}{UI}"
        came = self.request.headers.get("hx-current-url") or self.request.headers.get("referer", "")
        return came.removeprefix(origin) if came.startswith(f"{origin}/") else "/"

    def _told(self, how: str, text: str, to: str) -> Response:
        response = RedirectResponse(f"{UI}{to or self.back()}", 303)
        self.site.cookies.set(response, cookies.SAID, cookies.packed(how, text[:1000]), lives=SAID_LIVES)
        return response

    def _html(self, text: str, status: int) -> Response:
        body = text.encode()
        headers = {"Vary": "Accept-Encoding, Cookie, Accept-Language"}
        if len(body) >= SMALLEST_PACKED and "gzip" in self.request.headers.get("accept-encoding", ""):
            body = gzip.compress(body, 4, mtime=0)
            headers["Content-Encoding"] = "gzip"
        response = Response(body, status, headers, media_type="text/html; charset=utf-8")
        if self.said:
            self.site.cookies.drop(response, cookies.SAID)
        return response
