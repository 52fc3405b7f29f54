from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR, Flaw
from bobusang.connectors.sources.declared.path import many, one

DATA = {
    "a": {"b": 1, "null": None, "@type": "x", "한글 키": "값"},
    "list": [{"type": "A", "n": 1}, {"type": "B", "n": 2}, {"type": "B", "n": 3}],
    "nested": [{"in": [{"v": 1}, {"v": 2}]}, {"in": [{"v": 3}]}],
    "single": {"n": 7},
    "words": ["x", "y"],
    "letters": {"A": [{"v": 1}], "B": [{"v": 2}]},
    "holes": [{"v": 1}, {}],
    "empty": [],
    "nobody": {},
}

ONE: dict[str, Any] = {
    "": DATA,
    "$": DATA,
    "a.b": 1,
    "$.a.b": 1,
    "a.@type": "x",
    "a.한글 키": "값",
    "a.null": NOTHING,
    "a.missing": NOTHING,
    "a.b.c": NOTHING,
    "list[0].n": 1,
    "list[-1].n": 3,
    "list[9].n": NOTHING,
    "list[type=B].n": 2,
    "list[type='B'].n": 2,
    "list[type=Z].n": NOTHING,
    "list[*].n": [1, 2, 3],
    "nested[*].in[*].v": [1, 2, 3],
    "single[*].n": [7],
    "single[0].n": 7,
    "single[n=7].n": 7,
    "words[*]": ["x", "y"],
    "words": ["x", "y"],
    "letters.*[*].v": [1, 2],
    "holes[*].v": UNCLEAR,
    "empty[*].v": NOTHING,
    "nobody[*]": NOTHING,
}

MANY: dict[str, Any] = {
    "list[*]": DATA["list"],
    "list": DATA["list"],
    "list[type=B]": [{"type": "B", "n": 2}, {"type": "B", "n": 3}],
    "list[type=Z]": [],
    "single[*]": [{"n": 7}],
    "nobody[*]": [],
    "nested[*].in[*]": [{"v": 1}, {"v": 2}, {"v": 3}],
    "letters.*[*]": [{"v": 1}, {"v": 2}],
    "empty[*]": [],
    "missing[*]": NOTHING,
    "a.null[*]": NOTHING,
    "nested[*].missing[*]": NOTHING,
}


@pytest.mark.parametrize(("path", "value"), ONE.items())
def test_a_path_leads_to_one_value(path: str, value: Any) -> None:
    assert one(path)(DATA) == value


@pytest.mark.parametrize(("path", "records"), MANY.items())
def test_a_path_leads_to_records(path: str, records: Any) -> None:
    assert many(path)(DATA) == records


@pytest.mark.parametrize("path", ["a..b", "a[", "a[]", "a[b", "a]", "a[**]", "a b[0", ".".join("a" * 30), "x" * 400])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(Flaw):
        one(path)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from("abn"), inner),
    )
)
def test_no_data_breaks_a_path(data: Any) -> None:
    for path in ("a.b", "a[*].b", "a[0]", "a[n=1].b", "*[*].a", "[*]"):
        one(path)(data)
        assert type(many(path)(data)) in (list, type(NOTHING))
