"""Hooks: the few functions that a shop may bring where its grammar cannot say it, by registered name.

A shop's own `hooks.py` registers with `@hook("name")`; a package registers in the entry-point group `bobusang.hooks`.
`shop.yaml` names one as `hooks: {detail.after: name}`. A shop with hooks contains code: it runs only where it was
shipped with the program or somebody trusts it.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextvars import ContextVar
from hashlib import sha256
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from bobusang.kit.errors import Invalid
from bobusang.stages.collect.source import Page

if TYPE_CHECKING:
    from pathlib import Path

FILE = "hooks.py"
GROUP = "bobusang.hooks"

After = Callable[[dict[str, Any], Page], dict[str, Any]]
"""Takes the fields of a record and its page; the fields as they shall be."""

_loading: ContextVar[dict[str, After] | None] = ContextVar("loading", default=None)


def hook(name: str) -> Callable[[After], After]:
    """Register a function under a name, while a shop's `hooks.py` is loaded."""

    def register(function: After) -> After:
        registry = _loading.get()
        if registry is not None:
            registry[name] = function
        return function

    return register


def own_hooks(folder: Path) -> dict[str, After]:
    """What a shop's own file registers. Running it is running code: ask only for a shop that is trusted."""
    path = folder / FILE
    if not path.exists():
        return {}
    registry: dict[str, After] = {}
    token = _loading.set(registry)
    try:
        name = f"bobusang_shop_{sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(importlib.util.module_from_spec(spec))
    except Exception as error:
        raise Invalid(f"{path.name} of {folder.name} does not load: {error}", hint="mend it", field="hooks") from error
    finally:
        _loading.reset(token)
    return registry


def known_hooks() -> dict[str, Callable[[], After]]:
    """What installed packages register; loaded only when a shop names one."""
    return {point.name: point.load for point in entry_points(group=GROUP)}
