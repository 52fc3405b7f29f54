"""Faults on demand: what goes wrong, where, how often; chosen by counting and by seed, so a run can be repeated."""

from __future__ import annotations

import re
from enum import StrEnum

import msgspec

from bobusang.kit.errors import Invalid, Missing
from bobusang.kit.nearest import nearest
from bobusang.sandbox.chance import MASK, drawn

MOST = 100
"""Faults at a time."""


class Trouble(StrEnum):
    """What can go wrong besides `http_NNN`, which answers with any status (`seconds` becomes its Retry-After)."""

    STALL = "stall"
    """Nothing is answered for `seconds` (an hour unless said); then the connection is closed."""
    STALL_BODY = "stall_body"
    """Half of the body, then nothing for `seconds`."""
    RESET = "reset"
    """The connection is reset before any answer."""
    HALF_CLOSED = "half_closed"
    """The right Content-Length, half of the body, then closed."""
    HALF_CHUNKED = "half_chunked"
    """Chunks without a last one."""
    HALF_UNSIZED = "half_unsized"
    """No length at all: half of the body, ended by closing. Only the content shows that something is missing."""
    HALF_HTML = "half_html"
    """Half of the body with its own right length: the transport is complete, the page is not."""
    EMPTY = "empty"
    """200 with no body."""
    EMPTY_LIST = "empty_list"
    """A list in order that shows nothing, with its total as always."""
    WRONG_ENCODING = "wrong_encoding"
    """EUC-KR bytes that are called UTF-8."""
    BOT_WALL = "bot_wall"
    """"Just a moment...", with status 200, or `status`."""
    REPEAT_LAST = "repeat_last"
    """Pages behind the last one show the last one again."""
    WOBBLE = "wobble"
    """The total of a list differs from call to call."""
    ENDLESS = "endless"
    """A body that never ends."""
    ZIP_BOMB = "zip_bomb"
    """A small body that unpacks to `bytes`."""
    HUGE = "huge"
    """A body of `bytes` (200 MB unless said)."""
    REDIRECT_LOOP = "redirect_loop"
    REDIRECT_PRIVATE = "redirect_private"
    """A redirect to an address inside, such as a cloud's metadata."""
    DEEP_JSON = "deep_json"
    """JSON of 100,000 brackets, inside a page where the answer is one."""
    INVALID_UTF8 = "invalid_utf8"
    """Bytes that are no UTF-8, amid the names."""
    SCRIPT_NAMES = "script_names"
    """Names that are HTML and script, written as the mall would write them."""
    MANY_OPTIONS = "many_options"
    """10,000 options."""
    DUPLICATE_KEYS = "duplicate_keys"
    """Objects of JSON that have a member twice."""
    DUPLICATE_ITEMS = "duplicate_items"
    """The first item of a list, or the first option, twice, with another price or stock."""
    UNTAGGED = "untagged"
    """No ETag and no 304: the whole page each time, as from a mall that knows neither."""


class Mishap(StrEnum):
    """What can go wrong only where something is done, with a market's calls and its webhooks; and with a bank."""

    RESET_AFTER = "reset_after"
    """The call has its effect, then the connection is reset: the answer is lost."""
    STALL_AFTER = "stall_after"
    """The call has its effect, then nothing is answered for `seconds`."""
    ERROR_AFTER = "error_after"
    """The call has its effect, and is answered with 500, or `status`."""
    LOST = "lost"
    """The webhook is never sent."""
    LATE = "late"
    """It is sent `seconds` later (30 unless said)."""
    DOUBLED = "doubled"
    """It is sent twice."""
    REORDERED = "reordered"
    """The next one about the same listing goes first; without one it goes after `seconds` (5 unless said)."""
    FORGED = "forged"
    """Before it comes one of somebody else, whose signature is wrong."""
    TENFOLD = "tenfold"
    """The bank's rate of exchange is ten times what it is."""
    HALF_DATA = "half_data"
    """Half of a list of Ownerclan, with an error beside it and HTTP 200."""
    ERROR_INSIDE = "error_inside"
    """Domeggook answers with an error inside HTTP 200."""


class Fault(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One thing that goes wrong: for `count` calls, or in a `share` of them, or always."""

    kind: str
    mall: str = "*"
    endpoint: str = "*"
    count: int | None = None
    share: float | None = None
    seed: int = 1
    seconds: float | None = None
    after: int = 0
    """So many calls go well first."""
    match: str = ""
    """Only calls whose path and query have this text, such as `page=3`."""
    agent: str = ""
    """Only calls whose User-Agent has this text."""
    status: int | None = None
    bytes: int | None = None

    def __post_init__(self) -> None:
        if self.kind not in {*Trouble, *Mishap} and not re.fullmatch(r"http_[1-5]\d\d", self.kind):
            like = nearest(self.kind, [*Trouble, *Mishap, "http_429", "http_403", "http_500", "http_503"])
            hint = f"did you mean '{like}'?" if like else f"http_NNN or one of {', '.join([*Trouble, *Mishap])}"
            raise Invalid(f"there is no fault '{self.kind}'", hint=hint, field="kind")
        if self.share is not None and not 0 <= self.share <= 1:
            raise Invalid(f"a share lies between 0 and 1, not at {self.share:g}", field="share")

    @property
    def http_status(self) -> int | None:
        """The status of an `http_NNN`."""
        return int(self.kind[5:]) if self.kind.startswith("http_") else None


class Hit(msgspec.Struct, frozen=True):
    """A fault that befalls a call, and its number among those it befell."""

    fault: Fault
    turn: int

    def is_(self, *kinds: Trouble) -> bool:
        """Whether it is one of these."""
        return self.fault.kind in kinds


class Faults:
    """What is to go wrong now. The first fault that befalls a call is the only one."""

    def __init__(self) -> None:
        self._faults: dict[int, Fault] = {}
        self._seen: dict[int, int] = {}
        self._hits: dict[int, int] = {}
        self._last = 0

    def add(self, fault: Fault) -> int:
        """Let it go wrong from now on; the fault's id."""
        if len(self._faults) >= MOST:
            raise Invalid(f"{MOST} faults are enough", hint="DELETE /admin/faults clears them")
        self._last += 1
        self._faults[self._last] = fault
        self._seen[self._last] = self._hits[self._last] = 0
        return self._last

    def remove(self, id: int) -> None:
        """Let it go well again."""
        if self._faults.pop(id, None) is None:
            raise Missing(f"there is no fault {id}", hint="GET /admin/faults lists them")

    def clear(self) -> None:
        """Let everything go well."""
        self._faults.clear()

    def listed(self) -> list[dict[str, object]]:
        """All of them, with how many calls they saw and how many they befell."""
        return [
            {"id": id, **msgspec.structs.asdict(fault), "seen": self._seen[id], "hits": self._hits[id]}
            for id, fault in self._faults.items()
        ]

    def befall(self, mall: str, endpoint: str, path: str, agent: str) -> Hit | None:
        """What goes wrong with this call."""
        for id, fault in self._faults.items():
            if fault.mall not in ("*", mall) or fault.endpoint not in ("*", endpoint):
                continue
            if fault.match not in path or fault.agent not in agent:
                continue
            self._seen[id] += 1
            if self._strikes(id, fault):
                self._hits[id] += 1
                return Hit(fault, self._hits[id])
        return None

    def _strikes(self, id: int, fault: Fault) -> bool:
        if self._seen[id] <= fault.after or (fault.count is not None and self._hits[id] >= fault.count):
            return False
        return fault.share is None or drawn(fault.seed, 0, self._seen[id]) < fault.share * MASK


def parse(text: str) -> Fault:
    """A fault as the command line writes it: `mall:endpoint:kind[:how often[:seconds]]`.

    How often: a whole number is a count, a number with a point is a share; nothing: always.
    """
    mall, endpoint, kind, often, seconds, *rest = [*text.split(":"), "", "", "", ""][: max(5, text.count(":") + 1)]
    if rest or not kind:
        hint = "write mall:endpoint:kind, such as okmall:list:http_429:0.1 or mustit:*:stall:3:5"
        raise Invalid(f"'{text}' is no fault", hint=hint, field="fault")
    try:
        share = float(often) if "." in often else None
        count = int(often) if often and share is None else None
        lasting = float(seconds) if seconds else None
    except ValueError as error:
        raise Invalid(f"'{text}': {error}", hint="how often: 3 calls or a share of 0.1", field="fault") from error
    return Fault(kind=kind, mall=mall, endpoint=endpoint, count=count, share=share, seconds=lasting)
