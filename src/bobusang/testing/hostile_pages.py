"""Pages that were spoilt on purpose, and whether what is read of them is still true."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from bobusang.kit import json
from bobusang.kit.errors import Invalid
from bobusang.stages.collect.source import Brand, Extent, Page, Snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bobusang.stages.collect.source import Reads

SCRIPT = "<script>alert(1)</script>"
LARGE = 10 << 20
OTHERS = (
    "<!DOCTYPE html><html><body><h1>시스템 점검 중입니다</h1></body></html>",
    "<html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>",
    '<html><body><form action="/login"><input type="password"></form></body></html>',
    "{}",
    "[]",
    "null",
    "0",
    '{"error": {"code": 500, "message": "오류"}}',
    '{"data": null, "items": null, "products": null, "total": 0}',
    "[" * 50_000,
    "<div>" * 50_000 + "</html>",
)
"""Answers of anybody: maintenance, a wall, a login, errors inside 200, brackets without end."""

_NAMED = re.compile(r"""\b(class|id|name|property|rel)=(["'])""")
_DATA = re.compile(r"\bdata-(?=[\w-]+=)")
_CODE = re.compile(r"(<script\b.*?</script>)", re.IGNORECASE | re.DOTALL)


def is_html(page: Page) -> bool:
    """Whether a page came as text."""
    return bool(page.text)


def with_text(page: Page, text: str) -> Page:
    """The same page with another content."""
    return replace(page, body=text.encode(errors="replace"), text=text if is_html(page) else "")


def with_bytes(page: Page, body: bytes) -> Page:
    """The same page with other bytes, decoded as if they were UTF-8."""
    return replace(page, body=body, text=body.decode(errors="replace") if is_html(page) else "")


def content(page: Page) -> str:
    """What a page holds, as text."""
    return page.text or page.body.decode(errors="replace")


def empty(page: Page) -> Iterator[tuple[str, Page]]:
    """Nothing, or nothing but air."""
    for name, text in (("nothing", ""), ("spaces", " \n" * 50)):
        yield name, with_text(page, text)


def others(page: Page) -> Iterator[tuple[str, Page]]:
    """Answers that are not of this source."""
    for at, text in enumerate(OTHERS):
        yield f"another answer {at}", with_text(page, text)


def cut(page: Page) -> Iterator[tuple[str, Page]]:
    """The beginning of it."""
    body = page.body
    for share in (0.25, 0.5, 0.75, 0.95):
        yield f"{share:.0%} of it", with_bytes(page, body[: int(len(body) * share)])
    yield "all but the end", with_bytes(page, body.rstrip()[:-1])


def renamed(page: Page) -> Iterator[tuple[str, Page]]:
    """Another layout: the same content under other names."""
    text = content(page)
    if is_html(page):
        yield "other classes", with_text(page, _DATA.sub("data-zz-", _NAMED.sub(r"\1=\2zz-", text)))
    else:
        yield "other names", with_text(page, re.sub(r'"([^"\\]{1,80})"\s{0,5}:', r'"zz_\1":', text))


def miscoded(page: Page) -> Iterator[tuple[str, Page]]:
    """Bytes of another encoding than they are taken for."""
    text = content(page)
    for encoding in ("euc-kr", "utf-16"):
        yield encoding, with_bytes(page, text.encode(encoding, errors="replace"))


def scripted(page: Page, names: Iterable[str]) -> Iterator[tuple[str, Page]]:
    """A script in every name."""
    parts = _CODE.split(content(page)) if is_html(page) else [content(page)]
    script = SCRIPT if is_html(page) else SCRIPT.replace("/", r"\/")
    spoken = {
        said for name in names for said in (name, escape(name), escape(name, quote=False), json.dumps(name)[1:-1])
    }
    if spoken:
        sought = re.compile("|".join(re.escape(said) for said in sorted(spoken, key=len, reverse=True)))
        parts = [part if at % 2 else sought.sub(lambda found: script + found[0], part) for at, part in enumerate(parts)]
    yield "a script in names", with_text(page, "".join(parts))


def numberless(page: Page) -> Page:
    """The same page with every digit of a number unreadable."""
    return with_text(page, re.sub(r"[0-9]", "?", content(page)))


def large(page: Page) -> Iterator[tuple[str, Page]]:
    """The same page with ten megabytes more."""
    text = content(page)
    if is_html(page):
        at = max(text.lower().rfind("</body"), text.lower().rfind("</html"), 0)
        filler = "<p>가나다</p>" * (LARGE // 32) + "<!--" + "x" * (LARGE // 2) + "-->"
        yield "10 MB", with_text(page, text[:at] + filler + text[at:])
    else:
        yield "10 MB", with_text(page, text.rstrip()[:-1] + " " * LARGE + text.rstrip()[-1:])


def untrue(found: Iterable[Reads], truth: Iterable[Reads]) -> list[str]:
    """What was read and is not so, by what the whole page says: an unknown field is never wrong, another value is."""
    truth = list(truth)
    items = {(one.source, one.key): one for one in truth if isinstance(one, Snapshot)}
    brands = {one.key: one for one in truth if isinstance(one, Brand)}
    keys = {key for one in truth if isinstance(one, Extent) for key in one.keys}
    wrong: list[str] = []
    for one in found:
        match one:
            case Snapshot():
                real = items.get((one.source, one.key))
                wrong += [f"there is no {one.key}"] if real is None else _fields(one, real)
            case Extent():
                wrong += [f"{key} is not listed" for key in one.keys if key not in keys]
                if not one.keys and one.last and keys:
                    wrong.append("an empty list where there are records")
            case Brand():
                wrong += _brand(one, brands.get(one.key))
    return wrong


def _brand(found: Brand, real: Brand | None) -> list[str]:
    if real is None:
        return [f"there is no brand {found.key}"]
    pairs = ((found.name_ko, real.name_ko), (found.name_en, real.name_en), (found.url, real.url))
    return [f"{found.key}: {told!r}, not {said!r}" for said, told in pairs if said not in ("", told)]


def _fields(found: Snapshot, real: Snapshot) -> list[str]:
    """Of what the whole page leaves unknown nobody can say whether it is right."""
    wrong = []
    for name, value in found.fields.items():
        if name in real.unknown or (name == "currency" and "price" in real.unknown):
            continue
        told = real.fields.get(name)
        if name == "options" and isinstance(value, list) and isinstance(told, list):
            wrong += _options(value, told, complete=found.options_complete)
        elif value != told and not (name == "name" and SCRIPT in str(value) and str(told) in str(value)):
            wrong.append(f"{found.key}: {name} is {str(told)[:80]!r}, not {str(value)[:80]!r}")
    return wrong


def _options(found: list[dict[str, Any]], real: list[dict[str, Any]], *, complete: bool) -> list[str]:
    known = {str(one.get("code")): one for one in real}
    wrong = [f"option {one.get('code')} is not so" for one in found if not one.items() <= _same(known, one).items()]
    if complete and len(found) < len(real):
        wrong.append(f"{len(real) - len(found)} options are said to be gone")
    return wrong


def _same(known: dict[str, dict[str, Any]], option: dict[str, Any]) -> dict[str, Any]:
    return known.get(str(option.get("code")), {})


def floats(value: Any, place: str = "") -> list[str]:
    """Where a float stands in what was read: no amount, rate or number is kept as one."""
    match value:
        case float():
            return [place]
        case dict():
            return [found for name, each in value.items() for found in floats(each, f"{place}.{name}")]
        case list() | tuple():
            return [found for at, each in enumerate(value) for found in floats(each, f"{place}[{at}]")]
    return []


def stored(value: object) -> Any:
    """A value as a task keeps it; what JSON cannot keep is told by name."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, Invalid) as error:
        return str(error)
