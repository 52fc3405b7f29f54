"""Recipes: what a market wants made of a picture, named so that the same is never made twice."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from bobusang.kit.errors import Invalid
from bobusang.platform.blob import checked

VERSION = 1
"""Counts up whenever the same numbers would give other bytes: then all derivatives are made anew."""
ORIGINAL = "original"
EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif"}
WHITE = (255, 255, 255)


@dataclass(frozen=True, slots=True)
class Recipe:
    """A JPEG of at most `side` pixels, on a white square if wanted; a small picture is never enlarged."""

    side: int = 1200
    square: bool = True
    quality: int = 85

    def __post_init__(self) -> None:
        if not 100 <= self.side <= 5000:
            raise Invalid(f"a recipe's side is 100 to 5000 pixels, not {self.side}", field="side")
        if not 30 <= self.quality <= 95:
            raise Invalid(f"a recipe's quality is 30 to 95, not {self.quality}", field="quality")

    @property
    def key(self) -> str:
        """The recipe's name among files."""
        return f"{'square' if self.square else 'whole'}-{self.side}-jpeg{self.quality}-v{VERSION}"


def public_url(base: str, sha256: str, media: str) -> str:
    """Where the world finds a file: below our own door at `…/media`, or below a bucket's public address.

    Our door knows the type by the file; a bucket does too, but some markets insist on an ending, so those get one by
    `{ext}` in the base: `https://img.example.com/{sha256}.{ext}`.
    """
    parts = urlsplit(base)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Invalid(
            f"'{base[:80]}' is no public address of pictures",
            hint="such as https://shop.example.com/media",
            field="base",
        )
    address = checked(sha256)
    extension = EXTENSIONS.get(media)
    if extension is None:
        raise Invalid(f"'{media[:40]}' is no type of picture", hint=f"one of {', '.join(EXTENSIONS)}", field="media")
    if "{sha256}" in base:
        return base.replace("{sha256}", address).replace("{ext}", extension)
    return f"{base.rstrip('/')}/{address}"
