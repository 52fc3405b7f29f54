"""What a person does with a source's identities: give them a key, take one out of use, let one recover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.kit.errors import Conflict, Invalid, Missing
from bobusang.kit.sql import Statement
from bobusang.platform import audit
from bobusang.stages.collect import gatebook, identities, switch
from bobusang.stages.collect.admission import NEVER, Cause, Facts
from bobusang.stages.collect.announcing import announce
from bobusang.stages.collect.identity import state_at
from bobusang.stages.collect.policy import IdentityKind
from bobusang.stages.collect.tables import IdentityState

if TYPE_CHECKING:
    from bobusang.kit.db import Row, Tx
    from bobusang.stages.collect.policy import Policy
    from bobusang.stages.collect.pools import Pools

# The lease number grows: whoever holds a lease of it gives back nothing.
DISABLE = Statement("""
    update crawl_agents set state = 'DISABLED', rest_until = :until, leased_by = null, leased_until = null,
      lease_number = lease_number + 1, updated_at = :now
    where id = :id""")
RECOVER = Statement("""
    update crawl_agents set state = 'RECOVERED', rest_until = null, throttled_in_a_row = 0, updated_at = :now
    where id = :id and state = 'DISABLED'""")


async def give_key(
    tx: Tx, pools: Pools, source: str, policy: Policy, key: str, *, by: str, user_agent: str, username: str = ""
) -> None:
    """Let a source's identities show the key that the operator was given, or log in with a name and a password; what
    waited for it goes on.

    Raises Conflict where the source wants no key, Invalid where it wants a name and got none, or the other way round.
    The key itself is in no log.
    """
    kind = policy.identity.kind
    if kind not in (IdentityKind.API_KEY, IdentityKind.LOGIN):
        raise Conflict(
            f"{source} is not called with a key: its identity is '{kind.value}'",
            hint="a shop.yaml with `identity: {kind: api_key}` is",
        )
    if bool(username) is not (kind is IdentityKind.LOGIN):
        raise Invalid(
            f"{source} is logged in to with a name and a password"
            if kind is IdentityKind.LOGIN
            else f"{source} is called with a key alone, without a name",
            hint=f"`bobusang source key {source}{' --username NAME' if kind is IdentityKind.LOGIN else ''}`",
            field="username",
        )
    await switch.prepare(tx, pools, source, policy, user_agent=user_agent)
    await identities.give_key(tx, source, key, username)
    await audit.record(tx, by, "source.key", audit.Subject("source", source))
    await _go_on(tx, pools, source, Cause.KEY)


async def disable(tx: Tx, identity: int, *, why: str, by: str) -> str:
    """Take an identity out of use until a person lets it recover; the source it is of.

    What it is fetching is finished; nothing more is begun with it.
    """
    row = await _locked(tx, identity)
    before = {"state": _state(row, tx).value}
    await tx.execute(DISABLE, id=identity, until=NEVER, now=tx.now)
    after = {"state": IdentityState.DISABLED.value, "why": why}
    await audit.record(tx, by, "identity.disable", audit.Subject("identity", identity), before, after)
    source: str = row["source"]
    return source


async def recover(tx: Tx, pools: Pools, identity: int, *, by: str) -> str:
    """Let an identity be used again that rests after a 429 or was disabled; the source it is of.

    Raises Conflict in any other state: a quota that is used up cannot be given back by us.
    """
    row = await _locked(tx, identity)
    state = _state(row, tx)
    if state is not IdentityState.DISABLED:
        hint = "its quota fills by itself" if state is IdentityState.RATE_LIMITED else "only a DISABLED one recovers"
        raise Conflict(f"identity {identity} is {state.value}: there is nothing to recover", hint=hint)
    await tx.execute(RECOVER, id=identity, now=tx.now)
    told = {"state": state.value}, {"state": IdentityState.RECOVERED.value}
    await audit.record(tx, by, "identity.recover", audit.Subject("identity", identity), *told)
    source: str = row["source"]
    await _go_on(tx, pools, source, Cause.IDENTITIES)
    return source


async def _go_on(tx: Tx, pools: Pools, source: str, cause: Cause) -> None:
    """End a wait of the whole source that was for this."""
    whole, _ = await gatebook.load(tx, source, "", lock=True)
    if whole.cause is cause:
        await announce(tx, pools, Facts(tx.now, source, "", enabled=True, whole=whole, part=whole), None)


async def _locked(tx: Tx, identity: int) -> Row:
    row = await tx.first(identities.ONE, id=identity)
    if row is None:
        raise Missing(f"there is no identity {identity}", hint="`bobusang identity list` shows them")
    return row


def _state(row: Row, tx: Tx) -> IdentityState:
    return state_at(identities.member_of(row), tx.now)
