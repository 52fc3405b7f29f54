"""Templates compiled for a language: words are put in once, and nothing gets into a page unescaped."""

from __future__ import annotations

import gettext
from typing import Any

import pytest
from jinja2 import DictLoader, StrictUndefined, UndefinedError, pass_context
from markupsafe import Markup

from bobusang.entry.web.compiling import Compiled, Compiling

HOSTILE = "<b>&\"'"
ESCAPED = "&lt;b&gt;&amp;&#34;&#39;"


class Korean(gettext.NullTranslations):
    """A catalogue that counts how often it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def gettext(self, message: str) -> str:
        self.asked.append(message)
        return {"Save": "저장", "%(n)s of <b>": "<b> 중 %(n)s", "100%%": "100%%"}.get(message, message)


def made(
    template: str, catalogue: gettext.NullTranslations | None = None, kept: Compiled | None = None, **others: str
) -> Compiling:
    loader = DictLoader({"page": template, **others})
    words = catalogue or gettext.NullTranslations()
    return Compiling(words, {"ui": "/ui"}, loader=loader, undefined=StrictUndefined, bytecode_cache=kept)


def test_a_word_is_looked_up_when_it_is_compiled_and_never_again() -> None:
    words = Korean()
    page = made("{{ _('Save') }} {{ gettext('100%%') }} {{ ui }}/x", words).get_template("page")

    assert [page.render(), page.render()] == ["저장 100% /ui/x"] * 2
    assert words.asked == ["Save", "100%%"]


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("{{ x }}", ESCAPED),
        ("{{ 'a' ~ x }}", f"a{ESCAPED}"),
        ("{{ _('%(n)s of <b>', n=x) }}", f"<b> 중 {ESCAPED}"),
        ("{{ gettext(word) }}", "저장"),
        ("{{ gettext(x) }}", HOSTILE),  # the catalogue's words are trusted, as in every gettext
        ("{{ ngettext('%(num)s line of %(of)s', '%(num)s lines of %(of)s', 2, of=x) }}", f"2 lines of {ESCAPED}"),
        ("{% macro m(a) %}<i>{{ a }}</i>{% endmacro %}{{ m(x) }}", f"<i>{ESCAPED}</i>"),
        ("{% import 'parts' as parts %}{% for a in [x] %}{{ parts.m(a) }}{% endfor %}", f"<u>{ESCAPED}/ui</u>"),
        ("{% macro m() %}<i>{{ caller() }}</i>{% endmacro %}{% call m() %}{{ x }}{% endcall %}", f"<i>{ESCAPED}</i>"),
        ("{{ safe }} {{ 5 }} {{ none }} {{ 1.5 }}", "<br> 5 None 1.5"),
        ("{{ asks(x) }}", f"page {ESCAPED}"),
    ],
)
def test_values_are_escaped_and_words_are_not(template: str, expected: str) -> None:
    @pass_context
    def asks(context: Any, value: str) -> str:
        return f"{context.name} {value}"

    parts = "{% macro m(a) %}<u>{{ a }}{{ ui }}</u>{% endmacro %}"
    page = made(template, Korean(), parts=parts).get_template("page")

    assert page.render(x=HOSTILE, safe=Markup("<br>"), word="Save", asks=asks) == expected


@pytest.mark.parametrize("template", ["{{ lacking }}", "{{ lacking() }}", "{{ x.lacking }}"])
def test_what_is_missing_is_not_passed_over(template: str) -> None:
    with pytest.raises(UndefinedError):
        made(template).get_template("page").render(x=1)


def test_what_was_compiled_is_not_compiled_again_in_an_environment_alike() -> None:
    kept, words = Compiled(), Korean()

    for _ in range(2):
        page = made("{{ _('Save') }} {{ x }}", words, kept=kept).get_template("page")
        assert page.render(x=HOSTILE) == f"저장 {ESCAPED}"

    assert words.asked == ["Save"]


def test_a_template_that_has_changed_is_compiled_again() -> None:
    kept = Compiled()

    assert [made(text, kept=kept).get_template("page").render() for text in ("old", "new")] == ["old", "new"]
