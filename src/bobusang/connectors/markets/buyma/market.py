"""The BUYMA market: its abilities as data, its requests, and what each of its answers means."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.connectors.markets.buyma import body, checking, refusals, webhook
from bobusang.kit import json
from bobusang.kit.errors import Blocked, External, Invalid
from bobusang.kit.http import Call
from bobusang.stages.register.market import (
    Abilities,
    Accepted,
    Difference,
    Key,
    Later,
    Notice,
    Problem,
    Refused,
    Reply,
    Request,
    Shut,
    Unknown,
)
from bobusang.stages.register.model import State

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from bobusang.kit.http import Answer, Transport
    from bobusang.stages.register.model import Draft

PRODUCTION = "https://personal-shopper-api.buyma.com"
SHOP = "https://www.buyma.com"
TOKEN = "X-Buyma-Personal-Shopper-Api-Access-Token"  # noqa: S105 - the name of a header
STATES = {
    "public": State.LIVE,
    "soldout": State.SOLD_OUT,
    "draft": State.DRAFT,
    "buyer_suspended": State.SUSPENDED,
    "admin_suspended": State.BLOCKED,
    "in_review": State.IN_REVIEW,
    "not_approved": State.NOT_APPROVED,
    "buyer_deleted": State.DELETED,
    "admin_deleted": State.REMOVED,
}
FROZEN = frozenset({"name", "brand_id", "brand_name", "category_id", "buying_area", "shop_name", "shipping_area"})
ABILITIES = Abilities("JPY", "Asia/Tokyo", checking.LONGEST_DAYS, FROZEN, STATES, webhook.EVENT)
REST = timedelta(minutes=5)
LONGEST_REST = 86_400
KEPT = 4_000


@dataclass(frozen=True, slots=True)
class Buyma:
    """BUYMA at an address: the real one, BUYMA's own sandbox, or ours."""

    transport: Transport
    base: str = PRODUCTION
    name: str = "buyma"
    abilities: Abilities = ABILITIES

    def check(self, draft: Draft, today: date) -> tuple[Problem, ...]:
        return tuple(checking.problems(draft, today))

    def put(self, draft: Draft, key: Key) -> Request:
        return body.put(draft, key)

    def stock(self, draft: Draft, key: Key) -> Request:
        return body.stock(draft, key)

    def withdraw(self, key: Key) -> Request:
        return body.withdraw(key)

    async def send(self, request: Request, token: str, timeout: timedelta) -> Reply:
        """Send it once; no answer means that nobody knows whether it arrived."""
        headers = {TOKEN: token, "Content-Type": "application/json"}
        call = Call(self.base + request.path, "POST", headers, body=request.body.encode(), timeout=timeout, redirects=0)
        try:
            return read(await self.transport.send(call))
        except Blocked as error:
            return Shut(str(error))
        except External as error:
            return Unknown(str(error))

    def page(self, market_id: str) -> str:
        return f"{SHOP if self.base == PRODUCTION else self.base}/item/{market_id}/"

    def genuine(self, secret: str, headers: Mapping[str, str], body: bytes) -> bool:
        return webhook.genuine(secret, headers, body)

    def notice(self, headers: Mapping[str, str], body: bytes) -> Notice:
        return webhook.notice(headers, body)

    def differences(self, body: str, stands: Mapping[str, Any]) -> tuple[Difference, ...]:
        return webhook.differences(body, stands)

    def corrected(self, draft: Draft, stands: Mapping[str, Any]) -> Draft:
        return webhook.corrected(draft, stands)


def read(answer: Answer) -> Reply:
    """What an answer means. Only 201 with a request_uid is accepted; what we cannot read may have had its effect."""
    text = answer.body.decode(errors="replace")[:KEPT]
    match answer.status:
        case 201 | 200:
            uid = _object(answer.body).get("request_uid")
            return Accepted(str(uid), text) if uid else Unknown(f"{answer.status} without a request_uid: {text[:200]}")
        case 422 | 400:
            return Refused(refusals.problems(_object(answer.body).get("errors", text)), text)
        case 401 | 403:
            return Shut(f"BUYMA answered {answer.status}: check the account's token and permissions")
        case 429:
            return Later("BUYMA answered 429: too many calls", _rest(answer))
        case status if status >= 500:
            return Unknown(f"BUYMA answered {status}")
    return Shut(f"BUYMA answered {answer.status}, which no version of its API does: check the address")


def _object(content: bytes) -> dict[str, Any]:
    try:
        found = json.loads(content)
    except Invalid:
        return {}
    return found if isinstance(found, dict) else {}


def _rest(answer: Answer) -> timedelta:
    said = answer.headers.get("retry-after", "")
    return (
        timedelta(seconds=min(int(said), LONGEST_REST)) if said.isascii() and said.isdigit() and len(said) < 8 else REST
    )
