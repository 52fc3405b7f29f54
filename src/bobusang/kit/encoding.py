"""The text of a page: what its bytes say counts for more than what its labels say."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, replace

LABELLED_WITHIN = 2048

UTF8 = "utf-8"
KOREAN = "cp949"
WESTERN = "cp1252"

# Only codecs a page may have; a label is never handed to the interpreter, which knows `zip`, `rot13` and `utf-7` too.
# Pages that say EUC-KR are written with Windows' superset of it, which has the syllables that EUC-KR lacks (똠, 뷁).
# UTF-16 counts only with its mark: without it almost any bytes would pass for it.
_CODECS = {
    UTF8: ("utf-8", "utf8", "unicode-1-1-utf-8"),
    KOREAN: (
        *("euc-kr", "euckr", "ks_c_5601-1987", "ks_c_5601-1989", "ks_c_5601", "ksc5601", "ksc_5601", "ks5601"),
        *("korean", "windows-949", "cp949", "ms949", "uhc", "x-windows-949", "csksc56011987", "cseuckr", "iso-ir-149"),
    ),
    "cp932": ("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j", "cp932", "ms932"),
    "euc_jp": ("euc-jp", "eucjp", "x-euc-jp"),
    "gb18030": ("gb18030", "gbk", "gb2312", "x-gbk"),
    "big5hkscs": ("big5", "big5-hkscs", "x-x-big5"),
    WESTERN: ("iso-8859-1", "iso8859-1", "latin1", "latin-1", "windows-1252", "cp1252", "ascii", "us-ascii"),
}
_BY_LABEL = {label: codec for codec, labels in _CODECS.items() for label in labels}
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))

_IN_HEADER = re.compile(r"charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_IN_PAGE = re.compile(
    rb"<meta\b[^>]*?\bcharset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE
)
_ALONE = re.compile(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_BEYOND_TWO_BYTES = re.compile("[\u0800-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Text:
    """A body as text."""

    text: str
    encoding: str
    """The codec that read it."""
    replaced: int = 0
    """How many places could not be read and show U+FFFD instead; a page with any of them is suspicious."""
    marked: bool = False
    """Whether the body begins with a byte order mark, which the text does not have."""

    @property
    def is_utf8(self) -> bool:
        """Whether the body is the text in UTF-8, byte for byte."""
        return self.encoding == UTF8 and not self.replaced and not self.marked


def decoded(body: bytes, content_type: str = "", declared: str = "") -> Text:
    """The text of a body.

    `content_type` is the header of the answer, `declared` what the operator says of the source. A byte order mark
    decides. Otherwise the labels are tried in the order declared, header, page, then UTF-8, then Korean; the first
    that reads every byte is right, so a wrong label is corrected. Where none does, the one that loses least is taken.
    """
    for mark, codec in _MARKS:
        if body.startswith(mark):
            return replace(_replacing(body[len(mark) :], codec), marked=True)
    if body.isascii():
        return Text(body.decode("ascii"), UTF8)
    labels = _labels(body, content_type, declared)
    for codec in _candidates(body, labels):
        text = _strictly(body, codec)
        if text is not None:
            return _corrected(body, Text(text, codec))
    broken = [_replacing(body, codec) for codec in dict.fromkeys((*labels, UTF8, KOREAN))]
    return min(broken, key=lambda one: one.replaced)


def codec_of(label: str) -> str | None:
    """The codec that a label names; None for a label that no page has."""
    return _BY_LABEL.get(label.strip().lower())


def _labels(body: bytes, content_type: str, declared: str) -> list[str]:
    """The codecs that are claimed, the surest claim first."""
    header = _IN_HEADER.search(content_type)
    page = _IN_PAGE.search(body, 0, LABELLED_WITHIN)
    inside = (page[1] or page[2]).decode("ascii", "replace") if page else ""
    codecs_found = (codec_of(label) for label in (declared, header[1] if header else "", inside))
    return list(dict.fromkeys(codec for codec in codecs_found if codec))


def _candidates(body: bytes, labels: list[str]) -> list[str]:
    """What to try in which order.

    Western codecs read any bytes, and servers name them by default, so such a label only counts last; but before
    Korean when a byte above ASCII stands alone, as letters with accents do and Korean syllables do not.
    """
    sure = [codec for codec in labels if codec != WESTERN]
    if WESTERN not in labels:
        return list(dict.fromkeys((*sure, UTF8, KOREAN)))
    last = (WESTERN, KOREAN) if _ALONE.search(body) else (KOREAN, WESTERN)
    return list(dict.fromkeys((*sure, UTF8, *last)))


def _strictly(body: bytes, codec: str) -> str | None:
    try:
        return body.decode(codec)
    except UnicodeDecodeError:
        return None


def _corrected(body: bytes, found: Text) -> Text:
    """UTF-8 after all, where a two-byte codec happened to read it too.

    Some Korean text in UTF-8 is also valid CP949 (of Chinese characters). The other way round needs luck at every
    syllable, and never gives a character of three bytes, which every Korean one has.
    """
    if found.encoding in {UTF8, WESTERN}:
        return found
    text = _strictly(body, UTF8)
    return Text(text, UTF8) if text is not None and _BEYOND_TWO_BYTES.search(text) else found


def _replacing(body: bytes, codec: str) -> Text:
    text = _strictly(body, codec)
    if text is not None:
        return Text(text, codec)
    text = body.decode(codec, "replace")
    return Text(text, codec, text.count("\ufffd"))
