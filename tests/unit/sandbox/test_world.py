"""One seed is one world, whatever process makes it and however its clock got there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bobusang.kit.errors import Invalid, Missing
from bobusang.sandbox.mall import Override, shares
from bobusang.sandbox.product import Standing
from bobusang.sandbox.truth import truth
from bobusang.sandbox.words import SELLERS
from bobusang.sandbox.world import World

DIGEST = """
import hashlib
from bobusang.kit import json
from bobusang.sandbox.truth import truth
from bobusang.sandbox.world import World
world = World(seed=7, size=60)
world.advance(500)
told = [truth(world, "okmall", brand="NIKE"), truth(world, "mustit", seller="dmont"), truth(world, "news")]
print(hashlib.sha256(json.dumps(told).encode()).hexdigest())
"""


def small(seed: int = 3, **more: float) -> World:
    return World(seed, 120, **more)  # type: ignore[arg-type]


def stands(world: World, mall: str = "okmall") -> dict[int, Standing]:
    shelves = world.mall(mall)
    found = ((no, world.standing(mall, no)) for brand in shelves.brands for no in shelves.numbers(world.hours, brand))
    return {no: one for no, one in found if one is not None}


def test_the_same_seed_is_the_same_world_in_every_process() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for salt in ("1", "2")
    }

    assert len(digests) == 1


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**63), steps=st.lists(st.integers(0, 400), max_size=4))
def test_a_world_depends_on_the_hour_and_not_on_the_way_there(seed: int, steps: list[int]) -> None:
    slowly, at_once = World(seed, 28), World(seed, 28)
    for hours in steps:
        slowly.advance(hours)
    at_once.advance(sum(steps))

    assert stands(slowly) == stands(at_once)
    assert stands(slowly, "mustit") == stands(at_once, "mustit")


def test_another_seed_is_another_world() -> None:
    assert stands(small(1)) != stands(small(2))


def test_as_many_products_as_asked_for_at_hour_0() -> None:
    world = World(1, 2000)

    assert (len(stands(world)), len(stands(world, "mustit"))) == (2000, 2000)
    assert sorted(no for seller in SELLERS for no in world.of_seller(seller)) == sorted(stands(world, "mustit"))


@given(size=st.integers(1, 10_000), weights=st.lists(st.integers(1, 9), min_size=1, max_size=28))
def test_a_size_is_divided_without_rest(size: int, weights: list[int]) -> None:
    found = shares(size, weights)

    assert (min(found) >= 1, sum(found)) == (True, max(size, len(weights)))


def test_a_week_moves_prices_sells_out_and_brings_back_takes_and_gives() -> None:
    world = World(5, 1000)
    before = stands(world)
    world.advance(24 * 7)
    after = stands(world)
    both = before.keys() & after.keys()
    jumps = [abs(after[no].price / before[no].price - 1) for no in both]

    assert all(
        (
            before.keys() - after.keys(),
            after.keys() - before.keys(),
            {no for no in both if before[no].price != after[no].price},
            {no for no in both if before[no].sold_out and not after[no].sold_out},
            {no for no in both if after[no].sold_out and not before[no].sold_out},
        )
    )
    assert max(jumps) < 0.4, "no guard must be tripped by an ordinary week"


def test_a_day_changes_less_than_a_fifth_of_a_shop() -> None:
    world = World(5, 1000)
    before = stands(world)
    world.advance(24)
    after = stands(world)

    assert 0 < sum(after.get(no) != one for no, one in before.items()) < len(before) / 5


def test_a_world_without_pace_never_changes() -> None:
    world = small(pace=0)
    before = stands(world)
    world.advance(50_000)

    assert stands(world) == before


def test_okmall_lists_what_can_be_bought_and_mustit_everything() -> None:
    world = World(5, 400)
    okmall = {no for brand in world.mall("okmall").brands for no in world.of_brand("okmall", brand)}
    mustit = {no for brand in world.mall("mustit").brands for no in world.of_brand("mustit", brand)}

    assert okmall == {no for no, one in stands(world).items() if not one.sold_out} != set(stands(world))
    assert mustit == set(stands(world, "mustit"))


def test_an_override_stands_against_fate_until_it_is_left_to_it_again() -> None:
    world = small()
    no, fate = next((no, one) for no, one in stands(world).items() if len(one.options) > 1)
    code = fate.options[1].code
    world.override("okmall", no, Override(price=1, stocks={code: 77}))
    told = world.standing("okmall", no)

    assert told == Standing(fate.product, 1, fate.options, (fate.stocks[0], 77, *fate.stocks[2:]))

    world.override("okmall", no, Override(gone=True))
    gone = truth(world, "okmall", brand=fate.product.brand.en)["gone"]
    world.override("okmall", no, None)

    assert gone == [str(no)]
    assert world.standing("okmall", no) == fate


def test_reset_brings_the_first_hour_back() -> None:
    world = small()
    before = stands(world)
    world.advance(1000)
    world.override("okmall", next(iter(stands(world))), Override(sold_out=True))
    world.drift(5)
    world.reset()

    assert (stands(world), world.hours, world.drifted) == (before, 0.0, False)


def test_mistakes_are_named() -> None:
    with pytest.raises(Invalid, match="size must lie between"):
        World(1, 5)
    with pytest.raises(Invalid, match="cannot be advanced by -1 hours"):
        small().advance(-1)
    with pytest.raises(Missing, match="there is no mall 'gmarket'"):
        small().mall("gmarket")
    with pytest.raises(Missing, match="has no product 7"):
        small().override("okmall", 7, Override())
    with pytest.raises(Missing, match="has no brand '없음'"):
        truth(small(), "okmall", brand="없음")


def test_names_hold_model_numbers_and_traps() -> None:
    titles = [one.product for one in stands(World(5, 1000)).values()]
    modelled = [one for one in titles if one.model]
    trapped = [one for one in modelled if one.title.count("(") == 2]

    assert all(one.title.endswith(f"({one.model})") for one in modelled)
    assert 0 < len(titles) - len(modelled) < 100
    assert 50 < len(trapped) < 200
    assert len({(one.brand.en, one.model) for one in modelled}) < len(modelled), "some share a model number"


def test_two_malls_sell_the_same_goods_under_their_own_numbers() -> None:
    world = World(5, 400)
    models = [{one.product.model for one in stands(world, mall).values() if one.product.model} for mall in world.malls]

    assert models[0] == models[1]
    assert not stands(world).keys() & stands(world, "mustit").keys()
