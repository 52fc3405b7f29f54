"""Recipes: what a market wants made of a picture, named so that the same is never made twice."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from bobusang.kit.errors import Invalid
from bobusang.platform.blob import checked

VERSION = 1
"""Counts up whenever the same numbers would give other bytes: then all derivatives are made anew."""
ORIGINAL = "original"
EXTENSIONS = {"image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/gif": "gif"}
WHITE = (255, 255, 255)
DOOR = "/media"
"""How the address of our own door ends, which serves pictures from whatever store."""
PLACE = re.compile(r"\{[^{}]*\}")


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


def public_url(base: str, sha256: str, media: str, path: str | None = None) -> str:
    """Where the world finds a file: at our own door, `…/media`, or below the public address of the bucket in which it
    lies at this `path`.

    A base with /media at its end is our door, whatever the store; where there is a bucket any other is the bucket's.
    Some markets insist on an ending: our door takes one, `https://shop.example.com/media/{sha256}.{ext}`, objects of a
    bucket have none. `{path}` says where a bucket's path belongs in an address that goes on behind it.
    """
    parts = urlsplit(base)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise Invalid(
            f"'{base[:80]}' is no public address of pictures",
            hint="such as https://shop.example.com/media",
            field="base",
        )
    address, extension = checked(sha256), EXTENSIONS.get(media)
    if extension is None:
        raise Invalid(f"'{media[:40]}' is no type of picture", hint=f"one of {', '.join(EXTENSIONS)}", field="media")
    is_ours = path is None or f"{DOOR}/" in f"{parts.path}/"
    told = {"{sha256}": address, "{ext}": extension} if is_ours else {"{path}": path or ""}
    name = next(iter(told))
    if PLACE.search(base) is None:
        return f"{base.rstrip('/')}/{told[name]}"
    if name not in base or not told.keys() >= set(PLACE.findall(base)):
        raise Invalid(
            f"'{base[:80]}' is no public address of pictures, which lie {'here' if is_ours else 'in a bucket'}",
            hint=f"an address alone, or with {' and perhaps '.join(told)} in it",
            field="base",
        )
    return PLACE.sub(lambda found: told[found[0]], base)
