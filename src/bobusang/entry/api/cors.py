"""Which other sites' pages may call: none, unless a setting names them."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "If-Match", "If-None-Match", "X-Request-ID")
SHOWN = ("ETag", "Idempotency-Replayed", "Location", "Retry-After", "X-Request-ID")


def install(api: FastAPI, origins: str) -> None:
    """Let these origins in, by commas. A key is sent in a header, never by a cookie."""
    named = [origin.strip().rstrip("/") for origin in origins.split(",") if origin.strip()]
    if named:
        api.add_middleware(
            CORSMiddleware,
            allow_origins=named,
            allow_methods=METHODS,
            allow_headers=HEADERS,
            expose_headers=SHOWN,
            max_age=3600,
        )
