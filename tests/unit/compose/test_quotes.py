from __future__ import annotations

import pytest

from nclue_build.compose.quotes import MAX_LENGTH, MIN_LENGTH, FoundQuote, find_quote, prepare_page, stands_on_page
from nclue_build.core.text import readings
from nclue_build.records.corpus import Block, Role
from nclue_build.records.inventory import Alias, Match

ROLES = ("title", "text", "list", "table", "caption", "footnote")
BODY = Block(role="text", text="This paragraph is about something else and has enough words to make a page of text.")


def alias(form: str, match: Match = "folded") -> Alias:
    return Alias(form=form, match=match, document_frequency=1, page_frequency=1)


def quote(form: str, *blocks: tuple[Role, str] | Block, match: Match = "folded") -> FoundQuote | str:
    made = [block if isinstance(block, Block) else Block(role=block[0], text=block[1]) for block in blocks]
    return find_quote(prepare_page(4, made, ROLES), [alias(form, match)])


def found(form: str, *blocks: tuple[Role, str] | Block, match: Match = "folded") -> str:
    result = quote(form, *blocks, match=match)
    assert isinstance(result, FoundQuote), result
    assert result.page == 4
    return result.text


def test_the_quote_is_the_whole_sentence() -> None:
    text = (
        "The year began well. In March the Board adopted a policy on water reuse across the Region. "
        "Work then went on as planned until summer."
    )
    assert found("water reuse", ("text", text)) == (
        "In March the Board adopted a policy on water reuse across the Region."
    )


def test_abbreviations_end_no_sentence() -> None:
    text = "Funds came from the U.S. Department of the Interior, and Dr. Smith reported on water reuse in Fig. 3 there."
    assert found("water reuse", ("text", text)) == text


def test_a_word_broken_at_a_line_end_is_quoted_as_it_stands() -> None:
    text = "The committee looked at the cost of ground-\nwater for all of the people living in the valley."
    piece = found("groundwater", ("text", text))
    assert piece == text
    assert found("ground-water", ("text", text)) == text
    assert stands_on_page(piece, alias("groundwater"), readings(text))


def test_long_sentences_are_cut_between_words() -> None:
    text = "and then " * 60 + "the matter of water reuse came up again " + "but it was put off " * 40
    piece = found("water reuse", ("text", text))
    assert MIN_LENGTH <= len(piece) <= MAX_LENGTH
    assert piece in text
    assert f" {piece} " in f" {text} "
    assert "water reuse" in piece


def test_short_sentences_take_in_their_neighbour() -> None:
    text = "Water reuse helps. It lowers the demand on wells in every dry year that we know of."
    assert len(found("water reuse", ("text", text))) >= MIN_LENGTH


def test_running_text_wins_over_headings_and_tables() -> None:
    sentence = "Most farms in the valley have come to depend on water reuse for their crops."
    blocks: list[tuple[Role, str]] = [
        ("title", "Water reuse"),
        ("table", "plants with water reuse in the valley by year and also by size of the plant"),
        ("text", sentence),
    ]
    assert found("water reuse", *blocks) == sentence


def test_a_heading_is_a_quote_of_last_resort() -> None:
    assert found("water reuse", ("title", "Water reuse"), BODY) == "Water reuse"
    assert quote("water reuse", ("title", "Water reuse")) == "fragment"


@pytest.mark.parametrize(
    ("reason", "role", "text"),
    [
        ("not_on_page", "text", "Nothing here is about that."),
        ("not_on_page", "header", "Most farms in the valley have come to depend on water reuse for their crops."),
        ("fragment", "text", "Water reuse"),
        ("fragment", "text", "Water reuse 1,204 33.1 45.2 99.8 12.0 14.4 17.5 34.4 12.2 40.1"),
        ("placeholder", "text", "Lorem ipsum dolor sit amet, water reuse consectetur adipiscing elit sed do eiusmod."),
        ("contents_line", "text", "Chapter on the history of water reuse in the region . . . . . . . . . . . 14"),
        ("names_only", "table", "Water Reuse Board, Valley Farm Bureau, State Land Office, Desert Wells Company"),
    ],
)
def test_refusals(reason: str, role: Role, text: str) -> None:
    assert quote("water reuse", (role, text)) == reason


def test_one_word_inside_a_longer_name_is_refused() -> None:
    inside = "The members of the Advisory Committee on Immunization Practices met in the spring and again in the fall."
    assert quote("immunization", ("text", inside)) == "part_of_name"
    free = "By the fall, Immunization of all of the children in the county was nearly complete."
    assert found("immunization", ("text", inside), ("text", free)) == free


def test_exact_aliases_keep_their_case() -> None:
    text = "The people who went there said that it was safe to go back into the houses."
    assert quote("WHO", ("text", text), match="exact") == "not_on_page"
    assert found("who", ("text", text)) == text


def test_no_part_of_a_word_counts() -> None:
    text = "The people in charge of the waterway said that it was safe to go back into the houses."
    assert quote("water", ("text", text)) == "not_on_page"
