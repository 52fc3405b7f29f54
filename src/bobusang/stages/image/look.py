"""How a picture looks, in few bytes: its shape and its colours, so that a banner is known again in another size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PIL import Image

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MARGIN = 2
"""Shades that two neighbours must differ by: JPEG's own noise on a flat ground is about one."""
SHAPE_APART = 10
"""Bits of 64; the same picture encoded again or scaled differs by up to eight, another one by twenty and more."""
COLOUR_APART = 16
"""Shades of 255 in each of nine fields: without them all plain garments on a plain ground would be one picture."""
FLAT = 6
"""Shades between the brightest and the darkest: less is an empty sheet."""
FEW_EDGES = 4
"""A shape with fewer bits says nothing: it is a plain ground."""
_COLUMNS, _ROWS, _FIELDS = 9, 8, 3
_SMALL = (_COLUMNS * 4, _ROWS * 4)


@dataclass(frozen=True, slots=True)
class Look:
    """The fingerprint of a picture."""

    phash: str
    """64 bits in hexadecimal: does it grow brighter from each cell to its right neighbour?"""
    colours: str
    """Red, green and blue of nine fields, in hexadecimal."""

    @property
    def is_telling(self) -> bool:
        """Whether its shape alone can tell it from others."""
        return int(self.phash, 16).bit_count() >= FEW_EDGES


def shrunk(picture: Image.Image) -> Image.Image:
    """A picture in RGB as small as a glance at it: the dearest part, so it is done once."""
    return picture.resize(_SMALL, Image.Resampling.BOX, reducing_gap=2.0)


def is_empty(small: Image.Image) -> bool:
    """Is there nothing to be seen at a glance?"""
    bands: tuple[tuple[int, int], ...] = small.getextrema()  # type: ignore[assignment]
    return all(high - low < FLAT for low, high in bands)


def look_of(picture: Image.Image) -> Look:
    """The look of a picture in RGB."""
    return glanced(shrunk(picture))


def glanced(small: Image.Image) -> Look:
    """The look of a picture that is small already."""
    shades = small.convert("L").resize((_COLUMNS, _ROWS), Image.Resampling.BOX).tobytes()
    bits = 0
    for row in range(0, _COLUMNS * _ROWS, _COLUMNS):
        for cell in range(row, row + _COLUMNS - 1):
            bits = bits << 1 | (shades[cell + 1] - shades[cell] > MARGIN)
    fields = small.resize((_FIELDS, _FIELDS), Image.Resampling.BOX).tobytes()
    return Look(f"{bits:016x}", fields.hex())


def alike(one: Look, other: Look) -> bool:
    """Would a person take them for the same picture?"""
    apart = (int(one.phash, 16) ^ int(other.phash, 16)).bit_count()
    return apart <= SHAPE_APART and _near(one.colours, other.colours)


def first_alike(look: Look, others: Iterable[Look]) -> Look | None:
    """The first of these that looks like it."""
    return next((other for other in others if alike(look, other)), None)


def twins(looks: Mapping[str, Look], others: Mapping[str, Look]) -> dict[str, list[str]]:
    """By the name of each look, those of others that have its very shape and near enough its colours."""
    by_shape: dict[str, list[tuple[str, bytes]]] = {}
    for name, other in others.items():
        by_shape.setdefault(other.phash, []).append((name, bytes.fromhex(other.colours)))
    return {
        name: [
            found
            for found, colours in by_shape.get(look.phash, ())
            if found != name and _near_bytes(bytes.fromhex(look.colours), colours)
        ]
        for name, look in looks.items()
    }


def _near(one: str, other: str) -> bool:
    return _near_bytes(bytes.fromhex(one), bytes.fromhex(other))


def _near_bytes(one: bytes, other: bytes) -> bool:
    for a, b in zip(one, other, strict=True):  # noqa: SIM110 - a generator costs three times as much, a million times
        if not -COLOUR_APART <= a - b <= COLOUR_APART:
            return False
    return True
