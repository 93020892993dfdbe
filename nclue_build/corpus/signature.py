"""MinHash signatures of documents over word 5-shingles.

Broder, "On the resemblance and containment of documents" (SEQUENCES 1997). datasketch compares and
indexes the signatures; computing them with it hashes every shingle in Python, so here words come as
numbers (:class:`nclue_build.corpus.words.Words`) and shingles are combined in numpy.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_PERMUTATIONS: Final = 128
SHINGLE_WORDS: Final = 5
_CHUNK: Final = 1024
_MULTIPLIER: Final = np.uint64(0x9E3779B97F4A7C15)


def _coefficients() -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    # Fixed by a digest rather than a random generator: no library version can change them.
    words = np.frombuffer(hashlib.shake_256(b"n-clue minhash").digest(8 * N_PERMUTATIONS), dtype="<u4")
    words = words.astype(np.uint32)
    return (words[:N_PERMUTATIONS] | np.uint32(1))[:, None], words[N_PERMUTATIONS:][:, None]


_FACTORS, _TERMS = _coefficients()


class SignatureBuilder:
    """Collects the words of a document page by page; no text is kept."""

    def __init__(self) -> None:
        """Start with no words."""
        self._parts: list[NDArray[np.uint64]] = []

    def add(self, hashes: NDArray[np.uint64]) -> None:
        """Add the words of the next page, 64 bits for each; shingles run on over page ends."""
        self._parts.append(hashes)

    def finish(self) -> bytes:
        """The signature: 128 uint32 values as little-endian bytes, empty without a whole shingle."""
        tokens = np.concatenate(self._parts) if self._parts else np.zeros(0, dtype=np.uint64)
        n_shingles = len(tokens) - SHINGLE_WORDS + 1
        if n_shingles < 1:
            return b""
        shingles = np.zeros(n_shingles, dtype=np.uint64)
        for offset in range(SHINGLE_WORDS):
            shingles = (shingles ^ (shingles >> np.uint64(29))) * _MULTIPLIER + tokens[offset : offset + n_shingles]
        # The upper half depends on all bits of all five words; "affine32" of datasketch permutes 32 bits.
        hashes = ((shingles ^ (shingles >> np.uint64(32))) * _MULTIPLIER >> np.uint64(32)).astype(np.uint32)
        values = np.full(N_PERMUTATIONS, np.iinfo(np.uint32).max, dtype=np.uint32)
        room = np.empty((N_PERMUTATIONS, _CHUNK), dtype=np.uint32)
        for start in range(0, len(hashes), _CHUNK):
            part = hashes[None, start : start + _CHUNK]
            permuted = np.multiply(_FACTORS, part, out=room[:, : part.shape[1]])
            permuted += _TERMS
            np.minimum(values, permuted.min(axis=1), out=values)
        return values.astype("<u4").tobytes()
