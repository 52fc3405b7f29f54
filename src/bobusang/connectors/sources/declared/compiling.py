"""The streams of a shop, compiled from their mappings; every flaw is noted, and compiling goes on."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from bobusang.connectors.sources.declared import units
from bobusang.connectors.sources.declared.excerpt import Part
from bobusang.connectors.sources.declared.expression import Format, compile_records
from bobusang.connectors.sources.declared.field import Field, compile_field, compile_fields
from bobusang.connectors.sources.declared.known import Flaw
from bobusang.connectors.sources.declared.options import Variants
from bobusang.connectors.sources.declared.request import Request
from bobusang.connectors.sources.declared.requesting import NAME, compile_paging, compile_request, compile_variables
from bobusang.connectors.sources.declared.section import Section
from bobusang.connectors.sources.declared.stream import Emits, FromList, Stream, Variable
from bobusang.kit.lined.fields import named
from bobusang.kit.nearest import did_you_mean
from bobusang.stages.collect.source import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from bobusang.connectors.sources.declared.contract import Contract
    from bobusang.connectors.sources.declared.known import Get
    from bobusang.connectors.sources.declared.paging import Paging

MOST_STREAMS = 20
MOST_PLACES = 5
MOST_PARTS = 20
ASKED = "asked"
BRAND_FIELDS = ("name_ko", "name_en", "url")


def compile_streams(
    shop: Section,
    format: Format,
    contract: Contract,
    currency: str,
    hosts: Collection[str] = (),
    *,
    asked: bool = True,
) -> tuple[Stream, ...]:
    """All streams of a shop; one that sends by itself is not `asked`."""
    shop.required("streams")
    section = shop.inner("streams")
    if section is None:
        return ()
    if not 1 <= len(section.values) <= MOST_STREAMS:
        shop.refuse("streams", f"1 to {MOST_STREAMS} streams are allowed, not {len(section.values)}")
        return ()
    found = []
    for name in section.values:
        inner = section.inner(name)
        if not NAME.fullmatch(name):
            section.refuse(name, "a stream is named by letters, digits and _")
        elif inner is not None:
            compiler = _Compiler(inner, name, section.values, format, contract, currency, hosts, asked=asked)
            found.append(compiler.stream())
    return tuple(found)


class _Compiler:
    """Compiles one stream."""

    def __init__(
        self,
        section: Section,
        name: str,
        siblings: Mapping[str, Any],
        format: Format,
        contract: Contract,
        currency: str,
        hosts: Collection[str],
        *,
        asked: bool,
    ) -> None:
        self.section = section
        self.name = name
        self.siblings = siblings
        self.contract = contract
        self.currency = currency
        self.hosts = hosts
        self.asked = asked
        self.format = section.choice("format", named(Format), format, what="format")

    def stream(self) -> Stream:
        section = self.section
        emits = section.choice("emits", named(Emits), Emits.PRODUCT, what="kind of record")
        variables = compile_variables(section, self.name, self.siblings)
        kind = self._kind(emits, variables)
        paging = compile_paging(section, self.format)
        records, inner = self._records(kind)
        is_page = kind is Kind.ITEM
        specs = section.mapping("fields") or {}
        fields = self._fields(specs, inner, page=is_page)
        key = self._get("key", inner, page=is_page)
        self._check_shape(kind, emits, specs, key)
        if section.values.get("gone") is not None:
            section.required("needs")
        skip = self._get("skip", inner, page=is_page)
        options = self._variants(inner if kind is Kind.LIST else self.format)
        if kind is Kind.PART and records is not None and key is not None:
            partial = not section.flag("complete", default=True)
            fields, options = (), (Variants(records, key, fields, partial=partial, skip=skip),)
        money = any(each.name == "price" for each in fields)
        found = Stream(
            name=self.name,
            kind=kind,
            format=self.format,
            request=self._request(variables, paging),
            variables=variables,
            paging=paging,
            records=records,
            key=key,
            skip=skip,
            fields=fields,
            variants=options,
            hands=self._hands(kind),
            parent=self._parent(inner, page=is_page),
            emits=emits,
            gone=self._get("gone", self.format, page=True),
            needs=self._needs(),
            within=self._within(),
            ends=self._ends(),
            currency=self._currency() if money else "",
            most=self._most(),
            source_names=self._source_names(specs, inner),
        )
        section.refuse_others()
        return found

    def _request(self, variables: tuple[Variable, ...], paging: Paging | None) -> Request:
        if self.asked:
            return compile_request(self.section, {each.name for each in variables}, paging, self.hosts)
        for name in ("request", "for_each", "pages"):
            if self.section.anything(name) is not None:
                self.section.refuse(name, "nobody asks for this: such a shop sends by itself")
        return Request()

    def _kind(self, emits: Emits, variables: tuple[Variable, ...]) -> Kind:
        if emits is Emits.BRAND:
            return Kind.INDEX
        of_items = any(isinstance(each, FromList) for variable in variables for each in variable.origins)
        if not of_items:
            return Kind.LIST
        return Kind.PART if self.section.values.get("parent") is not None else Kind.ITEM

    def _check_shape(self, kind: Kind, emits: Emits, specs: Mapping[str, Any], key: Get | None) -> None:
        section = self.section
        if kind in (Kind.LIST, Kind.INDEX):
            section.required("records")
        if key is None and kind is not Kind.ITEM and section.values.get("key") is None:
            section.required("key")
        if kind is Kind.ITEM and not specs and section.values.get("variants") is None:
            section.required("fields")
        if kind is Kind.ITEM and section.values.get("records") is not None:
            section.refuse(
                "records", "a page of one item has no records", "say by parent whose they are, or use variants"
            )
        for name in specs if emits is Emits.BRAND else ():
            if name.removesuffix("?") not in BRAND_FIELDS:
                section.notes.add(
                    (*section.at("fields"), name), "a brand has no such field", did_you_mean(name, BRAND_FIELDS)
                )

    def _fields(self, specs: Mapping[str, Any], format: Format, *, page: bool) -> tuple[Field, ...]:
        return compile_fields(
            self.section.notes, self.section.at("fields"), specs, format, page=page, terms=self.contract.terms
        )

    def _records(self, kind: Kind) -> tuple[Get | None, Format]:
        text = self.section.text("records", most=1000)
        if text is None:
            return None, self.format
        try:
            found, inner = compile_records(text, self.format)
        except Flaw as flaw:
            self.section.refuse("records", flaw.message, flaw.hint)
            return None, self.format
        return found, self.format if kind is Kind.ITEM else inner

    def _get(self, name: str, format: Format, *, page: bool) -> Get | None:
        """An expression, or several that are tried in turn."""
        spec = self.section.values.get(name)
        self.section.words(name)
        if not isinstance(spec, str | list):
            return None
        return compile_field(self.section.notes, self.section.at(name), spec, format, page=page)

    def _parent(self, format: Format, *, page: bool) -> Get | None:
        """Where a part says whose it is; one that is `asked` does not, and is that of the item that was asked for."""
        if self.section.values.get("parent") == ASKED:
            self.section.text("parent", most=1000)
            return None
        return self._get("parent", format, page=page)

    def _hands(self, kind: Kind) -> tuple[Field, ...]:
        """What other pages of the same item are asked by."""
        specs = self.section.mapping("hands") or {}
        if specs and kind not in (Kind.ITEM, Kind.PART):
            self.section.refuse("hands", "only the page of one item hands something on", "a list has fields")
        place = self.section.at("hands")
        return compile_fields(self.section.notes, place, specs, self.format, page=True, terms={})

    def _needs(self) -> tuple[Get, ...]:
        place = self.section.at("needs")
        return tuple(
            compile_field(self.section.notes, (*place, at), each, self.format, page=True)
            for at, each in enumerate(self.section.words("needs"))
        )

    def _within(self) -> tuple[Part, ...]:
        section = self.section
        specs = section.items("within", MOST_PARTS)
        if specs and self.format is not Format.HTML:
            section.refuse("within", "only pages of HTML have parts")
        parts = []
        for at, each in enumerate(specs):
            if isinstance(each, dict):
                part = Section(section.notes, (*section.at("within"), at), each)
                part.required("from")
                begin, end = part.text("from", most=200) or "", part.text("to", most=200) or ""
                parts.append(Part(begin.encode(), end.encode(), part.flag("every", default=False)))
                part.refuse_others()
            else:
                section.refuse("within", "names with values are expected", "as in - {from: …, to: …}")
        return tuple(parts)

    def _most(self) -> timedelta | None:
        """The longest window of time."""
        section = self.section.inner("window")
        if section is None:
            return None
        section.required("most")
        found = section.measured("most", units.duration, timedelta())
        section.refuse_others()
        return found or None

    def _ends(self) -> str:
        given = self.section.text("ends", most=100)
        return (given or "</html>").lower() if self.format is Format.HTML else ""

    def _currency(self) -> str:
        term = self.contract.terms.get("price")
        return (term.currency if term else "") or self.currency

    def _source_names(self, specs: Mapping[str, Any], format: Format) -> frozenset[str]:
        """The first names of the paths that read a JSON record."""
        found: set[str] = set()
        keys = [self.section.values.get(name) for name in ("key", "parent", "skip")]
        for spec in (*specs.values(), *keys):
            for text in spec if isinstance(spec, list) else [spec]:
                if isinstance(text, str) and format is Format.JSON:
                    found.add(re.split(r"[.\[| ]", text.removeprefix("json:"))[0])
        return frozenset(found)

    def _variants(self, format: Format) -> tuple[Variants, ...]:
        """One place, or a list of places, that tell of options."""
        section = self.section
        spec = section.values.get("variants")
        if isinstance(spec, list):
            places = section.items("variants", MOST_PLACES)
            inner = [
                (Section(section.notes, (*section.at("variants"), at), each), each)
                for at, each in enumerate(places)
                if isinstance(each, dict)
            ]
            if len(inner) != len(places):
                section.refuse(
                    "variants", "names with values are expected", "as in - {records: …, key: …, fields: {…}}"
                )
            return tuple(found for each, _ in inner if (found := self._place(each, format)) is not None)
        only = section.inner("variants")
        found = self._place(only, format) if only is not None else None
        return () if found is None else (found,)

    def _place(self, section: Section, format: Format) -> Variants | None:
        section.required("records", "key", "fields")
        records = section.text("records", most=1000)
        specs = section.mapping("fields") or {}
        complete = section.flag("complete", default=False)
        section.words("key")
        section.words("skip")
        key, skip = section.values.get("key"), section.values.get("skip")
        section.refuse_others()
        if records is None or key is None:
            return None
        try:
            listed, inner = compile_records(records, format)
        except Flaw as flaw:
            section.refuse("records", flaw.message, flaw.hint)
            return None
        fields = compile_fields(section.notes, section.at("fields"), specs, inner, page=False, terms={})
        return Variants(
            listed,
            compile_field(section.notes, section.at("key"), key, inner, page=False),
            fields,
            complete,
            skip=None if skip is None else compile_field(section.notes, section.at("skip"), skip, inner, page=False),
        )
