"""A proposal becomes a shop's folder: its file, the page as a fixture without secrets, and a check that passes."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bobusang.connectors.sources.declared.extending import FILE
from bobusang.connectors.sources.declared.recording import Recorded, record_page
from bobusang.connectors.sources.declared.scaffold import SHOP_NAME, check
from bobusang.connectors.sources.declared.shop import load_shop
from bobusang.connectors.sources.generator.proposal import NAME
from bobusang.kit.errors import BobusangError, Conflict, Drifted, Invalid
from bobusang.kit.lined.located import BadText
from bobusang.stages.collect.source import Page, Snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from bobusang.connectors.sources.generator.proposal import Proposal
    from bobusang.connectors.sources.generator.sample import Sample
    from bobusang.kit.lined.located import Problem

OLD = f"{FILE}.old"
_COMMON = {"www", "m", "shop", "store", "mall", "api", "web", "co", "com", "kr", "net", "org", "jp"}


@dataclass(frozen=True, slots=True)
class Made:
    """A shop that was made."""

    folder: Path
    fixture: Path
    records: int
    unknown: tuple[str, ...]
    """Fields that could not be read of every record."""
    redacted: dict[str, int]
    problems: tuple[Problem, ...]
    """Of the whole folder: other fixtures that were there."""
    example: dict[str, object]


def name_of(base: str) -> str:
    """A name for the shop of an address: `https://www.acme.co.kr` is acme, one of the sandbox by its path."""
    parts = urlsplit(base)
    words = [word for word in (parts.hostname or "").split(".") if word not in _COMMON and not word.isdigit()]
    last = parts.path.strip("/").rpartition("/")[2]
    name = re.sub(r"[^a-z0-9_-]", "", (last or (words[0] if words else "shop")).lower())
    return name if re.match(r"[a-z]", name) else f"shop{name}"


def make(root: Path, name: str, sample: Sample, proposal: Proposal, *, force: bool = False) -> Made:
    """Write `root/name`. It is tried before it is kept: where the page cannot be read by it, nothing is written."""
    if not SHOP_NAME.fullmatch(name):
        raise Invalid(f"'{name[:50]}' is no name of a shop", hint="small letters, digits, - and _", field="name")
    shop = root / name
    if shop.exists() and not force:
        raise Conflict(
            f"{shop} is there already", hint="choose another with --name, or say --force to replace its file"
        )
    tried = root / f".{name}.new" / name
    shutil.rmtree(tried.parent, ignore_errors=True)
    try:
        tried.mkdir(parents=True)
        (tried / FILE).write_text(proposal.text.replace(NAME, name), "utf-8")
        recorded, snapshots = _recorded(tried, sample, proposal)
        _put(tried, shop, recorded.folder.name)
    finally:
        shutil.rmtree(tried.parent, ignore_errors=True)
    unknown = tuple(sorted({field for one in snapshots for field in one.unknown}))
    return Made(
        shop,
        shop / "fixtures" / recorded.folder.name,
        len(snapshots),
        unknown,
        recorded.redacted,
        check(shop),
        {"key": snapshots[0].key, **snapshots[0].fields},
    )


def _recorded(folder: Path, sample: Sample, proposal: Proposal) -> tuple[Recorded, list[Snapshot]]:
    try:
        source = load_shop(folder)
        ask = next(ask for ask in source.seeds(proposal.target) if ask.stream == proposal.stream)
        text = "" if sample.is_json else sample.text
        page = Page(ask, sample.content, sample.status, {}, ask.url, None, text)
        snapshots = [one for one in source.read(page) if isinstance(one, Snapshot)]
        if not any(one.fields.get("name") for one in snapshots):
            raise Drifted("no name could be read")
    except BadText as error:
        raise Drifted(
            f"{proposal.what} was recognised, and the proposal is not right: {error.problems[0].message}"
        ) from error
    except BobusangError as error:
        hint = "write it by hand: `bobusang source new NAME`, then `bobusang source try`"
        raise Drifted(
            f"{proposal.what} was recognised, and its page cannot be read: {error.message}", hint=hint
        ) from error
    fixture = "item-first" if ask.item else "list-first"
    return record_page(folder, fixture, page, source), snapshots


def _put(tried: Path, shop: Path, fixture: str) -> None:
    """Into its place; of a shop that is there only the file and that fixture are replaced, and the old file is kept."""
    if not shop.exists():
        tried.rename(shop)
        return
    if (shop / FILE).exists():
        (shop / FILE).replace(shop / OLD)
    (tried / FILE).replace(shop / FILE)
    place = shop / "fixtures" / fixture
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(exist_ok=True)
    (tried / "fixtures" / fixture).rename(place)
