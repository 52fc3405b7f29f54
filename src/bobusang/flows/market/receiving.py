"""Webhooks on their way into the inbox: those that come together are stored by one commit, then each is answered.

A commit costs far more than the row it stores, and a busy database lets us in only now and then.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bobusang.kit import log
from bobusang.kit.errors import BobusangError, Missing, Unavailable
from bobusang.stages.register import accounts, inbox
from bobusang.stages.register.inbox import Received

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bobusang.kit.db import Database, Tx
    from bobusang.stages.register.model import Account
    from bobusang.stages.register.service import Register

AT_ONCE = 64
KNOWN_SECONDS = 2.0
"""How long an account is not asked for again: whoever is answered waits for each way to the database and back."""

Verdict = Received | BobusangError


@dataclass(frozen=True, slots=True)
class Letter:
    """A webhook that waits to be stored, and whoever waits for that."""

    account: str
    headers: Mapping[str, str]
    body: bytes
    answer: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Receiver:
    """One for all webhooks of a market in a process."""

    def __init__(self, db: Database, register: Register) -> None:
        self._db = db
        self._register = register
        self._letters: deque[Letter] = deque()
        self._storing: asyncio.Task[None] | None = None
        self._known: dict[str, tuple[Account, float]] = {}
        """Accounts by name, and until when each is believed."""

    async def receive(self, account: str, headers: Mapping[str, str], body: bytes) -> bool:
        """Store a webhook; False: nobody we know signed it. When this returns it is safe, whatever happens.

        Raises Missing for an account that is not ours, Unavailable where its signature cannot be checked.
        """
        letter = Letter(account, headers, body)
        self._letters.append(letter)
        if self._storing is None or self._storing.done():
            self._storing = asyncio.create_task(self._store())
        return await letter.answer

    async def _store(self) -> None:
        while self._letters:
            count = min(len(self._letters), AT_ONCE)
            await self._stored([self._letters.popleft() for _ in range(count)])

    async def _stored(self, letters: Sequence[Letter]) -> None:
        try:
            verdicts = await self._db.transact(lambda tx: self._received(tx, letters), urgent=True)
        except Exception as error:
            self._known.clear()
            if len(letters) == 1:
                _answer(letters[0], error)
            else:  # one of them, most likely: the others must not pay for it
                for letter in letters:
                    await self._stored([letter])
            return
        for letter, verdict in zip(letters, verdicts, strict=True):
            _answer(letter, verdict)

    async def _received(self, tx: Tx, letters: Sequence[Letter]) -> list[Verdict]:
        known = {name: await self._named(tx, name) for name in {letter.account for letter in letters}}
        verdicts = [self._one(known[letter.account], letter) for letter in letters]
        await inbox.store(tx, [verdict for verdict in verdicts if isinstance(verdict, Received)])
        return verdicts

    async def _named(self, tx: Tx, name: str) -> Account | Missing:
        account, until = self._known.get(name, (None, 0.0))
        if account is not None and time.monotonic() < until:
            return account
        try:
            account = await accounts.named(tx, self._register.market.name, name)
        except Missing as error:
            return error
        self._known[name] = account, time.monotonic() + KNOWN_SECONDS
        return account

    def _one(self, account: Account | Missing, letter: Letter) -> Verdict:
        if isinstance(account, Missing):
            return account
        try:
            return self._register.checked(account, letter.headers, letter.body)
        except Missing as error:
            # A stranger learns nothing of where the secret should be, and the market sends it again.
            log.get("webhooks").error("a webhook cannot be checked", account=account.name, error=str(error))
            return Unavailable("signatures of this account cannot be checked now", hint="the log says why")


def _answer(letter: Letter, verdict: Received | Exception) -> None:
    if letter.answer.done():  # whoever asked is gone; the webhook is stored all the same
        return
    if isinstance(verdict, Exception):
        letter.answer.set_exception(verdict)
    else:
        letter.answer.set_result(verdict.genuine)
