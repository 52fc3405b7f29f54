"""Coming in and going out: signing in, one-time links, and what a person chooses for himself."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response

from bobusang.entry.people import links, passwords, signed_in, users
from bobusang.entry.tables import Role
from bobusang.entry.web import cookies
from bobusang.entry.web.languages import N_, NAMES
from bobusang.entry.web.pages import Pages
from bobusang.entry.web.visit import UI
from bobusang.kit.errors import Conflict, Invalid, Throttled, Unavailable
from bobusang.platform import audit
from bobusang.platform.audit import Subject
from bobusang.platform.limiter import Limit

if TYPE_CHECKING:
    from bobusang.entry.web.visit import Visit
    from bobusang.kit.db import Tx

pages = Pages()

TRIES = Limit(10, timedelta(minutes=5), 5)
"""Wrong passwords a name, wherever they come from; and as many, tenfold, from one address."""
FROM_ONE = Limit(100, timedelta(minutes=5), 50)
WRONG = N_("The name or the password is wrong.")
LONGEST_NAME = 100


@pages.get("/sign-in", role=None)
async def sign_in_page(visit: Visit) -> Response:
    """The door."""
    if visit.signed_in is not None:
        return visit.to("/")
    async with visit.site.app.engine.db.read() as tx:
        nobody = not await users.exist(tx)
    return visit.page("sign_in.html", wrong="", name="", nobody=nobody)


@pages.post("/sign-in", role=None)
async def sign_in(visit: Visit) -> Response:
    """Who has the right password is signed in, whatever he was before."""
    form = await visit.form()
    name, password, db = form.get("name")[:LONGEST_NAME], form.text("password"), visit.site.app.engine.db
    try:
        await _throttle(visit, name)
    except Throttled as error:
        return visit.page("sign_in.html", status=429, wrong=error.message, name=name, nobody=False)
    async with db.read() as tx:
        found = await users.named(tx, name)
    if not await passwords.is_right(found[1] if found else None, password) or found is None:
        await db.transact(lambda tx: audit.record(tx, name or "?", "user.refuse", Subject("user", name or "?")))
        return visit.page("sign_in.html", status=401, wrong=visit.say(WRONG), name=name, nobody=False)
    user = found[0]

    async def work(tx: Tx) -> str:
        await audit.record(tx, user.name, "user.sign_in", Subject("user", user.id))
        return await signed_in.begin(tx, user.id, visit.request.headers.get("user-agent", ""))

    return _welcomed(visit, await db.transact(work))


@pages.post("/sign-out", role=Role.VIEWER)
async def sign_out(visit: Visit) -> Response:
    """The session is over, not only the cookie."""
    token = visit.site.cookies.get(visit.request, cookies.SESSION)
    await visit.site.app.engine.db.transact(lambda tx: signed_in.end(tx, token))
    visit.site.attendance.forget()
    response = visit.to("/sign-in")
    visit.site.cookies.drop(response, cookies.SESSION)
    return response


@pages.get("/welcome/{token}", role=None)
async def welcome_page(visit: Visit) -> Response:
    """What a one-time link shows."""
    async with visit.site.app.engine.db.read() as tx:
        found = await links.find(tx, visit.path["token"])
    return visit.page("welcome.html", invitation=found, token=visit.path["token"], wrong="", name="")


@pages.post("/welcome/{token}", role=None)
async def welcome(visit: Visit) -> Response:
    """A new person, or a new password; and in."""
    form, token, db = await visit.form(), visit.path["token"], visit.site.app.engine.db
    name = form.get("name")
    async with db.read() as tx:
        found = await links.find(tx, token)
    try:
        if not found.name and not 0 < len(name) <= LONGEST_NAME:
            raise Invalid(f"a name has 1 to {LONGEST_NAME} characters", field="name")
        stored = await passwords.hashed(form.text("password"))

        async def work(tx: Tx) -> str:
            user = await links.use(tx, token, name, stored)
            return await signed_in.begin(tx, user.id, visit.request.headers.get("user-agent", ""))

        session = await db.transact(work)
    except (Invalid, Conflict) as error:
        return visit.page("welcome.html", status=422, invitation=found, token=token, wrong=str(error), name=name)
    visit.site.attendance.forget()
    return _welcomed(visit, session)


@pages.post("/me", role=Role.VIEWER)
async def choose(visit: Visit) -> Response:
    """Language, look and zone of who is signed in."""
    assert visit.signed_in is not None
    form, user = await visit.form(), visit.signed_in.user
    language, theme, zone = (form.get(name) for name in ("language", "theme", "zone"))
    await visit.site.app.engine.db.transact(
        lambda tx: users.choose(tx, user.id, language=language, theme=theme, zone=zone)
    )
    visit.site.attendance.forget()
    # Who chose a language is answered in it.
    visit.signed_in = replace(visit.signed_in, user=replace(user, language=language, theme=theme, zone=zone))
    return visit.done(N_("saved"))


@pages.post("/language", role=None)
async def choose_language(visit: Visit) -> Response:
    """For who is not signed in; by a cookie."""
    wanted = (await visit.form()).get("language")
    response = visit.to("/sign-in")
    if wanted in NAMES:
        visit.site.cookies.set(response, cookies.LANGUAGE, wanted)
    return response


def _welcomed(visit: Visit, session: str) -> Response:
    wanted = cookies.unpacked(visit.site.cookies.get(visit.request, cookies.WANTED))
    path = wanted[0] if wanted and wanted[0].startswith("/") and not wanted[0].startswith("//") else "/"
    response = RedirectResponse(f"{UI}{path}", 303)
    visit.site.cookies.set(response, cookies.SESSION, session, lives=signed_in.LIVES)
    visit.site.cookies.drop(response, cookies.WANTED)
    return response


async def _throttle(visit: Visit, name: str) -> None:
    """Count a try; guessing passwords takes years."""
    client = visit.request.client.host if visit.request.client else "?"
    limiter = visit.site.app.collector.limiter
    for bucket, limit in ((f"sign-in:name:{name}", TRIES), (f"sign-in:from:{client}", FROM_ONE)):
        try:
            taken = await limiter.take(bucket, limit)
        except Unavailable:
            taken = await visit.site.tries.take(bucket, limit)
        if not taken.count:
            raise Throttled(visit.say(N_("Too many tries. Wait some minutes.")), until=taken.next_at)
