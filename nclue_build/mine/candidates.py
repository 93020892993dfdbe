"""Which n-grams become candidate forms: noun phrases inside the document-frequency window."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.mine import misread, ngrams, tokens, words
from nclue_build.mine.profile import Lexicon, build_lexicon

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

TEMPLATE_DOCUMENTS: Final = 4
"""A run of eight words that stands in so many documents is template text."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words that occur in enough documents to be part of a candidate.

    Args:
        ids: Word -> id, from 1.
        classes: uint32 by id.
        compounds: Closed word of the vocabulary -> its hyphenated spellings anywhere in the corpus.
        misreadings: Word of the vocabulary -> what recognition of text made of it; none of these is in the vocabulary.
    """

    ids: dict[str, int]
    classes: NDArray[np.uint32]
    compounds: dict[str, tuple[str, ...]]
    misreadings: dict[str, tuple[str, ...]]


def build_vocabulary(
    documents: Iterable[tuple[Iterable[str], AbstractSet[str]]], min_documents: int, *, fuzzy: bool = False
) -> Vocabulary:
    """Count words over documents and classify those that are frequent enough.

    A word in fewer documents cannot be part of a form that is in enough of them.

    Args:
        documents: Of each, its distinct words, and those of them that stand on recognised pages alone.
        min_documents: Documents a word must be in.
        fuzzy: Whether misread words are looked for (:mod:`nclue_build.mine.misread`).
    """
    frequency: Counter[str] = Counter()
    recognised: Counter[str] = Counter()
    for document, only_recognised in documents:
        frequency.update(document)
        recognised.update(only_recognised)
    variants: dict[str, tuple[str, ...]] = {}
    if fuzzy:
        doubtful = {word for word, count in recognised.items() if count == frequency[word]}
        variants = misread.misreadings(frequency, doubtful, _is_english)
    misreadings = {variant for group in variants.values() for variant in group}
    kept = sorted(word for word, count in frequency.items() if count >= min_documents and word not in misreadings)
    classes = np.concatenate([np.array([words.ODD], dtype=np.uint32), words.classify(kept)])
    ids = {word: index for index, word in enumerate(kept, start=1)}
    compounds: dict[str, tuple[str, ...]] = {}
    for word in sorted(frequency):
        closed = word.replace("-", "")
        if word.count("-") == 1 and closed in ids:
            compounds[closed] = (*compounds.get(closed, ()), word)
    return Vocabulary(ids, classes, compounds, {word: variants[word] for word in sorted(variants) if word in ids})


def _is_english(word: str) -> bool:
    """Whether the tagger knows a folded word."""
    return word.isalpha() and not int(words.classify([word])[0]) & words.UNKNOWN


def bare_lexicon(vocabulary: Vocabulary, named: Collection[str] | None = None) -> Lexicon:
    """A lexicon that knows the words, and no forms yet but those that were named."""
    none = np.zeros(0, dtype=np.uint64)
    keys = form_keys(named or (), vocabulary)
    return build_lexicon(vocabulary.ids, vocabulary.classes, none, none.astype(np.int64), none, keys)


def document_keys(
    stream: tokens.TokenStream, ids: NDArray[np.int64], classes: NDArray[np.uint32], named: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Distinct keys of one document: its noun phrases and the named forms it holds, and its runs of eight words."""
    mixed = ngrams.mix(ids)
    phrases = [
        ngrams.keys(mixed, length)[ngrams.candidate_places(mixed, classes[ids], stream.flags, length, named)]
        for length in range(1, ngrams.MAX_WORDS + 1)
    ]
    runs = ngrams.keys(mixed, ngrams.TEMPLATE_WORDS)[ngrams.template_runs(ids, stream.flags)]
    return np.unique(np.concatenate(phrases)), np.unique(runs)


def form_keys(forms: Iterable[str], vocabulary: Vocabulary) -> NDArray[np.uint64]:
    """Sorted keys of forms, all words of which are in the vocabulary."""
    found: list[NDArray[np.uint64]] = []
    for form in sorted(set(forms)):
        ids = tokens.word_ids(tokens.TOKEN.findall(form), vocabulary.ids)
        if len(ids) and ids.all():
            found.append(ngrams.keys(ngrams.mix(ids), len(ids)))
    return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.uint64)


def select(
    vocabulary: Vocabulary,
    phrases: Sequence[NDArray[np.uint64]],
    runs: Sequence[NDArray[np.uint64]],
    window: tuple[int, int],
    named: Collection[str] | None = None,
) -> tuple[Lexicon, dict[str, int]]:
    """Candidate forms and template runs from the keys of all documents.

    Args:
        vocabulary: Of the corpus.
        phrases: Keys of the noun phrases of every document.
        runs: Keys of the word runs of every document.
        window: Fewest and most documents of a form.
        named: Folded forms that alone may become candidates; None: all.

    Returns:
        The lexicon, and how many distinct n-grams were seen, too rare and too common.
    """
    keys, counts, first = ngrams.count_documents(phrases)
    min_documents, max_documents = window
    inside = (counts >= min_documents) & (counts <= max_documents)
    named_keys = form_keys(named or (), vocabulary)
    if named is not None:
        inside &= np.isin(keys, named_keys)
    run_keys, run_counts, _ = ngrams.count_documents(runs)
    lexicon = build_lexicon(
        vocabulary.ids,
        vocabulary.classes,
        keys[inside],
        first[inside],
        run_keys[run_counts >= TEMPLATE_DOCUMENTS],
        named_keys,
    )
    seen = {
        "ngrams": len(keys),
        "ngrams_too_rare": int((counts < min_documents).sum()),
        "ngrams_too_common": int((counts > max_documents).sum()),
    }
    return lexicon, seen
