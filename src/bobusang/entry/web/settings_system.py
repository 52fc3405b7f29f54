"""The system: who works and leads, what waits, the disk, the search index and the cache, the licences."""

from __future__ import annotations

import asyncio
import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bobusang import __version__, migrations
from bobusang.entry.api import cache, search
from bobusang.entry.api.search import StatusQuery, VerifyForm
from bobusang.entry.web.languages import N_
from bobusang.entry.web.pages import Pages
from bobusang.entry.web.settings import ENTRY
from bobusang.views import statistics, workers

if TYPE_CHECKING:
    from starlette.responses import Response

    from bobusang.entry.web.live import Draw
    from bobusang.entry.web.rendering import Eyes
    from bobusang.entry.web.site import Site
    from bobusang.entry.web.visit import Visit
    from bobusang.views.statistics import Figure

PLACE = "/settings/system"
pages = Pages()

PARTS = "settings_parts.html"
QUEUES = {"HIGH_PRIORITY": N_("high priority"), "NORMAL": N_("normal"), "LOW_PRIORITY": N_("low priority")}
SCRIPTS = ("echarts", "htmx.org", "tslib", "uplot", "zrender")
LONGEST_LICENCE = 60


@dataclass(frozen=True, slots=True)
class Disk:
    """The disk of our folder, in bytes."""

    place: str
    free: int
    total: int

    @property
    def is_short(self) -> bool:
        return self.free < min(1 << 30, self.total // 10)


@dataclass(frozen=True, slots=True)
class Package:
    """Somebody else's work that ours stands on."""

    name: str
    version: str
    licence: str


@pages.get(PLACE)
async def shown(visit: Visit) -> Response:
    """All of it."""
    visit.entry = ENTRY
    desk = visit.desk
    async with desk.read() as tx:
        alive = await workers.listed(tx, desk.alive_since(tx))
        office = await workers.leader(tx)
        measured_at, figures = await statistics.stored(tx)
    return visit.page(
        "settings_system.html",
        workers=alive,
        office=office,
        figures=_by_name(figures),
        measured_at=measured_at,
        queues=QUEUES,
        disk=await asyncio.to_thread(_disk, visit.site.app.settings.home),
        index=await search.show_status(desk, visit.request, StatusQuery()),
        cached=await cache.show_cache(desk),
        facts={"version": __version__, "python": platform.python_version(), "revision": migrations.head()},
        dialect=desk.engine.db.dialect.value,
        open_pages=visit.site.hub.count,
    )


@pages.live("system")
async def live(site: Site, _: Mapping[str, str]) -> Draw:
    """Workers, who leads, and how far a rebuild is."""
    db, engine = site.app.engine.db, site.app.engine
    async with db.read() as tx:
        alive = await workers.listed(tx, tx.now - engine.pace.dead_after)
        office = await workers.leader(tx)
        rebuild = await search.progress(tx)

    def draw(eyes: Eyes) -> Mapping[str, str]:
        macro = site.rendering.macro
        return {
            "workers": macro(PARTS, "workers", eyes, alive, office),
            "rebuild": macro(PARTS, "rebuild", eyes, rebuild),
        }

    return draw


@pages.post("/settings/index/rebuild")
async def rebuilt(visit: Visit) -> Response:
    """Make the index anew, while the old one serves."""
    await search.rebuild_index(visit.desk, visit.request)
    return visit.done(N_("The search index is made anew. The old one serves until that is done."), PLACE)


@pages.post("/settings/index/verify")
async def verified(visit: Visit) -> Response:
    """Compare it with the database; what differs is mended."""
    found = await search.verify_index(visit.desk, VerifyForm())
    if not found.missing + found.extra + found.different:
        return visit.done(N_("%(count)s products compared: the index says the same."), PLACE, count=found.compared)
    text = N_(
        "%(count)s products compared: %(missing)s were missing, %(extra)s too many, %(different)s different; mended."
    )
    counts = {"missing": found.missing, "extra": found.extra, "different": found.different}
    return visit.done(text, PLACE, count=found.compared, **counts)


@pages.post("/settings/cache/forget")
async def forgotten(visit: Visit) -> Response:
    """Forget all answers; they are made again when somebody asks."""
    found = await cache.forget_all(visit.desk)
    return visit.done(N_("%(count)s kept answers were forgotten."), PLACE, count=found.forgotten)


@pages.get("/settings/licences")
async def licences(visit: Visit) -> Response:
    """Whose work ours stands on."""
    visit.entry = ENTRY
    return visit.page("settings_licences.html", packages=await asyncio.to_thread(_packages), scripts=SCRIPTS)


def _by_name(figures: list[Figure]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for one in figures:
        found.setdefault(one.name, {})[one.label] = one.value
    return found


def _disk(home: str) -> Disk:
    place = Path(home).absolute()
    used = shutil.disk_usage(next(path for path in (place, *place.parents) if path.exists()))
    return Disk(str(place), used.free, used.total)


@lru_cache(maxsize=1)
def _packages() -> list[Package]:
    """What is installed with us, as each says of itself."""
    names = sorted(
        {one.split(";")[0].split("[")[0].strip(" <>=!~.0123456789,") for one in metadata.requires("bobusang") or ()}
    )
    found = []
    for name in names:
        try:
            about: Any = metadata.metadata(name)  # a message, of which its type says little
        except metadata.PackageNotFoundError:
            continue
        said = about.get("License-Expression") or about.get("License") or ""
        if not said or len(said) > LONGEST_LICENCE:
            kinds = [
                one.rpartition(" :: ")[2] for one in about.get_all("Classifier") or () if one.startswith("License")
            ]
            said = ", ".join(kinds) or said[:LONGEST_LICENCE]
        found.append(Package(about["Name"], about["Version"], said))
    return found
