"""The root command: a list of groups, each imported only when it is called."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from typer.core import TyperGroup
from typer.main import get_command

from bobusang.entry.cli.command import Group, group
from bobusang.kit.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping


class Place(NamedTuple):
    """Where a command lives, and what the list says of it."""

    module: str
    help: str
    alone: bool = False
    """Whether it is one command of a module that has several."""


SECTIONS: Mapping[str, Mapping[str, Place]] = {
    "Run": {
        "demo": Place("demo", "The main job on this machine alone: two malls to a market.", alone=True),
        "up": Place("running", "Run API, scheduler and worker in one process.", alone=True),
        "worker": Place("running", "Run a worker.", alone=True),
        "scheduler": Place("running", "Run the scheduler and the other upkeep.", alone=True),
        "sandbox": Place("sandbox", "Serve malls and a market on this machine, with faults on demand.", alone=True),
    },
    "Work": {
        "workflow": Place("workflow", "Definitions: apply, check, switch on and off, limit."),
        "schedule": Place("schedule", "When workflows run by themselves."),
        "job": Place("job", "Runs of workflows: start, watch, pause, cancel, retry."),
        "task": Place("task", "Single tasks of jobs."),
    },
    "Collect": {
        "source": Place("source", "Malls and suppliers: make, check, try, enable, resume."),
        "brand": Place("brand", "Brands of malls: collect, accept, block."),
        "seller": Place("seller", "Sellers of malls, each crawled on its own cadence."),
        "supplier": Place("supplier", "Suppliers: how their goods come; add, set, pause, sync."),
        "sheet": Place("sheet", "Suppliers' spreadsheets: preview, import, look."),
        "crawl": Place("crawl", "Crawls of sellers: start, tasks, progress, statistics."),
        "inbound": Place("inbound", "Webhooks that suppliers send: look, read again."),
        "collect": Place("collect", "Runs over brands, sellers and lists."),
        "record": Place("record", "What was collected: look, compare, ask why."),
        "held": Place("held", "What a guard stopped until a person decides."),
        "gate": Place("gate", "What is not called now, until when and why."),
        "identity": Place("identity", "Who we are when we call a mall."),
    },
    "Sell": {
        "run": Place("run", "Batches of the conveyor: full, partial, watch, retry, cancel."),
        "account": Place("account", "Our shops on markets: add, set, stop, start."),
        "category": Place("category", "Categories of malls: accept, block."),
        "mapping": Place("mapping", "Which of the market's brands and categories ours are."),
        "glossary": Place("glossary", "Our words for the malls': list, add, drop, import, export."),
        "translation": Place("translation", "What texts are translated as: list, correct."),
        "picture": Place("picture", "What is shown of products, and what must not be."),
        "master": Place("master", "The market's own lists: import, fetch."),
        "product": Place("product", "Products: look, change, import, export; what is held, and why."),
        "search": Place("search", "Find products; rebuild and verify the index."),
        "cache": Place("cache", "Kept search answers."),
        "rate": Place("rate", "Fees, freight, duty and tax by date."),
        "fx": Place("fx", "Rates of exchange, and those that are held."),
        "policy": Place("policy", "How accounts price."),
        "price": Place("price", "A price explained step by step."),
        "listing": Place("listing", "What is on the market; receipts, held sends, webhooks."),
    },
    "Watch": {
        "queue": Place("queue", "What waits and why; pools and their limits."),
        "dlq": Place("dlq", "Dead letters: look, mend, retry, discard."),
        "alerts": Place("alerts", "What needs a person now.", alone=True),
    },
    "Look after": {
        "doctor": Place("doctor", "Check this installation and say what to do.", alone=True),
        "db": Place("db", "The database: upgrade, status."),
        "key": Place("key", "API keys."),
        "user": Place("user", "People who sign in to the screen."),
        "version": Place("version", "Show the version.", alone=True),
    },
}
PLACES = {name: place for section in SECTIONS.values() for name, place in section.items()}


class Root(Group):
    """Knows its commands by name and summary without loading them."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(PLACES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        place = PLACES.get(cmd_name)
        if place is None:
            like = nearest(cmd_name, PLACES)
            if like and not cmd_name.startswith("-"):
                ctx.fail(f"there is no command '{cmd_name}'; did you mean '{like}'?")
            return None
        found = get_command(import_module(f"bobusang.entry.cli.{place.module}").app)
        return found.commands[cmd_name] if place.alone and isinstance(found, TyperGroup) else found

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        for title, places in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(name, place.help) for name, place in places.items()], col_max=12)


app = group("Bobusang (보부상): durable workflows that carry products from any mall to any market.", Root)
app.info.epilog = "Every command has --help, --json and --lang. Exit codes: 0 ok, 1 failed, 2 usage, 3 not found, \
4 conflict, 5 partly, 6 unauthorised, 7 unreachable, 130 interrupted."
