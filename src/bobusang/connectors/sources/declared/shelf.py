"""The shops that can be loaded: shipped ones, those of installed packages, those in the operator's own folder."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from bobusang.connectors.sources.declared.extending import FILE, SHIPPED
from bobusang.connectors.sources.declared.hooks import FILE as HOOKS
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.kit.errors import Invalid
from bobusang.stages.collect.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from bobusang.stages.collect.policy import Limits, Quota

GROUP = "bobusang.sources"
PLATFORM = "platform"


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
        source = self._load(base=base, limits=limits, quota=quota, trust=trust)
        source.anew = partial(self.load, base=base, limits=limits, quota=quota, trust=trust)
        return source

    def _load(self, *, base: str | None, limits: Limits | None, quota: Quota | None, trust: bool) -> Source:
        if self.folder is not None:
            trusted = trust or self.origin == "package"
            return load_shop(self.folder, base=base, limits=limits, quota=quota, trust=trusted)
        assert self.make is not None
        source = self.make()
        if not isinstance(source, Source):
            raise Invalid(f"the package's source {self.name} is none", hint="it must be a Source", field="source")
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


def platforms() -> dict[str, Path]:
    """What a shop can extend, by name (`platform/cafe24`): they are no shops of their own."""
    return {f"{PLATFORM}/{path.parent.name}": path.parent for path in sorted(SHIPPED.glob(f"{PLATFORM}/*/{FILE}"))}


def _folders(root: Path, origin: str) -> Iterator[Shelved]:
    for path in sorted(root.glob(f"*/{FILE}")):
        yield Shelved(path.parent.name, origin, folder=path.parent)


def _packages(points: Iterable[EntryPoint]) -> Iterator[Shelved]:
    for point in points:
        try:
            loaded = point.load()
        except Exception as error:
            yield Shelved(point.name, "package", make=_broken(point, error))
            continue
        if isinstance(loaded, ModuleType):
            yield Shelved(point.name, "package", folder=Path(str(loaded.__file__)).parent)
        elif callable(loaded):
            yield Shelved(point.name, "package", make=loaded)
        else:
            yield Shelved(point.name, "package", make=_broken(point, TypeError("it is no module, and makes no source")))


def _broken(point: EntryPoint, error: Exception) -> Callable[[], Source]:
    """A package that does not load hides no other source: who wants its own is told what is wrong."""

    def make() -> Source:
        raise Invalid(
            f"the entry point {point.name} of {GROUP} does not load: {str(error)[:200]}",
            hint=f"mend {point.value}, or uninstall its package",
        ) from error

    return make
