"""Pictures made for tests: plain ones, odd ones and hostile ones."""

from __future__ import annotations

import io
import random
import struct
import zlib
from typing import Any

from PIL import Image

from bobusang.stages.image.look import Look
from bobusang.stages.image.model import File


def photo(seed: int = 1, size: tuple[int, int] = (600, 600)) -> Image.Image:
    """Something with shapes and colours, another one for each seed."""
    chance = random.Random(seed)
    small = Image.frombytes("RGB", (12, 12), chance.randbytes(12 * 12 * 3))
    return small.resize(size, Image.Resampling.BICUBIC)


def encoded(picture: Image.Image, format: str = "JPEG", **options: Any) -> bytes:
    out = io.BytesIO()
    picture.save(out, format, **options)
    return out.getvalue()


def jpeg(seed: int = 1, size: tuple[int, int] = (600, 600), **options: Any) -> bytes:
    return encoded(photo(seed, size), quality=options.pop("quality", 90), **options)


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def png(width: int, height: int, rows: bytes) -> bytes:
    """A grey PNG of these dimensions with whatever rows."""
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")


def zeros(count: int) -> bytes:
    """So many zeros, packed into a thousandth."""
    packer = zlib.compressobj(1)
    return b"".join(packer.compress(bytes(1 << 20)) for _ in range(count >> 20)) + packer.flush()


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def moving_gif(frames: int, side: int = 400) -> bytes:
    """A GIF of so many frames, each of a few bytes."""
    head = b"GIF89a" + struct.pack("<HHBBB", side, side, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    control = b"\x21\xf9\x04\x04\x0a\0\0\0"
    frame = control + b"\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\0"
    return head + frame * frames + b"\x3b"


def file(name: str, look: Look | None = None) -> File:
    """A file as the rules see it."""
    shape = f"{zlib.crc32(name.encode()):08x}" * 2
    return File(name, "image/jpeg", 600, 600, 1000, look or Look(shape, shape[:6] * 9))
