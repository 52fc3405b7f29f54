"""A shop that tells us by itself: how its webhooks are signed, which event each is, and which stream reads it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared import units
from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.expression import Format
from bobusang.connectors.sources.declared.field import compile_field
from bobusang.connectors.sources.declared.known import NOTHING
from bobusang.kit.errors import Drifted
from bobusang.kit.lined.fields import named
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.collect.inbound import BODY, TIMESTAMP, Encoding, Event, Signing, instant, key_of
from bobusang.stages.collect.policy import Identity, IdentityKind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bobusang.connectors.sources.declared.known import Get
    from bobusang.connectors.sources.declared.section import Section
    from bobusang.stages.collect.source import Page

KIND = "webhook"
HEADER = "header:"
LONGEST_TOLERANCE = timedelta(days=1)
MOST_EVENTS = 100
IDENTITY = Identity(kind=IdentityKind.API_KEY)
"""The secret that webhooks are signed with is given and kept as an API key is: `bobusang source key`."""
ANY = "*"
TOLD = ("dedupe", "event", "at")

_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


@dataclass(frozen=True, slots=True)
class Webhook:
    """How the webhooks of a shop are taken in."""

    signing: Signing
    dedupe: Get | None = None
    name: Get | None = None
    at: Get | None = None
    streams: Mapping[str, str] | None = None
    """What an event is called → the stream that reads it; `*` for all others."""
    only: str = ""
    """The one stream, of a shop that has no more."""
    headers: tuple[str, ...] = ()

    def event(self, page: Page) -> Event:
        """Which event a body is; its own key, its name and its time are read as fields are."""
        document = Document(page)
        data = document.data
        key = _text(self.dedupe, data, document)
        if self.dedupe is not None and not key:
            raise Drifted("the webhook does not say which event it is", hint="mend `intake.dedupe`, or leave it out")
        name = _text(self.name, data, document)
        return Event(key_of(key, page.body), self._stream(name), self._at(data, document), name[:100])

    def _stream(self, name: str) -> str:
        if self.streams is None:
            return self.only
        return self.streams.get(name) or self.streams.get(ANY, "")

    def _at(self, data: Any, document: Document) -> Any:
        if self.at is None:
            return None
        found = instant(self.at(data, document))
        if found is None:
            raise Drifted("the webhook does not say when it happened", hint="mend `intake.at`, or leave it out")
        return found


def compile_webhook(intake: Section, streams: Collection[str]) -> Webhook | None:
    """What `intake` says of webhooks; flaws are noted where they stand."""
    intake.required("verify")
    verify = intake.inner("verify")
    found = Webhook(
        _signing(verify) if verify is not None else Signing(""),
        _told(intake, "dedupe"),
        _told(intake, "event"),
        _told(intake, "at"),
        _events(intake, streams),
        next(iter(streams), ""),
        tuple(sorted({name for each in TOLD if (name := _header_of(intake.values.get(each)))})),
    )
    if found.streams is None and len(streams) > 1:
        intake.refuse("events", "is missing: which stream reads which event?", "as in {product.updated: products}")
    if found.streams is not None and found.name is None:
        intake.refuse("event", "is missing: where does a webhook say what it is?", "as in event: type")
    return found


def _signing(verify: Section) -> Signing:
    verify.required("hmac_sha256")
    section = verify.inner("hmac_sha256")
    verify.refuse_others()
    if section is None:
        return Signing("")
    section.required("header")
    stamped = _header(section, "timestamp")
    found = Signing(
        header=_header(section, "header"),
        prefix=section.text("prefix", most=50) or "",
        encoding=section.choice("encoding", named(Encoding), Encoding.HEX, what="encoding"),
        timestamp=stamped,
        tolerance=section.measured("tolerance", units.duration, timedelta(minutes=5)),
        signs=section.text("signs", most=100) or (f"{TIMESTAMP}.{BODY}" if stamped else BODY),
        secret=section.text("secret", most=300) or "",
    )
    if found.signs.count(BODY) != 1:
        section.refuse("signs", "what is signed has {body} in it, once", 'as in "{timestamp}.{body}"')
    if stamped and TIMESTAMP not in found.signs:
        section.refuse("signs", "a time that is not signed proves nothing", 'as in "{timestamp}.{body}"')
    if TIMESTAMP in found.signs and not stamped:
        section.refuse("timestamp", "is missing: which header has the time?")
    if found.tolerance > LONGEST_TOLERANCE:
        section.refuse("tolerance", "a webhook that may be older than a day can be kept and sent again", "as in 5m")
    if found.secret and not found.secret.startswith(("env:", "file:")):
        section.refuse("secret", "a file says where the secret is, not what it is", "as in env:NAME or file:PATH")
    section.refuse_others()
    return found


def _header(section: Section, name: str) -> str:
    text = section.text(name, most=100) or ""
    if text and not _HEADER.fullmatch(text):
        section.refuse(name, f"'{text[:50]}' is no header")
    return text.lower()


def _told(section: Section, name: str) -> Get | None:
    """A header, or an expression over the body."""
    text = section.text(name, most=1000)
    if text is None:
        return None
    if header := _header_of(text):
        return lambda _, document: document.page.headers.get(header) or NOTHING
    return compile_field(section.notes, section.at(name), text, Format.JSON, page=True)


def _header_of(text: object) -> str:
    """The header that an expression names; empty where it reads the body."""
    return text.removeprefix(HEADER).strip().lower() if isinstance(text, str) and text.startswith(HEADER) else ""


def _events(section: Section, streams: Collection[str]) -> Mapping[str, str] | None:
    if section.values.get("events") is None:
        section.mapping("events")
        return None
    found = section.texts("events")
    if not 1 <= len(found) <= MOST_EVENTS:
        section.refuse("events", f"1 to {MOST_EVENTS} events are allowed, not {len(found)}")
    for name, stream in found.items():
        if stream not in streams:
            section.notes.add(
                (*section.at("events"), name), f"there is no stream '{stream[:50]}'", did_you_mean(stream, streams)
            )
    return found


def _text(get: Get | None, data: Any, document: Document) -> str:
    found = NOTHING if get is None else get(data, document)
    return str(found).strip() if type(found) in (str, int) else ""
