"""Looking at an unknown shop: one page and its robots.txt, over the checked transport, and nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bobusang.connectors.sources.generator.sample import Request
from bobusang.flows.collect.looking import look
from bobusang.kit.errors import Blocked, BobusangError, Invalid
from bobusang.kit.transport import AiohttpTransport

if TYPE_CHECKING:
    from bobusang.testing.yard import Yard

AGENT = "bobusang/test"


async def test_a_page_is_fetched_once_beside_what_robots_txt_says(yard: Yard) -> None:
    url = f"{yard.door.url}/plain/list?page=1"
    before = (await yard.door.counts())["asked"]

    looked = await look(yard.app.collector.transport, Request(url), user_agent=AGENT, home=yard.door.url)

    assert (looked.sample.status, "product-item" in looked.sample.text) == (200, True)
    assert looked.robots.standing == "allowed"
    assert (await yard.door.counts())["asked"] - before == 2


async def test_with_a_sandbox_nothing_else_is_called(yard: Yard) -> None:
    with pytest.raises(Invalid, match="is not the sandbox"):
        await look(yard.app.collector.transport, Request("http://example.com/"), user_agent=AGENT, home=yard.door.url)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:1/", "http://169.254.169.254/latest/", "http://[::1]/", "file:///x"]
)
async def test_a_private_address_is_refused(yard: Yard, address: str) -> None:
    transport = AiohttpTransport(user_agent=AGENT)
    try:
        with pytest.raises(BobusangError) as raised:
            await look(transport, Request(address), user_agent=AGENT)
        assert isinstance(raised.value, Blocked | Invalid)
    finally:
        await transport.close()
