"""What the picture library itself takes: one original checked and one derivative made of it, on one thread."""

from __future__ import annotations

import io
import time
from statistics import median
from typing import TYPE_CHECKING

from PIL import Image, ImageFilter

from bench.report import Line
from bobusang.flows.conveyor.belt import BUYMA_RECIPE
from bobusang.sandbox.picture import jpeg
from bobusang.stages.image.decoding import Prepared, prepare
from bobusang.stages.image.model import Limits

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 50
NOISE, BLUR, QUALITY = 90, 1.2, 90
"""Which make about as many bytes as a mall's photograph of that size has."""


def run(side: int) -> Iterator[Line]:
    """The sandbox's picture of flat blocks, and one as full of detail as a photograph, which real malls show."""
    for name, data in {"the sandbox's": jpeg("bench", side, side), "as a photograph": photograph(side)}.items():
        told = f"{side} × {side}, {len(data) / 1000:.0f} kB"
        yield Line(f"picture library alone: a picture, {name} ({told})", f"{median(_seconds(data)) * 1000:.1f} ms")


def _seconds(data: bytes) -> Iterator[float]:
    for _ in range(ROUNDS):
        begun = time.thread_time()
        if not isinstance(prepare(data, Limits(), BUYMA_RECIPE), Prepared):
            raise RuntimeError("the picture was refused")
        yield time.thread_time() - begun


def photograph(side: int) -> bytes:
    """A picture that no block of is flat."""
    layers = [Image.effect_noise((side, side), NOISE).filter(ImageFilter.GaussianBlur(BLUR)) for _ in range(3)]
    out = io.BytesIO()
    Image.merge("RGB", layers).save(out, "JPEG", quality=QUALITY)
    return out.getvalue()
