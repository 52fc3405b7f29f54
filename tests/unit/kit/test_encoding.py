from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.kit.encoding import Text, codec_of, decoded

NAME = "[나이키] 울 코트 129,000원"
RARE = "펲시맨 똠방각하 뷁"  # syllables that EUC-KR proper does not have
HANGUL = st.text(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), min_size=1)
MARKS = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE)
LABELS = ("", "utf-8", "euc-kr", "iso-8859-1")
COMMON = st.lists(st.sampled_from([*"가나다라마바사아자차카타파하원품절코트신발"]), min_size=8).map("".join)


@pytest.mark.parametrize("label", ["euc-kr", "EUC-KR", "ks_c_5601-1987", "KSC5601", "cp949", " windows-949 "])
def test_korean_labels_are_read_by_windows_own_superset(label: str) -> None:
    assert decoded(RARE.encode("cp949"), f"text/html; charset={label}") == Text(RARE, "cp949")


@pytest.mark.parametrize(
    ("body", "content_type", "declared"),
    [
        (NAME.encode(), "", ""),
        (NAME.encode(), "text/html", ""),
        (NAME.encode(), "text/html; charset=UTF-8", ""),
        (NAME.encode(), "text/html;charset='utf8'", ""),
        (NAME.encode(), "text/html", "utf-8"),
        (NAME.encode(), "text/html; charset=euc-kr", ""),
        (NAME.encode(), "text/html; charset=iso-8859-1", ""),
        (NAME.encode(), "text/html; charset=klingon", ""),
        (NAME.encode(), "text/html; charset=zip", "rot13"),
        (codecs.BOM_UTF8 + NAME.encode(), "text/html; charset=euc-kr", ""),
    ],
)
def test_utf8_is_found_whatever_the_label(body: bytes, content_type: str, declared: str) -> None:
    assert decoded(body, content_type, declared) == Text(NAME, "utf-8", marked=body.startswith(codecs.BOM_UTF8))


@pytest.mark.parametrize(
    ("content_type", "declared"),
    [
        ("", ""),
        ("text/html", "euc-kr"),
        ("text/html; charset=utf-8", ""),
        ("text/html; charset=iso-8859-1", ""),
        ("text/html; charset=klingon", ""),
    ],
)
def test_korean_is_found_whatever_the_label(content_type: str, declared: str) -> None:
    assert decoded(NAME.encode("cp949"), content_type, declared) == Text(NAME, "cp949")


@pytest.mark.parametrize(
    "head",
    [
        '<meta charset="euc-kr">',
        "<META CHARSET=EUC-KR>",
        '<meta http-equiv="Content-Type" content="text/html; charset=euc-kr">',
        '<?xml version="1.0" encoding="euc-kr"?>',
    ],
)
def test_the_page_names_its_own_encoding(head: str) -> None:
    page = f"<html>{head}<p>{NAME}"

    assert decoded(page.encode("cp949"), "text/html") == Text(page, "cp949")


def test_the_label_decides_where_the_bytes_allow_both() -> None:
    body = "세액".encode("cp949")[:2]  # BC BC; and as Japanese, a half-width katakana pair

    assert decoded(body, "text/html; charset=shift_jis") == Text("ｼｼ", "cp932")
    assert decoded(body, "text/html; charset=euc-kr") == Text("세", "cp949")


def test_utf16_is_read_with_its_mark_only() -> None:
    marked = codecs.BOM_UTF16_LE + NAME.encode("utf-16-le")

    assert decoded(marked, "") == Text(NAME, "utf-16-le", marked=True)
    assert decoded(NAME.encode(), "text/html; charset=utf-16") == Text(NAME, "utf-8")


def test_western_text_with_its_label_is_not_taken_for_korean() -> None:
    assert decoded("Ärger im Café".encode("cp1252"), "text/html; charset=iso-8859-1") == Text("Ärger im Café", "cp1252")


@pytest.mark.parametrize("label", ["", "utf-8", "euc-kr"])
@pytest.mark.parametrize("codec", ["utf-8", "cp949"])
def test_one_bad_byte_costs_one_place_and_is_told(codec: str, label: str) -> None:
    body = (NAME * 9).encode(codec) + b"\xff " + NAME.encode(codec)

    assert decoded(body, f"text/html; charset={label}") == Text(f"{NAME * 9}\ufffd {NAME}", codec, 1)


def test_a_page_cut_within_a_character_is_told() -> None:
    assert decoded(NAME.encode()[:-1], "text/html; charset=utf-8") == Text(NAME[:-1] + "\ufffd", "utf-8", 1)


def test_a_label_far_down_the_page_is_not_looked_for() -> None:
    page = " " * 3000 + "<meta charset=shift_jis>" + NAME

    assert decoded(page.encode("cp949"), "").encoding == "cp949"


def test_empty_and_plain_bodies() -> None:
    assert decoded(b"", "text/html; charset=euc-kr") == Text("", "utf-8")
    assert decoded(b"{}", "application/json") == Text("{}", "utf-8")


@given(HANGUL, st.sampled_from(["", "utf-8", "euc-kr", "iso-8859-1", "windows-31j", "nonsense"]))
def test_korean_in_utf8_survives_any_label(text: str, label: str) -> None:
    assert decoded(text.encode(), f"text/html; charset={label}") == Text(text, "utf-8")


@given(COMMON, st.sampled_from(["", "utf-8", "euc-kr", "iso-8859-1", "nonsense"]))
def test_korean_in_cp949_survives_any_label(text: str, label: str) -> None:
    assert decoded(text.encode("cp949"), f"text/html; charset={label}") == Text(text, "cp949")


@given(st.binary(max_size=200), st.text(max_size=20), st.text(max_size=20))
def test_any_bytes_become_text(body: bytes, content_type: str, declared: str) -> None:
    found = decoded(body, content_type, declared)

    assert found.text.count("\ufffd") >= found.replaced


@given(st.binary(max_size=50) | HANGUL.map(str.encode), st.sampled_from([b"", *MARKS]), st.sampled_from(LABELS))
def test_a_body_is_its_text_in_utf8_only_byte_for_byte(body: bytes, mark: bytes, label: str) -> None:
    found = decoded(mark + body, f"text/html; charset={label}")

    assert found.is_utf8 == (found.encoding == "utf-8" and found.text.encode() == mark + body)


@pytest.mark.parametrize("label", ["zip", "rot13", "utf-7", "idna", "unicode_escape", "", "utf-16"])
def test_no_label_reaches_a_codec_that_no_page_has(label: str) -> None:
    assert codec_of(label) is None
