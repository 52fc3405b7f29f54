"""Templates: one environment a language, strict about what is missing, escaping everything."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jinja2 import FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from bobusang import __version__
from bobusang.entry.tables import Role
from bobusang.entry.web import languages
from bobusang.entry.web.compiling import Compiled, Compiling
from bobusang.entry.web.formats import FILTERS, HOME_ZONE, Formats, attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bobusang.entry.web.assets import Assets

FOLDER = Path(__file__).with_name("templates")


@dataclass(frozen=True, slots=True)
class Eyes:
    """For whom something is rendered. What is rendered for many has no secret of forms in it."""

    language: str = languages.DEFAULT
    zone: str = HOME_ZONE
    role: Role = Role.VIEWER
    csrf: str = ""


_eyes: ContextVar[Eyes] = ContextVar("eyes")
_formats: ContextVar[Formats] = ContextVar("formats")


class Rendering:
    """Pages and parts of pages, as somebody sees them."""

    def __init__(self, assets: Assets, ui: str, **known: Any) -> None:
        self._catalogues = languages.load()
        self._environments = {language: self._made(language, assets, ui, known) for language in self._catalogues}
        self._formats = lru_cache(maxsize=64)(lambda language, zone: Formats(self._catalogues[language], zone))

    def say(self, language: str, text: str, **values: object) -> str:
        """A text in a language, outside of templates."""
        said = self._catalogues[language].gettext(text)
        return said % values if values else said

    def render(self, template: str, eyes: Eyes, **given: Any) -> str:
        """A page."""
        with self._seen(eyes):
            return self._environments[eyes.language].get_template(template).render(given)

    def macro(self, template: str, name: str, eyes: Eyes, *given: Any, **named: Any) -> str:
        """A part of a page, by the macro that the page itself uses."""
        with self._seen(eyes):
            return str(getattr(self._environments[eyes.language].get_template(template).module, name)(*given, **named))

    @contextmanager
    def _seen(self, eyes: Eyes) -> Iterator[None]:
        before = _eyes.set(eyes), _formats.set(self._formats(eyes.language, eyes.zone))
        try:
            yield
        finally:
            _eyes.reset(before[0])
            _formats.reset(before[1])

    def _made(self, language: str, assets: Assets, ui: str, known: dict[str, Any]) -> Compiling:
        environment = Compiling(
            self._catalogues[language],
            {"ui": ui, "language": language},
            loader=FileSystemLoader(FOLDER),
            bytecode_cache=_compiled(language, ui),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=["jinja2.ext.do"],
        )
        environment.filters.update({name: _filter(name) for name in FILTERS})
        environment.globals.update(
            asset=assets.url, version=__version__, attribute=attribute, csrf=_csrf, may=_may, zone=_zone, **known
        )
        return environment


@cache
def _compiled(language: str, ui: str) -> Compiled:
    return Compiled()


def _filter(name: str) -> Any:
    method = getattr(Formats, name)

    def formatted(*given: Any, **named: Any) -> Any:
        return method(_formats.get(), *given, **named)

    return formatted


def _csrf() -> Markup:
    """The hidden field of every form that changes something."""
    return Markup(f'<input type="hidden" name="csrf" value="{escape(_eyes.get().csrf)}">')  # noqa: S704


def _zone() -> str:
    """The zone of who looks, for what a script shows."""
    return _eyes.get().zone


def _may(role: str) -> bool:
    """Whether who looks may do what this role may."""
    return _eyes.get().role.includes(Role(role))
