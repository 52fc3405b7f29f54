"""The consumer `search`: what changed in SQL is read there as it stands now, and put into the index.

An event only says that something changed. Because the present row is read, events may come twice or late, and the last
one always leaves the index at what SQL says. After the index the answers that show, or could show, what has changed are
made old; while the cache cannot be told of it the event is kept, for as long as an answer may live. What a process did
not come to tell before it died nobody knows, so the one that writes after it begins by making all answers old.

What a product was before is known only until the index has what it is now. So it is noted before the index is written,
and forgotten when that has succeeded: of a write that failed, or was given up on its way, nobody knows how far it came.
"""

from __future__ import annotations

import asyncio
from itertools import chain
from typing import TYPE_CHECKING, Any

from bobusang.flows.indexing import documents
from bobusang.kit import log as logs
from bobusang.kit.errors import Conflict, Drifted, Unavailable
from bobusang.platform.bus import Patience
from bobusang.platform.searches import tags
from bobusang.platform.searches.tokens import is_filed_alike

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import timedelta

    from bobusang.flows.indexing.documents import Aliases
    from bobusang.kit.db import Database
    from bobusang.platform.bus import Event
    from bobusang.platform.buses.inprocess import InProcess
    from bobusang.platform.caching import Caching
    from bobusang.platform.search import Document, Search
    from bobusang.platform.searches.elsewhere import Elsewhere

log = logs.get(__name__)

NAME = "search"
TOPICS = "source.registered source.changed product.* brand.changed"
PATIENCE = Patience(base=1.0, cap=30.0, attempts=1000)
"""An index that is away for hours is no reason to forget a change."""
BATCH = 500
MOST_UNTOLD = 10_000
"""Tags that a cache which is away is told of later; of more than these all answers are made old."""
MOST_UNSURE = 1_000
"""Products of which it is noted what they were; of more than these all answers are made old."""


class Indexer:
    """Writes the index of one application. Whoever reads SQL and writes the index holds `turn` meanwhile, so that
    nobody of this process puts something older over something newer."""

    def __init__(
        self,
        db: Database,
        index: Search,
        caching: Caching,
        elsewhere: Elsewhere,
        *,
        market: str,
        answers_live: timedelta,
    ) -> None:
        self.db = db
        self.index = index
        self.market = market
        self.turn = asyncio.Lock()
        self._caching = caching
        self._elsewhere = elsewhere
        self._untold = {tags.EVERY}
        self._unsure: dict[int, tuple[Document, ...] | None] = {}
        """By product what it is and was, as far as it is found by other words; None: nobody knows any more."""
        self._answers_live = answers_live
        self._aliases: tuple[object, Aliases] | None = None
        self._renamed = 0

    def subscribe(self, consumers: InProcess) -> None:
        """Take part in what the relay delivers in this process."""
        consumers.subscribe(NAME, TOPICS, self.consume, patience=PATIENCE)

    async def consume(self, events: Sequence[Event]) -> None:
        """Bring these changes into the index, all of them or raise: one that is broken will be made anew, and one that
        another process writes will be free again."""
        try:
            await self._consume(events)
        except (Drifted, Conflict) as error:
            raise Unavailable(str(error)) from error

    async def _consume(self, events: Sequence[Event]) -> None:
        renamed = [event for event in events if event.topic == "brand.changed"]
        ids = {_product(event.payload) for event in events if event.topic != "brand.changed"}
        tell = self._still_matters(events)
        if renamed:
            self.forget_aliases()
            for event in renamed:
                await self._renew_brands(event.payload.get("names") or (), tell=tell)
        await self.bring([id for id in ids if id is not None], tell=tell)

    async def bring(self, ids: Iterable[int], *, tell: bool = True) -> None:
        """Make the index say of these products what SQL says. `tell`: insist on telling the cache, for who asks can
        come again; others leave that for later."""
        wanted = sorted(set(ids))
        for at in range(0, len(wanted), BATCH):
            await self._bring(wanted[at : at + BATCH], tell=tell)

    async def aliases(self) -> Aliases:
        """What brands are called; read again when some mall has named one since, whoever was told of it."""
        while True:
            renamed = self._renamed
            async with self.db.read() as tx:
                mark, kept = await documents.named_last(tx), self._aliases
                found = kept[1] if kept and kept[0] == mark else await documents.aliases(tx)
            if renamed == self._renamed:
                self._aliases = (mark, found)
                return found

    def forget_aliases(self) -> None:
        """Read the names of brands again when they are needed next; what is being read just now counts no more."""
        self._aliases = None
        self._renamed += 1

    async def _bring(self, ids: Sequence[int], *, tell: bool) -> None:
        async with self.turn:
            async with self._elsewhere.our_own() as others_wrote:
                if others_wrote:
                    self._untold.add(tags.EVERY)
                    self.forget_aliases()
                await self._write(ids)
            concerned = self._settled(ids)
        await self._tell(concerned, insist=tell)

    async def _write(self, ids: Sequence[int]) -> None:
        known = await self.aliases()
        async with self.db.read() as tx:
            now = await documents.some(tx, self.market, known, ids)
        before = await self.index.get(ids)
        present = {one.id: one for one in now}
        gone = [id for id in ids if id not in present]
        changed = [one for one in now if before.get(one.id) != one]
        concerned = [*now, *(one for one in before.values() if not _is_like(present.get(one.id), one))]
        self._note(concerned)
        try:
            if changed:
                await self.index.put(changed)
            if gone:
                await self.index.delete(gone)
        except BaseException:
            self._untold |= tags.of_documents(concerned)  # part of it may be found already
            raise

    def _note(self, found: Iterable[Document]) -> None:
        """What these products are and were matters until the index has been written."""
        for one in found:
            known = self._unsure.get(one.id, ())
            if known is not None and not any(is_filed_alike(one, other) for other in known):
                self._unsure[one.id] = (*known, one)
        if len(self._unsure) > MOST_UNSURE:
            self._unsure = dict.fromkeys(self._unsure)

    def _settled(self, ids: Sequence[int]) -> set[str]:
        """The index has what these products are; the tags of what they were on the way there, unless nobody has asked:
        whoever asks from now on finds what the index has."""
        were = [self._unsure.pop(id, ()) for id in ids]
        if not self._caching.has_tags:
            return set()
        known = [some for some in were if some is not None]
        return tags.of_documents(chain(*known)) if len(known) == len(were) else {tags.EVERY}

    async def all_is_old(self) -> None:
        """Nobody can tell which answers still hold: the index is another one."""
        await self._tell({tags.EVERY}, insist=False)

    async def tell_rest(self) -> None:
        """What the cache was not told because it was away, or because whoever was to tell it has died."""
        await self._tell(set(), insist=False)

    async def _tell(self, concerned: set[str], *, insist: bool) -> None:
        """Make answers old that show something of these tags, or could."""
        telling, self._untold = concerned | self._untold, set()
        if not telling:
            return
        try:
            await self._caching.bump(sorted(telling))
        except BaseException as error:
            self._untold |= telling if len(telling) <= MOST_UNTOLD else {tags.EVERY}
            if insist or not isinstance(error, Unavailable):
                raise
            log.warning("the cache cannot be told of changes; it will be, when it is back", error=str(error))

    async def _renew_brands(self, names: Sequence[str], *, tell: bool) -> None:
        """A brand is called something else: all its products are found by that now."""
        async with self.db.read() as tx:
            written = await documents.written(tx, names) if names else {}
        after: dict[str, int] = {}
        while written:
            async with self.db.read() as tx:
                found = await documents.of_brands(tx, written, after, BATCH)
            written = {mall: written[mall] for mall, some in found.items() if some}
            await self.bring([id for some in found.values() for id in some], tell=tell)
            after |= {mall: some[-1] for mall, some in found.items() if some}

    def _still_matters(self, events: Sequence[Event]) -> bool:
        """Whether an answer from before these changes may still be kept somewhere."""
        oldest = self.db.clock.now() - self._answers_live
        return any(event.created_at is None or event.created_at > oldest for event in events)


def _is_like(now: Document | None, before: Document) -> bool:
    """Whether the tags of what a product is are those of what it was: most often its price or stock has changed."""
    return now is not None and is_filed_alike(now, before)


def _product(payload: Any) -> int | None:
    """Which product an event is about: a record's event calls it `record_id`, a product's own `id`."""
    found = payload.get("record_id", payload.get("id")) if isinstance(payload, dict) else None
    return found if isinstance(found, int) else None
