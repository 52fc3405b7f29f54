"""Pictures of the sandbox: as many and as large as a benchmark wants, each of its own."""

from __future__ import annotations

import io

from PIL import Image

from bobusang.sandbox.mustit import goods
from bobusang.sandbox.okmall import addresses
from bobusang.sandbox.picture import jpeg
from bobusang.sandbox.words import BRANDS
from bobusang.sandbox.world import World


def test_products_have_as_many_pictures_as_the_world_is_told() -> None:
    world = World(size=28, pictures=1, picture_side=300)
    numbers = {name: next(mall.numbers(0, BRANDS[0])) for name, mall in world.malls.items()}

    okmall, mustit = (world.mall(name).product(no) for name, no in numbers.items() if name in ("okmall", "mustit"))

    assert (len(addresses.pictures("host", okmall)), len(goods.pictures("host", mustit, "x"))) == (1, 1)
    assert world.picture_size == (300, 300)


def test_a_picture_is_a_whole_jpeg_of_the_wanted_size() -> None:
    for size in ((300, 300), (590, 684), (8, 8)):
        with Image.open(io.BytesIO(jpeg("one", *size))) as picture:
            picture.load()
            assert (picture.format, picture.size) == ("JPEG", size)
    assert jpeg("one") != jpeg("another")
