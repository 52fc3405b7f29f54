import json
from dataclasses import replace
from textwrap import dedent
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bobusang.engine.grammar.definition import (
    Definition,
    HandlerShape,
    Parallel,
    StepDefinition,
    canonical,
    check_handlers,
    checksum,
    load,
)
from bobusang.engine.model import ErrorHandling, QueueType, StepMode, StepType, WorkflowType
from bobusang.kit.errors import Invalid

FULL = """\
workflow: mustit sellers
type: FULL_SCAN
source: mustit
description: |
  Every seller, once a day.
  판매자 전체 🧥
tolerance: 0.05
parallel: {jobs: 2, pool: browser}
steps:
  - name: fetch_list
    type: FETCH
    handler: mustit.list
    mode: barrier
    on_error: SKIP
    max_retries: 5
    pool: okmall
    queue: HIGH
    target_type: seller
    input: {url: $.url, page: 1}
    output: {items: "$.items"}
    config: {url_pattern: "{base_url}/list?page={page}", since: 2026-01-01, no: no}
  - name: summary
    type: STORE
    gather: true
"""

FULL_DEFINITION = Definition(
    workflow="mustit sellers",
    type=WorkflowType.FULL_SCAN,
    source="mustit",
    description="Every seller, once a day.\n판매자 전체 🧥\n",
    tolerance=0.05,
    parallel=Parallel(jobs=2, tasks=10, pool="browser"),
    steps=(
        StepDefinition(
            name="fetch_list",
            type=StepType.FETCH,
            handler="mustit.list",
            mode=StepMode.BARRIER,
            on_error=ErrorHandling.SKIP,
            max_retries=5,
            pool="okmall",
            queue=QueueType.HIGH_PRIORITY,
            target_type="seller",
            input={"url": "$.url", "page": 1},
            output={"items": "$.items"},
            config={"url_pattern": "{base_url}/list?page={page}", "since": "2026-01-01", "no": "no"},
        ),
        StepDefinition(name="summary", type=StepType.STORE, handler="store", gather=True),
    ),
)

# The example of design [E], word for word.
DESIGN_E = """
{
  "steps": [
    {
      "name": "fetch_list",
      "type": "FETCH",
      "config": {
        "url_pattern": "{base_url}/list?page={page}",
        "pagination": true,
        "max_pages": 100
      }
    },
    {
      "name": "parse_items",
      "type": "PARSE",
      "config": {
        "parser": "html",
        "selectors": {
          "items": ".product-item",
          "name": ".title",
          "price": ".price"
        }
      }
    }
  ]
}
"""

STEP = "steps:\n  - {name: a, type: FETCH}\n"


def problem(text: str, **more: Any) -> Invalid:
    with pytest.raises(Invalid) as caught:
        load(dedent(text), origin="shop.yaml", **more)
    return caught.value


def test_a_full_definition_is_read() -> None:
    assert load(FULL, origin="mustit.yaml") == FULL_DEFINITION


def test_the_example_of_the_design_is_read_under_a_given_name() -> None:
    selectors = {"items": ".product-item", "name": ".title", "price": ".price"}
    pages = {"url_pattern": "{base_url}/list?page={page}", "pagination": True, "max_pages": 100}

    assert load(DESIGN_E, origin="api", name="MUSTIT 상품 수집") == Definition(
        workflow="MUSTIT 상품 수집",
        steps=(
            StepDefinition(name="fetch_list", type=StepType.FETCH, handler="fetch", config=pages),
            StepDefinition(
                name="parse_items",
                type=StepType.PARSE,
                handler="parse",
                config={"parser": "html", "selectors": selectors},
            ),
        ),
    )


def test_the_names_of_the_design_are_understood() -> None:
    text = """\
    workflow: a
    steps:
      - name: a
        type: FETCH
        error_handling: FAIL
        queue: LOW_PRIORITY
        input_mapping: {url: $.url}
        output_mapping: {items: $.items}
    """
    step = StepDefinition(
        name="a",
        type=StepType.FETCH,
        handler="fetch",
        on_error=ErrorHandling.FAIL,
        queue=QueueType.LOW_PRIORITY,
        input={"url": "$.url"},
        output={"items": "$.items"},
    )

    assert load(dedent(text), origin="a") == Definition(workflow="a", steps=(step,))


def test_the_name_in_the_text_comes_before_the_given_one() -> None:
    assert load(f"workflow: mine\n{STEP}", origin="a", name="yours").workflow == "mine"


@pytest.mark.parametrize(
    ("section", "parallel"),
    [("{}", Parallel(jobs=5, tasks=10)), ("{tasks: 3}", Parallel(jobs=5, tasks=3)), ("null", None)],
)
def test_parallel_has_defaults_when_it_is_there(section: str, parallel: Parallel | None) -> None:
    assert load(f"workflow: a\nparallel: {section}\n{STEP}", origin="a").parallel == parallel


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETSH\n",
            "shop.yaml:4: steps[0].type: unknown step type 'FETSH' (did you mean FETCH?)",
        ),
        (
            "workflow: a\ntype: ALL\n" + STEP,
            "shop.yaml:2: type: unknown workflow type 'ALL' (known: FULL_SCAN, INCREMENTAL, TARGETED)",
        ),
        (STEP, "shop.yaml: workflow: is missing"),
        ("workflow: a\n", "shop.yaml: steps: is missing"),
        ("workflow: a\nsteps: []\n", "shop.yaml:2: steps: 1 to 200 are allowed, not 0"),
        (
            "workflow: a\nsteps: x\n",
            "shop.yaml:2: steps: a list is expected (as steps: with one item a line, each after -)",
        ),
        (
            "workflow: a\nsteps:\n  - fetch\n",
            "shop.yaml:3: steps[0]: names with values are expected (as - {name: fetch_list, type: FETCH})",
        ),
        ("workflow: a\nsteps:\n  - type: FETCH\n", "shop.yaml:3: steps[0].name: is missing"),
        ("workflow: a\nsteps:\n  - name: x\n", "shop.yaml:3: steps[0].type: is missing"),
        ("workflow: 7\n" + STEP, "shop.yaml:1: workflow: a text is expected, not 7 (put it in quotes)"),
        (f"workflow: {'a' * 101}\n" + STEP, "shop.yaml:1: workflow: 1 to 100 characters are allowed, not 101"),
        ('workflow: ""\n' + STEP, "shop.yaml:1: workflow: 1 to 100 characters are allowed, not 0"),
        (
            'workflow: "a "\n' + STEP,
            "shop.yaml:1: workflow: spaces at the ends and control characters are not allowed",
        ),
        (
            'workflow: "a\\tb"\n' + STEP,
            "shop.yaml:1: workflow: spaces at the ends and control characters are not allowed",
        ),
        ("workflow: a\ntolerance: 2\n" + STEP, "shop.yaml:2: tolerance: a number from 0 to 1 is expected, not 2"),
        ("workflow: a\ntolerance: true\n" + STEP, "shop.yaml:2: tolerance: a number from 0 to 1 is expected, not true"),
        (
            "workflow: a\nparallel:\n  jobs: 0\n" + STEP,
            "shop.yaml:3: parallel.jobs: a whole number from 1 to 10,000 is expected, not 0",
        ),
        ("workflow: a\nparallel: 5\n" + STEP, "shop.yaml:2: parallel: names with values are expected, not 5"),
        ("workflow: a\nparallel: {job: 5}\n" + STEP, "shop.yaml:2: parallel.job: unknown key (did you mean jobs?)"),
        ("workflow: a\nstep: 1\n" + STEP, "shop.yaml:2: step: unknown key (did you mean steps?)"),
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETCH\n    hander: y\n",
            "shop.yaml:5: steps[0].hander: unknown key (did you mean handler?)",
        ),
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETCH\n    max_retries: 1.5\n",
            "shop.yaml:5: steps[0].max_retries: a whole number from 0 to 100 is expected, not 1.5",
        ),
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETCH\n    on_error: FAIL\n    error_handling: SKIP\n",
            "shop.yaml:6: steps[0].error_handling: on_error and error_handling are the same (give one of them)",
        ),
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETCH\n    error_handling: RETYR\n",
            "shop.yaml:5: steps[0].error_handling: unknown error handling 'RETYR' (did you mean RETRY?)",
        ),
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETCH\n    mode: [1]\n",
            "shop.yaml:5: steps[0].mode: unknown mode a list (known: barrier, stream)",
        ),
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETCH\n  - name: x\n    type: PARSE\n",
            "shop.yaml:5: steps[1].name: 'x' is the name of steps[0] already (rename one of them)",
        ),
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETCH\n    gather: true\n",
            (
                "shop.yaml:5: steps[0].gather: the first step has nothing to gather "
                "(gather after a step with mode: barrier)"
            ),
        ),
        (
            "workflow: a\nsteps:\n  - {name: x, type: FETCH}\n  - name: y\n    type: STORE\n    gather: true\n",
            "shop.yaml:6: steps[1].gather: 'x' before it streams (gather after a step with mode: barrier)",
        ),
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETCH\n    gather: yes\n",
            "shop.yaml:5: steps[0].gather: true or false is expected, not 'yes'",
        ),
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETCH\n    input:\n      page: 1\n      query: {url: $.a b}\n",
            (
                "shop.yaml:7: steps[0].input.query.url: '$.a b' is not a path: ' b' at character 4 is not understood "
                "(a root goes on with .name, .'any name', [\"any name\"], [0], [-1] or [*]; "
                "a text that begins with $ is written with $$)"
            ),
        ),
        (
            "workflow: a\nsteps:\n  - name: x\n    type: FETCH\n    output_mapping: 5\n",
            "shop.yaml:5: steps[0].output_mapping: names with values are expected, not 5",
        ),
        ("- a\n", "shop.yaml:1: names with values are expected (begin with workflow: and steps:)"),
        ("", "shop.yaml:1: names with values are expected (begin with workflow: and steps:)"),
    ],
)
def test_a_problem_names_file_line_and_key(text: str, said: str) -> None:
    assert str(problem(text)) == said


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("workflow: a\nsteps: [\n", "shop.yaml:3:1: "),
        ("workflow: 'a\n", "shop.yaml:"),
        ("a: b: c\n", "shop.yaml:1:5: mapping values are not allowed"),
        ("workflow: a\n\tsteps: b\n", "shop.yaml:2:1: "),
        ("workflow: a\nworkflow: b\n", "shop.yaml:2:1: the key 'workflow' is there twice"),
        ("workflow: a\nsteps:\n  - {name: a, name: b}\n", "shop.yaml:3:15: the key 'name' is there twice"),
        ("workflow: &a x\nsteps: *a\n", "shop.yaml:1:11: anchors and aliases are not allowed"),
        ("workflow: !!python/object/apply:os.system [x]\n", "shop.yaml:1:11: the tag "),
        ("workflow: a\n---\nworkflow: b\n", "shop.yaml:2:1: there is a second document"),
        ("workflow: a\nsteps: \0\n", "shop.yaml:2:8: a NUL or a lone surrogate is not allowed"),
        ('workflow: "a\\0"\n', "shop.yaml:1:11: a text has a NUL or a lone surrogate"),
        ("workflow: a\x07\n", "shop.yaml:1:12: the character '\\x07' is not allowed"),
        ("config: 99999999999999999999\n", "shop.yaml:1:9: the number is too large"),
        ("config: 1e999\n", "shop.yaml:1:9: the number is too large"),
        ("? [a]\n: b\n", "shop.yaml:1:3: a key is a text"),
        ("[" * 100_000, "shop.yaml:1:32: nested more than 30 deep"),
        ('{"workflow": "a",\n "steps": [1, 2}', "shop.yaml:2:16: a comma or ] is expected"),
        ('{"a": 1, "a": 2}', "shop.yaml:1:10: the key 'a' is there twice"),
        ('{"a": "\\u0000"}', "shop.yaml:1:7: a text has a NUL or a lone surrogate"),
        ('{"a": "\\ud800"}', "shop.yaml:1:7: a text has a NUL or a lone surrogate"),
        ('{"a":' * 100_000, "shop.yaml:1:156: nested more than 30 deep"),
        ("#" * (2**20 + 1), "shop.yaml:1:1: at most 1,048,576 bytes are allowed"),
        ("#" + "가" * 2**19, "shop.yaml:1:1: at most 1,048,576 bytes are allowed"),
    ],
    ids=range(23),
)
def test_a_broken_text_names_line_and_column(text: str, place: str) -> None:
    with pytest.raises(Invalid) as caught:
        load(text, origin="shop.yaml")

    assert caught.value.message.startswith(place)


def test_a_million_laughs_are_refused() -> None:
    lines = ["a0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]

    assert problem("\n".join(lines)).message == "shop.yaml:1:5: anchors and aliases are not allowed"


def test_all_problems_are_told_at_once_in_the_order_of_lines() -> None:
    error = problem("""\
        workflow: a
        tipe: FULL_SCAN
        steps:
          - name: x
            type: FETSH
            max_retries: -1
        """)

    assert str(error).splitlines() == [
        "shop.yaml:2: tipe: unknown key (did you mean type?)",
        "shop.yaml:5: steps[0].type: unknown step type 'FETSH' (did you mean FETCH?)",
        "shop.yaml:6: steps[0].max_retries: a whole number from 0 to 100 is expected, not -1",
    ]
    assert error.field == "tipe"


def test_more_problems_than_anyone_reads_are_counted() -> None:
    error = problem("workflow: a\nsteps:\n" + "  - {name: x, type: Y}\n" * 200)

    assert len(error.problems) == 399  # type: ignore[attr-defined]
    assert str(error).splitlines()[-1] == "and 379 more"


def test_too_many_steps_are_refused() -> None:
    text = "workflow: a\nsteps:\n" + "".join(f"  - {{name: s{n}, type: FETCH}}\n" for n in range(201))

    assert str(problem(text)) == "shop.yaml:2: steps: 1 to 200 are allowed, not 201"


def test_a_text_that_grows_beyond_the_limit_when_written_as_json_is_refused() -> None:
    config = '"' * (2**20 - 100)

    assert problem(f"workflow: a\nsteps:\n  - {{name: a, type: FETCH, config: {{a: '{config}'}}}}\n").message == (
        "shop.yaml: written as JSON it has more than 1,048,576 bytes"
    )


def test_json_may_be_indented_with_tabs_and_yaml_may_begin_with_a_brace() -> None:
    tabs = '{\n\t"workflow": "a",\n\t"steps": [{"name": "a", "type": "FETCH"}]\n}'

    assert load(tabs, origin="a") == load("{workflow: a, steps: [{name: a, type: FETCH}]}", origin="a")


def test_a_name_of_emoji_and_hangul_is_a_name() -> None:
    assert load(f"workflow: 👨‍👩‍👧 보부상\n{STEP}", origin="a").workflow == "👨‍👩‍👧 보부상"


def test_canonical_text_is_the_same_however_the_definition_was_written() -> None:
    plain = {"workflow": "mustit sellers", "type": "FULL_SCAN"}
    shuffled = "\n".join([*FULL.splitlines()[2:], *(f"{key}: {value}" for key, value in reversed(plain.items()))])

    assert canonical(load(shuffled, origin="b")) == canonical(FULL_DEFINITION)
    assert checksum(load(shuffled, origin="b")) == checksum(FULL_DEFINITION)


def test_canonical_text_is_sorted_json_with_every_default_written_out() -> None:
    definition = Definition(
        workflow="a",
        steps=(StepDefinition(name="x", type=StepType.FETCH, handler="f", queue=QueueType.LOW_PRIORITY),),
    )

    assert canonical(definition) == (
        '{"description":null,"parallel":null,"source":null,"steps":[{"config":{},"gather":false,"handler":"f","input":{},'
        '"max_retries":3,"mode":"stream","name":"x","on_error":"RETRY","output":{},"pool":null,"queue":"LOW_PRIORITY",'
        '"target_type":null,"type":"FETCH"}],"tolerance":0.0,"type":"TARGETED","workflow":"a"}'
    )


def test_checksums_differ_when_anything_does() -> None:
    assert checksum(FULL_DEFINITION) != checksum(replace(FULL_DEFINITION, tolerance=0.06))


SHAPES = {
    "mustit.list": HandlerShape("mustit.list", frozenset({"url"}), frozenset({"page"})),
    "store": HandlerShape("store", frozenset({"items"}), open=True),
}


def stepped(handler: str, **mapping: object) -> Definition:
    step = StepDefinition(name="x", type=StepType.FETCH, handler=handler, input=dict(mapping))
    return Definition(workflow="shop", steps=(step,))


@pytest.mark.parametrize(
    "definition",
    [
        stepped("mustit.list", url="$.url"),
        stepped("mustit.list", url="$.url", page=1),
        stepped("mustit.list"),
        stepped("store", items="$.items", anything=1),
    ],
    ids=["required", "optional too", "no mapping hands over all", "open"],
)
def test_a_step_that_fits_its_handler(definition: Definition) -> None:
    check_handlers(definition, SHAPES)


@pytest.mark.parametrize(
    ("definition", "field", "said"),
    [
        (
            stepped("mustit.lst"),
            "steps[0].handler",
            "shop: steps[0].handler: step 'x': unknown handler 'mustit.lst' (did you mean mustit.list?)",
        ),
        (
            stepped("mustit.list", page=1),
            "steps[0].input",
            "shop: steps[0].input: step 'x': mustit.list needs url (map it, or leave the mapping out to hand over all)",
        ),
        (
            stepped("mustit.list", url=1, pgae=1),
            "steps[0].input",
            "shop: steps[0].input: step 'x': mustit.list does not know pgae (did you mean page?)",
        ),
    ],
)
def test_a_step_that_does_not_fit_its_handler(definition: Definition, field: str, said: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_handlers(definition, SHAPES)

    assert (caught.value.field, str(caught.value)) == (field, said)


def test_handlers_known_at_loading_are_checked_with_their_lines() -> None:
    error = problem(
        """\
        workflow: a
        steps:
          - name: x
            type: FETCH
            handler: mustit.lst
          - name: y
            type: STORE
            input: {item: $.items}
        """,
        handlers=SHAPES,
    )

    assert str(error).splitlines() == [
        "shop.yaml:5: steps[0].handler: unknown handler 'mustit.lst' (did you mean mustit.list?)",
        "shop.yaml:8: steps[1].input: store needs items (map it, or leave the mapping out to hand over all)",
    ]


# --- properties ------------------------------------------------------------------------------------------------------

storable = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
names = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=100).filter(
    lambda name: name == name.strip()
)
numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
anything = st.recursive(
    st.none() | st.booleans() | numbers | st.text(storable, max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(storable, max_size=20), inner, max_size=3),
    max_leaves=10,
)
configs: st.SearchStrategy[dict[str, Any]] = st.dictionaries(st.text(storable, max_size=20), anything, max_size=3)
mappings: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    st.text(storable, min_size=1, max_size=10), numbers | st.sampled_from(["$.a", "$job.id?", "$$x", "x"]), max_size=3
)
pools = st.none() | names.map(lambda name: name[:50].replace(",", "").strip()).filter(bool)


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    steps: list[StepDefinition] = []
    for name in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        after_barrier = bool(steps) and steps[-1].mode is StepMode.BARRIER
        steps.append(
            StepDefinition(
                name=name,
                type=draw(st.sampled_from(StepType)),
                handler=draw(names),
                mode=draw(st.sampled_from(StepMode)),
                gather=after_barrier and draw(st.booleans()),
                on_error=draw(st.sampled_from(ErrorHandling)),
                max_retries=draw(st.integers(0, 100)),
                pool=draw(pools),
                queue=draw(st.none() | st.sampled_from(QueueType)),
                target_type=draw(st.none() | names),
                input=draw(mappings),
                output=draw(mappings),
                config=draw(configs),
            )
        )
    return Definition(
        workflow=draw(names),
        type=draw(st.sampled_from(WorkflowType)),
        source=draw(st.none() | names),
        description=draw(st.none() | st.text(storable, min_size=1, max_size=100)),
        tolerance=draw(st.floats(0, 1)),
        parallel=draw(st.none() | st.builds(Parallel, jobs=st.integers(1, 99), tasks=st.integers(1, 99), pool=pools)),
        steps=tuple(steps),
    )


@settings(deadline=None)
@given(definitions())
def test_canonical_text_reads_back(definition: Definition) -> None:
    text = canonical(definition)

    assert load(text, origin="canonical") == definition
    assert canonical(load(text, origin="canonical")) == text


@settings(deadline=None)
@given(definitions())
def test_the_same_is_read_from_yaml_as_from_json(definition: Definition) -> None:
    assert load(block(json.loads(canonical(definition))), origin="a") == definition


def block(value: object, indent: str = "\n") -> str:
    """Block YAML, with every text in quotes and every sign in it that might need it escaped."""
    match value:
        case dict() if value:
            return "".join(f"{indent}{block(key)}: {block(each, indent + '  ')}" for key, each in value.items())
        case list() if value:
            return "".join(f"{indent}- {block(each, indent + '  ')}" for each in value)
        case str():
            signs = (sign if sign.isascii() and sign.isalnum() else f"\\U{ord(sign):08X}" for sign in value)
            return f'"{"".join(signs)}"'
    return json.dumps(value)


@settings(max_examples=300, deadline=None)
@given(
    st.text(max_size=60)
    | st.lists(st.sampled_from([*FULL.splitlines(), "\t", "  - {", "}", "[", "a: &x", "*x", '"', "'", "? :"])).map(
        "\n".join
    )
)
def test_any_text_is_a_definition_or_invalid(text: str) -> None:
    try:
        load(text, origin="any")
    except Invalid:
        pass


@settings(deadline=None)
@given(anything)
def test_any_data_is_a_definition_or_invalid(value: Any) -> None:
    text = json.dumps({"workflow": value, "steps": [{"name": value, "type": value}, value], "parallel": value})
    with pytest.raises(Invalid):
        load(text, origin="any")
