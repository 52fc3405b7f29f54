"""Who is calling, what he may do, and how he reads and changes: every change leaves its line in the audit log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.types import Scope

from bobusang.engine.service import Engine
from bobusang.entry.api.problems import Forbidden, Unauthorised
from bobusang.entry.tables import Role
from bobusang.kit.db import Duplicate, Tx
from bobusang.platform import audit
from bobusang.platform.audit import Subject
from bobusang.wiring import App

T = TypeVar("T")

LOCAL = "cli"
"""The name of whoever calls inside our own process."""

bearer = HTTPBearer(
    auto_error=False,
    scheme_name="API key",
    bearerFormat="bobu_…",
    description="The key that `bobusang up` wrote to `<home>/api-key`, or one made with POST /api-keys.",
)


@dataclass(frozen=True, slots=True)
class Desk:
    """What a route works with: the application, and on whose behalf."""

    app: App
    actor: str
    role: Role
    key_id: int | None = None

    @property
    def caller(self) -> str:
        """Who calls, so that no other is taken for him: two keys may have one name."""
        return self.actor if self.key_id is None else f"key {self.key_id}"

    @property
    def engine(self) -> Engine:
        return self.app.engine

    def read(self) -> AbstractAsyncContextManager[Tx]:
        """A connection for reading."""
        return self.engine.db.read()

    async def write(self, work: Callable[[Tx], Awaitable[T]]) -> T:
        """A transaction; when someone made the same thing at the same moment, once more, to find it."""
        try:
            return await self.engine.db.transact(work)
        except Duplicate:
            return await self.engine.db.transact(work)

    async def note(
        self, tx: Tx, action: str, kind: str, id: int | str, *, before: Any = None, after: Any = None
    ) -> None:
        """Write down what is done, in the transaction that does it."""
        await audit.record(tx, self.actor, action, Subject(kind, id), before, after)

    async def act(
        self, action: str, kind: str, id: int | str, work: Callable[[Tx], Awaitable[T]], *, after: Any = None
    ) -> T:
        """Change one thing and write it down, in one transaction."""

        async def both(tx: Tx) -> T:
            done = await work(tx)
            await self.note(tx, action, kind, id, after=after)
            return done

        return await self.write(both)

    def alive_since(self, tx: Tx) -> datetime:
        """Who was heard of after this is taken to be alive."""
        return tx.now - self.engine.pace.dead_after


async def caller(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(bearer)]
) -> Desk:
    """Whoever holds this key; in our own process, an admin."""
    app: App = request.app.state.bobusang
    if request.app.state.local:
        request.scope["actor"] = LOCAL
        return Desk(app, LOCAL, Role.ADMIN)
    if credentials is None:
        raise Unauthorised("no API key was sent", hint="send the header Authorization: Bearer bobu_…")
    desk = await desk_of(request.scope, credentials.credentials)
    if desk is None:
        raise Unauthorised("the API key is not known, or was revoked", hint="an admin makes keys with POST /api-keys")
    return desk


async def desk_of(scope: Scope, key: str) -> Desk | None:
    """The desk of whoever holds this key, if he may call just now; None when it is nobody's."""
    state = scope["app"].state
    found = await state.keyring.find(key)
    if found is None:
        return None
    scope["actor"] = found.name
    await state.throttle.take(found.id, found.name)
    return Desk(state.bobusang, found.name, found.role, found.id)


ROLES: dict[Callable[..., Any], Role] = {}
"""What a route depends on, and the role that it asks for."""


def _at_least(role: Role) -> Callable[[Desk], Awaitable[Desk]]:
    async def allowed(desk: Annotated[Desk, Depends(caller)]) -> Desk:
        if not desk.role.includes(role):
            raise Forbidden(f"this needs the role {role}, the key '{desk.actor}' has {desk.role}")
        return desk

    ROLES[allowed] = role
    return allowed


Viewer = Annotated[Desk, Depends(_at_least(Role.VIEWER))]
Operator = Annotated[Desk, Depends(_at_least(Role.OPERATOR))]
Admin = Annotated[Desk, Depends(_at_least(Role.ADMIN))]
