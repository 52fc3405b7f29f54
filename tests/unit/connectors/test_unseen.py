"""What a page does not show is not read as text: scripts and styles inside an element."""

from __future__ import annotations

import pytest

from bobusang.connectors.sources.plain import html_items

SEEN = [
    ("<b>코트 (AC-1)</b>", "코트 (AC-1)"),
    ("<b><script>alert(1)</script>코트 (AC-1)</b>", "코트 (AC-1)"),
    ("<b>코트<i> <style>b {color: red}</style>(AC-1)</i></b>", "코트 (AC-1)"),
    ("<b>&lt;script&gt;alert(1)&lt;/script&gt;</b>", "<script>alert(1)</script>"),
]


@pytest.mark.parametrize(("text", "name"), SEEN)
def test_a_text_is_what_a_person_reads(text: str, name: str) -> None:
    assert html_items(f"<p>{text}</p>", {"items": "p", "name": "b"}) == [{"name": name}]


def test_a_script_that_is_asked_for_is_read() -> None:
    text = "<p><script>a = (1);</script></p>"

    assert html_items(text, {"items": "p", "name": "script"}) == [{"name": "a = (1);"}]
