"""Each shipped source over its mall of the sandbox: CPU for a product beside OKmall's, and how near to its limit."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from statistics import median
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

from bench.mall import Mall
from bench.report import Line, at_least, at_most
from bobusang.connectors.sources.declared.extending import SHIPPED
from bobusang.connectors.sources.declared.shop import load_shop

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST = "okmall"
TARGETS = {
    FIRST: ("brand", "나이키(NIKE)"),
    "mustit": ("brand", "NIKE"),
    "wconcept": ("brand", "100001"),
    "musinsa": ("brand", "nike"),
    "ownerclan": ("list", "all"),
    "domeggook": ("keyword", "나이키"),
    "cafe24": ("category", "24"),
    "shopify": ("list", "all"),
}
PAGES = {"quick": 3, "full": 12}
"""Of OKmall's lists, 80 products each; the other malls show the same world."""
ROUNDS = {"quick": 1, "full": 3}
SECONDS = {"quick": 15, "full": 60}
"""How long a source is asked at its own limit."""
FEWEST = 10
NOT_PACED = ("robots",)
"""Asked once, when the source is enabled."""


def run(size: str) -> Iterator[Line]:
    """First all of it, for its CPU; then for a while at the limit."""
    costs: dict[str, float] = {}
    with Mall(PAGES[size]) as mall:
        for name in TARGETS:
            found = [_collected(mall, name) for _ in range(ROUNDS[size])]
            costs[name] = median(one["cpu"] / one["items"] for one in found)
            what = f"{name}: CPU for each of {found[0]['items']:,} products, from list to record"
            yield Line(what, f"{costs[name] * 1e3:.2f} ms")
        for name in TARGETS:
            if name != FIRST:
                yield at_most(f"{name} ÷ {FIRST}", costs[name] / costs[FIRST], 2, "×")
        for name in TARGETS:
            yield _at_limit(mall, name, SECONDS[size])


def _at_limit(mall: Mall, name: str, seconds: int) -> Line:
    allowed = load_shop(SHIPPED / name).policy.limits.rate
    since = _calls(mall, name)
    _collected(mall, name, seconds)
    times = [call["at"] for call in _calls(mall, name)[len(since) :] if call["endpoint"] not in NOT_PACED]
    if len(times) < FEWEST:
        return Line(f"{name}: {allowed:g} requests a second are allowed", f"all of it was there after {len(times)}")
    asked = (len(times) - 1) / (times[-1] - times[0])
    return at_least(f"{name}: of the {allowed:g} requests a second that it allows", asked / allowed, 0.8, "×")


def _calls(mall: Mall, name: str) -> list[dict[str, Any]]:
    with urlopen(f"{mall.url}/admin/log?mall={name}&limit=100000", timeout=60) as answer:
        found: list[dict[str, Any]] = json.loads(answer.read())["items"]
    return sorted(found, key=lambda call: call["at"])


def _collected(mall: Mall, name: str, seconds: int = 0) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as home:
        asked = [sys.executable, "-m", "bench.sources_collect", home, mall.url, name, *TARGETS[name], str(seconds)]
        answer = subprocess.run(asked, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(answer.stdout.splitlines()[-1])
    return found
