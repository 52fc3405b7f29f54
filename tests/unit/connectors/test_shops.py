"""Every shipped shop reads its fixtures as they say: whole, and each field by itself, so that a failure names it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from bobusang.connectors.sources.declared.fixture import expected, fixtures, read_page, replayed
from bobusang.connectors.sources.declared.scaffold import check
from bobusang.connectors.sources.declared.shop import load_shop
from tests.unit.connectors.reading import SHOPS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from bobusang.connectors.sources.declared.fixture import Plain

FIXTURES = [(shop, fixture) for shop in SHOPS for fixture in fixtures(shop)]


def values(found: Plain) -> dict[str, Any]:
    """`snapshot 753625 price` → 56000, and so on for all that was found."""
    named: dict[str, Any] = {}
    for at, each in enumerate(found):
        for kind, told in each.items():
            if not isinstance(told, dict):
                named[kind] = told
                continue
            name = f"{kind} {told.get('item') or told.get('key') or at}"
            for field, value in told.items():
                inner = value if field == "fields" else {field: value}
                named |= {f"{name} {told.get('stream', '')} {each}": said for each, said in inner.items()}
    return named


def cases() -> Iterator[Any]:
    for shop, fixture in FIXTURES:
        for name, value in values(expected(fixture)).items():
            yield pytest.param(shop, fixture, name, value, id=f"{shop.name}-{fixture.name}-{name}")


@pytest.mark.parametrize(("shop", "fixture"), FIXTURES, ids=lambda path: path.name)
def test_a_fixture_is_read_as_it_says(shop: Path, fixture: Path) -> None:
    assert replayed(fixture, load_shop(shop)) == expected(fixture)


@pytest.fixture(scope="module")
def replays() -> dict[Path, dict[str, Any]]:
    return {fixture: values(replayed(fixture, load_shop(shop))) for shop, fixture in FIXTURES}


@pytest.mark.parametrize(("shop", "fixture", "name", "value"), list(cases()))
def test_a_field_is_read(replays: dict[Path, dict[str, Any]], shop: Path, fixture: Path, name: str, value: Any) -> None:
    assert replays[fixture].get(name, "not found") == value, shop.name


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
