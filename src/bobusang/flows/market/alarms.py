"""What an account needs a person for: counted every minute, told once, reminded, and over when nothing is left of it.

A guard that holds has to ask, too: a hold, a refusal or a call without a verdict that stands only on a screen is seen
by nobody, and the listing goes on looking well.
"""

from __future__ import annotations

from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from bobusang.engine.upkeep.duty import Duty
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Statement
from bobusang.platform.alerting import keep_alerts, open_alerts
from bobusang.platform.notifier import Level, Notice
from bobusang.stages.register import accounts, closing, listings
from bobusang.stages.register.guards import Guard

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from bobusang.kit.db import Database, Tx
    from bobusang.stages.register.model import Account
    from bobusang.stages.register.service import Register

EVERY = timedelta(minutes=1)
MOST = 1000
"""Counted so far: beyond it nobody reads the number."""
EXAMPLES = 10
LOST, REFUSED = "lost", "refused"
NONE: Mapping[str, str] = MappingProxyType({})
RULES = (
    *("account_off", "market_holds", "two_products", "lost_calls", "refused_live", "below_floor"),
    *("unseen_listings", "ending_listings", "no_secret"),
)

# Each by its own index, and by the newest so many. What is refused is asked as in `receipts.REFUSED`.
COUNTS = Statement("""
    select guard as name, count(*) as value from (
      select guard from listing_holds where account_id = :account and state = 'HELD' order by id desc limit :most) held
    group by guard
    union all
    select 'lost', count(*) from (
      select id from market_calls where account_id = :account and state = 'LOST' limit :most) unanswered
    union all
    select 'refused', count(*) from (
      select id from listings where refusal_cause > '' and coalesce(account_id, 0) = :account
        and coalesce(state, '') = 'LIVE' limit :most) refused""")
_LAST = """not exists (select 1 from price_quotes n where n.product_id = q.product_id and n.market = q.market
        and n.account = q.account and n.id > q.id)"""
BELOW = Statement(f"""
    select q.sku from price_quotes q
    join listings l on l.account_id = :account and l.product_id = q.product_id and l.state = 'LIVE' and l.retired = 0
    where q.is_below_floor = :yes and q.market = :market and q.account = :name and {_LAST}
    order by q.id limit :most""")
# The raise is decided, and a guard holds it before it is sent.
KEPT_BELOW = Statement(f"""
    select q.sku from listings l
    join price_quotes q on q.product_id = l.product_id and q.market = :market and q.account = :name
    where l.id in (select listing_id from listing_holds where account_id = :account and state = 'HELD')
      and l.state = 'LIVE' and l.retired = 0 and q.decision = 'QUOTE' and q.confirmed < q.floor and {_LAST}
    order by q.id limit :most""")
UNSEEN = Statement("""
    select sku from listings where unseen_at > :never and closed_at is null and coalesce(account_id, 0) = :account
      and coalesce(state, '') = 'LIVE' order by unseen_at, id limit :most""")

# They are extended by themselves long before; by our own day, for one more or less is no matter here.
ENDING = Statement("""
    select sku, available_until from listings
    where account_id = :account and available_until <= :until and coalesce(state, '') = 'LIVE'
    order by available_until, id limit :most""")


def watch(db: Database, register: Register) -> Duty:
    """Every minute, four statements an account; nothing is written while all is well."""

    async def run() -> int:
        async with db.read() as tx:
            found = await wrong(tx, register)
            was = found or any(one.rule in RULES for one in await open_alerts(tx))
        if was:
            await db.transact(lambda tx: keep_alerts(tx, found, rules=RULES))
        return 0

    return Duty("market alerts", EVERY, run)


async def wrong(tx: Tx, register: Register) -> list[Notice]:
    """What is wrong with all accounts now."""
    found: list[Notice] = []
    for account in await accounts.every(tx):
        counts = {row["name"]: int(row["value"]) for row in await tx.fetch(COUNTS, account=account.id, most=MOST)}
        said = {"account": account.id, "market": account.market, "name": account.name, "most": MOST}
        losses = (*await tx.fetch(BELOW, yes=True, **said), *await tx.fetch(KEPT_BELOW, **said))
        below = [row["sku"] for row in losses]
        gone = await tx.fetch(UNSEEN, account=account.id, never=closing.NEVER, most=MOST)
        unseen = [row["sku"] for row in gone]
        said |= {"until": (tx.now.date() + timedelta(days=account.policy.extend // 2)).isoformat()}
        ending = {row["sku"]: row["available_until"] for row in await tx.fetch(ENDING, **said)}
        secret = _secret(register, account)
        live = await listings.live(tx, account.id) if secret or not account.enabled else 0
        found += judge(account, counts, below, unseen, live, secret, ending)
    return found


def _secret(register: Register, account: Account) -> str:
    """Why its token cannot be had; '' where it can."""
    try:
        register.secret(account.token_ref)
    except Missing as error:
        return str(error)
    return ""


def judge(
    account: Account,
    counts: Mapping[str, int],
    below: Sequence[str] = (),
    unseen: Sequence[str] = (),
    live: int = 0,
    secret: str = "",
    ending: Mapping[str, str] = NONE,
) -> Iterator[Notice]:
    """What an account's counts say: by guard its holds, and `lost` and `refused`; the SKUs that sell below their floor,
    and those that nobody has seen for long; how many listings are live where nothing can be sent, and why it has no
    token; the SKUs that end soon, with their last days. Pure."""
    shop, who = f"{account.market}/{account.name}", f"--account {account.name}"
    if not account.enabled:
        yield Notice(
            f"account_off:{shop}",
            Level.CRITICAL,
            f"{shop} is switched off",
            f"{account.stopped_why or 'nobody said why'}. Nothing is sent from it: {live:,} live listings keep price "
            f"and stock as they are, and what sells out at the mall can still be ordered. Mend the cause (for 401 or "
            f"403 the token), then `bobusang account start {account.name}`.",
        )
    elif secret:
        yield Notice(
            f"no_secret:{shop}",
            Level.CRITICAL,
            f"{shop} has no token to send with",
            f"{secret}. Nothing is sent from it: {live:,} live listings keep price and stock as they are, and what "
            "sells out at the mall can still be ordered. The token is looked for as `bobusang account show "
            f"{account.name}` says, by every process that works; `bobusang run retry BATCH` then runs again what "
            "failed for want of it.",
        )
    waiting = {name: value for name, value in counts.items() if value and name in set(Guard) - APART}
    if waiting:
        by = ", ".join(f"{value:,} by {name}" for name, value in sorted(waiting.items()))
        yield Notice(
            f"market_holds:{shop}",
            Level.WARNING,
            f"{shop}: guards hold {_many(sum(waiting.values()))} sends",
            f"{by}. What the market has stays as it is until a person decides: `bobusang listing holds {who}`, then "
            "`bobusang listing approve` or `reject`.",
        )
    if counts.get(Guard.TWO_PRODUCTS):
        yield Notice(
            f"two_products:{shop}",
            Level.CRITICAL,
            f"{shop}: the market has {_many(counts[Guard.TWO_PRODUCTS])} products twice",
            f"`bobusang listing holds --guard two_products {who}` names them with both numbers. Delete the stranger at "
            "the market, for nothing keeps its price and stock true, then `bobusang listing reject` the hold.",
        )
    if counts.get(LOST):
        yield Notice(
            f"lost_calls:{shop}",
            Level.CRITICAL,
            f"{shop}: {_many(counts[LOST])} calls never got a verdict",
            "They were sent again as often as allowed, and their listings take no change meanwhile. Do webhooks come "
            f"(`bobusang listing webhooks {who}`), with the right secret? `bobusang listing holds --guard unanswered "
            f"{who}` names them; `bobusang listing approve` lets one go, and it is sent anew.",
        )
    if counts.get(REFUSED):
        yield Notice(
            f"refused_live:{shop}",
            Level.WARNING,
            f"{shop}: the market refused the last change of {_many(counts[REFUSED])} live listings",
            "They look well and are not what they should be. `bobusang listing list --refused --state LIVE "
            f"{who}` says why; each is sent again when its cause changes.",
        )
    if below:
        yield Notice(
            f"below_floor:{shop}",
            Level.CRITICAL,
            f"{shop}: {_many(len(below))} live listings sell below their floor",
            f"{named(below)}. Their price is held, and each order is a loss. `bobusang price explain SKU` says why: "
            f"mend cost, rates or policy; agree to a raise that a guard holds (`bobusang listing holds {who}`, "
            "`bobusang listing approve`); or take it off by `bobusang listing close SKU`.",
        )
    if unseen:
        rule = account.policy.unseen
        then = [f"at most {rule.cap} of each can be ordered after {rule.capped} h"] if rule.capped else []
        then += [f"none after {rule.suspended} h"] if rule.suspended else []
        yield Notice(
            f"unseen_listings:{shop}",
            Level.WARNING,
            f"{shop}: nobody has seen the sources of {_many(len(unseen))} live listings for {rule.told} h",
            f"{named(unseen)}. Is their mall off, silent or blocked, or their brand not run (`bobusang source list`)? "
            f"Once this was told, {' and '.join(then) or 'nothing is done by itself'}, until a page shows them again. "
            "`bobusang listing close SKU` takes one off now.",
        )
    if ending:
        yield Notice(
            f"ending_listings:{shop}",
            Level.WARNING,
            f"{shop}: {_many(len(ending))} live listings end and are not extended",
            f"{named([f'{sku} ({day})' for sku, day in ending.items()])}. After that day buyers see them no longer, "
            f"though nothing else tells so. They are extended {account.policy.extend} days before by the runs of their "
            "brand, unless their price may not be asked any more or the market refuses it: `bobusang listing receipt "
            "SKU` and `bobusang listing holds` say what stands in the way.",
        )


APART = {Guard.UNANSWERED, Guard.TWO_PRODUCTS}
"""Guards that have an alert of their own."""


def named(skus: Sequence[str]) -> str:
    """The first of them, and how many more there are."""
    more = f" and {len(skus) - EXAMPLES:,} more" if len(skus) > EXAMPLES else ""
    return ", ".join(skus[:EXAMPLES]) + more


def _many(count: int) -> str:
    return f"{MOST:,} or more" if count >= MOST else f"{count:,}"
