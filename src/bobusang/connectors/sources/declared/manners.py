"""How a shop wants to be visited: identity, limits, hours and the response table, as a policy."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from bobusang.connectors.sources.declared import units
from bobusang.kit.lined.fields import named
from bobusang.stages.collect.policy import (
    BackOff,
    Identity,
    IdentityKind,
    Limits,
    Quota,
    Reaction,
    Response,
    Window,
)

if TYPE_CHECKING:
    from bobusang.connectors.sources.declared.section import Section

MOST_RESPONSES = 50
POOL = range(1, 1001)
CALLS = range(1, 1_000_001)
CONCURRENCY = range(1, 257)
STATUS = range(1, 600)

_LATER = dict.fromkeys(("oauth2", "login"))


def identity(shop: Section) -> Identity:
    """Who we are when we call."""
    section = shop.inner("identity")
    if section is None:
        return Identity()
    kinds: dict[str, IdentityKind | None] = {**named(IdentityKind), **_LATER}
    kind = section.choice("kind", kinds, IdentityKind.NONE, what="identity")
    if kind is None:
        section.refuse("kind", "this kind of identity comes with later sources", "none, session or api_key")
    default = Identity()
    path, cookies = _issue(section)
    headers, sent = _apply(section)
    lifetime, renew = _expires(section, default)
    found = Identity(
        kind=kind or IdentityKind.NONE,
        size=section.whole("size", 1, POOL),
        issue_path=path,
        expect_cookies=cookies,
        headers=headers,
        cookies=sent,
        lifetime=lifetime,
        renew_before=renew,
        quota=_quota(section),
        user_agents=section.words("user_agents"),
    )
    if found.kind is IdentityKind.SESSION and not path:
        section.refuse("issue", "a session is issued somewhere", 'as in issue: {get: "/", expect_cookies: [token]}')
    section.refuse_others()
    return found


def _issue(section: Section) -> tuple[str, tuple[str, ...]]:
    issue = section.inner("issue")
    if issue is None:
        return "", ()
    found = issue.text("get", most=1000) or "", issue.words("expect_cookies")
    issue.refuse_others()
    return found


def _apply(section: Section) -> tuple[dict[str, str], tuple[str, ...]]:
    apply = section.inner("apply")
    if apply is None:
        return {}, ()
    found = apply.texts("headers"), apply.words("cookies")
    apply.refuse_others()
    return found


def _expires(section: Section, default: Identity) -> tuple[timedelta, timedelta]:
    expires = section.inner("expires")
    if expires is None:
        return default.lifetime, default.renew_before
    expires.choice("from", {"cookie": "cookie"}, "cookie", what="expiry")
    found = (
        expires.measured("fallback", units.duration, default.lifetime),
        expires.measured("renew_before", units.duration, default.renew_before),
    )
    expires.refuse_others()
    return found


def _quota(section: Section) -> Quota | None:
    quota = section.inner("quota")
    if quota is None:
        return None
    quota.required("calls", "per")
    found = Quota(quota.whole("calls", 1, CALLS), quota.measured("per", units.duration, timedelta(hours=1)))
    quota.refuse_others()
    return found


def limits(shop: Section) -> Limits:
    """How hard it may be asked."""
    section = shop.inner("limits")
    if section is None:
        return Limits()
    default = Limits()
    rate = section.measured("rate", units.rate, default.rate)
    reserve = section.measured("reserve", units.share, 0.0)
    endpoints = section.inner("endpoints")
    found = Limits(
        rate=rate * (1 - reserve),
        burst=float(section.whole("burst", int(default.burst), CONCURRENCY)),
        concurrency=section.whole("concurrency", default.concurrency, CONCURRENCY),
        jitter=section.measured("jitter", units.share, default.jitter),
        endpoints={name: endpoints.measured(name, units.rate, rate) for name in endpoints.values} if endpoints else {},
    )
    section.refuse_others()
    return found


def window(policy: Section | None) -> Window:
    """The hours in which it may be visited."""
    return policy.measured("crawl_window", units.window, Window()) if policy else Window()


def responses(shop: Section) -> tuple[Response, ...]:
    """The lines of its response table."""
    found = []
    for at, value in enumerate(shop.items("responses", MOST_RESPONSES)):
        place = (*shop.at("responses"), at)
        if not isinstance(value, dict):
            shop.notes.add(
                place, "names with values are expected", "as in {when: {status: 429}, do: cooldown_identity}"
            )
            continue
        found.append(_response(type(shop)(shop.notes, place, value)))
    return tuple(found)


def _response(line: Section) -> Response:
    line.required("when", "do")
    when = line.inner("when") or type(line)(line.notes, line.at("when"), {})
    found = Response(
        do=line.choice("do", named(Reaction), Reaction.FAIL, what="reaction"),
        status=when.numbers("status", STATUS),
        path=when.text("path", most=500) or "",
        body_has=when.words("body_has"),
        json_path=_json_path(when),
        back_off=_back_off(line),
        rest=line.measured("for", units.duration, None),
        reason=line.text("reason", most=200) or "",
    )
    if not (found.status or found.path or found.body_has or found.json_path):
        line.refuse("when", "a condition is missing", "status, path, body_has or json")
    when.refuse_others()
    line.refuse_others()
    return found


def _json_path(when: Section) -> str:
    paths = when.mapping("json") or {}
    for path, said in paths.items():
        if said != "exists":
            when.notes.add((*when.at("json"), path), "only exists can be asked", "as in json: {errors.code: exists}")
    if len(paths) > 1:
        when.refuse("json", "one path is allowed")
    return next(iter(paths), "")


def _back_off(line: Section) -> BackOff | None:
    section = line.inner("back_off")
    if section is None:
        return None
    default = BackOff()
    found = BackOff(
        start=section.measured("start", units.duration, default.start),
        factor=float(section.whole("x", int(default.factor), range(1, 101))),
        most=section.measured("max", units.duration, default.most),
        forgive=section.measured("forgive", units.duration, default.forgive),
    )
    section.refuse_others()
    return found
