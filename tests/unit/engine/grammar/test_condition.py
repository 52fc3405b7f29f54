import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bobusang.engine.grammar.condition import ALLOWED, Condition, compile_condition
from bobusang.kit.errors import Invalid

NAMES: dict[str, Any] = {
    "grade": "A",
    "name": "Wool Coat",
    "sales": {"month": 120, "days": [3, 0, 5]},
    "tags": ["겨울", "new"],
    "active": True,
    "price": 129_000,
    "nothing": None,
    "등급": "최우수",
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("", True),
        ("  \n ", True),
        ("active", True),
        ("not active", False),
        ("active == true", True),
        ("active == false", False),
        ("nothing == null and nothing == None", True),
        ('grade == "A"', True),
        ("grade in ['A', 'B'] and sales.month > 100", True),
        ("grade not in ('A', 'B')", False),
        ("'new' in tags", True),
        ("'Coat' in name", True),
        ("3 in name", False),
        ("'month' in sales", True),
        ("sales['month'] == 120", True),
        ("sales.days[0] == 3 and sales.days[-1] == 5", True),
        ("sales.days[9] == null", True),
        ("100 < sales.month <= 120", True),
        ("100 < sales.month < 120", False),
        ("price > -5 and -price < 0", True),
        ("len(tags) == 2 and len(name) == 9 and len(sales) == 2", True),
        ("lower(grade) == 'a'", True),
        ("startswith(name, 'Wool') and endswith(name, 'Coat')", True),
        ("등급 == '최우수'", True),
        ("(grade == 'B' or\n active)", True),
        pytest.param("missing", False, id="a missing name is None"),
        pytest.param("missing == null", True, id="so it equals null"),
        pytest.param("missing.field.deeper == null", True, id="and all it has is None too"),
        pytest.param("missing < 3 or missing > 3 or missing >= 3 or missing <= 3", False, id="None is not ordered"),
        pytest.param("name < 3", False, id="neither are a text and a number"),
        pytest.param("not (missing < 3)", True, id="not turns that round"),
        pytest.param("1 in missing", False, id="nothing is in what is missing"),
        pytest.param("1 not in missing", True, id="so everything is not in it"),
        pytest.param("[1] in sales", False, id="a list is no name of a mapping"),
        pytest.param("-name == null", True, id="minus a text is None"),
        pytest.param("len(price) == null and lower(price) == null", True, id="a function of the wrong thing is None"),
        pytest.param("startswith(price, '1')", False, id="and a question about it is false"),
        pytest.param("name.upper == null", True, id="a text has no fields"),
        pytest.param("tags.append == null", True, id="a list has no fields"),
    ],
)
def test_condition(text: str, holds: bool) -> None:
    assert compile_condition(text).holds(NAMES) is holds


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("a + 1 > 2", "condition at column 1: 'a + 1': this is not allowed", ALLOWED),
        ("x == 1 and open('f')", "condition at column 12: 'open('f')': unknown function open", None),
        ("'한글' == lenn(x)", "condition at column 9: 'lenn(x)': unknown function lenn", "did you mean len?"),
        ("name.lower() == 'a'", "condition at column 1: 'name.lower()': .lower() is not allowed", "write lower(…)"),
        ("x is None", "condition at column 1: 'x is None': is and is not are not allowed", "use == or !="),
        ("len(a, b)", "condition at column 1: 'len(a, b)': len takes 1 value", ALLOWED),
        ("startswith(a)", "condition at column 1: 'startswith(a)': startswith takes 2 values", ALLOWED),
        ("len(x=a)", "condition at column 1: 'len(x=a)': len takes 1 value", ALLOWED),
        ("a[b]", "condition at column 1: 'a[b]': only a text or a whole number may stand in brackets", ALLOWED),
        ("a[1:2]", "condition at column 1: 'a[1:2]': only a text or a whole number may stand in brackets", ALLOWED),
        ("a.__class__", "condition at column 1: 'a.__class__': the name __class__ is not allowed", ALLOWED),
        ("a ==", "condition at column 5: invalid syntax", ALLOWED),
    ],
)
def test_what_is_not_allowed_is_refused_with_its_place(text: str, message: str, hint: str | None) -> None:
    with pytest.raises(Invalid) as caught:
        compile_condition(text)

    assert (caught.value.field, caught.value.message) == ("condition", message)
    assert hint is None or caught.value.hint == hint


@pytest.mark.parametrize(
    "text",
    [
        "lambda: 1",
        "[x for x in y]",
        "{x for x in y}",
        "{'a': 1}",
        "{1, 2}",
        "a if b else c",
        "f'{a}'",
        "b'a'",
        "1j",
        "...",
        "await a",
        "(a := 1)",
        "len(*a)",
        "a()()",
        "a ** 999999",
        "~a",
        "a; b",
        "import os",
        "__import__('os').system('true')",
        "().__class__.__bases__[0].__subclasses__()",
        "a\0b",
        "'\ud800'",
        "(" * 300,
        "-" * 900 + "1",
        "not " * 200 + "a",
        "a" + ".b" * 400,
        " or ".join(["a"] * 240),
        "a" * 1001,
    ],
)
def test_everything_else_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        compile_condition(text)

    assert caught.value.field == "condition"


def test_a_condition_equals_another_of_the_same_text() -> None:
    assert (compile_condition("a == 1"), compile_condition("")) == (compile_condition("a == 1"), Condition(""))


PIECES = (
    "a b name sales.month sales['days'][0] tags 'x' 1 2.5 -1 None true ( ) [ ] , and or not == != < >= in "
    ". : + lambda len( lower( __class__ ._ .__dict__ is if else for { } ' \" \\ 한글 \n \r \t # f' b'"
)
pieces = st.sampled_from(PIECES.split(" "))
texts = st.text(max_size=60) | st.lists(pieces, max_size=25).map(" ".join) | st.lists(pieces, max_size=25).map("".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["month", "days", "a"]), inner),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(texts, st.dictionaries(st.sampled_from(["a", "b", "name", "sales", "tags"]), values))
@example("a < b", {"a": [1], "b": ["x"]})
@example("a == '\\d'", {})
@example("(a\r한글 + 1)", {})
def test_any_text_is_a_condition_or_invalid_and_any_condition_is_true_or_false(
    text: str, names: dict[str, Any]
) -> None:
    try:
        condition = compile_condition(text)
    except Invalid:
        return

    assert condition.holds(names) in (True, False)


class Trap:
    """An object whose attributes must never be touched."""

    def __getattribute__(self, name: str) -> Any:
        if name in {"__class__", "__bool__", "__len__", "__eq__"}:
            return object.__getattribute__(self, name)
        raise AssertionError(f"{name} was touched")


@given(st.from_regex(r"[A-Za-z_]{1,12}", fullmatch=True), st.sampled_from(["a.{}", "a.{} == 1", "a['{}']", "b.x.{}"]))
@example("__class__", "a.{}")
@example("__init__", "a['{}']")
def test_the_attributes_of_an_object_are_out_of_reach(name: str, shape: str) -> None:
    try:
        condition = compile_condition(shape.format(name))
    except Invalid:
        return

    assert condition.holds({"a": Trap(), "b": {"x": Trap()}}) is False


@given(values, values)
def test_comparisons_are_those_of_python_where_python_has_them(left: Any, right: Any) -> None:
    names = {"left": left, "right": right}
    assert compile_condition("left == right").holds(names) is (left == right)
    assert compile_condition("left != right").holds(names) is (left != right)
    try:
        less = left < right
    except TypeError:
        less = False
    assert compile_condition("left < right").holds(names) is less


@given(st.text(alphabet=st.characters(exclude_characters="\n\r", exclude_categories=["Cs", "Cc"]), max_size=20))
def test_a_text_equals_itself(text: str) -> None:
    assert compile_condition(f"name == {json.dumps(text, ensure_ascii=False)}").holds({"name": text})
