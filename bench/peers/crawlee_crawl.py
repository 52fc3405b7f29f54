"""List pages collected by Crawlee: impit as its client, storage in memory, a handler that stores in batches."""

import asyncio
import sys
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run by its path, where the project is not installed

from crawlee import ConcurrencySettings  # type: ignore[import-not-found]
from crawlee.crawlers import HttpCrawler, ParselCrawler  # type: ignore[import-not-found]
from crawlee.http_clients import ImpitHttpClient  # type: ignore[import-not-found]
from crawlee.storage_clients import MemoryStorageClient  # type: ignore[import-not-found]

from bench.peers.boxes import boxes, picture, won
from bench.peers.crawl import Meter, arguments, pages, report
from bench.peers.shelf import Item, Shelf

CRAWLERS = {"parsel": ParselCrawler, "selectolax": HttpCrawler}


def by_parsel(page: Any, address: str) -> list[Item]:
    """What a user of ParselCrawler would write."""
    return [
        (
            int(box.attrib["data-productno"]),
            box.css(".prName_Brand::text").get("").strip(),
            box.css(".prName_PrName::text").get("").strip(),
            int(box.css(".okmall_price::attr(val)").get()),
            won(box.css(".orgin_price::text").get("")),
            urljoin(address, picture(box.css("img.pImg")[0].attrib)),
            urljoin(address, box.css("a::attr(href)").get()),
        )
        for box in page.css("div.item_box:not(.item_scratch)")
    ]


async def collect(given: Any, meter: Meter, shelf: Shelf) -> None:
    """One crawl; Crawlee's own bookkeeping is kept small, its concurrency fixed."""
    crawler = CRAWLERS[given.reader](
        http_client=ImpitHttpClient(),
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=given.concurrency,
            desired_concurrency=given.concurrency,
            max_concurrency=given.concurrency,
        ),
        use_session_pool=False,
        retry_on_blocked=False,
        configure_logging=False,
        status_message_logging_interval=timedelta(hours=1),
    )

    async def handle(context: Any) -> None:
        if given.reader == "selectolax":
            shelf.extend(boxes(await context.http_response.read(), context.request.url))
        else:
            shelf.extend(by_parsel(context.selector, context.request.url))

    crawler.router.default_handler(handle)
    meter.start()
    await crawler.run(pages(given))
    shelf.close()
    meter.stop()


def main() -> None:
    parser = arguments("Crawlee")
    parser.add_argument("--reader", choices=tuple(CRAWLERS), default="parsel")
    given = parser.parse_args()
    meter, shelf = Meter(), Shelf(given.database)
    asyncio.run(collect(given, meter, shelf))
    settings = {"client": "impit", "reader": given.reader, "concurrency": given.concurrency}
    report("Crawlee", version("crawlee"), shelf.items, meter, settings)


if __name__ == "__main__":
    main()
