"""Every shipped shop reads its fixtures as they say: whole, and each field by itself, so that a failure names it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.connectors.sources.declared.fixture import expected, fixtures, read_page, replayed
from bobusang.connectors.sources.declared.scaffold import check
from bobusang.connectors.sources.declared.shop import load_shop
from tests.unit.connectors.reading import SHOPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from bobusang.connectors.sources.declared.fixture import Plain

FIXTURES = [(shop, fixture) for shop in SHOPS for fixture in fixtures(shop)]


def values(fixture: Path, found: Plain) -> Iterator[tuple[str, str, Any]]:
    """`("snapshot price", "item-basic 753625", 56000)`, and so on for all that was found."""
    for at, each in enumerate(found):
        for kind, told in each.items():
            if not isinstance(told, dict):
                yield kind, f"{fixture.name} {at}", told
                continue
            place = " ".join([fixture.name, str(told.get("item") or told.get("key") or at), told.get("stream", "")])
            for field, value in told.items():
                inner = value if field == "fields" else {field: value}
                yield from ((f"{kind} {name}", place, said) for name, said in inner.items())


def by_field(shop: Path, read: Callable[[Path], Plain]) -> dict[str, dict[str, Any]]:
    """What a shop's fixtures say of each field, by the place where they say it."""
    named: dict[str, dict[str, Any]] = {}
    for fixture in fixtures(shop):
        for field, place, value in values(fixture, read(fixture)):
            named.setdefault(field, {})[place] = value
    return named


def cases() -> Iterator[Any]:
    for shop in SHOPS:
        for field, said in by_field(shop, expected).items():
            yield pytest.param(shop, field, said, id=f"{shop.name}-{field}")


@pytest.mark.parametrize(("shop", "fixture"), FIXTURES, ids=lambda path: path.name)
def test_a_fixture_is_read_as_it_says(shop: Path, fixture: Path) -> None:
    assert replayed(fixture, load_shop(shop)) == expected(fixture)


@pytest.fixture(scope="module")
def replays() -> dict[Path, dict[str, dict[str, Any]]]:
    return {shop: by_field(shop, partial(replayed, source=load_shop(shop))) for shop in SHOPS}


@pytest.mark.parametrize(("shop", "field", "said"), list(cases()))
def test_a_field_is_read(
    replays: dict[Path, dict[str, dict[str, Any]]], shop: Path, field: str, said: dict[str, Any]
) -> None:
    assert replays[shop].get(field) == said


@pytest.mark.parametrize("shop", SHOPS, ids=lambda path: path.name)
def test_a_shipped_shop_is_without_problems(shop: Path) -> None:
    assert check(shop) == ()


@pytest.mark.parametrize("shop", SHOPS, ids=lambda path: path.name)
def test_every_stream_and_field_of_a_shop_has_a_fixture(shop: Path) -> None:
    source = load_shop(shop)
    found = [each for fixture in fixtures(shop) for each in expected(fixture)]
    seen = {name for each in found if "snapshot" in each for name in each["snapshot"]["fields"]}
    fields = {field.name for stream in source.streams.values() if stream.emits != "brand" for field in stream.fields}

    assert fields - seen == set()
    assert set(source.streams) == {_stream(fixture) for fixture in fixtures(shop)}


def _stream(fixture: Path) -> str:
    return read_page(fixture).ask.stream
