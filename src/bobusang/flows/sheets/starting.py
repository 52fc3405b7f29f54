"""Starting an import: once for a file, one file of a supplier at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.engine import jobs, workflows
from bobusang.engine.jobs import NewJob
from bobusang.flows.sheets import supplying
from bobusang.flows.sheets.importing import WORKFLOW
from bobusang.kit.errors import Conflict, Invalid
from bobusang.platform import alerting
from bobusang.stages.collect import files
from bobusang.stages.collect.intake_tables import FileState

if TYPE_CHECKING:
    from bobusang.engine.service import Engine
    from bobusang.flows.collect.collector import Collector
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.files import SupplierFile


def waits(supplier: str) -> str:
    """The alert that is raised while a supplier's file waits for a person."""
    return f"supplier_file:{supplier}"


async def start(tx: Tx, engine: Engine, collector: Collector, file_id: int) -> SupplierFile:
    """Import a file that was looked through; what was settled of its columns is kept for the next one.

    A file that is being imported already is left alone: whoever asks twice finds the one job.
    """
    file = await files.get(tx, file_id, lock=True)
    if file.state is FileState.IMPORTING:
        return file
    supplier = await supplying.supplier_of(tx, collector, file.supplier)
    if file.state in (FileState.PREVIEWED, FileState.FAILED) and file.report.get("lacking"):
        lacking = ", ".join(file.report["lacking"])
        raise Invalid(f"no column was chosen for {lacking}", hint="say which column it is", field="columns")
    if file.state is FileState.RECEIVED or (file.state is FileState.FAILED and "headings" not in file.report):
        raise Conflict(f"file {file.id} was not looked through yet", hint="preview it first")
    if (other := await files.busy(tx, file.supplier, file.id)) is not None:
        raise Conflict(f"file {other} of {file.supplier} is being imported", hint="wait until it is done")
    supplying.shop(collector, file.supplier, file.mapping)  # raises now what the job could only fail with
    if supplying.declared(collector, file.supplier) is None:
        await supplying.settle(tx, supplier, supplying.restored(file.mapping))
    workflow_id = int((await workflows.find(tx, WORKFLOW))["id"])
    given = {
        "file": file.id,
        "name": file.name,
        "sha256": file.sha256,
        "source": file.supplier,
        "mapping": dict(file.mapping),
    }
    key = f"sheet:{file.id}:{file.job_id or 0}"
    job_id, _ = await jobs.create(tx, engine.books, engine.hooks, NewJob(workflow_id, input=given, key=key))
    states = (FileState.PREVIEWED, FileState.FAILED)
    await files.move(tx, file, FileState.IMPORTING, allowed=states, job_id=job_id)
    await alerting.settle_alerts(tx, [waits(file.supplier)])
    return await files.get(tx, file.id)
