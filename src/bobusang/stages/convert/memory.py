"""What is kept of translations: the memory by the source's digest, and the operator's own terms."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from bobusang.kit.errors import Invalid
from bobusang.kit.sql import Bulk, Statement
from bobusang.stages.convert.glossary import Glossary, Term, shipped
from bobusang.stages.convert.tables import TERM_LENGTH, Origin, glossary_terms, translation_memory
from bobusang.stages.convert.text import clean, clean_lines, has_hangul
from bobusang.stages.convert.translate import Recalled, Translated, Translation, Way

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bobusang.kit.db import Database, Tx
    from bobusang.stages.convert.translate import Translator

MOST_KEYS = 500
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
CORRECT = Statement(
    """
    update translation_memory set target_text = :text, origin = 'person', model = null, cost_micros = 0
    where source_lang = :source and target_lang = :target and source_hash = :hash
    """
)
TERMS = Statement(
    """
    select term, translation, kind, case_sensitive from glossary_terms
    where source_lang = :source and target_lang = :target order by term
    """
)
DROP_TERMS = Statement(
    "delete from glossary_terms where source_lang = :source and target_lang = :target and term in (:terms...)"
)
KEPT = ("source_lang", "target_lang", "source_hash", "source_text", "target_text", "origin", "model", "cost_micros")
REMEMBER = Bulk(translation_memory, (*KEPT, "created_at", "used_at"), keep=True)
PUT_TERMS = Bulk(
    glossary_terms,
    ("source_lang", "target_lang", "term", "translation", "kind", "case_sensitive", "created_at"),
)


class Languages(NamedTuple):
    """From which into which."""

    source: str = "ko"
    target: str = "ja"


KO_JA = Languages()


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


async def correct(tx: Tx, source: str, text: str, languages: Languages = KO_JA) -> None:
    """A person's own translation, which counts from now on."""
    source, text = clean_lines(source), clean_lines(text)
    if not source or not text:
        raise Invalid("a correction needs both texts", hint="the source's text and its translation", field="text")
    if has_hangul(text):
        raise Invalid("the correction contains Korean", hint="write it in Japanese", field="text")
    changed = await tx.execute(
        CORRECT, text=text, source=languages.source, target=languages.target, hash=digest(source)
    )
    if not changed:
        row = (*languages, digest(source), source, text, Origin.PERSON, None, 0, tx.now, tx.now)
        await tx.insert(REMEMBER, [row])


async def put_terms(tx: Tx, terms: Sequence[Term], languages: Languages = KO_JA) -> None:
    """Add or replace the operator's terms."""
    given = {term.term: term for term in map(_checked, terms)}
    for names in _chunks(sorted(given)):
        await tx.execute(DROP_TERMS, source=languages.source, target=languages.target, terms=names)
        rows = [
            (given[name].term, given[name].translation, given[name].kind, given[name].case_sensitive) for name in names
        ]
        await tx.insert(PUT_TERMS, [(*languages, *row, tx.now) for row in rows])


async def drop_terms(tx: Tx, terms: Iterable[str], languages: Languages = KO_JA) -> int:
    """Take the operator's terms away; what is shipped then counts again. How many there were."""
    return await tx.execute(DROP_TERMS, source=languages.source, target=languages.target, terms=sorted(set(terms)))


async def glossary(tx: Tx, languages: Languages = KO_JA) -> Glossary:
    """The shipped terms, and the operator's, which come before them."""
    rows = await tx.fetch(TERMS, source=languages.source, target=languages.target)
    stored = [Term(row["term"], row["translation"], row["kind"], bool(row["case_sensitive"])) for row in rows]
    return Glossary([*(shipped() if languages == KO_JA else ()), *stored])


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


def _checked(term: Term) -> Term:
    word, translation = clean(term.term), clean(term.translation)
    if not word or not translation or has_hangul(translation):
        hint = "a word, and its translation without Korean letters"
        raise Invalid(f"the term '{word}' cannot be kept", hint=hint, field="translation")
    if max(len(word), len(translation)) > TERM_LENGTH:
        raise Invalid(f"the term '{word[:20]}…' is too long", hint=f"at most {TERM_LENGTH} signs", field="term")
    return Term(word, translation, clean(term.kind)[:50], term.case_sensitive)


def _chunks(keys: Sequence[str]) -> Iterable[list[str]]:
    return (list(keys[start : start + MOST_KEYS]) for start in range(0, len(keys), MOST_KEYS))
