"""Which picture stands where: the source's order until a market shows it, and from then on places that stay."""

from __future__ import annotations

import re
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from bobusang.catalog.images import PLACED, TAKEN_OUT, ProductImage, said
from bobusang.catalog.tables.images import PLACES, SOURCE_URL_LENGTH, ImageState, Rights
from bobusang.kit.errors import Verdict
from bobusang.stages.image.look import alike, first_alike
from bobusang.stages.image.model import Failed, Good, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from bobusang.stages.image.look import Look
    from bobusang.stages.image.model import File, Finding, Limits, Wanted

_WEB = re.compile(r"https?://[^/\s]", re.IGNORECASE)
COMES_AGAIN = frozenset({Verdict.RETRY, Verdict.SNOOZE, Verdict.HALT})
"""Verdicts that speak of the mall and not of the picture: it is not lost, only not here yet."""
ANOTHER_COVER = "the address of the cover now gives another picture; the one that is shown stays until a person decides"
STAYS = frozenset({PLACED, ANOTHER_COVER})
"""Reasons of pictures that keep their places though no market shows them."""


def addresses(urls: Iterable[str], page: str = "") -> tuple[str, ...]:
    """The addresses that can be fetched, each once, in their order, as many as a product has places.

    Those that are relative, as OKmall's `//host/…` are, belong to the page that names them.
    """
    found: dict[str, None] = {}
    for url in urls:
        plain = _joined(page or "https:", url.strip()).partition("#")[0]
        if len(plain) <= SOURCE_URL_LENGTH and plain.isprintable() and _WEB.match(plain):
            found.setdefault(plain)
    return tuple(found)[:PLACES]


def _joined(page: str, url: str) -> str:
    try:
        return urljoin(page, url) if url else ""
    except ValueError:  # such as http://[
        return ""


def url_hash(url: str) -> str:
    """What an address is found by: it is too long for an index."""
    return sha256(url.encode(errors="replace")).hexdigest()


def judged(file: File, limits: Limits, blocks: Sequence[tuple[Look, str]]) -> Finding:
    """A known picture under the rules of today: what a person has blocked since is refused without another fetch."""
    if min(file.width, file.height) < limits.least_side:
        return Refused(f"{file.width} × {file.height} is too small", file.sha256)
    reason = blocked(file.look, blocks)
    return Refused(reason, file.sha256) if reason else Good(file)


def blocked(look: Look, blocks: Sequence[tuple[Look, str]]) -> str:
    """Why a person will not have what looks like this shown; '' where nobody said so."""
    found = first_alike(look, (one for one, _ in blocks))
    return "" if found is None else next(reason for one, reason in blocks if one == found)


def cleared(before: Sequence[ProductImage], reasons: Mapping[str, str]) -> tuple[ProductImage, ...]:
    """The pictures of a product without what a person has blocked, also where its source names it no more; by content
    why."""
    found = [
        replace(image, state=ImageState.REFUSED, reason=said(why))
        if image.is_ready and (why := reasons.get(image.sha256 or ""))
        else image
        for image in before
    ]
    return tuple(sorted(found, key=lambda image: not image.is_ready))


def spread(sha256: str, groups: int, limits: Limits) -> Refused | None:
    """The refusal of a picture that stands on so many unrelated products that it can be of none of them."""
    if groups < limits.shared:
        return None
    return Refused(f"the very same picture stands on {groups} unrelated products: a banner or a placeholder", sha256)


def arranged(
    wanted: Wanted,
    before: Sequence[ProductImage],
    findings: Mapping[str, Finding],
    looks: Mapping[str, Look],
) -> tuple[ProductImage, ...]:
    """The pictures of a product after what was found; `looks` tells those of `before` and of what was found.

    A source that names no picture changes nothing. What has failed this time, or shows a banner now, does not take away
    what was good: only a person does (by blocking it or taking it out).
    """
    urls = addresses(wanted.urls, wanted.referer)
    if not urls:
        return tuple(before)
    known = {image.source_url: image for image in before}
    out = [image for image in before if image.reason == TAKEN_OUT]
    found = {url: _without(out, findings.get(url)) for url in urls}
    now = [_merged(wanted, url, known.get(url), found[url]) for url in urls]
    ready = _kept(before, now, looks) if _has_places(wanted, before) else [image for image in now if image.is_ready]
    ready = _distinct(ready)[:PLACES]
    shown = {image.sha256 for image in ready}
    placed = {image.source_url for image in ready}
    # What was kept although it is bad now, and then stands there by another address, is told as it is now.
    left = [
        image if not image.is_ready else _merged(wanted, image.source_url, None, found[image.source_url])
        for image in now
    ]
    rest = [image for image in left if not image.is_ready and image.source_url not in placed]
    rest += [image for image in out if image.source_url not in urls]
    return (*ready, *(image for image in rest if image.sha256 is None or image.sha256 not in shown))[:PLACES]


def _has_places(wanted: Wanted, images: Iterable[ProductImage]) -> bool:
    """Whether what stands somewhere stays there: a market shows it, or a person has put it there."""
    return wanted.published or any(image.is_ready and image.reason in STAYS for image in images)


def lacks_cover(wanted: Wanted, after: Sequence[ProductImage]) -> str:
    """Why the first picture of a product that no market shows yet is not here, for a reason that passes; '' otherwise.

    Places stay once they are shown: the cover would come last.
    """
    first = addresses(wanted.urls, wanted.referer)[:1]
    waits = (image for image in after if image.source_url in first and image.state is ImageState.PENDING)
    return (
        "" if _has_places(wanted, after) else next((image.reason or "nobody has asked for it" for image in waits), "")
    )


def _without(out: Sequence[ProductImage], finding: Finding | None) -> Finding | None:
    """What a person took out does not come back by another address."""
    if isinstance(finding, Good) and any(image.sha256 == finding.file.sha256 for image in out):
        return Refused(TAKEN_OUT, finding.file.sha256)
    return finding


def _merged(wanted: Wanted, url: str, old: ProductImage | None, finding: Finding | None) -> ProductImage:
    """One address: what it was, and what was found there now."""
    if old is not None and old.reason == TAKEN_OUT:
        return old
    told = _told(url, finding, *_rights(wanted, old))
    if old is None or not old.is_ready or told.is_ready:
        return told
    by_a_person = told.state is ImageState.REFUSED and told.sha256 == old.sha256
    return told if by_a_person else old


def _told(url: str, finding: Finding | None, rights: Rights, source: str | None) -> ProductImage:
    image = ProductImage(url, url_hash(url), ImageState.PENDING, rights=rights, rights_source=source)
    match finding:
        case Good(file):
            return replace(image, state=ImageState.READY, sha256=file.sha256)
        case Refused(reason, sha256):
            return replace(image, state=ImageState.REFUSED, sha256=sha256, reason=said(reason))
        case Failed(error):
            state = ImageState.PENDING if error.verdict in COMES_AGAIN else ImageState.FAILED
            return replace(image, state=state, reason=said(str(error)))
    return image


def _rights(wanted: Wanted, old: ProductImage | None) -> tuple[Rights, str | None]:
    """What a person has declared of a picture stays; else it is as the source's pictures are shown today."""
    if old is not None and old.rights is not Rights.UNKNOWN and old.rights_source != wanted.source:
        return old.rights, old.rights_source
    return wanted.rights, wanted.source


def _kept(before: Sequence[ProductImage], now: Sequence[ProductImage], looks: Mapping[str, Look]) -> list[ProductImage]:
    """What is shown keeps its place; a picture that has vanished is replaced by its like, and the new ones follow."""
    current = {image.source_url: image for image in now}
    placed = {image.source_url for image in before if image.is_ready}
    shown = {image.sha256 for image in before if image.is_ready}
    new = [image for image in now if image.is_ready and image.source_url not in placed]
    kept: list[ProductImage] = []
    for old in before:
        if not old.is_ready:
            continue
        found = current.get(old.source_url)
        if found is None:
            like = next((image for image in new if _same(old, image, looks)), None)
            if like is not None:
                new.remove(like)
            kept.append(_placed(old, like or old))
        elif found.is_ready:
            moved = found.sha256 != old.sha256 and found.sha256 in shown
            kept.append(old if moved else _placed(old, _renewed(old, found, looks, is_cover=not kept)))
    return kept + new


def _placed(old: ProductImage, now: ProductImage) -> ProductImage:
    """What stands in the place of a picture that a person has put there stands there as that did."""
    return replace(now, reason=PLACED) if old.reason == PLACED and now.reason is None else now


def _renewed(old: ProductImage, found: ProductImage, looks: Mapping[str, Look], *, is_cover: bool) -> ProductImage:
    """An address that gives another picture now: only the cover waits for a person, who perhaps has decided already."""
    if is_cover and not _same(old, found, looks):
        return old if old.reason == PLACED else replace(old, reason=ANOTHER_COVER)
    return found


def _same(old: ProductImage, new: ProductImage, looks: Mapping[str, Look]) -> bool:
    if old.sha256 == new.sha256:
        return True
    one, other = looks.get(old.sha256 or ""), looks.get(new.sha256 or "")
    return one is not None and other is not None and one.is_telling and alike(one, other)


def _distinct(images: Sequence[ProductImage]) -> list[ProductImage]:
    """Each picture once, where it stands first."""
    found: dict[str | None, ProductImage] = {}
    for image in images:
        found.setdefault(image.sha256, image)
    return list(found.values())
