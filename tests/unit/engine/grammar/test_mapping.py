from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.engine.grammar.mapping import Mapping, compile_mapping
from bobusang.engine.grammar.path import EACH, Part, Path, parse, written
from bobusang.kit.errors import Invalid

SCOPE: dict[str, object] = {
    "$": {
        "url": "https://shop/1",
        "items": [{"name": "Coat", "price": 1}, {"name": "Bag", "price": None}],
        "a b": {"c-d": [[1, 2], [3]]},
        "상품": "코트",
        "it's": 1,
        "note": None,
    },
    "job": {"id": 7},
    "target": {"key": "seller-1"},
    "config": {"pages": 3},
    "results": [{"ok": 1}, {"ok": 2}],
}

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6) | st.sampled_from(["$", "$x", "$$", "$.a?"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("value", "mapped"),
    [
        ("$.url", "https://shop/1"),
        ("$", SCOPE["$"]),
        ("$job.id", 7),
        ("$target.key", "seller-1"),
        ("$config.pages", 3),
        ("$results", [{"ok": 1}, {"ok": 2}]),
        ("$results[0].ok", 1),
        ("$results[-1].ok", 2),
        ("$results[*].ok", [1, 2]),
        ("$.items[*].name", ["Coat", "Bag"]),
        ("$.items[*].price", [1, None]),
        ("$.'a b'.c-d[*][*]", [[1, 2], [3]]),
        ('$["a b"]["c-d"][0][1]', 2),
        ("$.'it\\'s'", 1),
        ('$["it\'s"]', 1),
        ("$.상품", "코트"),
        ("$.note", None),
        ("$.note?", None),
        ("$$.url", "$.url"),
        ("$$", "$"),
        ("url", "url"),
        ("", ""),
        (1, 1),
        (None, None),
        ({"deep": ["$.url", {"id": "$job.id"}, "$.gone?"], "gone": "$.gone?"}, {"deep": ["https://shop/1", {"id": 7}]}),
    ],
)
def test_a_value_is_mapped(value: object, mapped: object) -> None:
    assert compile_mapping({"key": value}).apply(SCOPE) == {"key": mapped}


@pytest.mark.parametrize(
    "path", ["$.gone?", "$.items[5]?", "$.items[*].gone?", "$.url.deep?", "$.url[0]?", "$.note.x?"]
)
def test_an_optional_path_that_leads_nowhere_leaves_its_key_out(path: str) -> None:
    assert compile_mapping({"gone": path, "url": "$.url"}).apply(SCOPE) == {"url": "https://shop/1"}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("$target.name", "key: $target.name is missing: $target has key"),
        ("$.gone.deep", "key: $.gone.deep is missing: $ has a b, it's, items, note, url, 상품"),
        ("$.items[2]", "key: $.items[2] is missing: $.items is a list of 2"),
        ("$.items[-3].name", "key: $.items[-3].name is missing: $.items is a list of 2"),
        ("$.items[*].gone", "key: $.items[*].gone is missing: $.items[0] has name, price"),
        ("$.items[*].price.won", "key: $.items[*].price.won is missing: $.items[0].price is a number"),
        ("$.items[1].price.won", "key: $.items[1].price.won is missing: $.items[1].price is null"),
        ("$.url.host", "key: $.url.host is missing: $.url is a text"),
        ("$.url[*]", "key: $.url[*] is missing: $.url is a text"),
        ("$['a b'].x", "key: $['a b'].x is missing: $[\"a b\"] has c-d"),
    ],
)
def test_a_missing_path_says_what_was_there(path: str, message: str) -> None:
    with pytest.raises(Invalid) as caught:
        compile_mapping({"key": path}).apply(SCOPE)

    assert (caught.value.field, caught.value.message) == ("key", message)
    assert caught.value.hint == f"if it may be missing, write {path}?"


def test_a_path_inside_is_named_with_its_place() -> None:
    with pytest.raises(Invalid) as caught:
        compile_mapping({"query": {"pages": [1, "$.page"]}}).apply({"$": {}})

    assert (caught.value.field, caught.value.message) == (
        "query.pages[1]",
        "query.pages[1]: $.page is missing: $ is empty",
    )


def test_what_a_scope_lacks_is_null() -> None:
    with pytest.raises(Invalid) as caught:
        compile_mapping({"key": "$target.key"}).apply({"$": {}})

    assert caught.value.message == "key: $target.key is missing: $target is null"


@pytest.mark.parametrize("spec", [None, {}])
@pytest.mark.parametrize(("value", "same"), [({"a": [1]}, {"a": [1]}), ({}, {}), (None, {})])
def test_an_empty_mapping_hands_over_what_it_gets(spec: Any, value: object, same: object) -> None:
    assert compile_mapping(spec).apply({"$": value, "job": {"id": 7}}) == same


def test_an_empty_mapping_of_a_list_is_refused() -> None:
    with pytest.raises(Invalid) as caught:
        compile_mapping(None).apply({"$": [1]})

    assert str(caught.value) == "what is handed over is a list, not names with values (map it, as {items: $})"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("$jbo.id", "key: '$jbo.id' begins with the unknown $jbo"),
        ("$10", "key: '$10' is not a path: '10' at character 2 is not understood"),
        ("$.a b", "key: '$.a b' is not a path: ' b' at character 4 is not understood"),
        ("$.", "key: '$.' is not a path: '.' at character 2 is not understood"),
        ("$.a..b", "key: '$.a..b' is not a path: '..b' at character 4 is not understood"),
        ("$.a[", "key: '$.a[' is not a path: '[' at character 4 is not understood"),
        ("$.a[1.5]", "key: '$.a[1.5]' is not a path: '[1.5]' at character 4 is not understood"),
        ("$.a[b]", "key: '$.a[b]' is not a path: '[b]' at character 4 is not understood"),
        ("$.'a", 'key: "$.\'a" is not a path: ".\'a" at character 2 is not understood'),
        ("$.a??", "key: '$.a??' is not a path: '??' at character 4 is not understood"),
        ("$." + "a" * 499, "key: a path begins with $ and has at most 500 characters: " + repr("$." + "a" * 48)),
    ],
)
def test_a_broken_path_is_found_when_compiled(value: str, message: str) -> None:
    with pytest.raises(Invalid) as caught:
        compile_mapping({"key": value})

    assert (caught.value.field, caught.value.message) == ("key", message)


def test_a_wrong_root_comes_with_the_nearest_and_the_way_to_write_it_as_text() -> None:
    with pytest.raises(Invalid) as caught:
        compile_mapping({"key": "$jbo.id"})

    assert caught.value.hint == "did you mean $job?; a text that begins with $ is written with $$"


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ([1], "a mapping is names with values"),
        ("$.a", "a mapping is names with values"),
        ({1: "$.a"}, "a name in a mapping is a text, not 1"),
        ({"": "$.a"}, "a name in a mapping is a text, not ''"),
        ({"a": {None: 1}}, "a name in a mapping is a text, not None"),
        ({"a": nested(100_000)}, "a mapping is nested at most 20 deep"),
        ({"a": list(range(1001))}, "a mapping has at most 1000 values"),
    ],
)
def test_what_is_no_mapping_is_refused(spec: Any, message: str) -> None:
    with pytest.raises(Invalid) as caught:
        compile_mapping(spec)

    assert caught.value.message == message


def test_mappings_of_the_same_spec_are_equal() -> None:
    assert compile_mapping({"a": "$.b"}) == compile_mapping({"a": "$.b"})
    assert compile_mapping({"a": "$.b"}) != compile_mapping({"a": "$.c"})
    assert isinstance(compile_mapping(None), Mapping)


@given(st.text(max_size=20) | st.text("$.[]*?'\"\\ab0-1 ", max_size=20))
def test_any_text_is_a_path_or_invalid(text: str) -> None:
    try:
        mapping = compile_mapping({"key": f"${text}"})
        mapping.apply(SCOPE)
    except Invalid:
        pass


@given(st.lists(names | st.integers(-5, 5) | st.just(EACH), max_size=6), st.sampled_from(["", "?"]))
def test_a_written_path_reads_back(parts: list[Part], end: str) -> None:
    text = f"$target{written(parts)}{end}"

    assert parse(text) == Path(text, "target", tuple(parts), optional=end == "?")


@given(json_values)
def test_every_place_of_a_value_can_be_reached(value: object) -> None:
    for parts, there in places(value):
        assert parse("$" + written(parts)).read({"$": value}) == there


def places(value: object, parts: tuple[Part, ...] = ()) -> list[tuple[tuple[Part, ...], object]]:
    found: list[tuple[tuple[Part, ...], object]] = [(parts, value)]
    if isinstance(value, dict):
        for name, inner in value.items():
            found += places(inner, (*parts, name))
    if isinstance(value, list):
        for at, inner in enumerate(value):
            found += places(inner, (*parts, at))
    return found


def literally(value: object) -> object:
    match value:
        case str():
            return f"${value}" if value.startswith("$") else value
        case dict():
            return {name: literally(inner) for name, inner in value.items()}
        case list():
            return [literally(inner) for inner in value]
    return value


@given(st.dictionaries(names, json_values, min_size=1, max_size=3))
def test_any_value_can_be_written_literally(value: dict[str, object]) -> None:
    spec = {name: literally(inner) for name, inner in value.items()}

    assert compile_mapping(spec).apply({}) == value
