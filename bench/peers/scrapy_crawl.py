"""List pages collected by Scrapy: its asyncio reactor, no throttling, a pipeline that stores in batches."""

import sys
from collections.abc import AsyncIterator, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # run by its path, where the project is not installed

from scrapy import Request, Spider  # type: ignore[import-not-found]
from scrapy.crawler import AsyncCrawlerProcess  # type: ignore[import-not-found]

from bench.peers.boxes import boxes, picture, won
from bench.peers.crawl import Meter, arguments, pages, report
from bench.peers.shelf import Shelf

HANDLERS = {
    "twisted": "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler",
    "aiohttp": "scrapy.core.downloader.handlers._aiohttp.AiohttpDownloadHandler",
}
FIELDS = ("key", "brand", "name", "price", "list_price", "image", "url")

options = arguments("Scrapy")
options.add_argument("--handler", choices=tuple(HANDLERS), default="twisted")
options.add_argument("--reader", choices=("parsel", "selectolax"), default="parsel")
given = options.parse_args()
meter = Meter()
shelf = Shelf(given.database)


class Store:
    """The item pipeline."""

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        shelf.add(tuple(item[name] for name in FIELDS))
        return item

    def close_spider(self) -> None:
        shelf.close()
        meter.stop()


class Lists(Spider):  # type: ignore[misc]
    """All pages are known from the start."""

    name = "lists"

    async def start(self) -> AsyncIterator[Any]:
        meter.start()
        for address in pages(given):
            yield Request(address, dont_filter=True)

    def parse(self, response: Any) -> Iterator[dict[str, Any]]:
        if given.reader == "selectolax":
            yield from (dict(zip(FIELDS, item, strict=True)) for item in boxes(response.body, response.url))
            return
        for box in response.css("div.item_box:not(.item_scratch)"):
            yield {
                "key": int(box.attrib["data-productno"]),
                "brand": box.css(".prName_Brand::text").get("").strip(),
                "name": box.css(".prName_PrName::text").get("").strip(),
                "price": int(box.css(".okmall_price::attr(val)").get()),
                "list_price": won(box.css(".orgin_price::text").get("")),
                "image": response.urljoin(picture(box.css("img.pImg")[0].attrib)),
                "url": response.urljoin(box.css("a::attr(href)").get()),
            }


SETTINGS = {
    "CONCURRENT_REQUESTS": given.concurrency,
    "CONCURRENT_REQUESTS_PER_DOMAIN": given.concurrency,
    "DOWNLOAD_HANDLERS": {"http": HANDLERS[given.handler]},
    "ITEM_PIPELINES": {Store: 100},
    "ROBOTSTXT_OBEY": False,
    "COOKIES_ENABLED": False,
    "LOG_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOGSTATS_INTERVAL": 0,
    "MEMUSAGE_ENABLED": False,
    "STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector",
}


def main() -> None:
    process = AsyncCrawlerProcess(SETTINGS)
    process.crawl(Lists)
    process.start()
    settings = {"handler": given.handler, "reader": given.reader, "concurrency": given.concurrency}
    report("Scrapy", version("scrapy"), shelf.items, meter, settings)


if __name__ == "__main__":
    main()
