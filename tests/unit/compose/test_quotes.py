from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nclue_build.compose.quotes import MAX_LENGTH, MIN_LENGTH, FoundQuote, find_quote, prepare_page, stands_on_page
from nclue_build.core.text import readings
from nclue_build.records.inventory import Alias, Match

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.records.corpus import PageRow, Role

    Quote = Callable[..., FoundQuote | str]
    Found = Callable[..., str]

ROLES: frozenset[Role] = frozenset({"title", "text", "list", "table", "caption", "footnote"})
BODY: tuple[Role, str] = (
    "text",
    "This paragraph is about something else and has enough words to make a page of text.",
)


def alias(form: str, match: Match = "folded") -> Alias:
    return Alias(form=form, match=match, document_frequency=1, page_frequency=1)


@pytest.fixture
def quote(make_page_row: Callable[..., PageRow]) -> Quote:
    def look(
        form: str, *blocks: tuple[Role, str], match: Match = "folded", flags: tuple[str, ...] = ()
    ) -> FoundQuote | str:
        page = prepare_page(make_page_row(*blocks, page=4, flags=flags), ROLES)
        return find_quote(page, [alias(form, match)])

    return look


@pytest.fixture
def found(quote: Quote) -> Found:
    def look(form: str, *blocks: tuple[Role, str], match: Match = "folded") -> str:
        result = quote(form, *blocks, match=match)
        assert isinstance(result, FoundQuote), result
        assert result.page == 4
        return result.text

    return look


def test_the_quote_is_the_whole_sentence(found: Found) -> None:
    text = (
        "The year began well. In March the Board adopted a policy on water reuse across the Region. "
        "Work then went on as planned until summer."
    )
    assert found("water reuse", ("text", text)) == (
        "In March the Board adopted a policy on water reuse across the Region."
    )


def test_abbreviations_end_no_sentence(found: Found) -> None:
    text = "Funds came from the U.S. Department of the Interior, and Dr. Smith reported on water reuse in Fig. 3 there."
    assert found("water reuse", ("text", text)) == text


def test_a_word_broken_at_a_line_end_is_quoted_as_it_stands(found: Found) -> None:
    text = "The committee looked at the cost of ground-\nwater for all of the people living in the valley."
    piece = found("groundwater", ("text", text))
    assert piece == text
    assert found("ground-water", ("text", text)) == text
    assert stands_on_page(piece, alias("groundwater"), readings(text))


def test_long_sentences_are_cut_between_words(found: Found) -> None:
    text = "and then " * 60 + "the matter of water reuse came up again " + "but it was put off " * 40
    piece = found("water reuse", ("text", text))
    assert MIN_LENGTH <= len(piece) <= MAX_LENGTH
    assert piece in text
    assert f" {piece} " in f" {text} "
    assert "water reuse" in piece


def test_short_sentences_take_in_their_neighbour(found: Found) -> None:
    text = "Water reuse helps. It lowers the demand on wells in every dry year that we know of."
    assert len(found("water reuse", ("text", text))) >= MIN_LENGTH


def test_running_text_wins_over_headings_and_tables(found: Found) -> None:
    sentence = "Most farms in the valley have come to depend on water reuse for their crops."
    blocks: list[tuple[Role, str]] = [
        ("title", "Water reuse"),
        ("table", "plants with water reuse in the valley by year and also by size of the plant"),
        ("text", sentence),
    ]
    assert found("water reuse", *blocks) == sentence


def test_a_heading_is_a_quote_of_last_resort(quote: Quote, found: Found) -> None:
    assert found("water reuse", ("title", "Water reuse"), BODY) == "Water reuse"
    assert quote("water reuse", ("title", "Water reuse")) == "fragment"
    result = quote("water reuse", ("title", "Water reuse"), BODY)
    assert isinstance(result, FoundQuote)
    assert result.is_heading
    assert not result.is_running_text


def test_a_short_heading_must_head_running_text(quote: Quote, found: Found) -> None:
    label: tuple[Role, str] = ("title", "2.1. Water Reuse")
    assert quote("water reuse", BODY, label) == "bare_heading"
    assert quote("water reuse", label, ("text", "Role: Lead Agency"), BODY) == "bare_heading"
    assert quote("water reuse", label, ("title", "Another heading"), BODY) == "bare_heading"
    assert found("water reuse", ("title", "How water reuse pays in the desert"), ("title", "Costs"), BODY) == (
        "How water reuse pays in the desert"
    )


def test_a_page_of_placeholder_text_gives_no_quote(quote: Quote) -> None:
    text: tuple[Role, str] = ("text", "Most farms in the valley have come to depend on water reuse for their crops.")
    assert quote("water reuse", text, flags=("placeholder_text",)) == "placeholder"
    assert quote("water reuse", text, flags=("low_word_ratio",)) != "placeholder"


@pytest.mark.parametrize(
    ("reason", "role", "text"),
    [
        ("not_on_page", "text", "Nothing here is about that."),
        ("not_on_page", "header", "Most farms in the valley have come to depend on water reuse for their crops."),
        ("fragment", "text", "Water reuse"),
        ("fragment", "list", "\u2022 water reuse, http://www.example.org/pkg/water/reuse/of/all/kinds/and/more"),
        ("fragment", "text", "Water reuse 1,204 33.1 45.2 99.8 12.0 14.4 17.5 34.4 12.2 40.1"),
        ("not_on_page", "toc", "Chapter on the history of water reuse in the region . . . . . . . . . . . 14"),
        ("names_only", "table", "Water Reuse Board, Valley Farm Bureau, State Land Office, Desert Wells Company"),
    ],
)
def test_refusals(reason: str, role: Role, text: str, quote: Quote) -> None:
    assert quote("water reuse", (role, text)) == reason


def test_one_word_inside_a_longer_name_is_refused(quote: Quote, found: Found) -> None:
    inside = "The members of the Advisory Committee on Immunization Practices met in the spring and again in the fall."
    assert quote("immunization", ("text", inside)) == "part_of_name"
    free = "By the fall, Immunization of all of the children in the county was nearly complete."
    assert found("immunization", ("text", inside), ("text", free)) == free


def test_exact_aliases_keep_their_case(quote: Quote, found: Found) -> None:
    text = "The people who went there said that it was safe to go back into the houses."
    assert quote("WHO", ("text", text), match="exact") == "not_on_page"
    assert found("who", ("text", text)) == text


def test_no_part_of_a_word_counts(quote: Quote) -> None:
    text = "The people in charge of the waterway said that it was safe to go back into the houses."
    assert quote("water", ("text", text)) == "not_on_page"
