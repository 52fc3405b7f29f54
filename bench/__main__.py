"""`make bench [PART=…] [SIZE=quick|full]`: run parts, print their tables, keep them in docs/benchmarks.md."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bench import (
    catalogue_http,
    catalogue_ilike,
    catalogue_lag,
    catalogue_rebuild,
    collect,
    conveyor,
    conveyor_crowded,
    conveyor_loop,
    conveyor_partial,
    conveyor_stockout,
    conveyor_webhooks,
    dashboard,
    drain,
    history,
    latency,
    pinned,
    product_api,
    reading,
    records,
    search_opensearch,
    searching,
    sheets,
    sources,
    start,
    storing,
)
from bench.report import Line, machine, table

PARTS = {
    "drain": (drain.run, "Draining no-op tasks"),
    "latency": (latency.run, "From enqueue to start"),
    "pinned": (pinned.run, "With an old transaction held open"),
    "history": (history.run, "With a long history"),
    "start": (start.run, "Starting and idling"),
    "collect": (collect.run, "Collecting list pages"),
    "storing": (storing.run, "Storing what was read"),
    "sheets": (sheets.run, "A supplier's spreadsheet"),
    "sources": (sources.run, "Each source over its sandbox"),
    "reading": (reading.run, "Reading a list page of real size"),
    "records": (records.run, "Questions to a large catalog"),
    "search_embedded": (searching.run, "The embedded index"),
    "search_opensearch": (search_opensearch.run, "Filling an OpenSearch"),
    "product_api": (product_api.run, "Reading a product through the API"),
    "catalogue_http": (catalogue_http.run, "Searching over HTTP"),
    "catalogue_lag": (catalogue_lag.run, "From a change to finding it"),
    "catalogue_rebuild": (catalogue_rebuild.run, "A rebuild while it serves"),
    "catalogue_ilike": (catalogue_ilike.run, "The embedded index beside ILIKE"),
    "conveyor": (conveyor.run, "FULL through five stages"),
    "conveyor_pictures": (conveyor.pictures, "FULL with two pictures a product"),
    "conveyor_crowded": (conveyor_crowded.run, "FULL beside very many others"),
    "conveyor_partial": (conveyor_partial.run, "PARTIAL over unchanged listings"),
    "conveyor_stockout": (conveyor_stockout.run, "From sold out to suspended"),
    "conveyor_webhooks": (conveyor_webhooks.run, "Webhooks while pages are read"),
    "conveyor_loop": (conveyor_loop.run, "Who holds the loop while webhooks come"),
    "dashboard": (dashboard.run, "The screen"),
}
KEPT = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def main(arguments: list[str]) -> int:
    given = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    size = given.get("SIZE", "quick")
    wanted = given.get("PART", "").split(",") if given.get("PART") else list(PARTS)
    strange = len(given) < len(arguments)
    if strange or size not in ("quick", "full") or not set(wanted) <= set(PARTS):
        print(f"usage: make bench [PART={','.join(PARTS)}] [SIZE=quick|full]", file=sys.stderr)
        return 2
    for name in wanted:
        measure, title = PARTS[name]
        begun = time.perf_counter()
        lines: list[Line] = []
        for line in measure(size):
            lines.append(line)
            print(" · ".join(cell for cell in line.row() if cell), file=sys.stderr, flush=True)
        written = table(title, lines)
        print(f"\n{written}\n({time.perf_counter() - begun:.0f} s)\n")
        keep(name, title, f"{written}\n{machine()}, {size}.\n")
    return 0


def keep(name: str, title: str, written: str) -> None:
    """Replace this part's table between its marks."""
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    text = KEPT.read_text() if KEPT.exists() else "# Benchmarks\n"
    if begin in text:
        head, rest = text.split(begin, 1)
        text = f"{head}{begin}{written}{end}{rest.split(end, 1)[1]}"
    else:
        text += f"\n{begin}{written}{end}"
    KEPT.write_text(text)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
