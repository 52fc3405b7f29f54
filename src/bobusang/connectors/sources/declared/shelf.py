"""The shops that can be loaded: shipped ones, those of installed packages, those in the operator's own folder."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from bobusang.connectors.sources.declared.extending import FILE, SHIPPED
from bobusang.connectors.sources.declared.hooks import FILE as HOOKS
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.errors import Invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bobusang.stages.collect.policy import Limits, Quota
    from bobusang.stages.collect.source import Source

GROUP = "bobusang.sources"


@dataclass(frozen=True, slots=True)
class Shelved:
    """A source that was found and is not loaded yet."""

    name: str
    origin: str
    """Where it comes from: `shipped`, `package`, `folder`."""
    folder: Path | None = None
    make: Callable[[], Source] | None = None
    """For a source in code: what makes it."""

    @property
    def contains_code(self) -> bool:
        """Whether it runs code of its own."""
        return self.make is not None or (self.folder is not None and (self.folder / HOOKS).exists())

    def load(
        self,
        *,
        base: str | None = None,
        limits: Limits | None = None,
        quota: Quota | None = None,
        trust: bool = False,
    ) -> Source:
        """The source. Packages were installed on purpose and are trusted; a folder is where it brings no code."""
        if self.folder is not None:
            trusted = trust or self.origin == "package"
            return load_shop(self.folder, base=base, limits=limits, quota=quota, trust=trusted)
        assert self.make is not None
        source = self.make()
        if base is not None:
            source.base = base.rstrip("/")
        return source


def shops(folder: Path | None = None) -> dict[str, Shelved]:
    """All shops by name. The operator's own replaces a package's of the same name, a package's a shipped one.

    `folder` holds a folder a shop. A package offers a source in the entry-point group `bobusang.sources`: either a
    module whose folder has a `shop.yaml`, or a callable that makes a `Source`.
    """
    found = {each.name: each for each in _folders(SHIPPED, "shipped")}
    found |= {each.name: each for each in _packages(entry_points(group=GROUP))}
    if folder is not None:
        if not folder.is_dir():
            raise Invalid(f"there is no folder {folder} of shops", hint="make it, or name another", field="shops")
        found |= {each.name: each for each in _folders(folder, "folder")}
    return dict(sorted(found.items()))


def _folders(root: Path, origin: str) -> Iterator[Shelved]:
    for path in sorted(root.glob(f"*/{FILE}")):
        yield Shelved(path.parent.name, origin, folder=path.parent)


def _packages(points: Iterable[EntryPoint]) -> Iterator[Shelved]:
    for point in points:
        loaded = point.load()
        if isinstance(loaded, ModuleType):
            yield Shelved(point.name, "package", folder=Path(str(loaded.__file__)).parent)
        elif callable(loaded):
            yield Shelved(point.name, "package", make=loaded)
        else:
            raise Invalid(
                f"the entry point {point.name} of {GROUP} is no source",
                hint="name a module beside a shop.yaml, or what makes a Source",
            )
