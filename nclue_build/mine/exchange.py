"""Tables the mining stage hands to its workers, through scratch files they load once."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import orjson

from nclue_build.mine.occurrences import Matcher, Pattern
from nclue_build.mine.profile import Lexicon
from nclue_build.store.atomic import atomic_writer, write_bytes

if TYPE_CHECKING:
    from pathlib import Path

_ARRAYS: Final = ("classes", "form_keys", "first_document", "template_keys", "verb_marks", "determiners")


def save_lexicon(folder: Path, lexicon: Lexicon) -> None:
    """Write a lexicon: the vocabulary in id order, and the arrays."""
    write_bytes(folder / "vocabulary.json", orjson.dumps(list(lexicon.vocabulary)))
    with atomic_writer(folder / "lexicon.npz") as stream:
        np.savez(stream, **{name: getattr(lexicon, name) for name in _ARRAYS})


@lru_cache(maxsize=1)
def load_lexicon(folder: Path, run: str) -> Lexicon:  # noqa: ARG001 - tells the tables of one pass from the next
    """Read a lexicon, once per worker and pass."""
    words = orjson.loads((folder / "vocabulary.json").read_bytes())
    with np.load(folder / "lexicon.npz") as arrays:
        return Lexicon(
            vocabulary={word: index for index, word in enumerate(words, start=1)},
            **{name: arrays[name] for name in _ARRAYS},
        )


def save_patterns(folder: Path, patterns: list[Pattern]) -> None:
    """Write the aliases to look for."""
    rows = [(pattern.form, pattern.match, pattern.owner) for pattern in patterns]
    write_bytes(folder / "patterns.json", orjson.dumps(rows))


@lru_cache(maxsize=1)
def load_matcher(folder: Path, run: str) -> Matcher:  # noqa: ARG001 - as above
    """Read and compile the aliases, once per worker and pass."""
    rows = orjson.loads((folder / "patterns.json").read_bytes())
    return Matcher([Pattern(form, match, owner) for form, match, owner in rows])
