"""How candidate forms are used: counts per document, summed over the corpus.

The features follow what separates concepts from junk without a language model: nesting (C-value, Frantzi,
Ananiadou & Mima 2000), fixed neighbours (a truncated piece of a longer name), template text, labels,
verb contexts, capitals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.core.arrays import find_sorted, offsets
from nclue_build.core.text import fold
from nclue_build.mine import ngrams, tokens, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEATURES: Final = (
    "mentions",
    "documents",
    "pages",
    "heading_mentions",
    "heading_documents",
    "nested",
    "template_documents",
    "labels",
    "verb_contexts",
    "capitalised_inside",
    "all_capitals",
    "inside_sentence",
    "ends_before_capital",
    "starts_after_capital",
    "numbered",
    "after_place",
    "front_documents",
    "code",
)
"""Columns of a profile.

``mentions``, ``documents``, ``pages``: where the form occurs. ``heading_mentions`` and ``heading_documents``: in
titles. ``nested``: mentions inside a longer candidate. ``template_documents``: documents in which it occurs in
template text, and else in headings at most (those of a form are too short to be told as a template's).
``labels``: mentions that are a whole block or end at a colon. ``verb_contexts``: mentions after
"to", a modal or a pronoun. ``inside_sentence``: mentions that do not start a sentence and are not all
capitals, and of these
``capitalised_inside`` with a capital on the last word. ``all_capitals``: mentions all in capitals.
``ends_before_capital``: mentions followed by a capitalised word in the same run, ``starts_after_capital``: preceded by
one, link words between them skipped. ``numbered``: mentions directly followed by a number, ``after_place``: directly
preceded by a preposition of place.
``front_documents``: documents of ten pages and more with it on the first one.
``code``: mentions that touch a sign of code or markup ("\\labelsep", "cbind(", "colorlinks=").
"""
_MAX_LINKS = 2
_FRONT_OF_PAGES = 10
"""Pages from which a document's first one is its front rather than a good part of it."""
_COLUMN: Final = {name: index for index, name in enumerate(FEATURES)}


@dataclass(frozen=True, slots=True)
class DocumentProfile:
    """Profile of the candidate forms that occur in one document.

    Args:
        forms: int64, distinct form indices, ascending.
        counts: int64, forms x :data:`FEATURES`.
        left: (hash, count) of the most frequent left neighbour of each form; count 0 for none.
        right: The same on the right.
        first: Strings, as they stand, of the forms this document is the first to hold, parallel to ``first_forms``.
        first_forms: Indices of those forms.
    """

    forms: NDArray[np.int64]
    counts: NDArray[np.int64]
    left: tuple[NDArray[np.uint64], NDArray[np.int64]]
    right: tuple[NDArray[np.uint64], NDArray[np.int64]]
    first: tuple[str, ...]
    first_forms: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The vocabulary and the candidate forms, shared by all documents.

    Args:
        vocabulary: Word -> id (1-based; 0 is any other word).
        classes: uint32 by word id (:mod:`nclue_build.mine.words`).
        form_keys: uint64, sorted keys of the candidate forms.
        named_keys: uint64, sorted keys of the forms that a model named: they need not look like noun phrases.
        first_document: int64, index of the first document that holds each form.
        template_keys: uint64, sorted keys of word runs that are template text.
        verb_marks: Word ids after which an ambiguous word is a verb.
        determiners: Word ids that precede any noun phrase.
        place_marks: Ids of the prepositions after which a name is most likely that of a place.
    """

    vocabulary: dict[str, int]
    classes: NDArray[np.uint32]
    form_keys: NDArray[np.uint64]
    named_keys: NDArray[np.uint64]
    first_document: NDArray[np.int64]
    template_keys: NDArray[np.uint64]
    verb_marks: NDArray[np.int64]
    determiners: NDArray[np.int64]
    place_marks: NDArray[np.int64]


def profile_document(stream: tokens.TokenStream, lexicon: Lexicon, document: int) -> DocumentProfile:
    """Count how each candidate form is used in one document."""
    ids = tokens.word_ids(stream.folded, lexicon.vocabulary)
    classes = lexicon.classes[ids]
    mixed = ngrams.mix(ids)
    found = [_find(mixed, classes, stream.flags, length, lexicon) for length in range(1, ngrams.MAX_WORDS + 1)]
    start = np.concatenate([places for places, _ in found])
    form = np.concatenate([forms for _, forms in found])
    length = np.repeat(np.arange(1, ngrams.MAX_WORDS + 1), [len(places) for places, _ in found])
    order = np.lexsort((start, form))
    start, form, length = start[order], form[order], length[order]
    forms, group = np.unique(form, return_inverse=True)
    template = _template_mask(mixed, ids, stream.flags, lexicon.template_keys)

    last = start + length - 1
    flags = stream.flags
    counts = np.zeros((len(forms), len(FEATURES)), dtype=np.int64)

    def add(name: str, mask: NDArray[np.bool_]) -> None:
        counts[:, _COLUMN[name]] = np.bincount(group[mask], minlength=len(forms))

    add("mentions", np.ones(len(start), dtype=np.bool_))
    page = stream.pages[start] if len(start) else np.zeros(0, dtype=np.int32)
    distinct = np.unique(group * np.int64(1 << 32) + page) >> np.int64(32) if len(start) else group
    counts[:, _COLUMN["pages"]] = np.bincount(distinct, minlength=len(forms))
    counts[:, _COLUMN["documents"]] = 1
    heading = (flags[start] & tokens.IN_TITLE) != 0
    add("heading_mentions", heading)
    counts[:, _COLUMN["heading_documents"]] = counts[:, _COLUMN["heading_mentions"]] > 0
    add("nested", _nested(start, length, len(flags)))
    covered = _covered(template, start, length)
    elsewhere = np.bincount(group[~covered & ~heading], minlength=len(forms))
    counts[:, _COLUMN["template_documents"]] = (np.bincount(group[covered], minlength=len(forms)) > 0) & (
        elsewhere == 0
    )
    whole = ((flags[start] & tokens.STARTS_BLOCK) != 0) & ((flags[last] & tokens.ENDS_BLOCK) != 0) & ~heading
    add("labels", whole | ((flags[last] & tokens.GAP_COLON) != 0))
    left, right = (_neighbour(ids, flags, *sides) for sides in ((start - 1, start - 1), (last + 1, last)))
    add("verb_contexts", np.isin(left, lexicon.verb_marks))
    shouting = (flags[start] & tokens.ALL_CAPITALS) != 0
    inside = ((flags[start] & tokens.STARTS_SENTENCE) == 0) & ~shouting
    add("all_capitals", shouting)
    add("inside_sentence", inside)
    add("capitalised_inside", inside & ((flags[last] & tokens.CAPITALISED) != 0))
    follows = np.minimum(last + 1, len(flags) - 1)
    add("ends_before_capital", (right >= 0) & ((flags[follows] & tokens.CAPITALISED) != 0))
    add("starts_after_capital", _after_capital(classes, flags, start))
    add("code", ((flags[start] & tokens.AFTER_CODE) != 0) | ((flags[last] & tokens.BEFORE_CODE) != 0))
    joined = (flags[last] & tokens.GAP_SPACE) != 0
    add("numbered", joined & ((flags[follows] & tokens.NUMERIC) != 0))
    add("after_place", np.isin(left, lexicon.place_marks))
    if len(start) and stream.pages[-1] >= _FRONT_OF_PAGES:
        counts[:, _COLUMN["front_documents"]] = np.bincount(group[page == 1], minlength=len(forms)) > 0

    left[np.isin(left, lexicon.determiners)] = -1
    mine = lexicon.first_document[forms] == document
    first_place = np.searchsorted(form, forms[mine])
    return DocumentProfile(
        forms=forms,
        counts=counts,
        left=_top_neighbour(group, left, len(forms)),
        right=_top_neighbour(group, right, len(forms)),
        first=tuple(
            " ".join(stream.words[start[place] : start[place] + length[place]]) for place in first_place.tolist()
        ),
        first_forms=forms[mine],
    )


def _find(
    mixed: NDArray[np.uint64],
    classes: NDArray[np.uint32],
    flags: NDArray[np.uint16],
    length: int,
    lexicon: Lexicon,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    places = np.flatnonzero(ngrams.candidate_places(mixed, classes, flags, length, lexicon.named_keys))
    if not len(places):
        empty = np.zeros(0, dtype=np.int64)
        return empty, empty
    index = find_sorted(lexicon.form_keys, ngrams.keys(mixed, length)[places])
    hit = index >= 0
    return places[hit], index[hit]


def _nested(start: NDArray[np.int64], length: NDArray[np.int64], n_tokens: int) -> NDArray[np.bool_]:
    """Whether each occurrence lies inside a longer one."""
    result = np.zeros(len(start), dtype=np.bool_)
    for longer in range(2, ngrams.MAX_WORDS + 1):
        begins = np.zeros(n_tokens + 1, dtype=np.bool_)
        begins[start[length == longer]] = True
        for shorter in range(1, longer):
            which = np.flatnonzero(length == shorter)
            for offset in range(longer - shorter + 1):
                place = start[which] - offset
                result[which] |= begins[np.maximum(place, 0)] & (place >= 0)
    return result


def _template_mask(
    mixed: NDArray[np.uint64], ids: NDArray[np.int64], flags: NDArray[np.uint16], template_keys: NDArray[np.uint64]
) -> NDArray[np.bool_]:
    """Whether each token lies in a run of words that several documents repeat."""
    mask = np.zeros(len(mixed), dtype=np.bool_)
    places = np.flatnonzero(ngrams.template_runs(ids, flags))
    if not len(places):
        return mask
    known = find_sorted(template_keys, ngrams.keys(mixed, ngrams.TEMPLATE_WORDS)[places]) >= 0
    for place in places[known].tolist():
        mask[place : place + ngrams.TEMPLATE_WORDS] = True
    return mask


def _covered(mask: NDArray[np.bool_], start: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether all tokens of each occurrence are masked."""
    total = offsets(mask)
    covered: NDArray[np.bool_] = total[start + length] - total[start] == length
    return covered


def _neighbour(
    ids: NDArray[np.int64], flags: NDArray[np.uint16], place: NDArray[np.int64], joint: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Id of the token at ``place`` where the token at ``joint`` is joined to its successor, else -1.

    Words outside the vocabulary all count as distinct from each other: they get -1.
    """
    safe_joint = np.clip(joint, 0, max(len(flags) - 1, 0))
    safe_place = np.clip(place, 0, max(len(ids) - 1, 0))
    joined = (joint >= 0) & ((flags[safe_joint] & tokens.GAP_SPACE) != 0)
    neighbour = ids[safe_place]
    return np.where(joined & (neighbour > 0), neighbour, -1)


def _after_capital(
    classes: NDArray[np.uint32], flags: NDArray[np.uint16], start: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether a capitalised word comes before, up to two link words away and joined by single spaces."""
    result = np.zeros(len(start), dtype=np.bool_)
    open_ = np.ones(len(start), dtype=np.bool_)
    for back in range(1, _MAX_LINKS + 2):
        place = start - back
        safe = np.maximum(place, 0)
        open_ &= (place >= 0) & ((flags[safe] & tokens.GAP_SPACE) != 0)
        linking = (classes[safe] & words.LINK) != 0
        result |= open_ & ~linking & ((flags[safe] & tokens.CAPITALISED) != 0)
        open_ &= linking
    return result


def _top_neighbour(
    group: NDArray[np.int64], neighbour: NDArray[np.int64], n_forms: int
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Most frequent neighbour of each form (ties: smallest id) and how often it stands there."""
    known = neighbour >= 0
    pairs, counts = np.unique(
        np.stack([group[known], neighbour[known]], axis=1) if known.any() else np.zeros((0, 2), dtype=np.int64),
        axis=0,
        return_counts=True,
    )
    top = np.zeros(n_forms, dtype=np.uint64)
    top_count = np.zeros(n_forms, dtype=np.int64)
    order = np.lexsort((-pairs[:, 1], counts)) if len(pairs) else np.zeros(0, dtype=np.int64)
    top[pairs[order, 0]] = pairs[order, 1].astype(np.uint64)
    top_count[pairs[order, 0]] = counts[order]
    return top, top_count


class CorpusProfile:
    """Sums document profiles; feed them in document order."""

    def __init__(self, n_forms: int) -> None:
        """Start with nothing counted."""
        self.counts: NDArray[np.int64] = np.zeros((n_forms, len(FEATURES)), dtype=np.int64)
        self.strings: list[str] = [""] * n_forms
        self.spelled: list[str] = [""] * n_forms
        self._left: list[NDArray[np.int64]] = []
        self._right: list[NDArray[np.int64]] = []

    def add(self, profile: DocumentProfile) -> None:
        """Count one document."""
        self.counts[profile.forms] += profile.counts
        for form, text in zip(profile.first_forms.tolist(), profile.first, strict=True):
            self.strings[form] = fold(text)
            self.spelled[form] = text
        for store, (word, count) in ((self._left, profile.left), (self._right, profile.right)):
            held = count > 0
            store.append(np.stack([profile.forms[held], word[held].astype(np.int64), count[held]], axis=1))

    def column(self, name: str) -> NDArray[np.int64]:
        """One feature over all forms."""
        return self.counts[:, _COLUMN[name]]

    def fixed_left(self) -> NDArray[np.int64]:
        """Per form: how often its most frequent left neighbour stands there, 0 for none."""
        return self._fixed(self._left)

    def fixed_right(self) -> NDArray[np.int64]:
        """Per form: how often its most frequent right neighbour stands there, 0 for none."""
        return self._fixed(self._right)

    def _fixed(self, parts: list[NDArray[np.int64]]) -> NDArray[np.int64]:
        most = np.zeros(len(self.counts), dtype=np.int64)
        rows = np.concatenate(parts) if parts else np.zeros((0, 3), dtype=np.int64)
        if not len(rows):
            return most
        rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        begins = np.flatnonzero(np.any(np.diff(rows[:, :2], axis=0, prepend=-1) != 0, axis=1))
        np.maximum.at(most, rows[begins, 0], np.add.reduceat(rows[:, 2], begins))
        return most


def build_lexicon(
    vocabulary: dict[str, int],
    classes: NDArray[np.uint32],
    form_keys: NDArray[np.uint64],
    first_document: NDArray[np.int64],
    template_keys: NDArray[np.uint64],
    named_keys: NDArray[np.uint64],
) -> Lexicon:
    """Put the shared tables together."""

    def known(text: str) -> NDArray[np.int64]:
        return np.array(sorted(vocabulary[word] for word in text.split() if word in vocabulary), dtype=np.int64)

    return Lexicon(
        vocabulary=vocabulary,
        classes=classes,
        form_keys=form_keys,
        named_keys=named_keys,
        first_document=first_document,
        template_keys=template_keys,
        verb_marks=known("to will can could must may might should would shall we they you i who not cannot"),
        determiners=known("the a an its their our his her your this that these those any each every all such some no"),
        place_marks=known("in at near from outside across around throughout"),
    )
