"""Errors as HTTP says them: the one table from our errors to status numbers, and problem documents (RFC 9457)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.types import Scope

from bobusang.kit import errors, log
from bobusang.kit.db import Contended, Duplicate
from bobusang.kit.errors import BobusangError, Throttled
from bobusang.kit.lined.located import BadText
from bobusang.kit.redact import scrub

MEDIA = "application/problem+json"

_log = log.get("api")


class Malformed(BobusangError):
    """The body is not what its content type says."""

    code = "malformed"


class Unauthorised(BobusangError):
    """Nobody we know is calling."""

    code = "unauthorised"


class Forbidden(BobusangError):
    """The caller's role does not allow it."""

    code = "forbidden"


class Outdated(BobusangError):
    """What is to be changed is no longer what the caller has seen."""

    code = "outdated"


class TooLarge(BobusangError):
    """More than we read."""

    code = "too_large"


class Unsupported(BobusangError):
    """A kind of body that we do not read."""

    code = "unsupported"


STATUS: Mapping[type[BobusangError], int] = {
    Malformed: 400,
    Unauthorised: 401,
    Forbidden: 403,
    errors.Missing: 404,
    errors.Conflict: 409,
    Outdated: 412,
    TooLarge: 413,
    Unsupported: 415,
    errors.Invalid: 422,
    errors.Throttled: 429,
    errors.External: 502,
    errors.Unavailable: 503,
    Contended: 503,
    BobusangError: 500,
}
"""The nearest class of an error's ancestry decides."""

TITLES = {
    400: "The request cannot be read",
    401: "An API key is needed",
    403: "The key's role does not allow this",
    404: "There is no such thing",
    405: "The method is not allowed here",
    409: "The present state does not allow this",
    412: "It has changed meanwhile",
    413: "The body is too large",
    415: "The content type is not supported",
    422: "Something in the request is wrong",
    429: "Too many requests",
    500: "The program failed",
    502: "Somebody else failed",
    503: "The service is not available now",
}
LISTED = "/docs lists what there is"
CODES = {400: "malformed", 401: "unauthorised", 403: "forbidden", 404: "missing", 405: "not_allowed", 413: "too_large"}


class Detail(BaseModel):
    """One thing that is wrong in a request."""

    field: str
    message: str
    line: int | None = Field(default=None, description="where in a text that was sent, such as a workflow's YAML")
    hint: str | None = None


class Problem(BaseModel):
    """What went wrong, and what to do (RFC 9457)."""

    type: str = Field(examples=["urn:bobusang:problem:invalid"])
    title: str = Field(examples=[TITLES[422]])
    status: int = Field(examples=[422])
    code: str = Field(description="stable, for programs", examples=["invalid"])
    detail: str = Field(examples=["priority 11 is not between 1 and 10"])
    hint: str | None = Field(default=None, examples=["10 is most urgent"])
    field: str | None = Field(default=None, examples=["priority"])
    errors: list[Detail] | None = None
    request_id: str | None = None


def status_of(error: BobusangError) -> int:
    """The status number of one of our errors."""
    return next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    hint: str = "",
    field: str = "",
    details: Sequence[Detail] = (),
    headers: Mapping[str, str] | None = None,
    request_id: str | None = None,
) -> Response:
    """A problem document."""
    document = Problem(
        type=f"urn:bobusang:problem:{code}",
        title=TITLES.get(status, "The request failed"),
        status=status,
        code=code,
        detail=detail,
        hint=hint or None,
        field=field or None,
        errors=list(details) or None,
        request_id=request_id,
    )
    content = document.model_dump(mode="json", exclude_none=True)
    return JSONResponse(content, status, headers=dict(headers or {}), media_type=MEDIA)


def of_error(error: BobusangError, request_id: str | None = None) -> Response:
    """One of our errors as a problem document."""
    status, detail, hint = status_of(error), scrub(error.message), error.hint
    if type(error) is Duplicate:
        detail, hint = "something with this name or key exists already", hint or "choose another, or change that one"
    if status == 500:
        _log.error("request failed", error=repr(error))
    return problem(
        status,
        error.code,
        detail,
        hint=hint,
        field=error.field,
        details=_located(error),
        headers=_headers(error),
        request_id=request_id,
    )


def not_allowed(scope: Scope, allow: str) -> Response:
    """A path that is called by a method it does not know."""
    detail = f"{scope['method']} is not allowed on {scope['path']}"
    request_id = scope.get("request_id")
    return problem(405, CODES[405], detail, hint=LISTED, headers={"Allow": allow}, request_id=request_id)


def _located(error: BobusangError) -> list[Detail]:
    if not isinstance(error, BadText):
        return []
    return [
        Detail(field=problem.key, message=problem.message, line=problem.line, hint=problem.hint or None)
        for problem in error.problems
    ]


def _headers(error: BobusangError) -> dict[str, str]:
    match error:
        case Unauthorised():
            return {"WWW-Authenticate": 'Bearer realm="bobusang"'}
        case Throttled():
            wait = (error.until - datetime.now(UTC)).total_seconds()
            return {"Retry-After": str(max(1, math.ceil(wait)))}
        case Contended() | errors.Unavailable():
            return {"Retry-After": "1"}
    return {}


def install(api: FastAPI) -> None:
    """Have every error answered with a problem document."""
    api.add_exception_handler(BobusangError, _ours)
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(HTTPException, _http)


def _request_id(request: Request) -> str | None:
    found: str | None = request.scope.get("request_id")
    return found


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, BobusangError)
    return of_error(error, _request_id(request))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = error.status_code
    detail = str(error.detail)
    if status == 404:
        detail = f"there is no {request.url.path} here"
    if status == 405:
        return not_allowed(request.scope, request.app.state.methods.allow(request.url.path))
    if status == 400:
        detail = "the body cannot be read: it is broken, or nested too deeply"
    code = CODES.get(status, "error")
    hint = LISTED if status == 404 else ""
    return problem(status, code, detail, hint=hint, headers=error.headers, request_id=_request_id(request))


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    found = error.errors()
    request_id = _request_id(request)
    broken = next((one for one in found if one["type"] == "json_invalid"), None)
    if broken is not None:
        place = broken["loc"][-1]
        detail = f"the body is not JSON: {broken['ctx']['error']} at character {place}"
        return problem(400, Malformed.code, detail, request_id=request_id)
    if any(one["loc"] == ("body",) and one["type"] == "model_attributes_type" for one in found):
        return _not_an_object(request, request_id)
    details = wrong(found)
    first = details[0]
    detail = f"{first.field}: {first.message}" if first.field else first.message
    return problem(422, "invalid", detail, field=first.field, details=details, request_id=request_id)


def wrong(found: Sequence[Any]) -> list[Detail]:
    """What pydantic complains of, in our words."""
    return [Detail(field=_place(one["loc"]), message=_message(one)) for one in found]


def _not_an_object(request: Request, request_id: str | None) -> Response:
    kind = request.headers.get("content-type", "")
    if "json" in kind:
        return problem(422, "invalid", "the body is not a JSON object", field="body", request_id=request_id)
    hint = "send a JSON object with Content-Type: application/json"
    return problem(415, Unsupported.code, f"a body of type '{kind}' is not read here", hint=hint, request_id=request_id)


def _place(loc: Sequence[Any]) -> str:
    """`("body", "after", 0, "job_id")` → `after[0].job_id`."""
    parts = loc[1:] if loc and loc[0] in ("body", "query", "path", "header") else loc
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")
    return text or str(loc[0] if loc else "")


def _message(error: Mapping[str, Any]) -> str:
    match error["type"]:
        case "missing":
            return "is required"
        case "extra_forbidden":
            return "is not known here"
    text = str(error["msg"]).removeprefix("Value error, ").removeprefix("Input ")
    return text[:1].lower() + text[1:]
