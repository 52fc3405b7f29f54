"""What a generic step says: addresses with names to fill in, pages to turn, selectors to read by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared.expression import Format
from bobusang.connectors.sources.plain import compile_selectors
from bobusang.engine.model import StepType
from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.collect.source import Ask, Extent, Kind, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bobusang.connectors.sources.plain import Selectors
    from bobusang.engine.model import Run, Step, Task
    from bobusang.stages.collect.policy import Policy
    from bobusang.stages.collect.source import Page, Reads, Target

PAGES = 100
_NAME = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Reader:
    """How a PARSE step reads a page."""

    format: Format
    selectors: Selectors

    def rows(self, page: Page) -> list[dict[str, Any]]:
        """The rows of a page."""
        return self.selectors.rows(page)


class Plain(Source):
    """A place that is known only by its address; a page's rows show how far its list goes."""

    def __init__(self, name: str, base: str, policy: Policy, reader: Reader | None) -> None:
        self.name = name
        self.base = base.rstrip("/")
        self.policy = policy
        self._reader = reader

    def seeds(self, target: Target) -> Iterable[Ask]:
        """Its workflow says what is asked for."""
        return ()

    def read(self, page: Page) -> Iterable[Reads]:
        """Which rows there are, by their digests; nothing is stored of them here."""
        if self._reader is not None:
            yield Extent(tuple(digest(row) for row in self._reader.rows(page)), page=int(page.ask.given["page"]))


def reader_of(step: Step) -> Reader:
    """The reader that a PARSE step's config describes: `parser` html or json, and `selectors`."""
    parser, selectors = step.config.get("parser", "html"), step.config.get("selectors")
    if parser not in ("html", "json"):
        hint = did_you_mean(str(parser), ("html", "json"))
        raise Invalid(f"step '{step.name}': there is no parser '{parser}'", hint=hint, field="parser")
    if not isinstance(selectors, dict) or not selectors:
        hint = "as {items: .product-item, name: .title, price: .price}"
        raise Invalid(f"step '{step.name}' has no selectors", hint=hint, field="selectors")
    kind = Format.HTML if parser == "html" else Format.JSON
    return Reader(kind, compile_selectors(selectors, kind))


def next_reader(task: Task) -> Reader | None:
    """The reader of the PARSE step that follows, which also tells where a list ends."""
    following = task.run.plan.after(task.step)
    if following is None or following.type is not StepType.PARSE or not following.config.get("selectors"):
        return None
    return reader_of(following)


def ask_of(task: Task, base: str) -> Ask:
    """The request of a FETCH task: its pattern, filled in."""
    pattern = task.step.config.get("url_pattern")
    if not isinstance(pattern, str):
        hint = 'as "{base_url}/list?page={page}"'
        raise Invalid(f"step '{task.step.name}' has no url_pattern", hint=hint, field="url_pattern")
    page = page_of(task)
    url = _filled(pattern, {**values_of(task.run), "base_url": base.rstrip("/"), "page": page})
    return Ask(url, Kind.LIST, stream=task.step.name, given={"page": page}, key=f"page:{page}")


def page_of(task: Task) -> int:
    """Which page a FETCH task is for."""
    given = task.input if isinstance(task.input, dict) else {}
    return int(given.get("page") or task.step.config.get("start_page") or 1)


def most_pages(step: Step) -> int:
    """How many pages a step may turn."""
    if not step.config.get("pagination"):
        return 1
    return int(step.config.get("max_pages") or PAGES)


def values_of(run: Run) -> dict[str, Any]:
    """The names that a pattern may use besides `base_url` and `page`: the target's and the job's own."""
    return {name: value for name, value in {**run.target, **run.input}.items() if isinstance(value, str | int)}


def digest(row: Mapping[str, Any]) -> str:
    """Tells rows apart."""
    return blake2b(json.dumps(row).encode(), digest_size=16).hexdigest()


def _filled(pattern: str, values: Mapping[str, Any]) -> str:
    def value(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in values:
            raise Invalid(
                f"url_pattern names {{{name}}}, which neither target nor job has",
                hint=did_you_mean(name, values),
                field="url_pattern",
            )
        return str(values[name])

    return _NAME.sub(value, pattern)
