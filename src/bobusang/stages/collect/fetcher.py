"""The fetcher: asks of one endpoint go through the gate, are sent, archived and read; each comes back as a visit."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from bobusang.kit.errors import BobusangError, Unavailable
from bobusang.kit.http import Answer, Call
from bobusang.stages.collect import archive as archives
from bobusang.stages.collect.admission import Cause, Wait
from bobusang.stages.collect.policy import Reaction
from bobusang.stages.collect.reader import Reader
from bobusang.stages.collect.reading import Fetched
from bobusang.stages.collect.responses import Verdict, classify
from bobusang.stages.collect.sessions import issue_call
from bobusang.stages.collect.source import Snapshot

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from bobusang.kit.db import Database
    from bobusang.kit.http import Transport
    from bobusang.stages.collect.archive import Archive, Validators
    from bobusang.stages.collect.gate import Gate, Go
    from bobusang.stages.collect.identities import Lease
    from bobusang.stages.collect.source import Ask, Reads, Source

DRIFTS = 5
"""So many pages of an endpoint in a row that cannot be read are a changed layout, not an odd page."""
NOT_MODIFIED = 304
SOON = timedelta(seconds=1)
"""How soon to come back where a session was opened in place of a call, or refused: another identity may get one."""
ARCHIVED = (Reaction.READ, Reaction.GONE)


@dataclass(frozen=True, slots=True)
class Visit:
    """What came of one ask: a wait, or an answer with its verdict and, where it was read, what it says."""

    ask: Ask
    wait: Wait | None = None
    verdict: Verdict | None = None
    answer: Answer | None = None
    sha256: str = ""
    """Where the body is archived; of a 304, the body of the page it stands for."""
    media: str = ""
    found: tuple[Reads, ...] = ()
    drifted: str = ""
    """Why the page could not be read."""
    at: datetime | None = None


@dataclass(slots=True)
class Sessions:
    """Sessions that were opened before calls: how many calls the rate granted for them, and how many there were."""

    granted: int = 0
    opened: int = 0

    @property
    def unused(self) -> int:
        """Of the calls granted for them; below zero where some took the place of others."""
        return self.granted - self.opened


class Fetcher:
    """Visits for all sources of a process."""

    def __init__(self, db: Database, gate: Gate, transport: Transport, archive: Archive) -> None:
        self._db = db
        self._gate = gate
        self._transport = transport
        self._archive = archive
        self.reader = Reader()
        self._drifts: Counter[tuple[str, str]] = Counter()

    def close(self) -> None:
        """Let go who reads."""
        self.reader.close()

    async def visit(self, source: Source, asks: Sequence[Ask]) -> list[Visit]:
        """Make these asks, all of one endpoint, as far as the gate lets them through; one visit each, in order."""
        go = await self._gate.admit(source.name, source.policy, asks[0].endpoint, len(asks))
        if isinstance(go, Wait):
            return [Visit(ask, wait=go) for ask in asks]
        results: list[tuple[Lease, Verdict]] = []
        sessions = Sessions()
        try:
            callers = await self._callers(source, go, results, sessions)
            made, late = asks[: len(callers)], asks[len(callers) :]
            visits = await self._made(source, list(zip(made, callers, strict=True)))
            results += [(lease, one.verdict) for lease, one in zip(callers, visits, strict=True) if one.verdict]
        finally:
            await asyncio.shield(self._gate.settle(source.policy, go, results, more=sessions.unused))
        return [*visits, *(Visit(ask, wait=self._later(go, source)) for ask in late)]

    def _later(self, go: Go, source: Source) -> Wait:
        if go.rest is not None:
            return go.rest
        reason = f"{source.name}: a session was asked for in place of this call"
        return Wait(self._db.clock.now() + SOON, reason, Cause.IDENTITIES)

    async def _callers(
        self, source: Source, go: Go, results: list[tuple[Lease, Verdict]], sessions: Sessions
    ) -> list[Lease]:
        """The leases, each as often as it may call; those that need a session get one, or make no call.

        A session is a call, too: beyond those that were let through if the rate has one now, else in place of one. Not
        so for a probe, which has but one to find out with.
        """
        needy = sum(lease.needs_session for lease in go.leases)
        sessions.granted = await self._gate.more(source.policy, go, needy) if needy and not go.probe else 0
        short = 0 if go.probe else needy - sessions.granted
        ready = await asyncio.gather(*(self._ready(source, lease, results) for lease in go.leases))
        callers: list[Lease] = []
        for lease in ready:
            if lease is None:
                continue
            calls = lease.calls
            if lease.fresh and not go.probe:
                sessions.opened += 1
                calls -= short > 0
                short -= 1
            callers += [lease] * calls
        return callers

    async def _ready(self, source: Source, lease: Lease, results: list[tuple[Lease, Verdict]]) -> Lease | None:
        if not lease.needs_session:
            return lease
        try:
            call = issue_call(source, lease.user_agent, lease.given)
        except BobusangError as error:
            results.append((lease, Verdict(Reaction.HALT, str(error))))
            return None
        got = await self._sent(call)
        verdict = classify(source.policy, call.url, got, now=self._db.clock.now())
        if lease.given and verdict.reaction in (Reaction.RENEW_IDENTITY, Reaction.FAIL):
            # Asked again and again with a wrong password some close the account.
            verdict = Verdict(Reaction.HALT, f"name and password are refused: {verdict.reason}")
        if isinstance(got, Answer) and verdict.reaction is Reaction.READ:
            try:
                return await self._gate.issued(source.policy, lease, got)
            except BobusangError as error:
                verdict = classify(source.policy, call.url, error, now=self._db.clock.now())
        results.append(_no_session(lease, verdict))
        return None

    async def _made(self, source: Source, pairs: Sequence[tuple[Ask, Lease]]) -> list[Visit]:
        urls = [absolute(source, ask.url) for ask, _ in pairs]
        async with self._db.read() as tx:
            known = await archives.validators(tx, urls)
        calls = [_call(source, ask, lease, url, known.get(url)) for (ask, lease), url in zip(pairs, urls, strict=True)]
        answers = await asyncio.gather(*(self._sent(call) for call in calls))
        answers = [_unsigned(got, call, url) for got, call, url in zip(answers, calls, urls, strict=True)]
        now = self._db.clock.now()
        visits = [_judged(source, ask, url, got, now) for (ask, _), url, got in zip(pairs, urls, answers, strict=True)]
        visits = await self._archived(visits, [known.get(url) for url in urls])
        read = await asyncio.gather(*(self._read(source, one) for one in visits))
        return [self._weighed(source, one) for one in read]

    def _weighed(self, source: Source, visit: Visit) -> Visit:
        """Count pages that could not be read; too many in a row halt the source."""
        place = source.name, visit.ask.endpoint
        if visit.found:
            self._drifts.pop(place, None)
        if not visit.drifted:
            return visit
        self._drifts[place] += 1
        if self._drifts[place] < DRIFTS:
            return visit
        reason = f"{self._drifts[place]} pages of {visit.ask.endpoint} in a row could not be read: {visit.drifted}"
        return replace(visit, verdict=Verdict(Reaction.HALT, reason))

    async def _sent(self, call: Call) -> Answer | BobusangError:
        try:
            return await self._transport.send(call)
        except BobusangError as error:
            return error

    async def _archived(self, visits: Sequence[Visit], known: Sequence[Validators | None]) -> list[Visit]:
        """Keep the bodies, in one go; a 304 gets the body that it stands for."""
        kept = [one.answer for one in visits if one.answer and _is_kept(one)]
        addresses = iter(await self._archive.keep(kept) if kept else ())
        found = []
        for one, validators in zip(visits, known, strict=True):
            answer = one.answer
            if answer is None or one.verdict is None or one.verdict.reaction not in ARCHIVED:
                found.append(one)
            elif answer.status == NOT_MODIFIED:
                found.append(await self._unchanged(one, answer, validators))
            else:
                found.append(replace(one, sha256=next(addresses), media=archives.media_of(answer.headers)))
        return found

    async def _unchanged(self, visit: Visit, answer: Answer, validators: Validators | None) -> Visit:
        try:
            if validators is None:
                raise Unavailable("the answer says 304 to a request that was not conditional")
            body = await self._archive.get(validators.sha256)
        except BobusangError as error:
            return replace(visit, verdict=Verdict(Reaction.RETRY, str(error)))
        return replace(visit, answer=replace(answer, body=body), sha256=validators.sha256, media=validators.media)

    async def _read(self, source: Source, visit: Visit) -> Visit:
        answer, verdict = visit.answer, visit.verdict
        if answer is None or verdict is None or verdict.reaction not in ARCHIVED:
            return visit
        if verdict.reaction is Reaction.GONE:
            gone = Snapshot(source.name, visit.ask.item, {"gone": True}, type=source.policy.type)
            return replace(visit, found=(gone,)) if visit.ask.item else visit
        told = await self.reader.read(source, Fetched(visit.ask, answer, visit.media, visit.at))
        if told.trouble:
            return replace(visit, verdict=Verdict(Reaction.RETRY, told.trouble))
        return replace(visit, found=told.found, drifted=told.drifted)


def absolute(source: Source, url: str) -> str:
    """The whole address of an ask."""
    return url if url.startswith(("http://", "https://")) else f"{source.base}/{url.lstrip('/')}"


def _no_session(lease: Lease, verdict: Verdict) -> tuple[Lease, Verdict]:
    """What a failed call for a session counts as. Whom they refuse at the door rests, as one whose new session is
    refused; a door that is not there is a fault of theirs that lasts, so the breaker must see it. Otherwise the next
    identity would knock at once, again and again, and nobody would know."""
    if verdict.reaction in (Reaction.FAIL, Reaction.GONE):
        verdict = replace(verdict, reaction=Reaction.RETRY)
    return replace(lease, fresh=True), verdict


def _is_kept(visit: Visit) -> bool:
    if visit.answer is None or visit.verdict is None:
        return False
    return visit.verdict.reaction in ARCHIVED and visit.answer.status != NOT_MODIFIED


def _call(source: Source, ask: Ask, lease: Lease, url: str, validators: Validators | None) -> Call:
    asked = validators.headers if validators is not None and ask.method == "GET" else {}
    return Call(
        _signed(url, lease.query),
        method=ask.method,
        headers={**lease.headers, **{name.lower(): value for name, value in ask.headers.items()}, **asked},
        cookies=lease.cookies,
        body=None if ask.body is None else ask.body.encode(),
        most=source.policy.max_body,
        timeout=source.policy.timeout,
    )


def _signed(url: str, query: Mapping[str, str]) -> str:
    """An address as it is sent: with what tells who we are, which is in nothing that is kept."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(query)}" if query else url


def _unsigned(got: Answer | BobusangError, call: Call, url: str) -> Answer | BobusangError:
    """The answer as if it had come from the address that was asked for."""
    return replace(got, url=url) if isinstance(got, Answer) and call.url != url else got


def _judged(source: Source, ask: Ask, url: str, got: Answer | BobusangError, now: datetime) -> Visit:
    verdict = classify(source.policy, url, got, now=now, kind=ask.kind)
    return Visit(ask, verdict=verdict, answer=got if isinstance(got, Answer) else None, at=now)
