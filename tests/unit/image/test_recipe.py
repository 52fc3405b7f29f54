"""Recipes have names, and files have public addresses."""

from __future__ import annotations

import pytest

from bobusang.kit.errors import Invalid
from bobusang.stages.image.recipe import Recipe, public_url

ADDRESS = "ab" * 32
PATH = f"raw/ab/{ADDRESS}"


def test_whatever_changes_the_bytes_changes_the_name() -> None:
    made = [Recipe(), Recipe(side=800), Recipe(square=False), Recipe(quality=90)]

    assert [recipe.key for recipe in made] == [
        "square-1200-jpeg85-v1",
        "square-800-jpeg85-v1",
        "whole-1200-jpeg85-v1",
        "square-1200-jpeg90-v1",
    ]


@pytest.mark.parametrize("wrong", [{"side": 99}, {"side": 5001}, {"quality": 29}, {"quality": 96}])
def test_a_recipe_out_of_bounds_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(Invalid, match=f"{next(iter(wrong.values()))}"):
        Recipe(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("base", "found"),
    [
        ("http://127.0.0.1:8000/media", f"http://127.0.0.1:8000/media/{ADDRESS}"),
        ("https://img.example.com/", f"https://img.example.com/{ADDRESS}"),
        ("https://img.example.com/{sha256}.{ext}", f"https://img.example.com/{ADDRESS}.jpg"),
    ],
)
def test_a_file_has_a_public_address(base: str, found: str) -> None:
    assert public_url(base, ADDRESS, "image/jpeg") == found


@pytest.mark.parametrize(
    ("base", "found"),
    [
        ("https://img.example.com", f"https://img.example.com/{PATH}"),
        ("https://img.example.com/", f"https://img.example.com/{PATH}"),
        ("https://s3.example.com/bucket", f"https://s3.example.com/bucket/{PATH}"),
        ("https://img.example.com/{path}?fit=1200", f"https://img.example.com/{PATH}?fit=1200"),
        ("https://shop.example.com/media", f"https://shop.example.com/media/{ADDRESS}"),
        ("https://shop.example.com/media/", f"https://shop.example.com/media/{ADDRESS}"),
        ("https://shop.example.com/media/{sha256}.{ext}", f"https://shop.example.com/media/{ADDRESS}.jpg"),
        ("https://media.example.com", f"https://media.example.com/{PATH}"),
    ],
)
def test_in_a_bucket_it_has_the_buckets_unless_our_door_hands_it_out(base: str, found: str) -> None:
    assert public_url(base, ADDRESS, "image/jpeg", PATH) == found


@pytest.mark.parametrize(
    ("base", "path"),
    [
        ("https://img.example.com/{sha256}", PATH),
        ("https://img.example.com/{path}.{ext}", PATH),
        ("https://img.example.com/{path}", None),
        ("https://img.example.com/{ext}", None),
        ("https://img.example.com/{sha256}.{type}", None),
    ],
)
def test_an_address_that_finds_nothing_is_refused(base: str, path: str | None) -> None:
    with pytest.raises(Invalid, match="no public address"):
        public_url(base, ADDRESS, "image/jpeg", path)


@pytest.mark.parametrize(
    ("base", "sha256", "media"),
    [
        ("", ADDRESS, "image/jpeg"),
        ("ftp://example.com", ADDRESS, "image/jpeg"),
        ("https://example.com", "../etc/passwd", "image/jpeg"),
        ("https://example.com", ADDRESS, "text/html"),
    ],
)
def test_what_is_no_address_is_refused(base: str, sha256: str, media: str) -> None:
    with pytest.raises(Invalid):
        public_url(base, sha256, media)
