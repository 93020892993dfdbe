from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.mine import candidates, ngrams, tokens, words
from nclue_build.mine.profile import FEATURES, CorpusProfile, profile_document

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.records.corpus import PageRow

ROLES = frozenset({"text", "title"})


def phrases(row: PageRow) -> set[str]:
    """Noun phrases found in a text, by string."""
    stream = tokens.tokenize([row], ROLES)
    classes = words.classify(stream.folded)
    found = set()
    for length in range(1, ngrams.MAX_WORDS + 1):
        mask = ngrams.noun_phrases(classes, stream.flags, length)
        found |= {" ".join(stream.folded[place : place + length]) for place in np.flatnonzero(mask)}
    return found


def test_a_phrase_never_crosses_punctuation_or_blocks(make_page_row: Callable[..., PageRow]) -> None:
    stream = tokens.tokenize([make_page_row(("text", "flood risk, mapping"), ("text", "survey (river) basin"))], ROLES)
    joined = [bool(flag & tokens.GAP_SPACE) for flag in stream.flags]
    assert stream.folded == ["flood", "risk", "mapping", "survey", "river", "basin"]
    assert joined == [True, False, False, False, False, False]


def test_noun_phrases_end_on_nouns_and_start_on_content(make_page_row: Callable[..., PageRow]) -> None:
    found = phrases(
        make_page_row(("text", "The agency will provide groundwater monitoring of the coastal aquifer quickly"))
    )
    assert {"groundwater monitoring", "coastal aquifer", "groundwater monitoring of the coastal aquifer"} & found
    assert not any(
        text.startswith(("the ", "will ", "of ")) or text.endswith((" of", " the", " quickly")) for text in found
    )


def test_possessives_stand_inside_names_only(make_page_row: Callable[..., PageRow]) -> None:
    found = phrases(make_page_row(("text", "the children's health insurance program and the agency's")))
    assert "children's health insurance program" in found
    assert not any(text.endswith("'s") for text in found)


@given(st.lists(st.integers(0, 50), max_size=30), st.integers(1, 5))
def test_keys_are_equal_exactly_when_the_words_are(ids: list[int], length: int) -> None:
    keys = ngrams.keys(ngrams.mix(np.array(ids, dtype=np.int64)), length).tolist()
    grams = [tuple(ids[place : place + length]) for place in range(len(ids) - length + 1)]
    assert len(keys) == len(grams)
    assert len(set(keys)) == len(set(grams))


def profile_of(
    documents: list[list[PageRow]], min_documents: int = 2, named: set[str] | None = None
) -> dict[str, dict[str, int]]:
    streams = [tokens.tokenize(pages, ROLES) for pages in documents]
    vocabulary = candidates.build_vocabulary(((set(stream.folded), set()) for stream in streams), min_documents)
    named_keys = candidates.bare_lexicon(vocabulary, named).named_keys
    keys = [
        candidates.document_keys(stream, tokens.word_ids(stream.folded, vocabulary.ids), vocabulary.classes, named_keys)
        for stream in streams
    ]
    lexicon, _ = candidates.select(
        vocabulary, [a for a, _ in keys], [b for _, b in keys], (min_documents, len(documents)), named
    )
    total = CorpusProfile(len(lexicon.form_keys))
    for index, stream in enumerate(streams):
        total.add(profile_document(stream, lexicon, index))
    return {
        text: dict(zip(FEATURES, map(int, row), strict=True)) | {"right": int(right)}
        for text, row, right in zip(total.strings, total.counts, total.fixed_right(), strict=True)
    }


def test_profile_counts_what_a_reader_would_count(make_page_row: Callable[..., PageRow]) -> None:
    documents = [
        [
            make_page_row(("title", "Sediment transport matters here")),
            make_page_row(("text", "We model sediment transport."), page=2),
        ],
        [make_page_row(("text", "Old sediment transport models and sediment transport surveys; Sediment: yes"))],
    ]
    found = profile_of(documents)
    assert found["sediment transport"]["documents"] == 2
    assert found["sediment transport"]["mentions"] == 4
    assert found["sediment transport"]["pages"] == 3
    assert found["sediment transport"]["heading_mentions"] == 1
    assert found["sediment"]["mentions"] == 5
    assert found["sediment"]["nested"] == 4
    assert found["sediment"]["labels"] == 1
    assert found["sediment"]["right"] == 4


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Set \\sediment to nothing.", True),
        ("Call sediment(3) twice.", True),
        ("With sediment=3 it ends.", True),
        ("An {sediment} too.", True),
        ("The user@sediment part.", True),
        ("The sediment (mud) and [sediment] or 'sediment', and/or sediment.", False),
        ("Old sediment: fine; sediment-rich sediment.", False),
    ],
)
def test_words_in_code_are_told_by_the_signs_they_touch(
    make_page_row: Callable[..., PageRow], text: str, *, code: bool
) -> None:
    found = profile_of([[make_page_row(("text", text))]] * 2)["sediment"]
    assert found["code"] == (2 if code else 0)


def test_words_repeated_across_documents_are_template_text(make_page_row: Callable[..., PageRow]) -> None:
    boilerplate = "this survey form was filled in under the coastal protection ordinance of the islands"
    documents = [[make_page_row(("text", f"{boilerplate}. Year{index} saw coastal erosion"))] for index in range(4)]
    found = profile_of(documents)
    assert found["coastal protection ordinance"]["template_documents"] == 4
    assert found["coastal erosion"]["template_documents"] == 0


def test_headings_of_a_form_belong_to_its_template(make_page_row: Callable[..., PageRow]) -> None:
    boilerplate = "whoever runs these premises has to sign the keeper statement and the tide warning below"
    headings = [("title", "Part E. Keeper statement"), ("title", "Tide warning"), ("title", "Coastal erosion")]
    documents = [
        [make_page_row(*headings, ("text", f"{boilerplate}. Year{index} saw a tide warning in May"))]
        for index in range(4)
    ]
    found = profile_of(documents)
    assert found["keeper statement"]["template_documents"] == 4
    assert found["tide warning"]["template_documents"] == 0  # the prose speaks of it, too
    assert found["coastal erosion"]["template_documents"] == 0  # headings alone make no template


def test_no_documents_give_no_forms() -> None:
    assert profile_of([[], []]) == {}


def test_named_forms_count_whatever_their_words_look_like(make_page_row: Callable[..., PageRow]) -> None:
    """A model proposes, pages decide: a form it names need be no noun phrase, and must be in enough documents."""
    text = "The board asks whom to recycle quickly when coastal flooding comes, because coastal flooding is near."
    documents = [[make_page_row(("text", text))], [make_page_row(("text", text)), make_page_row(("text", "x"), page=2)]]
    counted = profile_of(documents)
    assert "coastal flooding" in counted
    assert "to recycle quickly" not in counted
    named = profile_of(
        documents, named={"to recycle quickly", "coastal flooding", "never recycle", "flooding comes because"}
    )
    assert set(named) == {"to recycle quickly", "coastal flooding"}
    assert named["coastal flooding"] == counted["coastal flooding"]
    assert named["to recycle quickly"]["mentions"] == 2
    assert profile_of([*documents, []], 3, {"coastal flooding"}) == {}
    assert profile_of(documents, named=set()) == {}
