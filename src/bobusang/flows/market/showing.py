"""Whether the market can fetch our pictures: after an outage we look ourselves, and call a person if it is ours."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import msgspec

from bobusang.engine.upkeep.duty import Duty
from bobusang.flows.market.inbox import accounts_of
from bobusang.kit.errors import External, Invalid
from bobusang.kit.http import Call
from bobusang.kit.redact import scrub
from bobusang.kit.sql import Statement
from bobusang.platform.alerting import open_alerts, raise_alert, settle_alerts
from bobusang.platform.notifier import Level, Notice
from bobusang.stages.register.model import Draft

if TYPE_CHECKING:
    from bobusang.kit.db import Database, Tx
    from bobusang.kit.http import Transport
    from bobusang.stages.register.service import Register

EVERY = timedelta(minutes=1)
LATELY = timedelta(hours=1)
TIMEOUT = timedelta(seconds=10)
UNSEEN = "pictures_unseen"
LAST = Statement("""
    select draft as value from market_calls
    where account_id = :account and state = 'REJECTED' and cause = 'outage' and due_at > :since
    order by due_at desc limit 1""")

_drafts = msgspec.json.Decoder(Draft)


def show(db: Database, register: Register, transport: Transport) -> Duty:
    """Every minute; while no call came to nothing by an outage it is one small question of the database."""

    async def run() -> int:
        await looked(db, register, transport)
        return 0

    return Duty("pictures shown", EVERY, run)


async def looked(db: Database, register: Register, transport: Transport) -> None:
    """Fetch a picture that the last outage was about, as the market would; the alert is over when it can be had."""
    picture = await _suspected(db, register)
    if picture is None:
        await db.transact(_over)
        return
    why = await _trouble(transport, picture)
    if not why:
        await db.transact(_over)
        return
    notice = Notice(
        UNSEEN,
        Level.CRITICAL,
        "the market cannot fetch our pictures",
        f"{register.market.name} came to nothing with {picture}, and neither can we fetch it: {scrub(why)}. Check "
        "BOBUSANG_PUBLIC_URL, and that it is answered from outside. New listings are tried again by themselves.",
    )
    await db.transact(lambda tx: raise_alert(tx, notice))


async def _suspected(db: Database, register: Register) -> str | None:
    accounts = await accounts_of(db, register)
    async with db.read() as tx:
        for account in accounts:
            found = await tx.value(LAST, account=account.id, since=tx.now - LATELY)
            if found is not None and (images := _drafts.decode(found).images):
                return str(images[0])
    return None


async def _trouble(transport: Transport, picture: str) -> str:
    """Why it cannot be had; '' when it can."""
    try:
        answer = await transport.send(Call(picture, timeout=TIMEOUT))
    except (External, Invalid) as error:
        return str(error)
    if answer.status != 200:
        return f"it answers {answer.status}"
    kind = answer.headers.get("content-type", "")
    return "" if kind.startswith("image/") else f"it answers with {kind or 'no type'}, not with a picture"


async def _over(tx: Tx) -> None:
    if any(one.key == UNSEEN for one in await open_alerts(tx)):
        await settle_alerts(tx, [UNSEEN])
