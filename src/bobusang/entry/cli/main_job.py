"""Runs the demo: the main job from two malls to a market, then what changed since, by the program's own commands."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from bobusang.entry.cli import children
from bobusang.entry.cli.belt import until_ended
from bobusang.entry.cli.failure import Exit, Failure
from bobusang.entry.cli.options import Options
from bobusang.entry.cli.place import prepare, settings
from bobusang.entry.cli.session import Session
from bobusang.entry.demo.equipping import MARKET, account, mapping
from bobusang.entry.demo.places import ACCOUNT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bobusang.entry.demo.places import Places

HOME = "bobusang-demo"
SIZE = 220
"""Products of each mall: what is sold out, damaged or held is more than a tenth, and 300 are wanted at the least."""
HOURS = 72.0
LOOKED_AT = 40
"""About so many prices are asked about, before one that answers nobody is shown."""
STAGES = (("IMAGE", "pictured"), ("PRICE", "priced"))


def shown(session: Session, size: int = SIZE) -> None:
    """Run it, and say what came of it; Ctrl-C leaves everything where it is."""
    home = Path(session.options.home or HOME)
    prepare(settings(Options(home=str(home)), database_url=""))
    try:
        at = children.places(home, size)
        with children.sandbox(home, at):
            session.note("sandbox at {url}: two malls and a market, seeded", url=at.sandbox_url)
            with (
                children.program(home, at) as key,
                Session(replace(session.options, home=None, url=at.api_url, token=key)) as ours,
            ):
                session.note("the program at {url}, SQLite and files in {home}", url=at.api_url, home=home)
                _run(ours, home, at, key)
    except KeyboardInterrupt:
        again = f"`{us()} demo{where(home)}`"
        session.note("\nstopped; nothing is lost: {command} goes on with it", command=again)
        raise typer.Exit(Exit.INTERRUPTED) from None


def _run(session: Session, home: Path, at: Places, key: str) -> None:
    _equipped(session, home)
    begun = time.monotonic()
    full = _batch(session, "FULL")
    _told(session, full)
    sku = _an_example(session)
    line = ["--url", at.api_url, "--token", key]
    if sku:
        _command("price", "explain", sku, line=line)
        _command("listing", "receipt", sku, "--limit", "1", line=line)
    children.advanced(at, HOURS)
    session.note("\n{hours} hours later in the sandbox: prices moved, things sold out and returned", hours=int(HOURS))
    partial = _batch(session, "PARTIAL")
    _told_partial(session, partial)
    seconds = time.monotonic() - begun
    session.screen.done(None, "\nboth runs took {seconds} s", seconds=f"{seconds:.0f}")
    session.screen.done(None, "\nTry next:")
    for line_ in next_commands(home, at, sku):
        session.screen.done(None, "  " + line_)
    failed = [one["batch_id"] for one in (full, partial) if one["status"] != "COMPLETED"]
    if failed:
        raise Failure("failed", f"batch {', '.join(failed)} did not end as designed", "`bobusang run show` says why")


# --- the first day ---------------------------------------------------------------------------------------------------


def _equipped(session: Session, home: Path) -> None:
    """What a seller does on the first day: an account, the market's lists, a reviewed mapping, a rate of exchange."""
    if session.api.get("/accounts")["items"]:
        session.note("going on with what is in this folder")
        return
    for one in session.api.get("/schedules", limit=200)["items"]:
        session.api.post(f"/schedules/{one['id']}/pause")  # the demo runs what it shows, at its own time
    lists = session.api.post("/masters/fetch", market=MARKET)["items"]
    text = mapping()
    (home / "mapping.csv").write_text(text, "utf-8")
    taken = session.api.call("POST", "/mappings", content=("text/csv", text.encode()))
    session.api.post("/accounts", account())
    rows = sum(one["rows"] for one in lists)
    session.note("the market's lists: {rows} rows in {lists}", rows=f"{rows:,}", lists=len(lists))
    session.note("a reviewed mapping of brands and categories: {rows} rows, some not reviewed yet", rows=taken["lines"])
    session.note("account {name}; its secrets are references", name=ACCOUNT)


# --- the runs --------------------------------------------------------------------------------------------------------


def _batch(session: Session, mode: str) -> dict[str, Any]:
    """Run a batch of all accepted brands, watched to its end; one that was left by the last time is gone on with."""
    left = session.api.get("/batches", mode=mode, status="RUNNING", limit=1)["items"]
    if left:
        session.note("\n{mode}: going on with batch {batch}", mode=mode, batch=left[0]["batch_id"])
        return until_ended(session, left[0]["batch_id"])
    started = session.api.post("/batches", {"mode": mode})
    values = {"mode": mode, "batch": started["batch_id"], "brands": len(started["brands"])}
    session.note("\n{mode}: batch {batch} of {brands} brands", **values)
    return until_ended(session, started["batch_id"])


def _told(session: Session, batch: dict[str, Any]) -> None:
    account = session.api.get(f"/accounts/{MARKET}/{ACCOUNT}")
    sent = session.api.get("/calls", run=batch["batch_id"])["items"]
    by_stage = _by_stage(batch)
    collected = _count(session, "/products", fields="id")
    held = _count(session, "/conversions/held", market=MARKET)
    counts = {"pages read": by_stage.get("COLLECT", 0), "collected": collected, "converted": collected - held}
    counts |= {word: by_stage.get(stage, 0) for stage, word in STAGES}
    counts |= {"registered": sum(one["calls"] for one in sent), "confirmed live": account["listings"].get("LIVE", 0)}
    session.screen.title(f"FULL {batch['batch_id']}: {batch['status']} in {batch['seconds']:.1f} s")
    session.screen.table([{"what": what, "products": number} for what, number in counts.items()], "what products")
    reasons = session.api.get("/conversions/reasons", market=MARKET)["items"]
    if reasons:
        session.screen.title("held for a person")
        session.screen.table(reasons, "why products")
    waiting = _waiting(session)
    if waiting:
        session.screen.title("converted, but not on sale")
        session.screen.table([{"why": why, "products": number} for why, number in waiting.items()], "why products")


def _count(session: Session, path: str, **query: str) -> int:
    """How many there are of a list."""
    return sum(1 for _ in _all(session, path, **query))


def _all(session: Session, path: str, **query: str) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        found = session.api.get(path, limit=200, cursor=cursor, **query)
        yield from found["items"]
        cursor = found["next"]
        if cursor is None:
            return


def _waiting(session: Session) -> Counter[str]:
    """Why listings that could be there are not: each product says it of itself."""
    new = [one["sku"] for one in _all(session, "/listings", state="NEW")]
    found = [session.api.get("/listings/of", sku=sku)["items"][0]["product_id"] for sku in new]
    return Counter(session.api.get(f"/products/{one}/standing", market=MARKET)["where"] for one in found)


def _told_partial(session: Session, batch: dict[str, Any]) -> None:
    sent = session.api.get("/calls", run=batch["batch_id"])["items"]
    by_stage = _by_stage(batch)
    session.screen.title(f"PARTIAL {batch['batch_id']}: {batch['status']} in {batch['seconds']:.1f} s")
    looked = "{priced} products had something to look at; only these differences were sent:"
    session.screen.done(None, looked, priced=by_stage.get("PRICE", 0))
    session.screen.table(sent, "kind state calls")


def _by_stage(batch: dict[str, Any]) -> dict[str, int]:
    found: dict[str, int] = {}
    for brand in batch["brands"]:
        for cell in brand["stages"]:
            found[cell["stage"]] = found.get(cell["stage"], 0) + cell["succeeded"]
    return found


def _an_example(session: Session) -> str:
    """A product that is live and whose price answers somebody else's, if there is one: looked for all over the shop,
    because a mall that names no model numbers has none."""
    live = [one["sku"] for one in _all(session, "/listings", state="LIVE")]
    for sku in live[:: max(1, len(live) // LOOKED_AT)]:
        if session.api.get("/prices/explain", sku=sku)["reason"] == "undercut":
            return str(sku)
    return str(live[0]) if live else ""


def _command(*words: str, line: Iterable[str]) -> None:
    from bobusang.entry.cli import main

    sys.stdout.write(f"\n$ bobusang {' '.join(words)}\n")
    sys.stdout.flush()
    main([*words, *line])


# --- what to try next ------------------------------------------------------------------------------------------------


def next_commands(home: Path, at: Places, sku: str) -> list[str]:
    """Three commands that work as they are printed, in this folder and without the sandbox."""
    place = f" --home {shlex.quote(str(home))}"
    look = f"listing show {sku}" if sku else "listing list"
    return [f"{us()} run show{place}", f"{us()} {look}{place}", f"{us()} product held{place}"]


def where(home: Path) -> str:
    """How the same folder is named again."""
    return "" if str(home) == HOME else f" --home {shlex.quote(str(home))}"


def us() -> str:
    """How a person here calls us: by name where the shell finds it, else by the path that was called (`make demo`)."""
    return called(sys.argv[0], shutil.which("bobusang"), Path.cwd())


def called(as_: str, found: str | None, folder: Path) -> str:
    """The name, or the shortest path that works in this folder."""
    path = Path(as_)
    if found is not None or path.name != "bobusang":
        return "bobusang"
    return shlex.quote(str(path.relative_to(folder) if path.is_relative_to(folder) else path))
