"""Pictures without a library: a baseline JPEG of flat blocks, the same bytes for the same name."""

from __future__ import annotations

from functools import lru_cache
from itertools import groupby
from struct import pack
from typing import TYPE_CHECKING

from bobusang.sandbox.chance import Chance, seeded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

WIDTH, HEIGHT = 590, 684
BLOCK = 8
SHADES = 12
KEPT = 64
EOB = "0"
"""The only code of our AC table: every block is flat, so nothing follows its mean."""

Block = tuple[int, int, int]
"""Brightness and two colours."""
Row = tuple[tuple[Block, int], ...]
"""Blocks from left to right, and of each how many."""


@lru_cache(maxsize=KEPT)
def jpeg(name: str, width: int = WIDTH, height: int = HEIGHT) -> bytes:
    """The picture of a name."""
    columns, rows = -(-width // BLOCK), -(-height // BLOCK)
    chance = Chance(seeded("picture", name))
    return b"".join(
        [
            b"\xff\xd8",
            _segment(0xE0, b"JFIF\0\x01\x01\0\0\x01\0\x01\0\0"),
            _segment(0xDB, b"\0" + bytes([BLOCK] * 64)),
            _segment(0xC0, pack(">BHHB", 8, height, width, 3) + bytes([1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0])),
            _segment(0xC4, b"\0" + bytes([0, 0, 0, 12, *[0] * 12]) + bytes(range(12))),
            _segment(0xC4, b"\x10" + bytes([1, *[0] * 15]) + b"\0"),
            _segment(0xDA, bytes([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])),
            _scan(_rows(chance, columns, rows)),
            b"\xff\xd9",
        ]
    )


def _segment(marker: int, content: bytes) -> bytes:
    return pack(">BBH", 0xFF, marker, len(content) + 2) + content


def _rows(chance: Chance, columns: int, rows: int) -> Iterator[tuple[Row, int]]:
    """A lit ground, and a garment of one colour upon it: rows, and of each how many follow each other."""
    ground = (chance.between(60, 110), chance.between(-8, 8), chance.between(-8, 8))
    cloth = (chance.between(-90, 40), chance.between(-60, 60), chance.between(-60, 60))
    left, top = columns * chance.between(15, 30) // 100, rows * chance.between(10, 25) // 100
    outside = ((ground, columns),)
    inside = ((ground, left), (cloth, columns - 2 * left), (ground, left))
    kinds = ((row * SHADES // rows, top <= row < rows - top) for row in range(rows))
    for (shade, is_inside), alike in groupby(kinds):
        parts = inside if is_inside else outside
        row = tuple(((max(-127, light - shade), blue, red), count) for (light, blue, red), count in parts if count)
        yield row, sum(1 for _ in alike)


def _scan(rows: Iterable[tuple[Row, int]]) -> bytes:
    """The blocks of all rows. The first of some that are alike follows another one; the others are written alike."""
    bits: list[str] = []
    before: Block = (0, 0, 0)
    for row, count in rows:
        bits.append(_row(before, row))
        before = row[-1][0]
        if count > 1:
            bits.append(_row(before, row) * (count - 1))
    text = "".join(bits)
    text += "1" * (-len(text) % 8)
    return int(text, 2).to_bytes(len(text) // 8, "big").replace(b"\xff", b"\xff\0")


def _row(before: Block, row: Row) -> str:
    bits: list[str] = []
    for block, count in row:
        bits += [CODES[now - then] for now, then in zip(block, before, strict=True)]
        bits.append(3 * (count - 1) * CODES[0])
        before = block
    return "".join(bits)


def _code(value: int) -> str:
    """A difference of means: four bits say how many follow; a negative number is written as its complement."""
    size = abs(value).bit_length()
    if not size:
        return "0000"
    return f"{size:04b}{value if value > 0 else value + (1 << size) - 1:0{size}b}"


CODES = {value: _code(value) + EOB for value in range(-255, 256)}
