"""How a shop wants to be visited: identity, limits, hours and the response table, as a policy."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared import units
from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.expression import Format
from bobusang.connectors.sources.declared.field import compile_field
from bobusang.connectors.sources.declared.known import Flaw
from bobusang.connectors.sources.declared.request import check_names, texts
from bobusang.connectors.sources.declared.requesting import host_name
from bobusang.kit.lined.fields import named
from bobusang.stages.collect.policy import (
    BackOff,
    Expiry,
    Identity,
    IdentityKind,
    Issue,
    Limits,
    Pictures,
    Quota,
    Reaction,
    Response,
    Says,
    Window,
)
from bobusang.stages.collect.source import Ask, Page

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from bobusang.connectors.sources.declared.section import Section
    from bobusang.kit.http import Answer

MOST_RESPONSES = 50
POOL = range(1, 1001)
CALLS = range(1, 1_000_001)
CONCURRENCY = range(1, 257)
STATUS = range(1, 600)

_LATER = dict.fromkeys(("oauth2",))
METHODS = ("get", "post")
_GIVEN = {"username", "password"}


def identity(shop: Section, format: Format = Format.HTML, hosts: Collection[str] = ()) -> Identity:
    """Who we are when we call; `format` and `hosts` are the shop's."""
    section = shop.inner("identity")
    if section is None:
        return Identity()
    kinds: dict[str, IdentityKind | None] = {**named(IdentityKind), **_LATER}
    kind = section.choice("kind", kinds, IdentityKind.NONE, what="identity")
    if kind is None:
        section.refuse("kind", "this kind of identity comes with later sources", "none, session, api_key or login")
    default = Identity()
    issue, cookies = _issue(section, format, hosts)
    headers, query, sent = _apply(section)
    expires, lifetime, renew = _expires(section, default)
    found = Identity(
        kind=kind or IdentityKind.NONE,
        size=section.whole("size", 1, POOL),
        issue=issue,
        expect_cookies=cookies,
        headers=headers,
        query=query,
        cookies=sent,
        expires=expires,
        lifetime=lifetime,
        renew_before=renew,
        quota=_quota(section),
        user_agents=section.words("user_agents"),
    )
    if found.kind is IdentityKind.SESSION and issue is None:
        section.refuse("issue", "a session is issued somewhere", 'as in issue: {get: "/", expect_cookies: [token]}')
    if found.kind is IdentityKind.LOGIN and (issue is None or (issue.token is None and not cookies)):
        hint = 'as in issue: {post: /auth, body: {id: "{username}", pw: "{password}"}, token: token}'
        section.refuse("issue", "somewhere a name and a password are answered by a token", hint)
    section.refuse_others()
    return found


def _issue(section: Section, format: Format, hosts: Collection[str]) -> tuple[Issue | None, tuple[str, ...]]:
    issue = section.inner("issue")
    if issue is None:
        return None, ()
    paths = {method: path for method in METHODS if (path := issue.text(method, most=1000))}
    if len(paths) != 1:
        issue.notes.add(issue.place, "a session is asked for by one method with its path", 'as in get: "/"')
    method, path = next(iter(paths.items()), ("get", "/"))
    body, form = issue.anything("body"), issue.texts("form")
    if (body is not None or form) and method == "get":
        issue.refuse("body" if body is not None else "form", "a GET has no body", "use post")
    if body is not None and form:
        issue.refuse("form", "a body is either JSON or a form")
    texts([body, form], lambda text: _check_given(issue, text))
    found = Issue(
        path=path,
        method=method.upper(),
        host=host_name(issue, hosts),
        headers=issue.texts("headers"),
        body=body,
        form=form,
        token=_token(issue, issue.choice("format", named(Format), format, what="format")),
    )
    cookies = issue.words("expect_cookies")
    issue.refuse_others()
    return found, cookies


def _check_given(issue: Section, text: str) -> None:
    try:
        check_names(text, _GIVEN)
    except Flaw as flaw:
        issue.refuse("body", flaw.message, flaw.hint)


def _token(issue: Section, format: Format) -> Callable[[Answer], str | None] | None:
    """Reads the token of the answer that issues it."""
    spec = issue.anything("token")
    if spec is None:
        return None
    get = compile_field(issue.notes, issue.at("token"), spec, format, page=True)

    def read(answer: Answer) -> str | None:
        document = Document(Page(Ask(answer.url), answer.body, answer.status, answer.headers, answer.url))
        record = document.tree if format is Format.HTML else document.lenient
        found = get(record, document)
        return found.strip() if isinstance(found, str) else None

    return read


def _apply(section: Section) -> tuple[dict[str, str], dict[str, str], tuple[str, ...]]:
    apply = section.inner("apply")
    if apply is None:
        return {}, {}, ()
    found = apply.texts("headers"), apply.texts("query"), apply.words("cookies")
    apply.refuse_others()
    return found


def _expires(section: Section, default: Identity) -> tuple[Expiry, timedelta, timedelta]:
    expires = section.inner("expires")
    if expires is None:
        return default.expires, default.lifetime, default.renew_before
    found = (
        expires.choice("from", named(Expiry), default.expires, what="expiry"),
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


def pictures(policy: Section | None) -> Pictures:
    """How its pictures are asked for."""
    section = policy.inner("images") if policy else None
    if section is None:
        return Pictures()
    found = Pictures(section.texts("headers"), section.measured("least", units.size, 0))
    section.refuse_others()
    return found


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
        json=_says(when),
        back_off=_back_off(line),
        rest=line.measured("for", units.duration, None),
        reason=line.text("reason", most=200) or "",
    )
    if not (found.status or found.path or found.body_has or found.json):
        line.refuse("when", "a condition is missing", "status, path, body_has or json")
    when.refuse_others()
    line.refuse_others()
    return found


def _says(when: Section) -> tuple[Says, ...]:
    """`exists`, a value or a list of them, `{not: …}` or `{has: …}`, each at its path."""
    section = when.inner("json")
    if section is None:
        return ()
    found = []
    for path, said in section.values.items():
        inner = section.inner(path) if isinstance(said, dict) else None
        if inner is not None:
            unequal, has = _values(inner, "not", inner.anything("not")), inner.words("has")
            if not unequal and not has:
                section.refuse(path, "not or has is missing", "as in json: {meta.result: {not: SUCCESS}}")
            inner.refuse_others()
            found.append(Says(path, unequal=unequal, has=has))
        else:
            found.append(Says(path, () if said == "exists" else _values(section, path, said)))
    return tuple(found)


def _values(section: Section, name: str, value: object) -> tuple[Any, ...]:
    values = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(each, str | int | bool) for each in values):
        section.refuse(name, "a text, a number or true and false are expected, or a list of them")
        return ()
    return tuple(values)


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
