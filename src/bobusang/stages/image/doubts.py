"""What a person should look at, as rows: raised with the pictures, told as alerts, over when somebody has decided."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bobusang.catalog.images import said
from bobusang.kit.errors import Missing
from bobusang.kit.sql import Bulk, Statement
from bobusang.platform.alerting import keep_alerts
from bobusang.platform.notifier import Level, Notice
from bobusang.stages.image.tables import OF_NONE, WHO_LENGTH, Doubt, image_doubts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from bobusang.kit.db import Tx
    from bobusang.stages.image.model import Alarm

DOUBTS = "`bobusang picture doubts` names them; "
BLOCK = f"{DOUBTS}`bobusang picture block SHA256 --why …` refuses what looks like one"
TOLD = {
    Doubt.SHARED: (
        "shared_pictures",
        "{} pictures stand on many unrelated products, and are refused as banners",
        f"{BLOCK}, and takes it off where it is shown; `bobusang picture allow SHA256` shows it everywhere.",
    ),
    Doubt.LIKE: (
        "like_pictures",
        "{} pictures look like those of unrelated products",
        f"They are shown. {BLOCK}; `bobusang picture allow SHA256` says that it is well.",
    ),
    Doubt.COVER: (
        "other_covers",
        "the addresses of {} covers give another picture now",
        f"The old ones are shown. {DOUBTS}`picture accept PRODUCT` takes the new one, `picture order` keeps the old.",
    ),
}
"""By kind the alert: its rule, its title and what can be done."""
RULES = tuple(rule for rule, _, _ in TOLD.values())

COUNTS = Statement("""
    select kind as name, count(*) as value from image_doubts d
    where allowed_at is null and (product_id = :none or exists (select 1 from products p where p.id = d.product_id))
    group by kind""")
ALLOWED = Statement("""
    select distinct sha256 as value from image_doubts where sha256 in (:addresses...) and allowed_at is not null""")
OPEN = Statement("select distinct sha256 as value from image_doubts where allowed_at is null and product_id = :none")
ALLOW = Statement("""
    update image_doubts set allowed_at = :now, allowed_by = :by
    where sha256 = :sha256 and product_id = :none and allowed_at is null""")
SETTLE = Statement("delete from image_doubts where sha256 in (:addresses...) and product_id = :none")
DECIDED = Statement("delete from image_doubts where product_id in (:ids...)")

_NEW = Bulk(image_doubts, ("kind", "sha256", "product_id", "reason", "raised_at"), keep=True)


async def raised(tx: Tx, alarms: Iterable[Alarm]) -> None:
    """Keep these, and tell people; what was found well is not asked again."""
    rows = {(one.kind, one.sha256, one.of): said(one.reason) for one in alarms}
    if rows:
        await tx.insert(_NEW, [(*name, rows[name], tx.now) for name in sorted(rows)])
        await tell(tx)


async def covers(tx: Tx, had: Collection[int], now: Mapping[int, Alarm]) -> None:
    """The covers that wait for a person, of products of which some did before: what has settled itself is over."""
    over = sorted(set(had) - now.keys())
    if over:
        await decided(tx, over)
    await raised(tx, now.values())


async def allowed(tx: Tx, addresses: Collection[str]) -> set[str]:
    """Those of these pictures that a person has found well."""
    rows = await tx.fetch(ALLOWED, addresses=sorted(addresses)) if addresses else ()
    return {row["value"] for row in rows}


async def waiting(tx: Tx) -> list[str]:
    """The pictures that nobody has decided on."""
    return [row["value"] for row in await tx.fetch(OPEN, none=OF_NONE)]


async def allow(tx: Tx, sha256: str, *, by: str) -> None:
    """A person has looked: this very picture may stand on many products."""
    if not await tx.execute(ALLOW, sha256=sha256, none=OF_NONE, by=by[:WHO_LENGTH], now=tx.now):
        hint = "`bobusang picture doubts` shows those that do"
        raise Missing(f"nobody is asked about the picture {sha256[:80]}", hint=hint)
    await tell(tx)


async def settled(tx: Tx, addresses: Collection[str]) -> None:
    """These pictures are blocked: nothing is left to be asked of them."""
    if addresses:
        await tx.execute(SETTLE, addresses=sorted(addresses), none=OF_NONE)
        await tell(tx)


async def decided(tx: Tx, product_ids: Collection[int]) -> None:
    """The covers of these products wait for nobody any more."""
    if await tx.execute(DECIDED, ids=sorted(product_ids)):
        await tell(tx)


async def tell(tx: Tx) -> None:
    """Open an alert for each kind of which something waits, and end those of which nothing does."""
    counts = {row["name"]: row["value"] for row in await tx.fetch(COUNTS, none=OF_NONE)}
    notices = [
        Notice(rule, Level.WARNING, title.format(f"{counts[kind]:,}"), text)
        for kind, (rule, title, text) in TOLD.items()
        if counts.get(kind)
    ]
    await keep_alerts(tx, notices, rules=RULES)
