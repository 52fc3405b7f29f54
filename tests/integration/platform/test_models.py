"""Models behind HTTP: what is sent on the wire, what is read, and what each trouble becomes."""

from __future__ import annotations

import asyncio
import gzip
import traceback
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import anthropic
import msgspec
import openai
import pytest

from bobusang import __version__
from bobusang.kit import json
from bobusang.kit.errors import External, Rejected, Throttled, Unavailable
from bobusang.platform.model import Completion, Declined, Garbled, Model, Task, Usage
from bobusang.platform.models import opened
from tests.integration.platform.manual import ManualClock
from tests.integration.platform.receiver import Answer, Receiver, Request, receiving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

KEY = "sk-very-secret-0123456789"
VENDORS = ("openai", "anthropic")


class Words(msgspec.Struct, forbid_unknown_fields=True):
    words: list[str]


SCHEMA = {
    "type": "object",
    "properties": {"words": {"type": "array", "items": {"type": "string"}}},
    "required": ["words"],
    "additionalProperties": False,
}


def task(timeout: timedelta = timedelta(seconds=5)) -> Task[Words]:
    return Task("spell", "Spell it.", ("코트", "b"), Words, lambda texts: Words(list(texts)), 100, timeout)


@pytest.fixture
async def server() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


def model_at(server: Receiver, vendor: str, price: str | None = "1/2", path: str = "/v1", login: str = "") -> Model:
    address = f"http://{login}127.0.0.1:{server.port}{path}"
    return opened(f"{vendor}:m-1", key=KEY, url=address, price=price, clock=ManualClock())


def chat(content: str | None, finish: str = "stop", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    usage = {"prompt_tokens": 30, "completion_tokens": 10, "total_tokens": 40}
    return {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}


def message(given: Any, stop: str = "tool_use") -> dict[str, Any]:
    content = [{"type": "text", "text": "Here:"}, {"type": "tool_use", "id": "t", "name": "spell", "input": given}]
    usage = {"input_tokens": 30, "output_tokens": 10}
    return {"id": "m", "type": "message", "content": content, "stop_reason": stop, "usage": usage}


def saying(server: Receiver, body: Any, status: int = 200, **headers: str) -> None:
    async def respond(request: Request) -> Answer:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return Answer(status, {name.replace("_", "-"): value for name, value in headers.items()}, raw)

    server.respond = respond


def well(server: Receiver, vendor: str) -> None:
    saying(server, chat('{"words": ["b"]}') if vendor == "openai" else message({"words": ["b"]}))


async def asked(server: Receiver, vendor: str, price: str | None = "1/2", **where: str) -> Completion[Words]:
    model = model_at(server, vendor, price, **where)
    try:
        return await model.complete(task())
    finally:
        await model.close()


async def test_openai_is_asked_in_its_words_and_answers_typed(server: Receiver) -> None:
    saying(server, chat('{"words": ["コート", "b"]}'))

    assert await asked(server, "openai") == Completion(Words(["コート", "b"]), "m-1", Usage(30, 10, 50))

    (request,) = server.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/chat/completions", f"Bearer {KEY}")
    assert request.json == {
        "model": "m-1",
        "messages": [{"role": "system", "content": "Spell it."}, {"role": "user", "content": '["코트","b"]'}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "spell", "strict": True, "schema": SCHEMA},
        },
        "max_tokens": 100,
    }


async def test_anthropic_is_asked_in_its_words_and_answers_typed(server: Receiver) -> None:
    saying(server, message({"words": ["コート", "b"]}))

    assert await asked(server, "anthropic") == Completion(Words(["コート", "b"]), "m-1", Usage(30, 10, 50))

    (request,) = server.requests
    assert request.path == "/v1/messages"
    assert (request.headers["x-api-key"], request.headers["anthropic-version"]) == (KEY, "2023-06-01")
    assert request.json == {
        "model": "m-1",
        "system": "Spell it.",
        "messages": [{"role": "user", "content": '["코트","b"]'}],
        "tools": [{"name": "spell", "description": "The answer.", "input_schema": SCHEMA}],
        "tool_choice": {"type": "tool", "name": "spell"},
        "max_tokens": 100,
    }


OURS = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "content-type": "application/json",
    "user-agent": f"bobusang/{__version__}",
}
THEIRS = {
    **{f"OPENAI_{name}": "evil" for name in ("API_KEY", "ADMIN_KEY", "ORG_ID", "PROJECT_ID")},
    **{f"ANTHROPIC_{name}": "evil" for name in ("API_KEY", "AUTH_TOKEN", "PROFILE")},
    **{f"{name}_BASE_URL": "http://127.0.0.1:1/evil" for name in ("OPENAI", "ANTHROPIC")},
    **{
        f"{name}_CUSTOM_HEADERS": "X-Evil: evil\nAuthorization: evil\nX-Api-Key: evil\nUser-Agent: evil"
        for name in ("OPENAI", "ANTHROPIC")
    },
    **dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:1"),
}


@pytest.mark.parametrize(
    ("vendor", "with_key"),
    [
        ("openai", {"authorization": f"Bearer {KEY}"}),
        ("anthropic", {"x-api-key": KEY, "anthropic-version": "2023-06-01"}),
    ],
)
async def test_nothing_is_sent_but_what_our_settings_say(
    server: Receiver, vendor: str, with_key: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in THEIRS.items():
        monkeypatch.setenv(name, value)
    well(server, vendor)

    await asked(server, vendor)

    (request,) = server.requests
    of_http = {"host": f"127.0.0.1:{server.port}", "content-length": str(len(request.body))}
    assert request.headers == {**OURS, **with_key, **of_http}


async def test_an_own_server_is_not_told_a_key_of_the_environment(
    server: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "evil")
    well(server, "openai")
    model = opened("openai:m-1", url=f"http://127.0.0.1:{server.port}/v1")

    await model.complete(task())
    await model.close()

    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_login_in_the_address_is_told_as_one(server: Receiver, vendor: str) -> None:
    well(server, vendor)

    await asked(server, vendor, login="me:pw@")

    assert server.requests[0].headers["authorization"] == "Basic bWU6cHc="


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/"])
async def test_anthropics_address_is_the_same_with_its_version_and_without(server: Receiver, path: str) -> None:
    well(server, "anthropic")

    await asked(server, "anthropic", path=path)

    assert server.requests[0].path == "/v1/messages"


async def test_a_cost_nobody_knows_is_not_zero(server: Receiver) -> None:
    saying(server, chat('{"words": []}'))

    assert (await asked(server, "openai", price=None)).usage == Usage(30, 10, None)


@pytest.mark.parametrize(
    ("vendor", "body"),
    [
        ("openai", chat('{"words": ["コー', "length")),
        ("openai", chat('{"words": "コート"}')),
        ("openai", chat(None)),
        ("openai", {"choices": []}),
        ("openai", {"result": "ok"}),
        ("openai", b"<html>gateway</html>"),
        ("openai", b" " * ((4 << 20) + 1)),
        ("anthropic", message({"words": ["コー"]}, "max_tokens")),
        ("anthropic", message({"word": "コート"})),
        ("anthropic", {"content": [{"type": "text", "text": "I think"}]}),
        ("anthropic", {"content": "ok"}),
    ],
)
async def test_an_answer_of_another_shape_is_garbled(server: Receiver, vendor: str, body: Any) -> None:
    saying(server, body)

    with pytest.raises(Garbled):
        await asked(server, vendor)


@pytest.mark.parametrize(
    ("vendor", "body"),
    [
        ("openai", chat(None, refusal="No.")),
        ("openai", chat("", "content_filter")),
        ("anthropic", message({}, "refusal")),
    ],
)
async def test_a_refusal_is_for_a_person(server: Receiver, vendor: str, body: Any) -> None:
    saying(server, body)

    with pytest.raises(Declined, match="will not answer 'spell'"):
        await asked(server, vendor)


def complaint(kind: str, text: str = "no") -> dict[str, Any]:
    return {"error": {"type": kind, "message": text}}


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (400, complaint("invalid_request_error"), Rejected),
        (401, complaint("authentication_error"), Rejected),
        (404, complaint("not_found_error"), Rejected),
        (429, complaint("insufficient_quota"), Rejected),
        (429, complaint("rate_limit_error"), Throttled),
        (529, complaint("overloaded_error"), Throttled),
        (500, complaint("api_error"), Unavailable),
        (502, b"bad gateway", Unavailable),
        (302, b"", Rejected),
    ],
)
async def test_a_status_says_what_happens_next(
    server: Receiver, vendor: str, status: int, body: Any, error: type[External]
) -> None:
    saying(server, body, status)

    with pytest.raises(External) as caught:
        await asked(server, vendor)

    assert type(caught.value) is error
    assert len(server.requests) == 1


@pytest.mark.parametrize("vendor", VENDORS)
async def test_what_is_no_complaint_still_says_what_happens_next(server: Receiver, vendor: str) -> None:
    for body in (b'{"error": []}', b'{"error": {"code": {}, "message": 7}}', b"[" * 99_999, b"\xff", b"null"):
        saying(server, body, 400, Content_Type="application/json; charset=none")

        with pytest.raises(Rejected, match="answered 400"):
            await asked(server, vendor)


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_redirect_is_not_followed(server: Receiver, vendor: str) -> None:
    saying(server, b"", 307, Location=f"http://127.0.0.1:{server.port}/elsewhere")

    with pytest.raises(Rejected, match="answered 307"):
        await asked(server, vendor)

    assert len(server.requests) == 1


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("status", [200, 500])
async def test_an_answer_is_bounded_as_it_is_read(server: Receiver, vendor: str, status: int) -> None:
    saying(server, gzip.compress(b" " * (16 << 20)), status, Content_Encoding="gzip")

    with pytest.raises(Garbled, match="does not end within 4,194,304 bytes"):
        await asked(server, vendor)


async def test_a_rest_is_as_long_as_they_say(server: Receiver) -> None:
    saying(server, complaint("rate_limit_error"), 429, Retry_After="7")

    with pytest.raises(Throttled) as caught:
        await asked(server, "openai")

    assert caught.value.until == ManualClock().now() + timedelta(seconds=7)


async def test_a_key_is_in_no_error_and_no_trace(server: Receiver) -> None:
    saying(server, complaint("authentication_error", f"Incorrect API key provided: {KEY}"), 401)

    with pytest.raises(Rejected) as caught:
        await asked(server, "openai")

    assert str(caught.value) == (
        "the model's server answered 401: Incorrect API key provided: *** (check BOBUSANG_MODEL_KEY)"
    )
    shown = "".join(traceback.format_exception(caught.value)) + repr(vars(model_at(server, "openai")))
    assert KEY not in shown


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_key_is_not_in_the_request_of_the_librarys_own_error(server: Receiver, vendor: str) -> None:
    saying(server, complaint("api_error"), 500)

    with pytest.raises(Unavailable) as caught:
        await asked(server, vendor)

    theirs = caught.value.__context__
    assert isinstance(theirs, openai.APIStatusError | anthropic.APIStatusError)
    assert KEY not in "".join(theirs.request.headers.values())


@pytest.mark.parametrize("vendor", VENDORS)
async def test_a_library_that_was_told_to_log_writes_nothing_down(
    server: Receiver, vendor: str, caplog: pytest.LogCaptureFixture
) -> None:
    well(server, vendor)
    for name in (None, vendor, "httpx2", "httpcore2"):
        caplog.set_level("INFO" if name is None else "DEBUG", logger=name)

    await asked(server, vendor)

    assert caplog.records == []


async def test_a_silent_server_is_unavailable_in_time(server: Receiver) -> None:
    never = asyncio.Event()

    async def respond(request: Request) -> Answer:
        await never.wait()
        return Answer()

    server.respond = respond
    model = model_at(server, "openai")

    with pytest.raises(Unavailable, match=r"did not answer within 0\.2 s"):
        await model.complete(task(timedelta(seconds=0.2)))
    never.set()
    await model.close()


async def test_nobody_there_is_unavailable() -> None:
    async with receiving() as gone:
        model = model_at(gone, "anthropic")

    with pytest.raises(Unavailable, match="cannot be reached: ConnectError"):
        await model.complete(task())
    await model.close()
