"""Regular expressions from a shop: read piece by piece, and refused unless their work is bounded.

Python's matcher tries every way to share a text between repeats, so `(a+)+` or `.*.*x` can take for ever, and it
cannot be interrupted. Allowed is therefore what needs no trying: no repeat inside a repeat, no choice inside a repeat,
at most one repeat that could share characters with what follows it, little work from each place of a text, and no
repeat without an end: `*` and `+` stand for up to `MOST` characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from bobusang.connectors.sources.declared.known import Flaw

LONGEST = 300
MOST = 300
MOST_REPEATS = 12
MOST_CHOICES = 10

# How many signs a pattern may look at from each place of a text; and from the one place where it is fixed by ^.
WORK = 2000
FIXED_WORK = 200_000

HINT = 'write out what ends the text, as in name="([^"]*)", or a smaller bound, as in [0-9]{1,8}'

_ATOM = re.compile(
    r"\\[A-Za-z](?:[0-9A-Fa-f]{2,4})?|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[.^$|]|\((?:\?:|\?P<[A-Za-z_]\w*>)?|\)|[^\\\[\]()*+?{}]"
)
_REPEAT = re.compile(r"(\*|\+|\?|\{(\d{1,4})(,?)(\d{0,4})\})([?+]?)")
_REFUSED_ESCAPE = re.compile(r"\\[1-9]|\\[NUu]")
_ZERO_WIDTH = {"^", "$", "\\b", "\\B", "\\A", "\\Z"}

# Enough to tell whether two classes share a character: ASCII, Latin-1, some Hangul and signs.
_SAMPLE = [chr(code) for code in (*range(256), *range(0xAC00, 0xAC20), 0x3131, 0x20A9, 0xFFE6, 0x2013, 0x4E00, 0x1F600)]


@dataclass(frozen=True, slots=True)
class _Piece:
    """One sign, class or bracket, and how often it stands there."""

    atom: str
    least: int = 1
    most: int = 1
    lazy: str = ""

    @property
    def repeats(self) -> bool:
        return self.least != self.most


def compile_pattern(text: str) -> re.Pattern[str]:
    """The pattern; a `Flaw` where it is none, or where its work has no bound."""
    if not 1 <= len(text) <= LONGEST:
        raise Flaw(f"a pattern has 1 to {LONGEST} characters")
    pieces = _pieces(text)
    _check_repeats(pieces)
    try:
        return re.compile("".join(_written(piece) for piece in pieces))
    except (re.error, OverflowError) as error:
        raise Flaw(f"'{text}' is no pattern: {error}") from None


def _pieces(text: str) -> list[_Piece]:
    pieces: list[_Piece] = []
    at = 0
    while at < len(text):
        atom = _ATOM.match(text, at)
        if atom is None or _REFUSED_ESCAPE.match(atom[0]):
            raise Flaw(f"'{text}': '{text[at : at + 2]}' at character {at + 1} is not allowed here", HINT)
        at = atom.end()
        repeat = _REPEAT.match(text, at)
        pieces.append(_Piece(atom[0]) if repeat is None else _repeated(atom[0], repeat))
        at = repeat.end() if repeat else at
    return pieces


def _repeated(atom: str, repeat: re.Match[str]) -> _Piece:
    if atom in ("(", "|") or atom.startswith("(?") or atom in _ZERO_WIDTH:
        raise Flaw(f"there is nothing to repeat before '{repeat[1]}'")
    sign, low, comma, high, lazy = repeat.groups()
    least, most = {"*": (0, MOST), "+": (1, MOST), "?": (0, 1)}.get(sign) or (
        int(low),
        int(high) if high else MOST if comma else int(low),
    )
    if most > MOST:
        raise Flaw(f"'{repeat[0]}' repeats more than {MOST} times", HINT)
    return _Piece(atom, least, most, lazy)


def _written(piece: _Piece) -> str:
    if (piece.least, piece.most) == (1, 1):
        return piece.atom
    return f"{piece.atom}{{{piece.least},{piece.most}}}{piece.lazy}"


def _check_repeats(pieces: list[_Piece]) -> None:
    _check_groups(pieces)
    repeats = [at for at, piece in enumerate(pieces) if piece.most > 1]
    if len(repeats) > MOST_REPEATS:
        raise Flaw(f"a pattern has at most {MOST_REPEATS} repeats")
    if sum(piece.atom == "|" or piece.most == 1 > piece.least for piece in pieces) > MOST_CHOICES:
        raise Flaw(f"a pattern has at most {MOST_CHOICES} choices, counting | and ?", HINT)
    loose = [at for at in repeats if pieces[at].repeats and _gives_back(pieces, at)]
    if len(loose) > 1 or _work(pieces, repeats, loose) > (FIXED_WORK if pieces[0].atom in ("^", "\\A") else WORK):
        names = " and ".join(f"'{pieces[at].atom}'" for at in (loose or repeats)[:2])
        raise Flaw(f"the repeats of {names} may share the same text, which can take for ever", HINT)


def _work(pieces: list[_Piece], repeats: list[int], loose: list[int]) -> int:
    """How many signs may be looked at from one place of a text, at worst."""
    if not loose:
        return sum(pieces[at].most for at in repeats)
    before = sum(pieces[at].most for at in repeats if at < loose[0])
    after = sum(pieces[at].most for at in repeats if at > loose[0])
    return before + pieces[loose[0]].most * (1 + after)


def _check_groups(pieces: list[_Piece]) -> None:
    """A repeated group holds plain characters only: no repeat and no choice."""
    opened: list[bool] = []
    for piece in pieces:
        atom = piece.atom
        if atom.startswith("(") and not atom.startswith("\\"):
            opened.append(False)
        elif atom == ")":
            inner = opened.pop() if opened else False
            if inner and piece.most > 1:
                raise Flaw("a repeat or a choice inside a repeat can take for ever", HINT)
            if opened:
                opened[-1] = opened[-1] or inner or piece.repeats
        elif opened and (piece.repeats or atom == "|"):
            opened[-1] = True


def _gives_back(pieces: list[_Piece], at: int) -> bool:
    """Could what this repeat took be wanted by what follows it?"""
    for piece in pieces[at + 1 :]:
        atom = piece.atom
        if atom in (")", "(") or atom.startswith("(?"):
            if piece.repeats:
                return True
            continue
        if atom == "|":
            return True
        if atom in _ZERO_WIDTH:
            continue
        if pieces[at].atom == ")" or _share(pieces[at].atom, atom):
            return True
        if piece.least > 0:
            return False
    return False


@cache
def _share(one: str, other: str) -> bool:
    try:
        first, second = re.compile(one, re.DOTALL), re.compile(other, re.DOTALL)
    except re.error:
        return True
    return any(first.fullmatch(sign) and second.fullmatch(sign) for sign in _SAMPLE)
