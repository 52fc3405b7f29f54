"""`bobusang source new` with a page: fetched or from a file, recognised, made into a shop, told in plain words."""

from __future__ import annotations

import asyncio
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from bobusang.connectors.sources.declared.shelf import shops
from bobusang.connectors.sources.generator import curl, making, recognise
from bobusang.connectors.sources.generator.sample import Request, Sample
from bobusang.entry.cli.failure import Failure
from bobusang.entry.cli.place import quietly
from bobusang.flows.collect.looking import Looked, look
from bobusang.kit.errors import BobusangError
from bobusang.wiring.collecting import LaterTransport, allowed

if TYPE_CHECKING:
    from bobusang.connectors.sources.generator.making import Made
    from bobusang.connectors.sources.generator.proposal import Proposal
    from bobusang.entry.cli.session import Session
    from bobusang.settings import Settings

STDIN = "-"
HALTED = "halted"
LARGEST = 8 << 20

_CANONICAL = re.compile(
    r"""<link[^>]{0,200}rel=["']canonical["'][^>]{0,200}href=["'](https?://[^"']{1,1000})["']""", re.IGNORECASE
)
_OG_URL = re.compile(
    r"""<meta[^>]{0,200}property=["']og:url["'][^>]{0,200}content=["'](https?://[^"']{1,1000})["']""", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Wished:
    """What a person has typed."""

    what: str
    name: str = ""
    address: str = ""
    force: bool = False


def is_page(what: str) -> bool:
    """Whether this is a page, and not the name of a shop."""
    if what == STDIN or "://" in what or curl.looks_like_curl(what):
        return True
    return not re.fullmatch(r"[a-z][a-z0-9_-]{0,49}", what) or Path(what).is_file()


def generate(session: Session, root: Path, wished: Wished) -> None:
    """Make a shop of a page, and say what was found, what was not, and what comes next."""
    settings = session.settings()
    quietly(settings)
    home = settings.sandbox_url.rstrip("/")
    given = _given(wished)
    base = recognise.base_of(given.request.url if isinstance(given, Sample) else given.url, home)
    name = wished.name or making.name_of(base)
    _check_free(root, name, force=wished.force)
    if isinstance(given, Request):
        _check_welcome(session, base, home)
    sample = given if isinstance(given, Sample) else _fetched(session, settings, given)
    if not sample.saved and (other := recognise.follow(sample, base)):
        session.note("this is its front page; its list is {url}", url=other)
        sample = _fetched(session, settings, Request(other))
    proposal = recognise.propose(sample, base)
    made = making.make(root, name, sample, proposal, force=wished.force)
    _told(session, root, name, sample, proposal, made)


def _check_free(root: Path, name: str, *, force: bool) -> None:
    """Before anything is fetched: no shop is replaced, and none is hidden, unless that is wanted."""
    if force:
        return
    if (root / name).exists():
        hint = "choose another with --name, or say --force to replace its file"
        raise Failure("conflict", f"{root / name} is there already", hint)
    if name in (known := shops()):
        hint = "choose another with --name, or say --force to use yours in its place"
        raise Failure("conflict", f"there is a source {name} already ({known[name].origin})", hint)


def _check_welcome(session: Session, base: str, home: str) -> None:
    """A host that has stopped one of our sources is not asked beside it: a person resumes that first (law 11)."""
    try:
        waits = session.api.get("/gate")["items"]
        halted = sorted({one["source"] for one in waits if one["cause"] == HALTED})
        bases = {name: session.api.get(f"/sources/{quote(name, safe='')}")["base"] or "" for name in halted}
    except (Failure, BobusangError):
        return  # there is no database yet, or none that we may look into
    for name, other in bases.items():
        if other and (base == other if home else urlsplit(base).netloc == urlsplit(other).netloc):
            hint = f"look at it, then `bobusang source resume {name}`; or save the page and give the file"
            raise Failure("conflict", f"{other} has stopped the source {name}, so nothing more is asked of it", hint)


def _given(wished: Wished) -> Request | Sample:
    what = wished.what
    if what == STDIN:
        text = sys.stdin.buffer.read(LARGEST + 1)
        return _content(text, wished, "stdin")
    if curl.looks_like_curl(what):
        return curl.parsed(what)
    if re.match(r"https?://", what):
        return Request(what)
    path = Path(what)
    if not path.is_file():
        hint = "give a name (small letters, digits), an address (https://…), a saved page or a file with a curl command"
        raise Failure("missing", f"there is no file {what}, and it is no name and no address", hint)
    return _content(path.read_bytes()[: LARGEST + 1], wished, path.name)


def _content(content: bytes, wished: Wished, origin: str) -> Request | Sample:
    """A saved page or command."""
    if len(content) > LARGEST:
        raise Failure("invalid", f"{origin} is larger than {LARGEST >> 20} MB", "save the page alone")
    start = content[:100_000].decode("utf-8", "replace")
    if curl.looks_like_curl(start):
        return curl.parsed(content.decode("utf-8", "replace"))
    link = _CANONICAL.search(start) or _OG_URL.search(start)
    address = wished.address or (link[1] if link else "")
    if not address:
        hint = "say it: --address https://…, with everything behind the question mark"
        raise Failure("usage", f"{origin} does not say which address it was saved from", hint)
    return Sample(Request(address), content, saved=True)


def _fetched(session: Session, settings: Settings, request: Request) -> Sample:
    async def work() -> Looked:
        transport = LaterTransport(allowed(settings), settings.user_agent)
        try:
            return await look(transport, request, user_agent=settings.user_agent, home=settings.sandbox_url)
        finally:
            await transport.close()

    looked = asyncio.run(work())
    sample = looked.sample
    text = "{method} {url}: {status}, {size} bytes"
    session.note(text, method=request.method, url=request.url, status=sample.status, size=f"{looked.size:,}")
    session.note("robots.txt: {result}", result=f"{looked.robots.standing} ({looked.robots.line})")
    if request.secrets:
        names = ", ".join(request.secrets)
        session.note("left out, for it opens a door: {names}; see identity in docs/shop-grammar.md", names=names)
    return sample


def _told(session: Session, root: Path, name: str, sample: Sample, proposal: Proposal, made: Made) -> None:
    document = {
        "shop": name,
        "folder": str(made.folder),
        "recognised": proposal.what,
        "found": list(proposal.found),
        "missing": list(proposal.missing),
        "records": made.records,
        "unknown": list(made.unknown),
        "fixture": str(made.fixture),
        "example": made.example,
    }
    session.screen.done(document, "{folder} was made: {what}", folder=made.folder, what=proposal.what)
    for each in proposal.found:
        session.note("  found    {what}", what=each)
    for each in proposal.missing:
        session.note("  missing  {what}", what=each)
    for each in made.unknown:
        session.note("  unknown  {what}: not every record says it with certainty", what=each)
    for what, count in made.redacted.items():
        session.note("taken out of the fixture: {count} × {what}", count=count, what=what)
    for problem in made.problems:
        session.screen.warn(problem.said("shop.yaml"))
    said = session.settings().shops
    if not said or Path(said).resolve() != root.resolve():
        session.note("set BOBUSANG_SHOPS={folder}, so that it is found", folder=root)
    home = session.settings().sandbox_url
    if home and urlsplit(sample.request.url).netloc != urlsplit(home).netloc:
        session.note("unset BOBUSANG_SANDBOX_URL, so that it is found: it is not of the sandbox")
    session.note("look at {file}; behind each line stands how sure it is", file=made.folder / "shop.yaml")
    session.note("then: {command}", command=session.line(f"source check {made.folder}"))
    session.note("then: {command}", command=session.line(f'source enable {name} --why "…"'))
    target = proposal.target
    which = f" --item {target.key}" if target.kind == "item" else f" --target {target.name}"
    line = f"source try {name} {proposal.stream}{'' if target.kind == 'list' else which}"
    session.note("then: {command}", command=session.line(line))
