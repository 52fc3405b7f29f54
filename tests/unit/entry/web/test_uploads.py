"""Forms with a file are read as any browser sends them, and what is no such form is refused with why."""

from __future__ import annotations

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bobusang.entry.web.uploads import KIND, MOST_PARTS, Sent, Upload, parsed
from bobusang.kit.errors import Invalid

KIND_OF_X = f"{KIND}; boundary=X"


def browser_sends(fields: dict[str, str], file: tuple[str, bytes]) -> tuple[bytes, str]:
    request = httpx.Request("POST", "http://shop.test", data=fields, files={"file": file})
    return request.read(), request.headers["content-type"]


def test_fields_and_a_file_are_read() -> None:
    body, kind = browser_sends({"csrf": "토큰", "empty": ""}, ("단가표 1월.xlsx", b"PK\r\n--\r\n\0"))

    assert parsed(body, kind) == Sent(
        [("csrf", "토큰"), ("empty", "")], {"file": Upload("단가표 1월.xlsx", b"PK\r\n--\r\n\0")}
    )


@given(st.binary(max_size=300), st.text(st.characters(exclude_characters='\r\n"\\', exclude_categories=["Cs"])))
def test_whatever_bytes_were_chosen_come_through(data: bytes, text: str) -> None:
    body, kind = browser_sends({"note": text}, ("list.csv", data))

    assert parsed(body, kind) == Sent([("note", text)], {"file": Upload("list.csv", data)})


def test_a_field_without_a_file_is_as_if_it_were_not_there() -> None:
    body = b'--X\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\n\r\n--X--\r\n'

    assert parsed(body, KIND_OF_X) == Sent([], {})


def test_an_empty_file_is_a_file() -> None:
    body = b'--X\r\nContent-Disposition: form-data; name="file"; filename="a%22b.csv"\r\n\r\n\r\n--X--\r\n'

    assert parsed(body, KIND_OF_X) == Sent([], {"file": Upload('a"b.csv', b"")})


PART = b'--X\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'


@pytest.mark.parametrize(
    ("body", "kind", "why"),
    [
        (PART + b"--X--", KIND, "what stands between"),
        (b"a=1&b=2", KIND_OF_X, "does not begin with a part"),
        (PART, KIND_OF_X, "breaks off"),
        (b'--X\r\nContent-Disposition: form-data; name="a"', KIND_OF_X, "breaks off"),
        (PART * (MOST_PARTS + 1) + b"--X--", KIND_OF_X, "more than 100 parts"),
        (PART.replace(b"1", b"1" * 100_001) + b"--X--", KIND_OF_X, "a is too long"),
        (PART.replace(b"1", b"\xff") + b"--X--", KIND_OF_X, "cannot be read"),
    ],
)
def test_what_is_no_such_form_is_refused(body: bytes, kind: str, why: str) -> None:
    with pytest.raises(Invalid, match=why):
        parsed(body, kind)
