"""What is kept of translations: the memory by the source's digest, and the operator's own terms."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.convert.glossary import Glossary, Term, shipped
from bobusang.stages.convert.tables import Origin, glossary_terms, translation_memory
from bobusang.stages.convert.terms import checked
from bobusang.stages.convert.text import clean, clean_lines, has_hangul
from bobusang.stages.convert.translate import Recalled, Translated, Translation, Way

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.kit.db import Database, Row, Tx
    from bobusang.stages.convert.translate import Translator

MOST_KEYS, SHOWN = 500, 60
USED_EVERY = timedelta(days=1)
"""How exactly `used_at` is kept: a popular word must not be a hot row."""

RECALL = Statement(
    """
    select source_hash, target_text, origin, case when used_at >= :fresh then 0 else 1 end as stale
    from translation_memory
    where source_lang = :source and target_lang = :target and source_hash in (:hashes...)
    """
)
USED = Statement(
    """
    update translation_memory set used_at = :now
    where source_lang = :source and target_lang = :target and source_hash in (:hashes...)
    """
)
KNOWN = Statement(
    """
    select source_text, target_text, origin, model from translation_memory
    where source_lang = :source and target_lang = :target and source_hash = :hash
    """
)
FORGET = Statement(
    """
    delete from translation_memory where source_lang = :source and target_lang = :target and source_hash = :hash
    returning source_text, target_text, origin, model
    """
)
TAKE_BACK = Statement(
    """
    delete from translation_memory
    where source_lang = :source and target_lang = :target and source_hash = :hash and origin = 'person'
    returning source_text, target_text, origin, model
    """
)
TERMS = Statement(
    """
    select term, translation, kind, case_sensitive from glossary_terms
    where source_lang = :source and target_lang = :target order by term
    """
)
NAMED = Statement(
    """
    select term, translation, kind, case_sensitive from glossary_terms
    where source_lang = :source and target_lang = :target and term in (:terms...)
    """
)
DROP_TERMS = Statement(
    """
    delete from glossary_terms where source_lang = :source and target_lang = :target and term in (:terms...)
    returning term, translation, kind, case_sensitive
    """
)
KEPT = ("source_lang", "target_lang", "source_hash", "source_text", "target_text", "origin", "model", "cost_micros")
REMEMBER = Bulk(translation_memory, (*KEPT, "created_at", "used_at"), keep=True)
SAY = Bulk(translation_memory, REMEMBER.columns)
"""A model's answer that came in between is a Duplicate, and whoever corrects begins again: it must not win."""
PUT_TERMS = Bulk(
    glossary_terms,
    ("source_lang", "target_lang", "term", "translation", "kind", "case_sensitive", "created_at"),
)


class Languages(NamedTuple):
    """From which into which."""

    source: str = "ko"
    target: str = "ja"


KO_JA = Languages()


@dataclass(frozen=True, slots=True)
class Told:
    """A text and its translation, and by whom."""

    text: str
    translation: str
    origin: Origin = Origin.PERSON
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Corrected:
    """What the memory held of a text before a person's word, and what it holds now."""

    hash: str
    before: Told | None
    after: Told


@dataclass(frozen=True, slots=True)
class Changed:
    """A term of the operator's before (None: there was none) and after."""

    before: Term | None
    after: Term


def digest(text: str) -> str:
    """What a source text is found by."""
    return sha256(clean_lines(text).encode("utf-8", "replace")).hexdigest()


async def recall(tx: Tx, texts: Iterable[str], languages: Languages = KO_JA) -> dict[str, Recalled]:
    """What is remembered, by cleaned source."""
    by_hash = {digest(text): clean_lines(text) for text in texts}
    found: dict[str, Recalled] = {}
    for hashes in _chunks(sorted(by_hash)):
        fresh = tx.now - USED_EVERY
        rows = await tx.fetch(RECALL, source=languages.source, target=languages.target, hashes=hashes, fresh=fresh)
        for row in rows:
            by_person, stale = row["origin"] == Origin.PERSON, bool(row["stale"])
            found[by_hash[row["source_hash"]]] = Recalled(row["target_text"], by_person, stale)
    return found


async def remember(tx: Tx, translations: Iterable[Translation], languages: Languages = KO_JA) -> int:
    """Keep what the model was paid for; what is there already stays, above all a person's word. How many are new.

    Glossary and rules are not kept: they are free, and a better glossary must show at once.
    """
    rows = [
        (*languages, digest(one.source), one.source, one.text, Origin.MODEL, one.model, one.cost_micros, tx.now, tx.now)
        for one in translations
        if one.way is Way.MODEL
    ]
    return await tx.insert(REMEMBER, sorted(rows))


async def note_use(tx: Tx, texts: Iterable[str], languages: Languages = KO_JA) -> None:
    """Note that these are still in use."""
    for hashes in _chunks(sorted({digest(text) for text in texts})):
        await tx.execute(USED, source=languages.source, target=languages.target, hashes=hashes, now=tx.now)


async def correct(tx: Tx, source: str, text: str, languages: Languages = KO_JA) -> Corrected:
    """A person's own translation, which counts from now on.

    It is a new row also where there was one: by that the products that were made before are known to be old.
    """
    source, text = clean_lines(source), clean_lines(text)
    if not has_hangul(source):
        hint = "give the mall's own text; one without Korean is never translated"
        raise Invalid("there is no Korean in the text", hint=hint, field="text")
    if not text:
        raise Invalid("the translation is empty", hint="write it in Japanese", field="translation")
    if has_hangul(text):
        raise Invalid("the translation contains Korean", hint="write it in Japanese", field="translation")
    hash, after = digest(source), Told(source, text)
    named = {"source": languages.source, "target": languages.target, "hash": hash}
    before = _told(await tx.first(KNOWN, **named))
    if before != after:
        before = _told(await tx.first(FORGET, **named))
        await tx.insert(SAY, [(*languages, hash, source, text, Origin.PERSON, None, 0, tx.now, tx.now)])
    return Corrected(hash, before, after)


async def take_back(tx: Tx, source: str, languages: Languages = KO_JA) -> Told:
    """A person's own translation counts no more; the one that was. What a model said before it is not kept: it is
    asked anew."""
    hash = digest(source)
    row = await tx.first(TAKE_BACK, source=languages.source, target=languages.target, hash=hash)
    if row is None:
        hint = "give the whole text as `bobusang translation list --origin person` shows it"
        raise Missing(f"nobody has corrected '{clean_lines(source)[:SHOWN]}'", hint=hint)
    return Told(row["source_text"], row["target_text"])


async def put_terms(tx: Tx, terms: Sequence[Term], languages: Languages = KO_JA) -> list[Changed]:
    """Add or replace the operator's terms, and tell which were not so already; the others are left alone."""
    given = {term.term: term for term in map(checked, terms)}
    changed: list[Changed] = []
    for names in _chunks(sorted(given)):
        rows = await tx.fetch(NAMED, source=languages.source, target=languages.target, terms=names)
        same = {row["term"] for row in rows if _term(row) == given[row["term"]]}
        anew = [given[name] for name in names if name not in same]
        before = {one.term: one for one in await drop_terms(tx, [one.term for one in anew], languages)}
        facts = [(one.term, one.translation, one.kind, one.case_sensitive, tx.now) for one in anew]
        await tx.insert(PUT_TERMS, [(*languages, *row) for row in facts])
        changed += [Changed(before.get(one.term), one) for one in anew]
    return changed


async def drop_terms(tx: Tx, terms: Iterable[str], languages: Languages = KO_JA) -> list[Term]:
    """Take the operator's terms away, and tell which there were; what is shipped then counts again."""
    names = sorted(set(map(clean, terms)))
    rows = await tx.fetch(DROP_TERMS, source=languages.source, target=languages.target, terms=names)
    return sorted(map(_term, rows), key=lambda one: one.term)


async def own_terms(tx: Tx, languages: Languages = KO_JA) -> list[Term]:
    """The operator's terms."""
    return list(map(_term, await tx.fetch(TERMS, source=languages.source, target=languages.target)))


async def glossary(tx: Tx, languages: Languages = KO_JA) -> Glossary:
    """The shipped terms, and the operator's, which come before them."""
    return _glossary(languages, tuple(await own_terms(tx, languages)))


@lru_cache(maxsize=2)
def _glossary(languages: Languages, own: tuple[Term, ...]) -> Glossary:
    """Made once for the same terms: a thousand words are put in order, and every page that proposes asks."""
    return Glossary([*(shipped() if languages == KO_JA else ()), *own])


async def translate(
    db: Database, translator: Translator, texts: Sequence[str], languages: Languages = KO_JA
) -> Translated:
    """Recall, translate, and keep at once what was paid for, each in its own transaction: the network is in none.

    What was found before a trouble is kept too, so that trying again pays only for the rest.
    """
    async with db.read() as tx:
        recalled = await recall(tx, texts, languages)
    done = await translator.translate(texts, recalled)
    paid = [one for one in done.found.values() if one.way is Way.MODEL]
    stale = [text for text, known in recalled.items() if known.stale]
    if paid or stale:
        await db.transact(lambda tx: _kept(tx, paid, stale, languages))
    return done


async def _kept(tx: Tx, paid: Sequence[Translation], stale: Sequence[str], languages: Languages) -> None:
    await remember(tx, paid, languages)
    await note_use(tx, stale, languages)


def _told(row: Row | None) -> Told | None:
    if row is None:
        return None
    return Told(row["source_text"], row["target_text"], Origin(row["origin"]), row["model"])


def _term(row: Row) -> Term:
    return Term(row["term"], row["translation"], row["kind"], bool(row["case_sensitive"]))


def _chunks(keys: Sequence[str]) -> Iterable[list[str]]:
    return (list(keys[start : start + MOST_KEYS]) for start in range(0, len(keys), MOST_KEYS))
