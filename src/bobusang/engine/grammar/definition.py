"""Workflow definitions: read from YAML or JSON, checked with file, line and key, and written canonically."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec

from bobusang.engine.grammar.mapping import compile_mapping
from bobusang.engine.model import ErrorHandling, QueueType, StepMode, StepType, WorkflowType
from bobusang.kit.errors import Invalid
from bobusang.kit.lined.fields import Fields, Notes, named
from bobusang.kit.lined.located import LARGEST, BadText, Problem, Unreadable
from bobusang.kit.lined.reading import read
from bobusang.kit.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_STEPS = 200
NAME = 100
POOL = 50
DESCRIPTION = 2000

RETRIES = 3
RETRIES_ALLOWED = range(101)
JOBS = 5
TASKS = 10
PARALLEL = range(1, 10_001)

# By our short names and by those of design [E].
QUEUES: dict[str, QueueType | None] = {
    name: queue for queue in QueueType for name in (queue.name.removesuffix("_PRIORITY"), queue.name)
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Parallel:
    """How many jobs of the workflow, and tasks of a job, run at once; and from which pool they draw."""

    jobs: int = JOBS
    tasks: int = TASKS
    pool: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepDefinition:
    """One step as it was written, with the defaults filled in."""

    name: str
    type: StepType
    handler: str
    mode: StepMode = StepMode.STREAM
    gather: bool = False
    on_error: ErrorHandling = ErrorHandling.RETRY
    max_retries: int = RETRIES
    pool: str | None = None
    queue: QueueType | None = None
    target_type: str | None = None
    input: dict[str, object] = field(default_factory=dict)
    output: dict[str, object] = field(default_factory=dict)
    config: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """A workflow as data."""

    workflow: str
    type: WorkflowType = WorkflowType.TARGETED
    source: str | None = None
    description: str | None = None
    tolerance: float = 0.0
    parallel: Parallel | None = None
    steps: tuple[StepDefinition, ...]


@dataclass(frozen=True, slots=True)
class HandlerShape:
    """What a handler wants: names its input must have, names it may have, and whether any others do no harm."""

    name: str
    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()
    open: bool = False


def load(
    text: str, *, origin: str, name: str | None = None, handlers: Mapping[str, HandlerShape] | None = None
) -> Definition:
    """Read a definition; `name` is for a text that has none, `handlers` are checked too where they are known.

    All problems are reported at once, each as `origin:line: key: what is wrong (what to do)`.
    """
    try:
        source = read(text)
    except Unreadable as error:
        raise BadText(origin, [error.problem]) from None
    if not isinstance(source.value, dict):
        raise BadText(
            origin, [Problem("names with values are expected", line=1, hint="begin with workflow: and steps:")]
        )
    notes = Notes(source)
    values = source.value if source.value.get("workflow") is not None else source.value | {"workflow": name}
    definition = _definition(Fields(notes, (), values))
    _check(notes, definition, handlers)
    if notes.problems:
        raise BadText(origin, sorted(notes.problems, key=lambda problem: problem.line or 0))
    if len(canonical(definition).encode()) > LARGEST:
        raise BadText(origin, [Problem(f"written as JSON it has more than {LARGEST:,} bytes")])
    return definition


def canonical(definition: Definition) -> str:
    """The definition as JSON text, the same for the same meaning however it was written; `load` reads it back."""
    plain: dict[str, Any] = msgspec.to_builtins(definition)
    for step, written in zip(definition.steps, plain["steps"], strict=True):
        written["queue"] = None if step.queue is None else step.queue.name
    return msgspec.json.encode(plain, order="sorted").decode()


def checksum(definition: Definition) -> str:
    """Tells whether two definitions mean the same."""
    return sha256(canonical(definition).encode()).hexdigest()


def check_handlers(definition: Definition, known: Mapping[str, HandlerShape]) -> None:
    """Refuse a step whose handler is unknown, or whose input mapping is not what the handler wants."""
    problems = [
        Problem(f"step '{step.name}': {message}", f"steps[{at}].{key}", hint=hint)
        for at, step in enumerate(definition.steps)
        for key, message, hint in _misfits(step, known)
    ]
    if problems:
        raise BadText(definition.workflow, problems)


def _misfits(step: StepDefinition, known: Mapping[str, HandlerShape]) -> Iterator[tuple[str, str, str]]:
    shape = known.get(step.handler)
    if shape is None:
        yield "handler", f"unknown handler '{step.handler}'", did_you_mean(step.handler, known)
    elif step.input:
        if missing := sorted(shape.required - step.input.keys()):
            yield (
                "input",
                f"{shape.name} needs {', '.join(missing)}",
                "map it, or leave the mapping out to hand over all",
            )
        wanted = shape.required | shape.optional
        for name in () if shape.open else sorted(step.input.keys() - wanted):
            yield "input", f"{shape.name} does not know {name}", did_you_mean(name, wanted)


def _definition(fields: Fields) -> Definition:
    fields.required("workflow", "steps")
    definition = Definition(
        workflow=fields.text("workflow", most=NAME) or "",
        type=fields.choice("type", named(WorkflowType), WorkflowType.TARGETED, what="workflow type"),
        source=fields.text("source", most=NAME),
        description=fields.text("description", most=DESCRIPTION, lines=True),
        tolerance=fields.share("tolerance", 0.0),
        parallel=_parallel(fields),
        steps=tuple(_step(fields, at, value) for at, value in enumerate(fields.items("steps", MOST_STEPS))),
    )
    fields.refuse_others()
    return definition


def _parallel(fields: Fields) -> Parallel | None:
    section = fields.mapping("parallel")
    if section is None:
        return None
    inner = Fields(fields.notes, fields.at("parallel"), section)
    parallel = Parallel(
        jobs=inner.whole("jobs", JOBS, PARALLEL),
        tasks=inner.whole("tasks", TASKS, PARALLEL),
        pool=_pool(inner),
    )
    inner.refuse_others()
    return parallel


def _step(outer: Fields, at: int, value: object) -> StepDefinition:
    place = (*outer.at("steps"), at)
    if not isinstance(value, dict):
        outer.notes.add(place, "names with values are expected", "as - {name: fetch_list, type: FETCH}")
        return StepDefinition(name="", type=StepType.FETCH, handler="")
    fields = Fields(outer.notes, place, value)
    fields.required("name", "type")
    kind = fields.choice("type", named(StepType), StepType.FETCH, what="step type")
    step = StepDefinition(
        name=fields.text("name", most=NAME) or "",
        type=kind,
        handler=fields.text("handler", most=NAME) or kind.lower(),
        mode=fields.choice("mode", named(StepMode), StepMode.STREAM, what="mode"),
        gather=fields.flag("gather", default=False),
        on_error=fields.choice(
            "on_error", named(ErrorHandling), ErrorHandling.RETRY, what="error handling", also="error_handling"
        ),
        max_retries=fields.whole("max_retries", RETRIES, RETRIES_ALLOWED),
        pool=_pool(fields),
        queue=fields.choice("queue", QUEUES, None, what="queue"),
        target_type=fields.text("target_type", most=NAME),
        input=_mapping(fields, "input", "input_mapping"),
        output=_mapping(fields, "output", "output_mapping"),
        config=fields.mapping("config") or {},
    )
    fields.refuse_others()
    return step


def _pool(fields: Fields) -> str | None:
    name = fields.text("pool", most=POOL)
    if name is not None and "," in name:  # a lane keeps the names of its pools in one text
        fields.notes.add(fields.at("pool"), "a pool has no comma in its name")
    return name


def _mapping(fields: Fields, name: str, also: str) -> dict[str, object]:
    spec = fields.mapping(name, also) or {}
    try:
        compile_mapping(spec)
    except Invalid as error:
        place = fields.at(name, also)
        owner = max((key for key in spec if error.field.startswith(key)), key=len, default="")
        fields.notes.add(
            (*place, error.field) if error.field else place,
            error.message.removeprefix(f"{error.field}: "),
            error.hint,
            near=(*place, owner),
        )
    return spec


def _check(notes: Notes, definition: Definition, handlers: Mapping[str, HandlerShape] | None) -> None:
    """What can be said only of all steps together."""
    seen: dict[str, int] = {}
    before: StepDefinition | None = None
    for at, step in enumerate(definition.steps):
        first = seen.setdefault(step.name, at)
        if first != at and step.name:
            notes.add(
                ("steps", at, "name"), f"'{step.name}' is the name of steps[{first}] already", "rename one of them"
            )
        if step.gather and (before is None or before.mode is not StepMode.BARRIER):
            where = "the first step has nothing to gather" if before is None else f"'{before.name}' before it streams"
            notes.add(("steps", at, "gather"), where, "gather after a step with mode: barrier")
        for key, message, hint in _misfits(step, handlers) if handlers is not None and step.handler else ():
            notes.add(("steps", at, key), message, hint)
        before = step
