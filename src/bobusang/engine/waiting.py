"""Waiting for the outside world by key: a task sleeps until `wake(key)`, and a wake-up that comes first is kept.

Both sides write the same row of `waits`, so whichever comes second sees the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.engine import queue
from bobusang.engine.model import Entry, due
from bobusang.kit import json
from bobusang.kit.sql import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bobusang.kit.db import Row, Tx

_ENTER = """
    insert into waits (wait_key, task_id, created_at) values (:wait_key, :task_id, :now) {conflict}"""
SLEEP = Statement(
    _ENTER.format(conflict="on conflict (wait_key) do update set task_id = excluded.task_id"),
    mariadb=_ENTER.format(conflict="on duplicate key update task_id = values(task_id)"),
)
# The pairs travel as JSON, sorted by key, so that two who enter many lock them in one order.
_ENTER_MANY = "insert into waits (wait_key, task_id, created_at) select {pair}, {now} from {pairs} {conflict}"
SLEEP_MANY = Statement(
    sqlite=_ENTER_MANY.format(
        pair="json_extract(value, '$[0]'), json_extract(value, '$[1]')",
        now=":now",
        pairs="json_each(:pairs) where true",
        conflict="on conflict (wait_key) do update set task_id = excluded.task_id",
    ),
    postgres=_ENTER_MANY.format(
        pair="given.pair->>0, (given.pair->>1)::bigint",
        now=":now::timestamptz",
        pairs="jsonb_array_elements(:pairs::jsonb) as given(pair)",
        conflict="on conflict (wait_key) do update set task_id = excluded.task_id",
    ),
    mariadb=_ENTER_MANY.format(
        pair="given.k, given.t",
        now=":now",
        pairs="json_table(:pairs, '$[*]' columns (k varchar(200) path '$[0]', t bigint path '$[1]')) as given",
        conflict="on duplicate key update task_id = values(task_id)",
    ),
)
SIGNALLED = Statement("""
    select wait_key, task_id, signal_data from waits where wait_key in (:wait_keys...) and signalled_at is not null""")
_SIGNAL = """
    insert into waits (wait_key, signal_data, signalled_at, created_at)
    values (:wait_key, :signal, :now, :now) {conflict}"""
SIGNAL = Statement(
    _SIGNAL.format(
        conflict="""on conflict (wait_key) do update set signal_data = excluded.signal_data,
          signalled_at = excluded.signalled_at"""
    ),
    mariadb=_SIGNAL.format(
        conflict="on duplicate key update signal_data = values(signal_data), signalled_at = values(signalled_at)"
    ),
)
LOOK = Statement("select task_id, signal_data, signalled_at from waits where wait_key = :wait_key")
FORGET = Statement("delete from waits where wait_key = :wait_key")
TAKE = Statement("""
    delete from queue_held where task_id = :task_id and wait_key = :wait_key
    returning task_id, job_id, lane, queue, priority, attempt, dispatches""")
TELL = Statement("update tasks set signal_data = :signal where id = :task_id")

# One statement for all keys, so that a row cannot go between looking and writing; the keys travel as JSON.
_SIGNALS = (
    "insert into waits (wait_key, signal_data, signalled_at, created_at) select k, {values} from {keys} {conflict}"
)
_RENEW = "on conflict (wait_key) do update set signal_data = excluded.signal_data, signalled_at = excluded.signalled_at"
SIGNAL_MANY = Statement(
    sqlite=_SIGNALS.format(
        values=":signal, :now, :now",
        keys="(select value as k from json_each(:keys) order by value) where true",
        conflict=_RENEW,
    ),
    postgres=_SIGNALS.format(
        values=":signal::jsonb, :now::timestamptz, :now::timestamptz",
        keys="(select k from jsonb_array_elements_text(:keys::jsonb) as given(k) order by k) as sorted",
        conflict=_RENEW,
    ),
    mariadb=_SIGNALS.format(
        values=":signal, :now, :now",
        keys="json_table(:keys, '$[*]' columns (k varchar(200) path '$')) as given",
        conflict="on duplicate key update signal_data = values(signal_data), signalled_at = values(signalled_at)",
    ),
)
SLEEPERS = Statement("select task_id from waits where wait_key in (:wait_keys...) and task_id is not null")
TAKE_MANY = Statement("""
    delete from queue_held where task_id in (:task_ids...) and wait_key in (:wait_keys...)
      and exists (select 1 from waits w where w.wait_key = queue_held.wait_key and w.task_id = queue_held.task_id)
    returning task_id, job_id, lane, queue, priority, attempt, dispatches, wait_key""")
TELL_MANY = Statement("update tasks set signal_data = :signal where id in (:task_ids...)")
FORGET_MANY = Statement("delete from waits where wait_key in (:wait_keys...)")


async def sleep(tx: Tx, wait_key: str, task_id: int) -> bool:
    """Register a wait; False when the wake-up was here before, so that there is nothing to wait for."""
    await tx.execute(SLEEP, wait_key=wait_key, task_id=task_id, now=tx.now)
    row = await tx.first(LOOK, wait_key=wait_key)
    if row is None or row["signalled_at"] is None:
        return True
    await tx.execute(TELL, task_id=task_id, signal=row["signal_data"])
    await tx.execute(FORGET, wait_key=wait_key)
    return False


async def sleep_many(tx: Tx, waits: Mapping[str, int]) -> set[str]:
    """Register the waits of tasks by their keys, in a few statements; the keys whose wake-up was here before."""
    pairs = sorted(waits.items())
    await tx.execute(SLEEP_MANY, pairs=json.dumps(pairs), now=tx.now)
    rows = await tx.fetch(SIGNALLED, wait_keys=[key for key, _ in pairs])
    for row in rows:  # rare: the verdict overtook the task that waits for it
        await tx.execute(TELL, task_id=waits[row["wait_key"]], signal=row["signal_data"])
    woken = {row["wait_key"] for row in rows}
    if woken:
        await tx.execute(FORGET_MANY, wait_keys=sorted(woken))
    return woken


async def wake(tx: Tx, wait_key: str, signal: Any = None) -> bool:
    """End the wait of this key, in the caller's transaction; whether somebody was waiting already."""
    text = json.dumps(signal)
    await tx.execute(SIGNAL, wait_key=wait_key, signal=text, now=tx.now)
    row = await tx.first(LOOK, wait_key=wait_key)
    if row is None or row["task_id"] is None:
        return False
    taken = await tx.first(TAKE, task_id=row["task_id"], wait_key=wait_key)
    if taken is None:
        return False
    await tx.execute(TELL, task_id=row["task_id"], signal=text)
    await tx.execute(FORGET, wait_key=wait_key)
    await queue.put(tx, [entry_of(taken, due(tx.now, taken["queue"], taken["priority"]))])
    return True


async def wake_many(tx: Tx, wait_keys: Iterable[str], signal: Any = None) -> int:
    """End the waits of these keys with one signal, in a few statements however many they are; how many waited already.

    The same as `wake` for each: what nobody waits for yet is kept.
    """
    keys, text = sorted(set(wait_keys)), json.dumps(signal)
    if not keys:
        return 0
    await tx.execute(SIGNAL_MANY, keys=json.dumps(keys), signal=text, now=tx.now)
    sleepers = sorted(row["task_id"] for row in await tx.fetch(SLEEPERS, wait_keys=keys))
    taken = await tx.fetch(TAKE_MANY, task_ids=sleepers, wait_keys=keys) if sleepers else ()
    if not taken:
        return 0
    await tx.execute(TELL_MANY, task_ids=sorted(row["task_id"] for row in taken), signal=text)
    await tx.execute(FORGET_MANY, wait_keys=sorted(row["wait_key"] for row in taken))
    await queue.put(tx, [entry_of(row, due(tx.now, row["queue"], row["priority"])) for row in taken])
    return len(taken)


def entry_of(row: Row, sort_key: int) -> Entry:
    """An entry that comes back from where it was kept."""
    return Entry(
        row["task_id"],
        row["job_id"],
        row["lane"],
        sort_key,
        row["queue"],
        row["priority"],
        row["attempt"],
        row["dispatches"],
    )
