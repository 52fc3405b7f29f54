"""What strangers call a picture: taken, or refused with a reason, and never at the price of our memory."""

from __future__ import annotations

import warnings

import pytest
from PIL import Image

from bobusang.platform.blob import address_of
from bobusang.stages.image.decoding import Prepared, prepare
from bobusang.stages.image.look import look_of
from bobusang.stages.image.model import Derivative, File, Limits, Refused
from bobusang.stages.image.recipe import Recipe
from tests.unit.image.pictures import encoded, jpeg, moving_gif, opened, photo, png, zeros

LIMITS = Limits()
RECIPE = Recipe()


def taken(data: bytes, recipe: Recipe = RECIPE) -> Prepared:
    found = prepare(data, LIMITS, recipe)
    assert isinstance(found, Prepared), found
    return found


def test_a_picture_becomes_a_file_and_one_derivative() -> None:
    data = jpeg(size=(400, 600))

    found = taken(data)

    look = look_of(opened(data))
    file = File(address_of(data), "image/jpeg", 400, 600, len(data), look)
    made = Derivative(
        file.sha256, "square-1200-jpeg85-v1", address_of(found.derived), "image/jpeg", 600, 600, len(found.derived)
    )
    assert found == Prepared(data, file, made, found.derived)
    with opened(found.derived) as square:
        assert square.size == (600, 600)
        assert all(shade > 250 for shade in square.getpixel((5, 300)))  # type: ignore[union-attr]


@pytest.mark.parametrize("format", ["PNG", "WEBP", "GIF"])
def test_the_type_is_that_of_the_content(format: str) -> None:
    found = taken(encoded(photo(), format))

    assert (found.file.media, found.derivative and found.derivative.media) == (f"image/{format.lower()}", "image/jpeg")


@pytest.mark.parametrize(
    ("size", "recipe", "made"),
    [
        ((2400, 1200), Recipe(), (1200, 1200)),
        ((2400, 1200), Recipe(square=False), (1200, 600)),
        ((500, 500), Recipe(side=1000), (500, 500)),
        ((4000, 3000), Recipe(side=600, square=False), (600, 450)),
    ],
)
def test_a_recipe_makes_smaller_and_never_larger(size: tuple[int, int], recipe: Recipe, made: tuple[int, int]) -> None:
    found = taken(jpeg(size=size), recipe)

    assert (found.file.width, found.file.height) == size
    assert opened(found.derived).size == made


def test_the_same_bytes_make_the_same_derivative() -> None:
    assert taken(jpeg(7)).derived == taken(jpeg(7)).derived


def test_a_picture_stands_as_the_camera_was_held() -> None:
    tags = Image.Exif()
    tags[0x0112] = 6
    lying = Image.new("RGB", (800, 400), "red")
    lying.paste("blue", (0, 0, 400, 400))  # the left half; upright, it is the upper one

    found = taken(encoded(lying, exif=tags), Recipe(square=False))

    assert (found.file.width, found.file.height) == (400, 800)
    with opened(found.derived) as upright:
        assert upright.size == (400, 800)
        assert not upright.getexif()
        _, _, blue = upright.getpixel((200, 100))  # type: ignore[misc]
        assert blue > 200


def test_a_large_picture_on_its_side_is_told_at_its_true_size() -> None:
    tags = Image.Exif()
    tags[0x0112] = 8

    found = taken(jpeg(size=(4000, 3000), exif=tags))

    assert (found.file.width, found.file.height) == (3000, 4000)


def test_what_is_transparent_stands_on_white() -> None:
    bag = Image.new("RGBA", (400, 400), (0, 0, 0, 0))
    bag.paste((200, 0, 0, 255), (100, 100, 300, 300))

    for data in (encoded(bag, "PNG"), encoded(bag, "WEBP", lossless=True), encoded(bag.convert("P"), "PNG")):
        with opened(taken(data).derived) as shown:
            assert all(shade > 250 for shade in shown.getpixel((10, 10)))  # type: ignore[union-attr]


def test_colours_for_print_become_colours_for_a_screen() -> None:
    found = taken(encoded(photo().convert("CMYK")))

    assert opened(found.derived).mode == "RGB"


HOSTILE = {
    "50,000 × 50,000": (png(50_000, 50_000, b""), "more than 25,000,000 pixels"),
    "10,000 × 10,000": (png(10_000, 10_000, zeros(100 << 20)), "10000 × 10000 are more than 25,000,000 pixels"),
    "20 MB": (bytes(20 << 20), "20,971,520 bytes; at most 10,485,760 are taken"),
    "zeros": (png(4096, 4096, zeros(16 << 20)), "the picture is broken"),
    "empty sheet": (encoded(Image.new("RGB", (600, 600), "white")), "an empty sheet of one colour"),
    "cut off": (jpeg()[:-4000], "the picture is broken: image file is truncated"),
    "cut off early": (jpeg()[:100], "the picture is broken"),
    "cut off PNG": (encoded(photo(), "PNG")[:5000], "the picture is broken"),
    "SVG": (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script/></svg>', "an SVG drawing"),
    "HTML": (b"<!doctype html><title>403</title>", "a page, not a picture"),
    "JSON": (b'{"error": 1}', "a page, not a picture"),
    "nothing": (b"", "an empty answer"),
    "TIFF": (encoded(photo(), "TIFF"), "no picture of a kind that is taken (JPEG, PNG, WEBP, GIF)"),
    "moves": (moving_gif(10_000), "it moves"),
    "moves, WebP": (encoded(photo(), "WEBP", save_all=True, append_images=[photo(2)]), "it moves"),
    "small": (jpeg(size=(299, 600)), "299 × 600 is too small; 300 are needed each way"),
    "strip": (jpeg(size=(1000, 150)), "1000 × 150 is a strip, not a picture of a product"),
    "one pixel": (encoded(Image.new("RGB", (1, 1))), "1 × 1 is too small"),
    "deep grey": (encoded(Image.new("I;16", (400, 400)), "PNG"), "its shades are stored in a way"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_hostile_or_useless_is_refused_with_its_reason(name: str) -> None:
    data, reason = HOSTILE[name]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        found = prepare(data, LIMITS, RECIPE)

    assert isinstance(found, Refused)
    assert found.reason.startswith(reason), found.reason
