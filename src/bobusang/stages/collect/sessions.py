"""Sessions: the call that asks for one, the answer that issues it, and how it is shown with every call (pure)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.kit.errors import Drifted, Invalid, Unavailable
from bobusang.kit.http import Answer, Call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from bobusang.stages.collect.policy import Identity, Policy

LONGEST = 8000
"""Characters of one cookie; browsers keep 4,096 bytes."""
LONGEST_LIFE = timedelta(days=365)
_PLACE = re.compile(r"\{([\w.-]+)\}")
_PLAIN = re.compile(r"[\x21-\x7e]*")


@dataclass(frozen=True, slots=True)
class Session:
    """What a source issued to us; secret."""

    token: str | None = field(repr=False)
    """The cookie called `token`, where there is one."""
    cookies: Mapping[str, str] = field(repr=False)
    """All that was issued and is needed, the token included."""
    expires_at: datetime
    renew_at: datetime


def issue_call(base: str, policy: Policy, user_agent: str) -> Call:
    """The call that makes the source issue a session; without a user agent some issue none."""
    return Call(
        base.rstrip("/") + "/" + policy.identity.issue_path.lstrip("/"),
        headers={"accept": "text/html,*/*;q=0.8", **_lower(policy.headers), "user-agent": user_agent},
        most=policy.max_body,
        timeout=policy.timeout,
    )


def session_of(policy: Policy, answer: Answer, now: datetime) -> Session:
    """The session that an answer issued. Classify the answer first: a 429 or a bot wall is not for here.

    No cookie at all may be a moment's fault (Unavailable); some of them, but not those expected, means that the
    source has changed (Drifted, with which are missing).
    """
    identity = policy.identity
    if not 200 <= answer.status < 400:
        raise Unavailable(f"no session: {identity.issue_path or '/'} answered HTTP {answer.status}")
    issued = {name: value for name, value in answer.cookies.items() if value and answer.cookie_ages.get(name, 1) > 0}
    missing = [name for name in identity.expect_cookies if name not in issued]
    if missing and not any(name in issued for name in identity.expect_cookies):
        raise Unavailable(
            f"no session: {identity.issue_path or '/'} set none of the cookies {', '.join(missing)}",
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
    return _session(identity, answer, kept, now)


def _session(identity: Identity, answer: Answer, kept: Mapping[str, str], now: datetime) -> Session:
    """It lives as long as its token says, else as long as the shortest-lived cookie, else as the policy assumes."""
    assumed = identity.lifetime.total_seconds()
    names = ("token",) if "token" in kept else tuple(kept)
    seconds = min((answer.cookie_ages.get(name, assumed) for name in names), default=assumed)
    life = min(timedelta(seconds=min(seconds, LONGEST_LIFE.total_seconds())), LONGEST_LIFE)
    # A session shorter than the time to renew before its end would be renewed with every call.
    lead = min(identity.renew_before, life / 2)
    return Session(kept.get("token"), dict(kept), now + life, now + life - lead)


def shown(
    policy: Policy, user_agent: str, token: str | None, cookies: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Headers (names in lower case) and cookies of every call that an identity makes."""
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

    identity = policy.identity
    own = {name: _PLACE.sub(filled, text) for name, text in identity.headers.items()}
    headers = {**_lower(policy.headers), **_lower(own), "user-agent": user_agent}
    return headers, {name: cookies[name] for name in identity.cookies if name in cookies}


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
