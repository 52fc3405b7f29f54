"""The image stage's nouns: what is wanted for a product, what was found at an address, what a file is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from bobusang.catalog.tables.images import Rights
from bobusang.stages.image.tables import OF_NONE, Doubt

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.catalog.images import ProductImage
    from bobusang.kit.errors import BobusangError
    from bobusang.kit.http import Answer, Call
    from bobusang.stages.image.look import Look
    from bobusang.stages.image.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Limits:
    """What a picture must be, to be one for a product."""

    least_side: int = 300
    most_pixels: int = 25_000_000
    """5000 × 5000, Coupang's limit. Unpacking costs up to six bytes a pixel, and two are unpacked at once."""
    most_bytes: int = 10 << 20
    narrowest: float = 0.2
    """Short side over long side; what is narrower is a strip of a page, not a picture of a product."""
    shared: int = 5
    """So many unrelated products with the very same picture, and it is no picture of any of them."""
    twins: int = 2
    """So many unrelated products with a picture that looks the same, and a person should look, too."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A product whose pictures are to be put in order."""

    product_id: int
    source: str
    """The mall, by whose gate its pictures are fetched."""
    urls: tuple[str, ...]
    """As the source names them, in its order; empty when it says nothing of pictures, which changes nothing."""
    published: bool
    """Whether a market shows it: then what has a place keeps it."""
    referer: str = ""
    """The product's own page: without it some malls send a banner instead. Relative addresses belong to it."""
    rights: Rights = Rights.UNKNOWN
    refresh: bool = False
    """Ask again at known addresses, by their validators, whether they still give the same."""


@dataclass(frozen=True, slots=True)
class File:
    """An original, kept by its content."""

    sha256: str
    media: str
    width: int
    height: int
    bytes: int
    look: Look


@dataclass(frozen=True, slots=True)
class Derivative:
    """What a recipe made of an original."""

    made_from: str
    recipe: str
    sha256: str
    media: str
    width: int
    height: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Good:
    """A picture that may be shown."""

    file: File


@dataclass(frozen=True, slots=True)
class Refused:
    """A picture that must not be shown, or no picture at all."""

    reason: str
    sha256: str | None = None
    """Of what was refused, where it is a picture: the same bytes will be refused again. Without it they may have been
    broken on their way, or a page that stood in its place for an hour."""


@dataclass(frozen=True, slots=True)
class Failed:
    """Nothing could be had from the address."""

    error: BobusangError


Finding = Good | Refused | Failed


@dataclass(frozen=True, slots=True)
class Known:
    """What an address gave before: a file, or something that is no picture for a product."""

    url: str
    sha256: str
    file: File | None = None
    reason: str = ""
    etag: str = ""
    last_modified: str = ""

    @property
    def conditions(self) -> dict[str, str]:
        """Headers that ask whether it still gives the same."""
        asked = {"If-None-Match": self.etag, "If-Modified-Since": self.last_modified}
        return {name: value for name, value in asked.items() if value}


@dataclass(frozen=True, slots=True)
class Request:
    """A call to be made by a source's gate."""

    source: str
    call: Call


class Fetch(Protocol):
    """The door to the malls, which a flow hands in: one answer or error each, in order."""

    async def __call__(self, requests: Sequence[Request], /) -> Sequence[Answer | BobusangError]: ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What is known before the network is used."""

    wanted: tuple[Wanted, ...]
    recipe: Recipe
    known: Mapping[str, Known]
    """By address."""
    made: frozenset[str]
    """Originals of which the recipe's derivative exists."""
    blocks: tuple[tuple[Look, str], ...]
    """What must not be shown, and why."""
    revisits: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    """By product what a person has asked for, which this answers."""


@dataclass(frozen=True, slots=True)
class Worked:
    """What came of a plan; the bytes are durable, the rows are not written yet."""

    plan: Plan
    findings: Mapping[str, Finding] = field(default_factory=dict)
    """By address."""
    fetched: tuple[Known, ...] = ()
    files: tuple[File, ...] = ()
    derivatives: tuple[Derivative, ...] = ()


@dataclass(frozen=True, slots=True)
class Pictured:
    """What became of a product."""

    product_id: int
    images: tuple[ProductImage, ...]
    changed: bool
    trouble: BobusangError | None = None
    """Why some of its pictures could not be had now: its verdict says whether to come again."""
    published: bool = False
    """Whether a market shows it."""
    lacks_cover: str = ""
    """Why what is to be its cover is not here yet; shown without it, it would keep another one for ever."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """Something a person should look at."""

    kind: Doubt
    sha256: str
    reason: str
    product_ids: tuple[int, ...]

    @property
    def of(self) -> int:
        """The product that it is about, or none: then it is about the picture, whatever shows it."""
        return self.product_ids[0] if self.kind is Doubt.COVER else OF_NONE


@dataclass(frozen=True, slots=True)
class Saved:
    """What became of a batch."""

    pictured: tuple[Pictured, ...]
    alarms: tuple[Alarm, ...] = ()


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as a market gets it."""

    position: int
    sha256: str
    """Of the derivative."""
    media: str
    width: int
    height: int
    rights: Rights
