"""Conditions such as `grade in ["A", "B"] and sales.month > 100`: parsed by `ast`, judged here, never evaluated."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bobusang.kit.errors import Invalid
from bobusang.kit.nearest import did_you_mean

LONGEST = 1000
MOST_NODES = 200
DEEPEST = 30

ALLOWED = (
    "allowed: and, or, not, == != < <= > >= in, names, name.field, name['field'], name[0], texts, numbers, "
    "true, false, null, [lists], len(x), lower(x), startswith(x, y), endswith(x, y)"
)

Names = Mapping[str, object]


class Function(NamedTuple):
    """What a condition may call; of what it does not fit it makes None, which no comparison but == finds equal."""

    takes: int
    call: Callable[..., object]


def _len(value: object) -> object:
    return len(value) if isinstance(value, str | list | tuple | Mapping) else None


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else None


def _startswith(value: object, part: object) -> object:
    return isinstance(value, str) and isinstance(part, str) and value.startswith(part)


def _endswith(value: object, part: object) -> object:
    return isinstance(value, str) and isinstance(part, str) and value.endswith(part)


FUNCTIONS = {
    "len": Function(1, _len),
    "lower": Function(1, _lower),
    "startswith": Function(2, _startswith),
    "endswith": Function(2, _endswith),
}

# The spellings of JSON and SQL; as names they would be missing, and a missing name is quietly None.
WORDS = {"true": True, "false": False, "null": None}


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition; an empty one always holds."""

    text: str
    _tree: ast.expr | None = field(default=None, repr=False, compare=False)

    def holds(self, names: Names) -> bool:
        """Whether it is true of these names. A missing name is None; comparing what cannot be compared is false."""
        return self._tree is None or bool(_value(self._tree, names))


def compile_condition(text: str) -> Condition:
    """Read a condition; what is not allowed is refused with its place."""
    # One line, so that a place is a column.
    line = re.sub(r"[\r\n\f]", " ", text).strip()
    if not line:
        return Condition(text)
    if len(line) > LONGEST:
        raise Invalid(f"a condition has at most {LONGEST} characters, this one {len(line)}", field="condition")
    tree = _parse(line)
    _check(tree, line)
    return Condition(text, tree)


def _parse(line: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            # The parser comments on odd texts ("\d", "1 is 1"); what matters of it is refused below.
            warnings.simplefilter("ignore")
            return ast.parse(line, mode="eval").body
    except SyntaxError as error:
        place = error.offset or len(line) + 1
        raise Invalid(f"condition at column {place}: {error.msg}", hint=ALLOWED, field="condition") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Invalid(f"condition: {str(error) or 'nested too deep'}", hint=ALLOWED, field="condition") from None


def _check(tree: ast.expr, line: str) -> None:
    """Look at every node before any is judged, level by level."""
    level, count = [tree], 0
    for _ in range(DEEPEST):
        count += len(level)
        if not level:
            return
        if count > MOST_NODES:
            raise Invalid(f"a condition has at most {MOST_NODES} parts", field="condition")
        for node in level:
            problem, hint = _problem(node)
            if problem:
                place = len(line.encode()[: node.col_offset].decode()) + 1
                source = ast.get_source_segment(line, node) or ""
                raise Invalid(
                    f"condition at column {place}: '{source[:40]}': {problem}", hint=hint or ALLOWED, field="condition"
                )
        level = [inner for node in level for inner in _inside(node)]
    raise Invalid(f"a condition is nested at most {DEEPEST} deep", field="condition")


def _inside(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        return node.args
    if isinstance(node, ast.Subscript):
        return [node.value]
    return [inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.expr)]


def _problem(node: ast.expr) -> tuple[str, str]:
    """What is wrong with one node, and what to do about it; nothing if it is allowed."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) if name.startswith("__"):
            return f"the name {name} is not allowed", ""
        case ast.Name() | ast.Attribute() | ast.BoolOp() | ast.List() | ast.Tuple():
            return "", ""
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            return "", ""
        case ast.Constant(value=str() | bool() | int() | float() | None):
            return "", ""
        case ast.Subscript() if _key(node.slice) is None:
            return "only a text or a whole number may stand in brackets", ""
        case ast.Subscript():
            return "", ""
        case ast.Compare(ops=ops):
            return ("is and is not are not allowed", "use == or !=") if _has_is(ops) else ("", "")
        case ast.Call():
            return _problem_of_call(node)
    return "this is not allowed", ""


def _has_is(ops: list[ast.cmpop]) -> bool:
    return any(isinstance(op, ast.Is | ast.IsNot) for op in ops)


def _problem_of_call(node: ast.Call) -> tuple[str, str]:
    match node.func:
        case ast.Name(id=name) if name in FUNCTIONS:
            takes = FUNCTIONS[name].takes
            if node.keywords or len(node.args) != takes:
                return f"{name} takes {takes} value{'s' if takes > 1 else ''}", ""
            return "", ""
        case ast.Name(id=name):
            return f"unknown function {name}", did_you_mean(name, FUNCTIONS)
        case ast.Attribute(attr=name) if name in FUNCTIONS:
            return f".{name}() is not allowed", f"write {name}(…)"
    return "calling this is not allowed", ""


def _key(node: ast.expr) -> str | int | None:
    match node:
        case ast.Constant(value=bool()):
            return None
        case ast.Constant(value=str() | int() as key):
            return key
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return -number
    return None


def _value(node: ast.expr, names: Names) -> object:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return WORDS[name] if name in WORDS else names.get(name)
        case ast.Attribute(value=inner, attr=name):
            return _item(_value(inner, names), name)
        case ast.Subscript(value=inner, slice=key):
            return _item(_value(inner, names), _key(key))
        case ast.List(elts=inner) | ast.Tuple(elts=inner):
            return [_value(each, names) for each in inner]
        case ast.BoolOp(op=ast.And(), values=inner):
            return all(_value(each, names) for each in inner)
        case ast.BoolOp(op=ast.Or(), values=inner):
            return any(_value(each, names) for each in inner)
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return not _value(inner, names)
        case ast.UnaryOp(operand=inner):
            number = _value(inner, names)
            return -number if isinstance(number, int | float) else None
        case ast.Call(func=ast.Name(id=name), args=args):
            return FUNCTIONS[name].call(*(_value(each, names) for each in args))
        case ast.Compare():
            return _compared(node, names)
    raise AssertionError(f"{type(node).__name__} was let through")


def _item(value: object, key: str | int | None) -> object:
    """Of a mapping by name, of a list by number, of anything else nothing: attributes of objects are out of reach."""
    if isinstance(value, Mapping):
        return value.get(key)
    if isinstance(value, list | tuple) and isinstance(key, int) and -len(value) <= key < len(value):
        return value[key]
    return None


def _compared(node: ast.Compare, names: Names) -> bool:
    left = _value(node.left, names)
    for op, inner in zip(node.ops, node.comparators, strict=True):
        right = _value(inner, names)
        if not _holds(op, left, right):
            return False
        left = right
    return True


def _holds(op: ast.cmpop, left: object, right: object) -> bool:
    match op:
        case ast.Eq():
            return bool(left == right)
        case ast.NotEq():
            return bool(left != right)
        case ast.In():
            return _contains(right, left)
        case ast.NotIn():
            return not _contains(right, left)
    return _ordered(op, left, right)


def _contains(whole: object, part: object) -> bool:
    match whole:
        case str():
            return isinstance(part, str) and part in whole
        case list() | tuple():
            return part in whole
        case Mapping():
            return isinstance(part, str | int) and part in whole
    return False


def _ordered(op: ast.cmpop, left: object, right: object) -> bool:
    try:
        match op:
            case ast.Lt():
                return bool(left < right)  # type: ignore[operator]
            case ast.LtE():
                return bool(left <= right)  # type: ignore[operator]
            case ast.Gt():
                return bool(left > right)  # type: ignore[operator]
            case ast.GtE():
                return bool(left >= right)  # type: ignore[operator]
    except TypeError:
        return False
    raise AssertionError(f"{type(op).__name__} was let through")
