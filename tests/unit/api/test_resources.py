"""Every resource is found by the paths it answers for, and loaded by nobody else's."""

from __future__ import annotations

import subprocess
import sys
from collections import defaultdict
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

import pytest
from fastapi import APIRouter

from bobusang.entry import api
from bobusang.entry.api import resources
from bobusang.entry.api.resource import Resource
from bobusang.entry.api.resources import MODULES, AllMethods, first

if TYPE_CHECKING:
    from collections.abc import Sequence


def loaded(*lines: str) -> list[str]:
    """The resources that a program of these lines has loaded."""
    script = "\n".join((*lines, "import sys", "print(*sys.modules, sep='\\n')"))
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    names = {f"{api.__name__}.{one}": one for modules in MODULES.values() for one in modules}
    return sorted({names[line] for line in found.splitlines() if line in names})


def test_each_module_is_listed_for_the_paths_it_answers() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for module in iter_modules(api.__path__):
        router = getattr(import_module(f"{api.__name__}.{module.name}"), "router", None)
        if isinstance(router, APIRouter):
            for route in router.routes:
                found[first(getattr(route, "path", ""))].add(module.name)

    assert found == {name: set(modules) for name, modules in MODULES.items()}


def test_a_start_loads_what_it_serves_itself() -> None:
    assert loaded("import bobusang.entry.api") == ["metrics"]


def test_a_request_loads_its_own_resource() -> None:
    assert loaded("from bobusang.entry.api import resources", "resources.part('tasks')") == ["metrics", "tasks"]


def test_no_route_is_told_twice() -> None:
    found = [(getattr(route, "path", ""), tuple(getattr(route, "methods", ()))) for route in resources.routes()]

    assert len(found) == len(set(found))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/openapi.json", []),
        ("/tasks", ["GET"]),
        ("/held/approve", ["POST"]),
        ("/nowhere", []),
    ],
)
def test_methods_of_a_path_are_those_of_its_resource(path: str, expected: Sequence[str]) -> None:
    assert [one for one in AllMethods([]).allow(path).split(", ") if one] == expected


def test_routes_are_worked_out_in_the_order_in_which_they_were_declared() -> None:
    made = Resource("parts", "/parts")

    for path in ("/first", "/{id}", "/last"):
        made.get(path)(test_no_route_is_told_twice)

    assert [getattr(route, "path", "") for route in made.routes] == ["/parts/first", "/parts/{id}", "/parts/last"]
    assert made.routes is made.routes
