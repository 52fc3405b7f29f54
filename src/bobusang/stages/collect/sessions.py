"""Sessions: the call that asks for one, the answer that issues it, and how it is shown with every call (pure)."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from bobusang.kit import json
from bobusang.kit.errors import Drifted, Invalid, Unavailable
from bobusang.kit.http import Answer, Call
from bobusang.platform.secrets import secret
from bobusang.stages.collect.policy import Expiry, Issue

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bobusang.stages.collect.policy import Identity, Policy
    from bobusang.stages.collect.source import Source

LONGEST = 8000
"""Characters of one cookie; browsers keep 4,096 bytes."""
LONGEST_LIFE = timedelta(days=365)
_PLACE = re.compile(r"\{([\w.-]+)\}")
_PLAIN = re.compile(r"[\x21-\x7e]*")
_REFERENCES = ("env:", "file:")


@dataclass(frozen=True, slots=True)
class Session:
    """What a source issued to us; secret."""

    token: str | None = field(repr=False)
    """What the shop reads of the answer, or the cookie called `token`, where there is one."""
    cookies: Mapping[str, str] = field(repr=False)
    """All that was issued and is needed, the token included."""
    expires_at: datetime
    renew_at: datetime


def issue_call(source: Source, user_agent: str, given: Mapping[str, str] | None = None) -> Call:
    """The call that makes the source issue a session; without a user agent some issue none.

    `given` are the operator's `username` and `password`, each also as a reference (`env:NAME`, `file:PATH`).
    """
    policy = source.policy
    issue = policy.identity.issue or Issue()
    base = source.hosts.get(issue.host, source.base)
    values = {name: secret(value) if value.startswith(_REFERENCES) else value for name, value in (given or {}).items()}
    body, media = _body(issue, values)
    return Call(
        base.rstrip("/") + "/" + issue.path.lstrip("/"),
        method=issue.method,
        headers={
            "accept": "text/html,*/*;q=0.8",
            **_lower(policy.headers),
            **media,
            **_lower(issue.headers),
            "user-agent": user_agent,
        },
        body=body,
        most=policy.max_body,
        timeout=policy.timeout,
    )


def _body(issue: Issue, values: Mapping[str, str]) -> tuple[bytes | None, dict[str, str]]:
    if issue.form:
        filled = {name: _filled(value, values) for name, value in issue.form.items()}
        return urlencode(filled).encode(), {"content-type": "application/x-www-form-urlencoded"}
    if issue.body is None:
        return None, {}
    if isinstance(issue.body, str):
        return _filled(issue.body, values).encode(), {}
    return json.dumps(_deep(issue.body, values)).encode(), {"content-type": "application/json"}


def _deep(value: Any, values: Mapping[str, str]) -> Any:
    match value:
        case str():
            return _filled(value, values)
        case list():
            return [_deep(each, values) for each in value]
        case dict():
            return {name: _deep(each, values) for name, each in value.items()}
    return value


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: values.get(match[1], match[0]), text)


def session_of(policy: Policy, answer: Answer, now: datetime) -> Session:
    """The session that an answer issued. Classify the answer first: a 429 or a bot wall is not for here.

    No cookie at all may be a moment's fault (Unavailable); some of them, but not those expected, means that the
    source has changed (Drifted, with which are missing).
    """
    identity = policy.identity
    where = (identity.issue or Issue()).path
    if not 200 <= answer.status < 400:
        raise Unavailable(f"no session: {where} answered HTTP {answer.status}")
    issued = {name: value for name, value in answer.cookies.items() if value and answer.cookie_ages.get(name, 1) > 0}
    missing = [name for name in identity.expect_cookies if name not in issued]
    if missing and not any(name in issued for name in identity.expect_cookies):
        raise Unavailable(
            f"no session: {where} set none of the cookies {', '.join(missing)}",
            hint="the source may want another user agent",
        )
    if missing:
        raise Drifted(
            f"the session lacks the cookie {', '.join(missing)}",
            hint="look at what the source sets now, and mend `identity.issue.expect_cookies` of the shop",
        )
    kept = {name: issued[name] for name in (*identity.expect_cookies, *identity.cookies) if name in issued}
    for name, value in kept.items():
        if len(value) > LONGEST or not _PLAIN.fullmatch(value):
            raise Drifted(f"the cookie {name} holds what no cookie holds", hint="record the page and look at it")
    return _session(identity, answer, kept, _token(identity, answer, kept), now)


def _token(identity: Identity, answer: Answer, kept: Mapping[str, str]) -> str | None:
    if identity.issue is None or identity.issue.token is None:
        return kept.get("token")
    found = identity.issue.token(answer)
    if found is None:
        raise Drifted("the answer has no token that can be read", hint="mend `identity.issue.token` of the shop")
    if not 0 < len(found) <= LONGEST or not _PLAIN.fullmatch(found):
        raise Drifted("the token holds what no token holds", hint="mend `identity.issue.token` of the shop")
    return found


def _session(identity: Identity, answer: Answer, kept: Mapping[str, str], token: str | None, now: datetime) -> Session:
    """It lives as long as its token says, else as long as the shortest-lived cookie, else as the policy assumes."""
    assumed = identity.lifetime.total_seconds()
    seconds = assumed
    match identity.expires:
        case Expiry.COOKIE:
            names = ("token",) if "token" in kept else tuple(kept)
            seconds = min((answer.cookie_ages.get(name, assumed) for name in names), default=assumed)
        case Expiry.JWT:
            end = _end(token or "")
            seconds = assumed if end is None else end - now.timestamp()
            if seconds <= 0:
                raise Unavailable("no session: the token that was issued is over already", hint="is our clock right?")
    life = min(timedelta(seconds=min(seconds, LONGEST_LIFE.total_seconds())), LONGEST_LIFE)
    # A session shorter than the time to renew before its end would be renewed with every call.
    lead = min(identity.renew_before, life / 2)
    return Session(token, dict(kept), now + life, now + life - lead)


def _end(token: str) -> float | None:
    """When a JWT says that it ends, as seconds of the epoch; nobody has checked its signature."""
    try:
        payload = token.split(".")[1]
        said = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        return float(said["exp"])
    except (IndexError, KeyError, TypeError, ValueError, binascii.Error, Invalid):
        return None


def shown(
    policy: Policy, user_agent: str, token: str | None, cookies: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Headers (names in lower case) and cookies of every call that an identity makes."""
    identity = policy.identity
    own = _told(identity.headers, token, cookies)
    headers = {**_lower(policy.headers), **_lower(own), "user-agent": user_agent}
    return headers, {name: cookies[name] for name in identity.cookies if name in cookies}


def shown_query(policy: Policy, token: str | None, cookies: Mapping[str, str]) -> dict[str, str]:
    """What is added to the address of every call that an identity makes."""
    return _told(policy.identity.query, token, cookies)


def _told(texts: Mapping[str, str], token: str | None, cookies: Mapping[str, str]) -> dict[str, str]:
    values = {**cookies, **({"token": token} if token else {})}

    def filled(match: re.Match[str]) -> str:
        name = match.group(1)
        if name not in values:
            raise Invalid(
                f"a header names {{{name}}}, which the session does not have",
                hint="add it to `identity.issue.expect_cookies` of the shop",
                field="identity.headers",
            )
        return values[name]

    return {name: _PLACE.sub(filled, text) for name, text in texts.items()}


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
