"""The conformance suite of sources: what every source must do, ours and a stranger's.

`class TestAcme(SourceSuite)` needs one fixture, `folder`: the shop's folder, with its `fixtures/` and, where it is
declared, its `shop.yaml`. A source in code also says `make`: what makes it, as a class or a function.
"""

from __future__ import annotations

import re
import shutil
import sys
import time
from contextlib import contextmanager, suppress
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import msgspec
import pytest

from bobusang.connectors.sources.declared import fixture as fixtures
from bobusang.connectors.sources.declared.extending import FILE
from bobusang.connectors.sources.declared.hooks import FILE as HOOKS
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.errors import BobusangError, Invalid
from bobusang.kit.lined.reading import read as read_lined
from bobusang.kit.money import CURRENCIES
from bobusang.stages.collect.source import TRIPS, Ask, Extent, Page, Snapshot, Source, Target
from bobusang.testing import hostile_pages as hostile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from bobusang.stages.collect.source import Reads

    Make = Callable[[], Source]

NAME = re.compile(r"[a-z][a-z0-9_-]{0,49}")
MONEY = re.compile(r"price|(?:.+_)?price|.+_fee")
LONGEST_KEY = 200
MOST_BODY = 64 << 20
SLOWEST = 20.0
"""Seconds of the processor that a page of ten megabytes may take."""
DOORS = ("socket.", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "time.sleep", "urllib.")

_quiet: list[list[str]] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook cannot be taken away again; it hears only while somebody reads."""
    if not _quiet:
        return
    if event.startswith(DOORS) or (event == "open" and _writes(arguments)):
        _quiet[-1].append(event)


def _writes(arguments: tuple[Any, ...]) -> bool:
    mode = arguments[1] if len(arguments) > 1 else ""
    return isinstance(mode, str) and bool(set(mode) & set("wax+"))


sys.addaudithook(_watch)


@contextmanager
def quiet() -> Iterator[list[str]]:
    """What is done meanwhile that a reader must not do: calls, sleeps, processes, files written."""
    _quiet.append([])
    try:
        yield _quiet[-1]
    finally:
        _quiet.pop()


class SourceSuite:
    """Tests that hold for every source."""

    @pytest.fixture
    def make(self, folder: Path) -> Make:
        """What makes the source."""
        return lambda: load_shop(folder, trust=True)

    @pytest.fixture
    def source(self, make: Make) -> Source:
        return make()

    @pytest.fixture
    def pages(self, folder: Path) -> dict[str, Page]:
        """Its saved pages."""
        return {path.name: fixtures.read_page(path) for path in fixtures.fixtures(folder)}

    @pytest.fixture
    def good(self, source: Source, pages: dict[str, Page]) -> dict[str, tuple[Page, list[Reads]]]:
        """The pages that can be read, with what they say."""
        return {name: (page, found) for name, page in pages.items() if (found := tried(source, page)) is not None}

    def test_it_says_who_it_is(self, source: Source) -> None:
        policy = source.policy

        assert NAME.fullmatch(source.name)
        assert source.version.strip() == source.version != ""
        for address in (source.base, *source.hosts.values()):
            assert address == "" or (urlsplit(address).scheme in ("http", "https") and not address.endswith("/"))
        assert policy.limits.rate > 0
        assert policy.limits.concurrency > 0
        assert 0 < policy.max_body <= MOST_BODY
        assert timedelta() < policy.timeout <= timedelta(minutes=5)

    def test_it_has_pages_that_can_be_read_and_one_that_cannot_be(
        self, pages: dict[str, Page], good: dict[str, tuple[Page, list[Reads]]]
    ) -> None:
        assert good
        assert len(good) < len(pages), "keep a page, too, that must not be read: another layout, an error inside 200"

    def test_its_pages_are_read_as_they_say(self, source: Source, folder: Path) -> None:
        found = {path.name: fixtures.replayed(path, source) for path in fixtures.fixtures(folder)}

        assert found == {path.name: fixtures.expected(path) for path in fixtures.fixtures(folder)}

    def test_reading_twice_reads_the_same(self, make: Make, source: Source, folder: Path) -> None:
        for path in fixtures.fixtures(folder):
            first = fixtures.replayed(path, source)

            assert (fixtures.replayed(path, source), fixtures.replayed(path, make())) == (first, first)

    def test_reading_does_nothing_but_read(self, source: Source, pages: dict[str, Page]) -> None:
        for name, page in pages.items():
            tried(source, page)  # what is imported and compiled on the way is not meant
            kept = msgspec.json.encode(page.ask), page.body, page.text
            with quiet() as done:
                tried(source, page)

            assert (name, done) == (name, [])
            assert (msgspec.json.encode(page.ask), page.body, page.text) == kept

    def test_keys_are_unique_and_listed_once(self, good: dict[str, tuple[Page, list[Reads]]]) -> None:
        for name, (page, found) in good.items():
            keys = [one.key for one in found if isinstance(one, Snapshot)]
            listed = [key for one in found if isinstance(one, Extent) for key in one.keys]

            assert (name, keys) == (name, list(dict.fromkeys(keys)))
            assert (name, listed) == (name, list(dict.fromkeys(listed)))
            assert all(1 <= len(key) <= LONGEST_KEY and key.strip() == key for key in (*keys, *listed))
            if page.ask.item:
                assert (name, set(keys) | {page.ask.item}) == (name, {page.ask.item})

    def test_money_is_exact(self, source: Source, good: dict[str, tuple[Page, list[Reads]]]) -> None:
        for name, one in snapshots(good):
            assert (name, hostile.floats(one.fields)) == (name, [])
            for field, value in one.fields.items():
                if MONEY.fullmatch(field) and value is not None:
                    assert (name, field, type(value), value >= 0) == (name, field, int, True)
            if one.fields.get("price") is not None:
                assert one.fields.get("currency", source.policy.currency) in CURRENCIES

    def test_a_field_is_known_or_unknown(self, source: Source, good: dict[str, tuple[Page, list[Reads]]]) -> None:
        for name, one in snapshots(good):
            assert (name, one.source, one.type) == (name, source.name, source.policy.type)
            assert (name, set(one.fields) & set(one.unknown)) == (name, set())
            assert hostile.stored(one.fields) == one.fields

    def test_its_first_asks_are_for_what_its_pages_are(self, source: Source, pages: dict[str, Page]) -> None:
        for target in targets(pages.values()):
            asks = list(source.seeds(target))

            assert asks == list(source.seeds(target))
            _check_asks(source, asks)
            if target.kind == "item":
                assert {ask.item for ask in asks} == {target.key}

    def test_what_it_asks_for_next_stays_at_home(
        self, source: Source, good: dict[str, tuple[Page, list[Reads]]]
    ) -> None:
        for _, found in good.values():
            _check_asks(source, [one for one in found if isinstance(one, Ask)])

    def test_it_looks_after_items_by_their_keys(
        self, source: Source, good: dict[str, tuple[Page, list[Reads]]]
    ) -> None:
        keys = list(dict.fromkeys(one.key for _, one in snapshots(good)))[:5]
        for target in targets(page for page, _ in good.values()):
            asks = list(source.items(target, keys))

            _check_asks(source, asks)
            assert {ask.item for ask in asks} <= set(keys)

    def test_what_nobody_can_ask_for_is_refused(self, source: Source) -> None:
        with suppress(Invalid):
            assert list(source.seeds(Target("nonsense", "x"))) == []

    @pytest.mark.parametrize("spoil", [hostile.empty, hostile.others, hostile.cut, hostile.renamed, hostile.miscoded])
    def test_a_page_that_is_not_whole_or_not_ours_is_never_read_wrong(
        self,
        source: Source,
        good: dict[str, tuple[Page, list[Reads]]],
        spoil: Callable[[Page], Iterator[tuple[str, Page]]],
    ) -> None:
        whole = {page.body.strip() for page, _ in good.values()}  # an empty list may be all that a good page says
        wrong = {
            f"{name}, {how}": complaints
            for name, (page, truth) in good.items()
            for how, spoilt in spoil(page)
            if spoilt.body.strip() not in whole and (complaints := hostile.untrue(tried(source, spoilt) or (), truth))
        }

        assert wrong == {}

    def test_a_script_in_a_name_changes_nothing_else(
        self, source: Source, good: dict[str, tuple[Page, list[Reads]]]
    ) -> None:
        wrong: dict[str, list[str]] = {}
        for name, (page, truth) in good.items():
            names = [str(one.fields["name"]) for one in truth if isinstance(one, Snapshot) and one.fields.get("name")]
            for how, spoilt in hostile.scripted(page, names):
                wrong |= {f"{name}, {how}": hostile.untrue(tried(source, spoilt) or (), truth)}

        assert {name: complaints for name, complaints in wrong.items() if complaints} == {}

    def test_a_number_that_cannot_be_read_is_not_known(
        self, source: Source, good: dict[str, tuple[Page, list[Reads]]]
    ) -> None:
        for name, (page, _) in good.items():
            for one in tried(source, hostile.numberless(page)) or ():
                if isinstance(one, Snapshot):
                    known = {field: one.fields[field] for field in one.fields if MONEY.fullmatch(field)}
                    assert (name, {field for field, value in known.items() if value}) == (name, set())

    def test_ten_megabytes_are_read_in_time_or_refused(
        self, source: Source, good: dict[str, tuple[Page, list[Reads]]]
    ) -> None:
        """The page that says most."""
        page, truth = max(good.values(), key=lambda one: len(one[1]))
        for how, spoilt in hostile.large(page):
            begin = time.process_time()
            found = tried(source, spoilt) or ()

            assert (how, hostile.untrue(found, truth)) == (how, [])
            assert time.process_time() - begin < SLOWEST

    def test_another_reader_has_another_version(self, make: Make, folder: Path, tmp_path: Path) -> None:
        """A value is kept with the version that read it, so that what a mended reader would change can be told."""
        assert make().version == make().version
        if not (folder / FILE).exists():
            pytest.skip("a source in code raises its version itself")
        shop = tmp_path / folder.name
        shutil.copytree(folder, shop, ignore=shutil.ignore_patterns("fixtures", "__pycache__"))
        before = load_shop(shop, trust=True).version
        values: Any = read_lined((shop / FILE).read_text("utf-8")).value
        contract = values.get("contract") or {}
        other = "ignore" if contract.get("new_fields") == "report" else "report"
        values["contract"] = {**contract, "new_fields": other}
        (shop / FILE).write_text(msgspec.json.encode(values).decode(), "utf-8")
        declared = load_shop(shop, trust=True).version
        assert declared != before
        (shop / HOOKS).write_text("# code\n", "utf-8")
        assert load_shop(shop, trust=True).version not in (before, declared)


def tried(source: Source, page: Page) -> list[Reads] | None:
    """What is read of a page; None where it is refused, or where a reader in code trips over it."""
    try:
        return list(source.read(page))
    except (BobusangError, RecursionError, *TRIPS):
        return None


def snapshots(good: dict[str, tuple[Page, list[Reads]]]) -> Iterator[tuple[str, Snapshot]]:
    """All records, with the name of their page."""
    for name, (_, found) in good.items():
        yield from ((name, one) for one in found if isinstance(one, Snapshot))


def targets(pages: Iterable[Page]) -> list[Target]:
    """What the saved pages were asked for; without windows of time, whose ends the sync works out."""
    found = {}
    for ask in (page.ask for page in pages):
        kind, _, key = str(ask.given.get("target") or "").partition(":")
        target = Target("item", ask.item, ask.given) if ask.item else Target(kind, key, ask.given)
        if target.kind and target.key and target.kind != "window":
            found[target.name] = target
    return list(found.values())


def _check_asks(source: Source, asks: Iterable[Ask]) -> None:
    """They stay on the source's hosts, can be kept, and are told apart."""
    homes = {urlsplit(address)[:2] for address in chain([source.base], source.hosts.values())}
    names = set()
    for ask in asks:
        parts = urlsplit(urljoin(f"{source.base}/", ask.url))
        assert (ask.url, parts[:2] in homes) == (ask.url, True)
        assert (ask.url, parts.username, parts.fragment) == (ask.url, None, "")
        assert ask.method in ("GET", "POST", "PUT")
        assert hostile.stored(dict(ask.given)) == dict(ask.given)
        names.add(ask.name)
    assert len(names) == len(list(asks))
