"""Replies that are given again: for a day, to the very same request, and forgotten after."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from bobusang.kit.db import Duplicate
from bobusang.kit.errors import Invalid
from bobusang.platform import replies
from bobusang.platform.replies import Reply

if TYPE_CHECKING:
    from bobusang.kit.db import Database
    from bobusang.testing.clock import ManualClock

REPLY = Reply(201, {"etag": '"x"'}, '{"이름": "패딩"}')


async def test_a_reply_is_given_for_a_day_and_then_forgotten(db: Database, clock: ManualClock) -> None:

    async def given(digest: str = "d", actor: str = "me") -> Any:
        return await db.transact(lambda tx: replies.given(tx, actor, "key", digest))

    assert await given() is None
    await db.transact(lambda tx: replies.keep(tx, "me", "key", "d", REPLY))
    assert (await given(), await given(actor="you")) == (REPLY, None)
    with pytest.raises(Invalid, match="was used for another request"):
        await given("other")
    with pytest.raises(Duplicate):
        await db.transact(lambda tx: replies.keep(tx, "me", "key", "d", REPLY))

    clock.advance(seconds=(replies.KEEP - timedelta(seconds=1)).total_seconds())
    assert (await given(), await db.transact(replies.forget)) == (REPLY, 0)
    clock.advance(seconds=2)
    assert (await db.transact(replies.forget), await db.transact(replies.forget), await given("other")) == (1, 0, None)
