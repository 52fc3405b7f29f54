"""Identities through the API: states as of now, rates, and what a person may do with one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bobusang.stages.collect import identities
from bobusang.stages.collect.admission import Cause, Wait
from bobusang.stages.collect.gate import Go
from bobusang.stages.collect.responses import Tally
from bobusang.stages.collect.sessions import Session

if TYPE_CHECKING:
    from bobusang.kit.db import Tx
    from bobusang.stages.collect.identities import Lease
    from tests.integration.api.door import Door
    from tests.integration.api.shopfront import Shopfront

POOL = 20


async def mustit(door: Door) -> list[int]:
    """MustIt as a person has enabled it, without a call to anybody; the numbers of its identities."""
    collector = door.app.collector
    await collector.db.transact(lambda tx: collector.enable(tx, "mustit", why="an agreement", by="the boss"))
    return [one["id"] for one in (await door.get("/identities", source="mustit"))["items"]]


async def states(door: Door) -> dict[str, int]:
    found: dict[str, int] = (await door.get("/sources/mustit"))["identity"]["states"]
    return {state: count for state, count in found.items() if count}


async def test_identities_are_listed_by_number_with_their_state_and_never_their_secrets(door: Door) -> None:
    ids = await mustit(door)
    assert (len(ids), ids) == (POOL, sorted(ids))
    lease = await leased(door)
    collector = door.app.collector
    policy = collector.source("mustit").policy
    session = Session("tok-123", {"nid": "nid-456"}, lease.until, lease.until)
    await collector.db.transact(lambda tx: identities.keep_session(tx, lease, policy, session))

    first = await door.get("/identities", limit=19)
    rest = await door.get("/identities", limit=19, cursor=first["next"])

    assert [one["id"] for one in [*first["items"], *rest["items"]]] == ids
    (active,) = (await door.get("/identities", state="active"))["items"]
    assert (active["id"], active["has_session"], active["leased_by"]) == (lease.identity, True, "tester")
    assert (await door.get("/identities", source="okmall"))["items"] == []
    told = str([first, rest, await door.get("/identities/analytics"), await door.get("/sources/mustit")])
    assert "tok-123" not in told
    assert "nid-456" not in told


async def test_an_identity_that_is_disabled_while_leased_gives_nothing_back(door: Door) -> None:
    await mustit(door)
    lease = await leased(door)
    collector = door.app.collector
    policy = collector.source("mustit").policy

    off = await door.operator.post(f"/identities/{lease.identity}/disable", json={"why": "blocked by name"})

    assert (off.json()["state"], off.json()["leased_by"], off.json()["rest_until"]) == ("DISABLED", None, None)
    given_back = await collector.db.transact(lambda tx: identities.release(tx, lease, policy, Tally()))
    assert given_back is False
    assert await states(door) == {"IDLE": POOL - 1, "DISABLED": 1}
    (act,) = (await door.get("/audit", subject_type="identity"))["items"]
    assert (act["action"], act["actor"], act["before"], act["after"]) == (
        "identity.disable",
        "the operator",
        {"state": "ACTIVE"},
        {"state": "DISABLED", "why": "blocked by name"},
    )


async def test_a_pool_without_a_free_identity_waits_until_one_recovers(door: Door) -> None:
    ids = await mustit(door)
    for identity in ids:
        assert (await door.operator.post(f"/identities/{identity}/disable")).status_code == 200
    collector = door.app.collector
    policy = collector.source("mustit").policy
    refused = await collector.gate.admit("mustit", policy, "list")
    assert isinstance(refused, Wait)
    assert refused.cause is Cause.IDENTITIES
    (line,) = (await door.get("/gate", source="mustit"))["items"]
    assert (line["cause"], line["until"], line["needs_person"]) == ("identities", None, True)

    back = await door.operator.post(f"/identities/{ids[3]}/recover")

    assert (back.json()["state"], await states(door)) == ("RECOVERED", {"DISABLED": POOL - 1, "RECOVERED": 1})
    assert (await door.get("/gate", source="mustit"))["items"] == []
    assert isinstance(await collector.gate.admit("mustit", policy, "list"), Go)


async def test_only_what_is_disabled_recovers(door: Door) -> None:
    idle = (await mustit(door))[0]

    answers = [await door.operator.post(f"/identities/{identity}/recover") for identity in (idle, 999_999)]
    missing = await door.operator.post("/identities/999999/disable")

    assert [(one.status_code, one.json()["detail"]) for one in (*answers, missing)] == [
        (409, f"identity {idle} is IDLE: there is nothing to recover"),
        (404, "there is no identity 999999"),
        (404, "there is no identity 999999"),
    ]


async def test_analytics_tell_who_was_throttled(front: Shopfront) -> None:
    door = front.door
    await front.sandbox.fault("mustit", "list", "http_429", count=1)
    async with door.working():
        job = await front.started({"source": "mustit", "kind": "seller", "keys": ["dmont"]})
        assert (await door.ended(job))["status"] == "SUCCESS"

    pools = {one["source"]: one for one in (await door.get("/identities/analytics"))["items"]}
    pool = pools["mustit"]

    assert (pool["source"], pool["size"], pool["throttles"]) == ("mustit", POOL, 1)
    assert pool["calls"] == pool["successes"] + pool["throttles"] + pool["failures"]
    assert pool["success_rate"] == pool["successes"] / pool["calls"]
    worst = pool["identities"][0]
    assert (worst["throttles"], worst["state"], worst["throttled_in_a_row"]) == (1, "DISABLED", 1)
    assert worst["throttle_rate"] == 1 / worst["calls"]
    assert (await door.operator.post(f"/identities/{worst['id']}/recover")).json()["state"] == "RECOVERED"


async def leased(door: Door) -> Lease:
    policy = door.app.collector.source("mustit").policy

    async def work(tx: Tx) -> Any:
        return await identities.lease(tx, "mustit", policy, by="tester", calls=1)

    (lease,) = await door.app.engine.db.transact(work)
    found: Lease = lease
    return found
