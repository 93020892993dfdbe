"""Tables the mining stage hands to its workers, through scratch files they load once.

A file is named by the digest of its content, so a worker process that serves several runs can never
take the tables of one for those of another.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import numpy as np
import orjson

from nclue_build.core.canonical import sha256_bytes
from nclue_build.mine.occurrences import Matcher, Pattern
from nclue_build.mine.profile import Lexicon
from nclue_build.store.atomic import write_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_ARRAYS: Final = (
    "classes",
    "form_keys",
    "named_keys",
    "first_document",
    "template_keys",
    "verb_marks",
    "determiners",
    "place_marks",
)


def save_lexicon(folder: Path, lexicon: Lexicon) -> Path:
    """Write a lexicon (the vocabulary in id order, and the arrays); returns the file to load it from."""
    buffer = io.BytesIO()
    words = np.frombuffer(orjson.dumps(list(lexicon.vocabulary)), dtype=np.uint8)
    np.savez(buffer, words=words, **{name: getattr(lexicon, name) for name in _ARRAYS})
    return _save(folder, "lexicon", buffer.getvalue())


@lru_cache(maxsize=1)
def load_lexicon(path: Path) -> Lexicon:
    """Read a lexicon, once per worker and content."""
    with np.load(path) as arrays:
        words = orjson.loads(arrays["words"].tobytes())
        return Lexicon(
            vocabulary={word: index for index, word in enumerate(words, start=1)},
            **{name: arrays[name] for name in _ARRAYS},
        )


def save_patterns(folder: Path, patterns: Sequence[Pattern]) -> Path:
    """Write the aliases to look for; returns the file to load them from."""
    rows = [(pattern.form, pattern.match, pattern.owner) for pattern in patterns]
    return _save(folder, "patterns", orjson.dumps(rows))


@lru_cache(maxsize=1)
def load_matcher(path: Path) -> Matcher:
    """Read and compile the aliases, once per worker and content."""
    return Matcher([Pattern(form, match, owner) for form, match, owner in orjson.loads(path.read_bytes())])


def _save(folder: Path, name: str, data: bytes) -> Path:
    path = folder / f"{name}-{sha256_bytes(data)[:32]}"
    write_bytes(path, data)
    return path
