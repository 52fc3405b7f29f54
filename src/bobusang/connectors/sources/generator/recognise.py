"""What a page is: a platform, a list of goods in JSON, scripts, JSON-LD or boxes; or why it is none of these."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bobusang.connectors.sources.generator import in_scripts, platforms, repeated, single
from bobusang.connectors.sources.generator.listing import best_list
from bobusang.connectors.sources.generator.proposal import Further, Proposal, asking, said, shop
from bobusang.connectors.sources.generator.walls import check_answer, why_unreadable
from bobusang.kit.errors import Drifted

if TYPE_CHECKING:
    from bobusang.connectors.sources.generator.sample import Sample

ENOUGH = 9.0
"""A list with keys, names and prices: boxes need not be looked for."""


def base_of(url: str, home: str = "") -> str:
    """Where the shop of an address lives: its host; in the sandbox, whose address is `home`, its first name there."""
    parts = urlsplit(url)
    host = f"{parts.scheme}://{parts.netloc}"
    if home and host == home.rstrip("/"):
        first = parts.path.split("/")[1] if parts.path.strip("/") else ""
        return f"{host}/{first}" if first else host
    return host


def follow(sample: Sample, base: str) -> str:
    """Another address to look at instead: the list of a platform whose front page this is; empty for none."""
    check_answer(sample)
    found = platforms.recognised(sample, base)
    return found.follow if found is not None and found.proposal is None else ""


def propose(sample: Sample, base: str) -> Proposal:
    """The shop that a page shows; Drifted, Blocked or Invalid say why there is none."""
    check_answer(sample)
    found = platforms.recognised(sample, base)
    if found is not None:
        if found.proposal is None:
            raise Drifted(
                f"it is a shop on {found.platform.capitalize()}, and this page is not a list of it",
                hint="give the address of a category",
            )
        return found.proposal
    proposals = _json(sample, base) if sample.is_json else _html(sample, base)
    if not proposals:
        raise why_unreadable(sample)
    best = max(proposals, key=lambda one: one.score)
    other = platforms.named(sample)
    if other:
        note = f"it stands on {other}, for which there is no platform to extend yet"
        return Proposal(best.what, best.text, best.stream, best.target, (*best.found, note), best.missing, best.score)
    return best


def _json(sample: Sample, base: str) -> list[Proposal]:
    data = sample.data()
    best, one = best_list(data), single.found_in(data, sample.request.url)
    if one is not None:
        path, currency = one.path or "$", one.currency or in_scripts.currency_of(one.fields)
        return [single.proposal(sample, base, "one product in JSON", path, one.fields, one.key, currency=currency)]
    if best is None:
        return []
    total = f"{best.total} | int" if best.total else ""
    further = Further(total, best.count, best.next, best.next_value, len(best.records))
    asked = asking(sample.request, base, further)
    told, lacking = said(best.fields)
    text = shop(sample.request, base, "json", asked, best.path, best.fields, why=f"sure: {len(best.records)} records",
                currency=in_scripts.currency_of(best.fields))  # fmt: skip
    return [
        Proposal(
            f"a JSON list of {len(best.records)} goods",
            text,
            found=tuple(told),
            missing=(*lacking, *asked.missing),
            score=best.score,
        )
    ]


def _html(sample: Sample, base: str) -> list[Proposal]:
    own = [one for one in (in_scripts.one_product(sample, base), in_scripts.linked_product(sample, base)) if one]
    found = [*in_scripts.lists(sample, base)]
    if (linked := in_scripts.linked_list(sample, base)) is not None:
        found.append(linked)
    if max((one.score for one in found), default=0.0) < ENOUGH and (row := repeated.boxes(sample, base)) is not None:
        found.append(row)
    return found + own
