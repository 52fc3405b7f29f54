"""Anything in any order: the queue stays what its model says it is."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.integration.engine.emptying import emptied
from tests.integration.engine.machine import Machine
from tests.servers.server import wait_for

if TYPE_CHECKING:
    from pathlib import Path

EXAMPLES = {"sqlite": 300, "postgres": 100, "mariadb": 60}
STEPS = 60


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("database", EXAMPLES)
def test_the_queue_does_what_its_model_does(
    database: str, sqlite_template: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    explore(database, EXAMPLES[database], STEPS, sqlite_template, tmp_path, request)


def explore(
    database: str, examples: int, steps: int, template: Path, folder: Path, request: pytest.FixtureRequest
) -> None:
    """Run the machine so often, each time on an empty database."""
    url = "" if database == "sqlite" else request.getfixturevalue(f"migrated_{database}")

    def fresh() -> Machine:
        machine = Machine()
        if url:
            machine.url = wait_for(emptied(url))
        else:
            path = shutil.copy(template, folder / "machine.db")
            for more in ("-wal", "-shm"):
                (folder / f"machine.db{more}").unlink(missing_ok=True)
            machine.url = f"sqlite:///{path}"
        return machine

    run_state_machine_as_test(
        fresh,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
