"""The HTTP door of the engine: FastAPI, problem documents, API keys, keyset pages."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from bobusang import __version__
from bobusang.entry.api import conditions, cors, problems, resources
from bobusang.entry.api.express import Express
from bobusang.entry.api.guard import Guard
from bobusang.entry.api.keys import Keyring
from bobusang.entry.api.methods import MethodGuard
from bobusang.entry.api.metrics import Metrics
from bobusang.entry.api.moving import Rates
from bobusang.entry.api.throttle import Throttle
from bobusang.wiring import App

DESCRIPTION = """\
Durable workflows on SQLite, PostgreSQL and MariaDB.

* Send an API key: `Authorization: Bearer bobu_…`. Roles: `viewer` looks, `operator` acts on jobs, tasks, dead letters,
  schedules and queues, `admin` does everything.
* Lists are `{"items": […], "next": cursor}`; hand `next` back as `?cursor=` until it is null.
* Errors are problem documents (RFC 9457) with a stable `code`, and the `field` that is wrong.
* Instants are ISO 8601 in UTC.
"""
TAGS = [
    {"name": "batches", "description": "Runs of the conveyor: brands by stage, from the mall to the market."},
    {"name": "jobs", "description": "Runs of workflows."},
    {"name": "tasks", "description": "What a job consists of, and why one waits."},
    {"name": "dead letters", "description": "Tasks that were given up until a person mends them."},
    {"name": "workflows", "description": "Definitions, versions, limits."},
    {"name": "schedules", "description": "When workflows run by themselves."},
    {"name": "targets", "description": "What jobs are for."},
    {"name": "sources", "description": "Malls and suppliers: enabled by a person, guarded by the gate."},
    {"name": "identities", "description": "Who we are when we call a source."},
    {"name": "brands", "description": "The malls' brands, proposed by collecting and reviewed by a person."},
    {"name": "collecting", "description": "Runs: what a source's lists showed, and whether they were complete."},
    {"name": "queues", "description": "What waits, what runs, and the pools' budgets."},
    {"name": "suppliers", "description": "Who supplies goods, how they come, and their way to the markets."},
    {"name": "sellers", "description": "Sellers of malls, each crawled on its own cadence."},
    {"name": "crawl", "description": "The seller crawl: start, tasks, progress."},
    {"name": "products", "description": "Products: what is known of each now, edited, locked, listed and exported."},
    {"name": "search", "description": "Products by how people type, and the index that finds them."},
    {"name": "cache", "description": "Kept answers of searches."},
    {"name": "records", "description": "The truth: source records, their history, lineage and raw pages."},
    {"name": "held writes", "description": "What a guard stopped until a person decides."},
    {
        "name": "accounts",
        "description": "Our shops on markets; secrets by reference, one switch that stops all sending.",
    },
    {"name": "categories", "description": "The malls' categories, proposed by collecting and reviewed by a person."},
    {"name": "mappings", "description": "Which of the market's brands and categories those of the malls are."},
    {"name": "glossary", "description": "What words are called on the market: the operator's, then those shipped."},
    {"name": "translations", "description": "What a model said, and what people have corrected of it."},
    {"name": "pictures", "description": "Looks that are not shown, and pictures that a person should look at."},
    {"name": "masters", "description": "The market's own lists, version by version."},
    {"name": "conversions", "description": "Products that are held back from a market, and why."},
    {"name": "rates", "description": "Fees, freight, duty, tax and exchange, each row with its date and source."},
    {"name": "prices", "description": "Prices explained, their history, and the policies that make them."},
    {"name": "listings", "description": "Where each listing stands, its receipts, and how fresh an account is."},
    {"name": "market holds", "description": "Sends that a guard stopped, and the webhooks that came in."},
    {"name": "statistics", "description": "Figures, workers, alerts, audit log."},
    {"name": "subscriptions", "description": "Who is sent events."},
    {"name": "API keys", "description": "Who may call."},
    {"name": "users", "description": "People who sign in to the screen."},
    {"name": "webhooks", "description": "What markets tell us; signed, without a key."},
    {"name": "inbound", "description": "What suppliers tell us by themselves; signed, without a key."},
    {"name": "media", "description": "Pictures for the world, by their content; no key."},
    {"name": "health", "description": "For machines that watch."},
]


def create_app(app: App, *, local: bool = False) -> FastAPI:
    """The API of an application. `local` trusts every caller as admin `cli`: for calls inside our own process only."""
    api = Api(
        title="Bobusang",
        version=__version__,
        description=DESCRIPTION,
        openapi_tags=TAGS,
        redirect_slashes=False,
    )
    api.state.bobusang = app
    api.state.local = local
    api.state.metrics = Metrics()
    api.state.rates = Rates()
    api.state.keyring = Keyring(app.engine.db)
    api.state.throttle = Throttle(app.collector.limiter, app.engine.db.clock, app.settings.api_rate)
    problems.install(api)
    api.state.methods = resources.AllMethods(api.routes)
    api.router.routes.append(resources.Resources())
    api.add_middleware(Express, doors=resources.doors)
    api.add_middleware(MethodGuard, methods=api.state.methods)
    api.add_middleware(resources.Opening)
    cors.install(api, app.settings.cors_origins)
    api.add_middleware(Guard, metrics=api.state.metrics, manners=app.collector.fetcher.reader.manners)
    return api


class Api(FastAPI):
    """Documents also what its routes do not say themselves. That takes seconds: a thread does it, and only once."""

    _making = threading.Lock()

    def setup(self) -> None:
        assert self.openapi_url is not None
        self.add_route(self.openapi_url, self._document, include_in_schema=False)  # found before FastAPI's own
        super().setup()

    async def _document(self, _: Request) -> Response:
        return Response(await asyncio.to_thread(self._encoded), media_type="application/json")

    def _encoded(self) -> bytes:
        return conditions.encoded(self.openapi())

    def openapi(self) -> dict[str, Any]:
        with self._making:
            if self.openapi_schema is None:
                self.openapi_schema = self._made()
            return self.openapi_schema

    def _made(self) -> dict[str, Any]:
        from fastapi.openapi.utils import get_openapi

        from bobusang.entry.api import described, examples

        routes = list(resources.routes())
        document = get_openapi(
            title=self.title,
            version=self.version,
            description=self.description,
            tags=self.openapi_tags,
            routes=routes,
        )
        described.describe(document, described.roles(routes))
        examples.fill(document)
        return document
