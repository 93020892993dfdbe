r"""Text normalisation and the one definition of an occurrence.

Raw page text is kept as the reader gave it; matching uses a derived copy whose
rules carry :data:`TEXT_VERSION`. The miner, the judge, the composer and the
independent re-derivation share this module and nothing else of text handling.

**Readings.** A word broken at a line end ("govern-\nment", "cost-\neffective") has
two possible spellings, and no local rule can tell which is meant. A text with such a
break therefore has two readings: one with all broken words joined, one with
all of them hyphenated. Something occurs in the text when it occurs in either.

**Occurrence.** An alias *occurs* at offset ``i`` of a reading when the reading equals
the alias from there on and no word character (``\w``) touches either end. Aliases with
``match = exact`` compare as they stand, ``folded`` ones after :func:`fold`, which never
changes a string's length, so offsets agree. The number of *mentions* of a condition in
a block is the number of distinct offsets at which any of its aliases occurs, in the
reading where that number is largest.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

TEXT_VERSION: Final = 1

_SURROGATE = re.compile("[\ud800-\udfff]")
# The hyphen before what must stand before it: so the search stops at hyphens alone.
_BROKEN_BEHIND = r"(?<=\w.)[ \t\u00a0]*\r?\n\s*(?=\w)"
_RARE_HYPHENS = "\u2010\u2011\u00ad"
_LINE_BREAK_HYPHEN = re.compile(f"[-{_RARE_HYPHENS}]{_BROKEN_BEHIND}")
_PLAIN_LINE_BREAK_HYPHEN = re.compile(f"-{_BROKEN_BEHIND}")
_SUPERSCRIPT_DIGITS = "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079"
_SUPERSCRIPT = re.compile(f"[{_SUPERSCRIPT_DIGITS}]+")
# Removed: NUL, soft hyphen, zero-width characters, BOM, other C0/C1 controls that are no white space.
_INVISIBLE = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_PUNCTUATION = {
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u02bc": "'",
    "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"',
    "\u2010": "-", "\u2011": "-",
}  # fmt: skip


def clean_raw(text: str) -> tuple[str, frozenset[str]]:
    """Make text from a reader storable: no lone surrogates, no NULs.

    Returns:
        The text, and the flags that say what was removed
        (``surrogates_removed``, ``nul_removed``).
    """
    flags: set[str] = set()
    if "\x00" in text:
        text = text.replace("\x00", "")
        flags.add("nul_removed")
    if _SURROGATE.search(text):
        text = _SURROGATE.sub("\ufffd", text)
        flags.add("surrogates_removed")
    return text, frozenset(flags)


def _normalise(text: str) -> str:
    if not text.isascii():
        text = _plain_punctuation(text)
    folded = text.replace("\n", " ")
    is_printable = folded.isprintable()  # then it has no white space but spaces
    if is_printable and "  " not in folded:
        folded = folded.strip()
    else:
        folded = " ".join(folded.split())
        is_printable = is_printable or folded.isprintable()
    if is_printable and folded.isascii():  # nothing below would change it
        return folded
    # Invisible characters go first: one between a letter and its accent would hide them from NFKC.
    text = folded if is_printable else _INVISIBLE.sub("", folded)
    may_have_gaps = len(text) < len(folded)
    if not text.isascii() and not unicodedata.is_normalized("NFKC", text):
        # A superscript figure is a note mark, not part of the word before it ("Congress\u00b9").
        text = _SUPERSCRIPT.sub(lambda match: " " + match.group(), text)
        text = _plain_punctuation(unicodedata.normalize("NFKC", text))
        may_have_gaps = True
    return " ".join(text.split()) if may_have_gaps else text


def _plain_punctuation(text: str) -> str:
    for fancy, plain in _PUNCTUATION.items():  # many times faster than str.translate
        text = text.replace(fancy, plain)
    return text


def _line_break_hyphen(text: str) -> re.Pattern[str]:
    """The pattern of broken words; where a text has only plain hyphens, one that finds them ten times faster."""
    is_plain = text.isascii() or not any(hyphen in text for hyphen in _RARE_HYPHENS)
    return _PLAIN_LINE_BREAK_HYPHEN if is_plain else _LINE_BREAK_HYPHEN


def matching_text(text: str) -> str:
    """The joined reading of a text: NFKC, plain quotes and hyphens, white space folded.

    Idempotent: ``matching_text(matching_text(x)) == matching_text(x)``.
    """
    if "\n" in text:
        text = _line_break_hyphen(text).sub("", text)
    return _normalise(text)


def readings(text: str) -> tuple[str, ...]:
    """Every reading of a text: one, or two when a word is broken at a line end.

    Returns:
        ``(joined,)`` or ``(joined, hyphenated)``.
    """
    broken = _line_break_hyphen(text)
    if "\n" not in text or not broken.search(text):
        return (_normalise(text),)
    joined = _normalise(broken.sub("", text))
    hyphenated = _normalise(broken.sub("-", text))
    return (joined,) if joined == hyphenated else (joined, hyphenated)


def fold(text: str) -> str:
    """Case-fold without changing the length, so that offsets stay valid.

    A character whose full case folding has several characters (such as the German
    sharp s) stays as it is.
    """
    folded = text.casefold()
    if len(folded) == len(text):  # case folding never shrinks: equal length means one to one
        return folded
    return "".join(low if len(low := char.casefold()) == 1 else char for char in text)


def is_word(char: str) -> bool:
    r"""Whether a character is a word character, exactly as ``\w`` means it."""
    return char.isalnum() or char == "_"


def occurs(form: str, text: str) -> bool:
    """Whether a form occurs anywhere in one reading, both as they are to be compared.

    Args:
        form: As it stands for ``exact`` aliases, folded for ``folded`` ones.
        text: A reading, folded for ``folded`` aliases.
    """
    start = text.find(form)
    while start >= 0:
        end = start + len(form)
        if (start == 0 or not is_word(text[start - 1])) and (end == len(text) or not is_word(text[end])):
            return True
        start = text.find(form, start + 1)
    return False
