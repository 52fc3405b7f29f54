"""Asks as tasks: what a source wants to have fetched, written down and read back."""

from __future__ import annotations

from dataclasses import fields
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from bobusang.engine.making import KEY_LIMIT, URL_LIMIT
from bobusang.engine.model import NewTask
from bobusang.stages.collect.pools import pool_of
from bobusang.stages.collect.source import Ask, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

STEP_OF = {Kind.LIST: "list", Kind.INDEX: "list", Kind.ITEM: "item", Kind.PART: "item"}


def new_tasks(asks: Iterable[Ask], source: str, steps: Mapping[Kind, str] = STEP_OF) -> tuple[NewTask, ...]:
    """One task an ask; the key makes sure that a page is asked for once in a run."""
    return tuple(
        NewTask(
            written(ask),
            key=key_of(ask),
            url=ask.url if len(ask.url) <= URL_LIMIT else "",
            step=steps[ask.kind],
            pool=pools_of(source, ask.endpoint),
            raw=True,
        )
        for ask in asks
    )


def pools_of(source: str, endpoint: str) -> str:
    """The pools of a request: the whole source's, and its endpoint's own."""
    return f"{pool_of(source)},{pool_of(source, endpoint)}"


def key_of(ask: Ask) -> str:
    """The ask's own key; one that is too long is told apart by its digest."""
    name = ask.name
    return name if len(name) <= KEY_LIMIT else f"{name[:150]}#{blake2b(name.encode(), digest_size=16).hexdigest()}"


def written(ask: Ask) -> dict[str, Any]:
    """An ask as a task's input; what is as usual is left out."""
    return {field.name: value for field in fields(ask) if (value := getattr(ask, field.name)) and value != "GET"}


def ask_of(given: Mapping[str, Any]) -> Ask:
    """The ask that a task stands for."""
    return Ask(**{**given, "kind": Kind(given["kind"])})
