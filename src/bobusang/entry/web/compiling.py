"""How templates are compiled: for one language each, so that whatever is the same on every visit is worked out once.

A word that stands in a template is translated when the template is compiled and costs a page nothing. What is left for
each visit (calls of macros, escaping of values) goes the short way, which Jinja cannot take for all of its users: here
everything is escaped, and no function asks for the context.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from jinja2 import BytecodeCache, Environment, nodes
from jinja2.compiler import CodeGenerator
from jinja2.runtime import Context, Macro
from jinja2.visitor import NodeTransformer
from markupsafe import Markup, escape

if TYPE_CHECKING:
    import gettext
    from collections.abc import Mapping
    from types import CodeType

    from jinja2.bccache import Bucket
    from jinja2.compiler import Frame

TRANSLATED = ("_", "gettext")
MOST_WORDS = 4096
"""Texts of which the translation is kept; labels of columns and states are a few hundred."""


class Words:
    """What templates call to speak: `_` and `gettext`, `ngettext`; what is put into a text is escaped."""

    def __init__(self, catalogue: gettext.NullTranslations) -> None:
        self._catalogue = catalogue
        self._said = lru_cache(maxsize=MOST_WORDS)(lambda text: _filled(catalogue.gettext(text), {}))

    def gettext(self, text: str, /, **values: object) -> Markup:
        return _filled(self._catalogue.gettext(text), values) if values else self._said(text)

    def ngettext(self, one: str, many: str, num: int, /, **values: object) -> Markup:
        return _filled(self._catalogue.ngettext(one, many, num), {"num": num, **values})


def _filled(text: str, values: Mapping[str, object]) -> Markup:
    return Markup(text % {name: escape(value) for name, value in values.items()})  # noqa: S704


def shown(value: Any) -> str:
    """A value as it stands in a page. Most are text of ours that is escaped already, or numbers."""
    kind = type(value)
    if kind is Markup:
        return value  # type: ignore[no-any-return]
    return str(value) if kind is int else escape(value)


class ShortCalls(Context):
    """Calls what templates call; a macro is told nothing that it does not know."""

    def call(self, called: Any, /, *given: Any, **named: Any) -> Any:
        if type(called) is not Macro and hasattr(called, "jinja_pass_arg"):
            return super().call(called, *given, **named)
        named.pop("_loop_vars", None)
        named.pop("_block_vars", None)
        return called(*given, **named)


class Showing(CodeGenerator):
    """Writes `shown` where Jinja writes `escape`."""

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        self.write("environment.shown(")
        if finalize.src is not None:
            self.write(finalize.src)


class Settled(NodeTransformer):
    """Puts in what is known before anybody visits: words in the language, and names that never change."""

    def __init__(self, words: Words, fixed: Mapping[str, str]) -> None:
        self._words = words
        self._fixed = fixed

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802  (Jinja's name)
        self.generic_visit(node)
        match node:
            case nodes.Call(node=nodes.Name(name=name), args=[nodes.Const(value=str(text))], kwargs=[]) if (
                name in TRANSLATED and node.dyn_args is None and node.dyn_kwargs is None
            ):
                return nodes.Const(self._words.gettext(text), lineno=node.lineno)
        return node

    def visit_Name(self, node: nodes.Name) -> nodes.Node:  # noqa: N802
        if node.ctx == "load" and node.name in self._fixed:
            return nodes.Const(self._fixed[node.name], lineno=node.lineno)
        return node


class Compiled(BytecodeCache):
    """What was compiled before, for environments alike: a template takes longer to compile than to render, and each
    site that is opened in a process has environments of its own."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, CodeType]] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        checksum, code = self._known.get(bucket.key, ("", None))
        if checksum == bucket.checksum:
            bucket.code = code

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._known[bucket.key] = bucket.checksum, bucket.code


class Compiling(Environment):
    """An environment of one language. `fixed`: names that are texts, the same for ever; no template sets them."""

    context_class = ShortCalls
    code_generator_class = Showing
    shown = staticmethod(shown)

    def __init__(self, catalogue: gettext.NullTranslations, fixed: Mapping[str, str], **options: Any) -> None:
        super().__init__(autoescape=True, auto_reload=False, **options)
        words = Words(catalogue)
        self._settled = Settled(words, fixed)
        self.globals.update(fixed)
        self.globals.update(_=words.gettext, gettext=words.gettext, ngettext=words.ngettext)

    def _generate(
        self, source: nodes.Template, name: str | None, filename: str | None, defer_init: bool = False
    ) -> str:
        return super()._generate(self._settled.visit(source), name, filename, defer_init)
