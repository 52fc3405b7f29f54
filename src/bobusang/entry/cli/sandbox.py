"""`bobusang sandbox`: malls and a market on this machine, to try everything against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bobusang.entry.cli.command import command, group
from bobusang.entry.cli.session import Session
from bobusang.sandbox.filler import PageSize

if TYPE_CHECKING:
    from bobusang.sandbox.server import Sandbox

EXAMPLE = "http://127.0.0.1:8000/webhooks/buyma/ACCOUNT"

app = group("Serve the sandbox's malls and its market.")


@command(app, "sandbox")
def sandbox(
    session: Session,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on, 0 for a free one.")] = 8600,
    seed: Annotated[int, typer.Option(help="The same seed is the same world.")] = 1,
    size: Annotated[int, typer.Option(min=28, max=2_000_000, help="Products of each mall at the start.")] = 6000,
    pace: Annotated[float, typer.Option(min=0, help="How fast the world ages with its clock; 0 never.")] = 1.0,
    page_size: Annotated[PageSize, typer.Option(help="Small pages, or as large as real ones.")] = PageSize.DEFAULT,
    calls_per_token: Annotated[int, typer.Option(min=0, help="After so many MustIt answers 429; 0 never.")] = 0,
    drift_at: Annotated[float | None, typer.Option(min=0, help="From this hour on pages look different.")] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", metavar="MALL:ENDPOINT:KIND[:OFTEN[:SECONDS]]", help="Let something go wrong."),
    ] = None,
    webhook_url: Annotated[
        str, typer.Option(metavar="URL", help="Where BUYMA sends its webhooks: SHOP/webhooks/buyma/ACCOUNT.")
    ] = "",
    market_delay: Annotated[float, typer.Option(min=0, help="Seconds until BUYMA does what it accepted.")] = 1.0,
    market_limits: Annotated[
        tuple[int, int],
        typer.Option(metavar="HOUR DAY", help="Calls an hour and product calls a day that BUYMA takes; 0 any number."),
    ] = (5000, 2500),
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FILE", dir_okay=False, help="Keep world and market there; the next start goes on."),
    ] = None,
) -> None:
    """Serve the malls, suppliers and shops that our sources know, and the market BUYMA, on this machine.

    Nothing real is touched. Its clock stands still until it is advanced: prices then move, options sell out and return,
    products come and go. Ctrl-C stops it. A fault: okmall:list:http_429:0.1 lets one call in ten fail, mustit:*:stall:3
    three of them.
    """
    import asyncio

    from bobusang.kit import memory
    from bobusang.sandbox.buyma.account import Account, Behaviour
    from bobusang.sandbox.fault import parse
    from bobusang.sandbox.server import Sandbox
    from bobusang.sandbox.world import World

    world = World(seed, size, pace=pace, drift_at=drift_at)
    found = Sandbox(
        world,
        host=host,
        port=port,
        page_size=page_size,
        calls_per_token=calls_per_token,
        faults=[parse(text) for text in fault or []],
        behaviour=Behaviour(delay=market_delay, hour_limit=market_limits[0], day_limit=market_limits[1]),
        account=Account(webhook_url=webhook_url),
        keep=keep,
    )
    memory.settle()  # it makes page after page, each as large as the last
    asyncio.run(_serve(session, found, keep))
    session.note("stopped")


async def _serve(session: Session, sandbox: Sandbox, keep: Path | None) -> None:
    import asyncio
    import signal

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with sandbox:
        _ready(session, sandbox, keep)
        await stop.wait()


def _ready(session: Session, sandbox: Sandbox, keep: Path | None) -> None:
    import os

    world, url = sandbox.world, sandbox.url
    if session.options.machine:
        session.screen.document({"url": url, "pid": os.getpid(), "seed": world.seed, "size": world.size})
        return
    session.note("the sandbox is ready: {url}", url=url)
    session.note("  OKmall    {url}/okmall/products/list?brand=나이키(NIKE)&page=1", url=url)
    session.note("  MustIt    {url}/mustit/ gives a token; its sellers are in {url}/admin/world", url=url)
    session.note("  malls     {url}/wconcept/display/  {url}/musinsa/", url=url)
    session.note("  shops     {url}/cafe24/product/list.html?cate_no=24  {url}/shopify/", url=url)
    session.note(
        "  suppliers {url}/ownerclan/v1/graphql  {url}/domeggook/ssl/api/; name, password and key are sandbox", url=url
    )
    session.note("  others    {url}/news/list  {url}/feed/items.json  {url}/plain/list", url=url)
    _market(session, sandbox)
    day = f"curl -X POST {url}/admin/advance -d '{{\"hours\": 24}}'"
    fault = f'curl -X POST {url}/admin/faults -d \'{{"mall": "okmall", "kind": "http_503", "count": 3}}\''
    session.note("  a day on  {command}", command=day)
    session.note("  a fault   {command}", command=fault)
    session.note("  calls     {url}/admin/counts  {url}/admin/log", url=url)
    if keep is not None:
        session.note("  kept in   {path}", path=keep)
    session.note("Ctrl-C stops it.")


def _market(session: Session, sandbox: Sandbox) -> None:
    """Where BUYMA is, and what a shop must be told to sell there."""
    url = sandbox.url
    where = next(iter(sandbox.desk.market.accounts.values())).webhook_url
    session.note("  BUYMA     {url}/buyma/api/v1/products.json; what it lists is in {url}/admin/market", url=url)
    session.note("  a shop    BOBUSANG_SANDBOX_URL={url} bobusang up", url=url)
    session.note("  secrets   an account's are sandbox:token (--token-ref) and sandbox:secret (--secret-ref)")
    if where:
        session.note("  webhooks  go to {where}", where=where)
    else:
        session.note("  webhooks  go nowhere: say --webhook-url {example}", example=EXAMPLE)
