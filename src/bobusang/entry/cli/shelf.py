"""Shop folders: a new one is made, and any are checked, without a database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared.extending import FILE
from bobusang.connectors.sources.declared.fixture import accept as accept_fixture
from bobusang.connectors.sources.declared.fixture import expected, fixtures, replayed
from bobusang.connectors.sources.declared.scaffold import check, new_shop
from bobusang.connectors.sources.declared.shelf import platforms, shops
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.entry.cli.failure import Failure
from bobusang.kit.errors import BobusangError
from bobusang.kit.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bobusang.connectors.sources.declared.shelf import Shelved
    from bobusang.entry.cli.session import Session
    from bobusang.kit.lined.located import Problem

FOLDER = "shops"
FIXTURES = "fixtures/"
PLATFORMS = "extends description"


@dataclass(frozen=True, slots=True)
class Checked:
    """A shop's folder and what is wrong with it."""

    name: str
    folder: Path
    fixtures: int
    problems: tuple[Problem, ...]

    def document(self) -> dict[str, Any]:
        """The same for a program."""
        problems = [{"file": str(self._file(one)), **_told(one)} for one in self.problems]
        return {"shop": self.name, "folder": str(self.folder), "fixtures": self.fixtures, "problems": problems}

    def lines(self) -> Iterator[str]:
        """`shops/acme/shop.yaml:12: streams.list.key: is missing (…)`, one for each."""
        for one in self.problems:
            key = "" if one.key.startswith(FIXTURES) else one.key
            place = ":".join(str(part) for part in (self._file(one), one.line) if part is not None)
            said = ": ".join(part for part in (place, key, one.message) if part)
            yield f"{said} ({one.hint})" if one.hint else said

    def _file(self, problem: Problem) -> Path:
        return self.folder / (problem.key if problem.key.startswith(FIXTURES) else FILE)


def _told(problem: Problem) -> dict[str, Any]:
    return {"line": problem.line, "key": problem.key, "message": problem.message, "hint": problem.hint}


def make(session: Session, name: str, format: str, folder: str | None) -> None:
    """Make a shop's folder, and say what comes next."""
    said = session.settings().shops
    root = Path(folder or said or FOLDER)
    shop = new_shop(root, name, format)
    session.screen.done({"shop": name, "folder": str(shop)}, "{folder} was made", folder=shop)
    session.note("  {file}  says where the shop lives and how its pages are read", file=shop / FILE)
    session.note("  {file}  is a page of it with what must be read there", file=shop / "fixtures" / "list-basic")
    if not said or Path(said).resolve() != root.resolve():
        session.note("set BOBUSANG_SHOPS={folder}, so that it is found", folder=root)
    session.note("then: mend {file}, {command}", file=shop / FILE, command=session.line(f"source check {shop}"))


def list_platforms(session: Session) -> None:
    """What a shop can extend."""
    rows = [{"extends": name, "description": load_shop(folder).description} for name, folder in platforms().items()]
    session.screen.page({"items": rows, "next": None}, PLATFORMS)


def examine(session: Session, wanted: Sequence[str], *, accept: bool, trust: bool) -> bool:
    """Check these shops, or all; whether nothing is wrong with them."""
    said = session.settings().shops
    known = shops(Path(said) if said else None)
    found = [_checked(name, folder, accept=accept, trust=trust) for name, folder in _folders(wanted, known)]
    if session.options.machine:
        session.screen.page({"items": [one.document() for one in found], "next": None}, "")
    else:
        _say(session, found)
    return not any(one.problems for one in found)


def _say(session: Session, found: Sequence[Checked]) -> None:
    for one in found:
        if not one.problems:
            session.screen.done(None, "{shop}: right, fixtures read: {count}", shop=one.name, count=one.fixtures)
        for line in one.lines():
            session.screen.done(None, "{line}", line=line)
        if not one.fixtures:
            record = session.line(f"source record {one.name} STREAM FIXTURE")
            session.note("{shop} has no fixtures: {command} keeps a page as one", shop=one.name, command=record)


def _folders(wanted: Sequence[str], known: Mapping[str, Shelved]) -> Iterator[tuple[str, Path]]:
    """By name or by path; without any, all that have a folder."""
    for name, shelved in known.items() if not wanted else ():
        if shelved.folder is not None:
            yield name, _shown(shelved.folder)
    for one in wanted:
        path = Path(one).parent if one.endswith(FILE) else Path(one)
        named = known[one].folder if one in known else None
        if named is None and not (path / FILE).exists():
            hint = did_you_mean(one, known) or "`bobusang source new` makes one"
            raise Failure("missing", f"there is no shop '{one}': no such name, and no {path / FILE}", hint)
        folder = named or path
        yield folder.resolve().name, _shown(folder)


def _checked(name: str, folder: Path, *, accept: bool, trust: bool) -> Checked:
    if accept:
        _accept(folder, trust=trust)
    return Checked(name, folder, len(fixtures(folder)), check(folder, trust=trust))


def _accept(folder: Path, *, trust: bool) -> None:
    """A shop that does not even compile reads nothing that could be accepted."""
    try:
        source = load_shop(folder, trust=trust)
    except BobusangError:
        return
    for fixture in fixtures(folder) if source.policy.trusted else ():
        if expected(fixture) != replayed(fixture, source):
            accept_fixture(fixture, source)


def _shown(folder: Path) -> Path:
    """As a person would write it here."""
    absolute = folder.resolve()
    return absolute.relative_to(Path.cwd()) if absolute.is_relative_to(Path.cwd()) else folder
