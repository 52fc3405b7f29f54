"""How an answer is archived: by which type, and what a server may be asked by."""

from __future__ import annotations

import pytest

from bobusang.stages.collect.archive import Validators, media_of


@pytest.mark.parametrize(
    ("said", "media"),
    [
        ("text/html; charset=EUC-KR", "text/html"),
        ("Application/JSON", "application/json"),
        ("", "application/octet-stream"),
        (";charset=utf-8", "application/octet-stream"),
    ],
)
def test_the_media_type_of_an_answer(said: str, media: str) -> None:
    assert media_of({"content-type": said} if said else {}) == media


@pytest.mark.parametrize(
    ("validators", "headers"),
    [
        (Validators("a" * 64, etag='"x"'), {"If-None-Match": '"x"'}),
        (
            Validators("a" * 64, last_modified="Tue, 27 Jan 2026 11:00:00 GMT"),
            {"If-Modified-Since": "Tue, 27 Jan 2026 11:00:00 GMT"},
        ),
        (Validators("a" * 64), {}),
    ],
)
def test_a_request_is_conditional_on_what_the_server_gave(validators: Validators, headers: dict[str, str]) -> None:
    assert validators.headers == headers
