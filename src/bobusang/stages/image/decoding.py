"""Bytes from strangers become a picture, or a reason why not: bounded before anything is unpacked."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PIL import Image, ImageOps, UnidentifiedImageError

from bobusang.platform.blob import address_of
from bobusang.stages.image.look import glanced, is_empty, shrunk
from bobusang.stages.image.model import Derivative, File, Refused
from bobusang.stages.image.recipe import WHITE

if TYPE_CHECKING:
    from bobusang.stages.image.model import Limits
    from bobusang.stages.image.recipe import Recipe

MEDIA = {"JPEG": "image/jpeg", "MPO": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp", "GIF": "image/gif"}
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
"""No other decoder is ever given a byte: each is a way in."""
MOVING = frozenset({"PNG", "WEBP", "GIF"})
"""Of these a second frame is an animation; a JPEG's second frame is the same picture for another screen."""
ORIENTATION = 0x0112
JPEG = "image/jpeg"
LONGEST_PROFILE = 16 << 10


@dataclass(frozen=True, slots=True)
class Prepared:
    """A checked original, and its derivative where one was asked for."""

    data: bytes
    file: File
    derivative: Derivative | None = None
    derived: bytes = b""


def prepare(data: bytes, limits: Limits, recipe: Recipe | None) -> Prepared | Refused:
    """Check an original and make what the recipe says of it. Runs in a thread: it takes milliseconds."""
    if len(data) > limits.most_bytes:
        return Refused(f"{len(data):,} bytes; at most {limits.most_bytes:,} are taken")
    try:
        return _prepared(data, limits, recipe)
    except UnidentifiedImageError:
        return Refused(_disguise(data))
    except (Image.DecompressionBombError, Image.DecompressionBombWarning, MemoryError):
        return Refused(f"more than {limits.most_pixels:,} pixels")
    except Exception as error:  # a decoder that is fed broken bytes may raise anything at all
        return Refused(f"the picture is broken: {str(error)[:200] or type(error).__name__}")


def _prepared(data: bytes, limits: Limits, recipe: Recipe | None) -> Prepared | Refused:
    with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
        refused = _refusal(picture, limits)
        if refused:
            return Refused(refused, address_of(data))
        size, media = picture.size, MEDIA[picture.format or ""]
        if recipe is not None:
            picture.draft("RGB", (recipe.side, recipe.side))  # a large JPEG is decoded at a fraction of its size
        upright = _upright(picture)
        turned = (picture.width > picture.height) != (upright.width > upright.height)
        width, height = reversed(size) if turned else size
        plain = _plain(upright)
        profile = picture.info.get("icc_profile") if picture.mode == "RGB" else None
    small = shrunk(plain)
    if is_empty(small):
        return Refused("an empty sheet of one colour", address_of(data))
    file = File(address_of(data), media, width, height, len(data), glanced(small))
    if recipe is None:
        return Prepared(data, file)
    derived, made = _made(plain, file, recipe, profile)
    return Prepared(data, file, made, derived)


def _refusal(picture: Image.Image, limits: Limits) -> str:
    """What the header alone says against it."""
    width, height = picture.size
    short, long = sorted((width, height))
    if width * height > limits.most_pixels:
        return f"{width} × {height} are more than {limits.most_pixels:,} pixels"
    if short < limits.least_side and short >= limits.narrowest * long:
        return f"{width} × {height} is too small; {limits.least_side} are needed each way"
    if short < limits.narrowest * long:
        return f"{width} × {height} is a strip, not a picture of a product"
    if picture.format in MOVING and getattr(picture, "is_animated", False):
        return "it moves"
    if picture.mode.startswith(("I", "F")):
        return f"its shades are stored in a way that markets do not take ({picture.mode})"
    return ""


def _upright(picture: Image.Image) -> Image.Image:
    """As its camera was held. Reading the tags of a picture that has none is most of the cost, so look first."""
    if "exif" in picture.info or picture.format == "PNG":
        return ImageOps.exif_transpose(picture)
    picture.load()
    return picture


def _plain(picture: Image.Image) -> Image.Image:
    """In RGB, on white where it is transparent: on black a bag with a shadow is a black square."""
    if picture.mode == "RGB" and "transparency" not in picture.info:
        return picture
    if picture.mode in {"RGBA", "LA", "PA", "La", "RGBa"} or "transparency" in picture.info:
        layered = picture.convert("RGBA")
        sheet = Image.new("RGB", layered.size, WHITE)
        sheet.paste(layered, mask=layered.getchannel("A"))
        return sheet
    return picture.convert("RGB")


def _made(picture: Image.Image, file: File, recipe: Recipe, profile: bytes | None) -> tuple[bytes, Derivative]:
    if max(picture.size) > recipe.side:
        scale = recipe.side / max(picture.size)
        size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
        picture = picture.resize(size, Image.Resampling.BICUBIC, reducing_gap=2.0)
    if recipe.square and picture.width != picture.height:
        side = max(picture.size)
        sheet = Image.new("RGB", (side, side), WHITE)
        sheet.paste(picture, ((side - picture.width) // 2, (side - picture.height) // 2))
        picture = sheet
    out = io.BytesIO()
    # Where a camera was and whose it is stays with us; how its colours are meant goes along, if it is no load.
    kept = profile if profile and len(profile) <= LONGEST_PROFILE else None
    picture.save(out, "JPEG", quality=recipe.quality, exif=b"", icc_profile=kept)
    data = out.getvalue()
    return data, Derivative(file.sha256, recipe.key, address_of(data), JPEG, *picture.size, len(data))


def _disguise(data: bytes) -> str:
    head = data[:512].lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if not data:
        return "an empty answer"
    if b"<svg" in head:
        return "an SVG drawing, which may carry script, is no picture"
    if head.startswith((b"<", b"{")):
        return "a page, not a picture"
    return f"no picture of a kind that is taken ({', '.join(FORMATS)})"
