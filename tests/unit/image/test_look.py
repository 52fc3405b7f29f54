"""A picture is known again in another size and quality, and not taken for another one."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from bobusang.sandbox import picture as sandbox
from bobusang.stages.image.look import alike, first_alike, look_of
from tests.unit.image.pictures import encoded, opened, photo


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(320, 900), st.integers(40, 95))
def test_the_same_picture_in_another_size_and_quality_looks_the_same(seed: int, side: int, quality: int) -> None:
    original = photo(seed)
    again = opened(encoded(original.resize((side, side)), quality=quality))

    assert alike(look_of(original), look_of(again))


def test_other_pictures_look_different() -> None:
    looks = [look_of(photo(seed, (300, 300))) for seed in range(60)]

    assert [pair for pair in combinations(looks, 2) if alike(*pair)] == []


def test_plain_garments_on_a_plain_ground_are_told_apart_by_their_colours() -> None:
    """Most pictures of the sandbox have the same shape; taking one for another would refuse half a shop."""
    looks = [look_of(opened(sandbox.jpeg(f"coat-{number}"))) for number in range(60)]

    same = [pair for pair in combinations(looks, 2) if alike(*pair)]
    assert len(same) <= 2


def test_a_plain_ground_tells_nothing() -> None:
    assert not look_of(Image.new("RGB", (400, 400), "white")).is_telling
    assert look_of(photo()).is_telling


def test_the_first_that_looks_alike_is_found() -> None:
    looks = [look_of(photo(seed)) for seed in range(4)]

    assert first_alike(look_of(photo(2, (500, 500))), looks) == looks[2]
    assert first_alike(look_of(photo(9)), looks) is None
