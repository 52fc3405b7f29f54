"""How files are dealt out to the test processes: whole, and those that need the dearest server all to the same one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController


class Sharing(LoadFileScheduling):  # type: ignore[misc]  # xdist tells no types
    """OpenSearch takes longer to start than most files run, so one process starts it for all that need it."""

    searching: ClassVar[frozenset[str]] = frozenset(
        {
            "tests/e2e/test_catalogue_servers.py",
            "tests/integration/platform/test_opensearch.py",
            "tests/integration/relevance/test_relevance.py",
        }
    )

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "OpenSearch" if file in self.searching else file

    def _reschedule(self, node: WorkerController) -> None:
        """Not to one that has taken the place of another that died, and is still collecting: it knows no test yet."""
        if node in self.registered_collections:
            super()._reschedule(node)
