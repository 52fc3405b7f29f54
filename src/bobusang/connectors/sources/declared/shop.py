"""A declared shop: `shop.yaml` compiled to a source with its policy."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from bobusang.catalog.model import SourceType
from bobusang.connectors.sources.declared import asking, distrust, manners, reading, sheet, units, webhook
from bobusang.connectors.sources.declared.compiling import compile_streams
from bobusang.connectors.sources.declared.document import Document
from bobusang.connectors.sources.declared.expression import Format
from bobusang.connectors.sources.declared.extending import SHIPPED, Merged, ShopNotes, origin, read_shop
from bobusang.connectors.sources.declared.hooks import FILE as HOOKS
from bobusang.connectors.sources.declared.hooks import After, known_hooks, own_hooks
from bobusang.connectors.sources.declared.known import NOTHING, UNCLEAR
from bobusang.connectors.sources.declared.requesting import NAME
from bobusang.connectors.sources.declared.section import Section
from bobusang.kit.errors import Invalid
from bobusang.kit.lined.fields import named
from bobusang.kit.lined.located import BadText, Located
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.collect.policy import Limits, Policy, Quota
from bobusang.stages.collect.source import Ask, Followed, Kind, Page, Reads, Source, Target

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bobusang.connectors.sources.declared.contract import Contract
    from bobusang.connectors.sources.declared.sheet import Files
    from bobusang.connectors.sources.declared.stream import Stream
    from bobusang.connectors.sources.declared.webhook import Webhook
    from bobusang.kit.lined.located import Place

# Raise when the same shop.yaml would be read otherwise than before: it is part of every version.
READER = 1

BASE = "base"

_AT_HOST = re.compile(r"\babs_url\{([^{}]*)\}")
_LATER = ("api", "graphql")


@dataclass(frozen=True, slots=True)
class _Intake:
    base: str
    hosts: dict[str, str]
    encoding: str
    format: Format
    webhook: Webhook | None = None
    files: Files | None = None


class Declared(Source):
    """A shop as a source. `version` tells what it means: another reading of a page is another version."""

    files: Files | None = None
    """How its spreadsheets are read, of a shop that sends such."""

    def __init__(
        self,
        name: str,
        base: str,
        version: str,
        policy: Policy,
        streams: tuple[Stream, ...],
        contract: Contract,
        description: str = "",
        hosts: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        self.base = base.rstrip("/")
        self.hosts = dict(hosts or {})
        self.version = version
        self.policy = policy
        self.streams = {stream.name: stream for stream in streams}
        promised = "options" in contract.terms and contract.terms["options"].required
        self.in_parts = promised or any(stream.kind is Kind.PART for stream in streams)
        self.followed = tuple(_followed(stream) for stream in streams if stream.window_names)
        self.contract = contract
        self.description = description
        self._children = {stream.name: asking.children(streams, stream.name) for stream in streams}

    @property
    def target_kinds(self) -> tuple[str, ...]:
        """What `seeds` can be asked for: the kinds of its lists, `index` where it has one, `item` by key."""
        if self.inbound is not None or self.files is not None:
            return ()
        kinds = {kind for stream in self.streams.values() for kind in stream.target_kinds}
        kinds |= {"index" for stream in self.streams.values() if stream.kind is Kind.INDEX}
        kinds |= {"list" for stream in self.streams.values() if stream.kind is Kind.LIST and not stream.variables}
        kinds |= {"item" for stream in self.streams.values() if stream.kind in (Kind.ITEM, Kind.PART)}
        return tuple(sorted(kinds))

    def seeds(self, target: Target) -> Iterable[Ask]:
        """The first requests for a target.

        A kind of its lists (brand, seller, …) begins those lists; `Target("index", "all")` its indexes; `Target("list",
        name or "all")` lists without a variable; `Target("item", key, data)` asks the pages of one known item.
        """
        if target.kind not in self.target_kinds:
            raise Invalid(
                f"{self.name} is not collected by {target.kind}",
                hint=did_you_mean(target.kind, self.target_kinds),
                field="target",
            )
        streams = tuple(self.streams.values())
        if target.kind == "item":
            return list(asking.of_item(streams, self.home, target, target.key))
        return [asking.first(stream, self.home(stream), target) for stream in streams if _begins(stream, target)]

    def read(self, page: Page) -> Iterable[Reads]:
        """What a page says, and what to ask next.

        Raises Drifted (no longer what we know how to read), Unavailable (cut off, empty, of another item: try again),
        Invalid (an ask that is not ours).
        """
        return reading.read(self, self.stream_of(page), page)

    def stream_of(self, page: Page) -> Stream:
        """The stream that a page is read by; Invalid where there is none, or nobody trusts its code."""
        stream = self.streams.get(page.ask.stream)
        if stream is None:
            raise Invalid(
                f"{self.name} has no stream '{page.ask.stream}'", hint=did_you_mean(page.ask.stream, self.streams)
            )
        if not self.policy.trusted:
            raise Invalid(
                f"{self.name} contains code that nobody has agreed to run", hint="read its hooks.py, then trust it"
            )
        return stream

    def items(self, target: Target, keys: Iterable[str]) -> Iterable[Ask]:
        """The items' own pages (not their parts), to look after what a list no longer shows."""
        streams = [stream for stream in self.streams.values() if stream.kind is Kind.ITEM]
        return [ask for key in keys for ask in asking.of_item(streams, self.home, target, key)]

    @property
    def places(self) -> dict[str, str]:
        """Its addresses by name."""
        return {BASE: self.base, **self.hosts}

    def home(self, stream: Stream) -> str:
        """Where a stream's pages lie."""
        return self.hosts.get(stream.request.host, self.base)

    def children(self, stream: str) -> tuple[asking.Child, ...]:
        """The streams that are asked for each item of a list."""
        return self._children.get(stream, ())

    def unread(self, page: Page) -> tuple[str, ...]:
        """Names inside the JSON records of a page that no field reads, where the contract reports new fields."""
        stream = self.streams.get(page.ask.stream)
        if stream is None or stream.records is None or stream.format is Format.HTML or not self.contract.report_new:
            return ()
        document = Document(page, self.base, (), self.places)
        found = stream.records(document.data, document)
        if found is NOTHING or found is UNCLEAR:
            return ()
        return tuple(sorted({name for each in found if isinstance(each, dict) for name in each} - stream.source_names))


def _followed(stream: Stream) -> Followed:
    """What else than the time a window has to tell is the kind of target that is followed by itself."""
    kind = next((name for name in sorted(stream.window_names) if name.partition("_")[0] not in ("since", "until")), "")
    return Followed(stream.name, stream.most, kind)


def _begins(stream: Stream, target: Target) -> bool:
    match target.kind:
        case "window":
            return bool(stream.window_names) and target.key.partition("@")[0] == stream.name
        case "index":
            return stream.kind is Kind.INDEX and target.key in ("all", stream.name)
        case "list":
            return stream.kind is Kind.LIST and not stream.variables and target.key in ("all", stream.name)
    return target.kind in stream.target_kinds


def load_shop(
    folder: Path,
    *,
    base: str | None = None,
    limits: Limits | None = None,
    quota: Quota | None = None,
    trust: bool = False,
) -> Declared:
    """Compile the shop in a folder; `BadText` names every problem with file, line and key.

    `base`, `limits` and `quota` replace what the file says (the sandbox profile does); the hosts then lie under the
    base, each by its name. A shop with a `hooks.py` that is
    neither shipped nor trusted is loaded without running it: its policy is not `trusted`, and it reads nothing.
    """
    merged = read_shop(folder)
    shop = Section(merged.notes, (), merged.values)
    trusted = trust or folder.resolve().is_relative_to(SHIPPED.resolve()) or not (folder / HOOKS).exists()
    found = _compiled(shop, merged, folder, trusted=trusted)
    if merged.notes.problems:
        raise BadText(origin(folder.name), sorted(merged.notes.problems, key=lambda problem: problem.line or 0))
    policy = found.policy
    if limits is not None:
        policy = replace(policy, limits=limits)
    if quota is not None:
        policy = replace(policy, identity=replace(policy.identity, quota=quota))
    found.policy = policy
    if base is not None:
        found.base = base.rstrip("/")
        found.hosts = {name: f"{found.base}/{name}" for name in found.hosts}
    return found


def compile_values(name: str, values: dict[str, Any]) -> Declared:
    """A shop that stands in no file, such as one made of a supplier's settings."""
    merged = Merged(values, ShopNotes(Located(values), []))
    found = _compiled(Section(merged.notes, (), values), merged, Path(name), trusted=True)
    if merged.notes.problems:
        raise BadText(name, merged.notes.problems)
    return found


def _compiled(shop: Section, merged: Merged, folder: Path, *, trusted: bool) -> Declared:
    shop.required("shop", "intake")
    name = shop.text("shop", most=50) or folder.name
    intake = _intake(shop)
    contract = distrust.contract(shop)
    currency = next((term.currency for term in contract.terms.values() if term.currency), "KRW")
    asked = intake.webhook is None
    if intake.files is not None:
        streams = sheet.compile_sheets(shop, contract, currency)
    else:
        streams = compile_streams(shop, intake.format, contract, currency, intake.hosts, asked=asked)
    _check_hosts(shop, shop.values.get("streams"), ("streams",), intake.hosts)
    policy = _policy(shop, intake, currency, trusted=trusted)
    _check_fields(shop, streams, policy, contract)
    streams = _hooked(shop, streams, folder, trusted=trusted)
    description = shop.text("description", most=2000, lines=True) or ""
    shop.refuse_others()
    version = _version(merged.values, folder)
    found = Declared(name, intake.base, version, policy, streams, contract, description, intake.hosts)
    found.inbound = intake.webhook
    found.files = intake.files
    return found


def _intake(shop: Section) -> _Intake:
    section = shop.inner("intake") or Section(shop.notes, ("intake",), {})
    kinds = {"http": "http", webhook.KIND: webhook.KIND, sheet.KIND: sheet.KIND, **dict.fromkeys(_LATER, "")}
    kind = section.choice("kind", kinds, "http", what="intake")
    if not kind:
        section.refuse("kind", "this intake comes with later sources", "http")
    base = section.text("base", most=500) or ""
    if section.values and (base or kind not in (webhook.KIND, sheet.KIND)) and not _is_address(base):
        section.refuse("base", "an address is expected", 'as in "https://www.example.com"')
    found = _Intake(
        base,
        _hosts(section),
        section.text("encoding", most=20) or "",
        section.choice("format", named(Format), Format.JSON, what="format"),
        webhook.compile_webhook(section, shop.mapping("streams") or {}) if kind == webhook.KIND else None,
        sheet.compile_files(section) if kind == sheet.KIND else None,
    )
    section.refuse_others()
    return found


def _is_address(text: str) -> bool:
    parts = urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query


def _hosts(intake: Section) -> dict[str, str]:
    """Further addresses by name."""
    found = intake.texts("hosts")
    for name, address in found.items():
        if not NAME.fullmatch(name) or name == BASE or not _is_address(address):
            hint = 'as in hosts: {api: "https://api.example.com"}'
            intake.notes.add((*intake.at("hosts"), name), "a name with an address is expected", hint)
    return {name: address.rstrip("/") for name, address in found.items()}


def _check_hosts(shop: Section, value: object, place: Place, hosts: Mapping[str, str]) -> None:
    """A host that a filter names is one of the shop's."""
    match value:
        case str():
            for name in _AT_HOST.findall(value):
                if name not in hosts and name != BASE:
                    hint = did_you_mean(name, hosts) or "name it in intake.hosts"
                    shop.notes.add(place, f"unknown host '{name[:50]}'", hint)
        case dict():
            for key, each in value.items():
                _check_hosts(shop, each, (*place, key), hosts)
        case list():
            for at, each in enumerate(value):
                _check_hosts(shop, each, (*place, at), hosts)


def _policy(shop: Section, intake: _Intake, currency: str, *, trusted: bool) -> Policy:
    section = shop.inner("policy")
    default = Policy()
    found = Policy(
        identity=manners.identity(shop, intake.format, intake.hosts) if intake.webhook is None else webhook.IDENTITY,
        limits=manners.limits(shop),
        window=manners.window(section),
        responses=manners.responses(shop),
        guards=distrust.guards(shop),
        freshness=distrust.freshness(shop),
        groups=distrust.groups(shop),
        type=shop.choice("type", named(SourceType), SourceType.SUPPLIER_PRODUCT, what="type of record"),
        max_body=section.measured("max_body", units.size, default.max_body) if section else default.max_body,
        encoding=intake.encoding,
        currency=currency,
        timeout=section.measured("timeout", units.duration, default.timeout) if section else default.timeout,
        headers=section.texts("headers") if section else {},
        pictures=manners.pictures(section),
        contact=(section.text("contact", most=200) or "") if section else "",
        trusted=trusted,
    )
    if section is not None:
        section.choice("robots", {"report": "report"}, "report", what="way with robots.txt")
        section.choice("js", {"never": "never"}, "never", what="way with scripts")
        section.refuse_others()
    return found


def _check_fields(shop: Section, streams: tuple[Stream, ...], policy: Policy, contract: Contract) -> None:
    """Terms and groups are about fields that some stream reads."""
    fields = {each.name for stream in streams for each in stream.fields}
    options = {each.name for stream in streams for place in stream.variants for each in place.fields}
    known = fields | {"options", "currency", "gone"} | {f"options.*.{name}" for name in options}
    for name in contract.terms:
        if name not in known:
            shop.notes.add(("contract", name), "no stream reads this field", did_you_mean(name, known))
    for name, group in policy.groups.items():
        if name not in known:
            shop.notes.add(("groups", group), f"no stream reads '{name}'", did_you_mean(name, known))


def _hooked(shop: Section, streams: tuple[Stream, ...], folder: Path, *, trusted: bool) -> tuple[Stream, ...]:
    section = shop.inner("hooks")
    if section is None or not section.values or not trusted:
        return streams
    own, installed = own_hooks(folder), known_hooks()
    found = {stream.name: stream for stream in streams}
    for place in section.values:
        name, _, moment = place.partition(".")
        hook = section.text(place, most=100) or ""
        if name not in found or moment != "after":
            section.refuse(
                place, "a hook comes after a stream", did_you_mean(place, {f"{each}.after" for each in found})
            )
        elif hook not in own and hook not in installed:
            section.refuse(place, f"unknown hook '{hook}'", did_you_mean(hook, {*own, *installed}))
        else:
            after: After = own[hook] if hook in own else installed[hook]()
            found[name] = replace(found[name], after=after)
    return tuple(found.values())


def _version(values: Mapping[str, Any], folder: Path) -> str:
    """Tells apart what would be read differently; how politely it is fetched does not matter."""
    meaning = {name: values.get(name) for name in ("shop", "type", "intake", "streams", "contract", "hooks")}
    code = (folder / HOOKS).read_bytes() if (folder / HOOKS).exists() else b""
    text = msgspec.json.encode([READER, meaning], order="sorted")
    return sha256(text + code).hexdigest()[:12]
