"""Occurrences by token windows, on texts worked out by hand."""

from __future__ import annotations

from nclue_build.records.corpus import Block
from nclue_build.records.inventory import Alias, Condition, Verdict
from nclue_build.rederive.windows import AliasKey, FormTable, conditions_in, is_matchable, place_of_quote, scan_page

ROLES = frozenset({"title", "text"})


def alias(form: str, match: str = "folded") -> Alias:
    return Alias.model_validate({"form": form, "match": match, "document_frequency": 0, "page_frequency": 0})


def table(*conditions: tuple[Alias, ...]) -> FormTable:
    return FormTable(
        [
            Condition(
                condition_id=f"c{number}",
                name="name",
                aliases=aliases,
                document_frequency=0,
                page_frequency=0,
                verdict=Verdict(judge="test", reason="test"),
            )
            for number, aliases in enumerate(conditions)
        ]
    )


def mentions(text: str, *aliases: Alias, role: str = "text") -> int:
    block = Block.model_validate({"role": role, "text": text})
    found, _ = scan_page([block], ROLES, table(aliases))
    return found[0].mentions if found else 0


def test_nested_and_overlapping_occurrences_all_count() -> None:
    block = Block(role="text", text="climate change adaptation")
    found, aliases = scan_page([block], ROLES, table((alias("climate change"),), (alias("change adaptation"),)))
    assert sorted(found) == [0, 1]
    assert aliases == {AliasKey(0, 0), AliasKey(1, 0)}
    assert mentions("new new new york", alias("new new")) == 2


def test_aliases_that_start_at_one_place_are_one_mention() -> None:
    assert mentions("climate change adaptation", alias("climate change"), alias("climate change adaptation")) == 1


def test_word_characters_at_the_edge_prevent_an_occurrence() -> None:
    assert mentions("preWHO WHOs _WHO WHO1", alias("WHO", "exact")) == 0
    assert mentions("(WHO) 'WHO' WHO, WHO-led", alias("WHO", "exact")) == 4


def test_exact_forms_are_case_sensitive_and_folded_ones_are_not() -> None:
    assert mentions("who said WHO", alias("WHO", "exact")) == 1
    assert mentions("who said WHO", alias("WHO")) == 2


def test_a_broken_word_is_read_joined_and_hyphenated() -> None:
    assert mentions("cost-\neffective govern-\nment", alias("cost-effective"), alias("government")) == 1
    assert mentions("cost-\neffective cost-effective", alias("cost-effective"), alias("costeffective")) == 2


def test_punctuation_inside_a_form_must_stand_there() -> None:
    assert mentions("U.S. law, US law", alias("U.S. law")) == 1
    assert mentions("at&t", alias("at t")) == 0


def test_blocks_add_up_and_other_roles_do_not_count() -> None:
    blocks = [
        Block(role="text", text="water"),
        Block(role="header", text="water"),
        Block(role="title", text="Water, water"),
    ]
    found, _ = scan_page(blocks, ROLES, table((alias("water"),)))
    assert (found[0].mentions, found[0].in_heading) == (3, True)
    found, _ = scan_page(blocks[::-1], ROLES, table((alias("water"),)))
    assert (found[0].mentions, found[0].in_heading) == (3, True)
    found, _ = scan_page(blocks[:2], ROLES, table((alias("water"),)))
    assert (found[0].mentions, found[0].in_heading) == (1, False)


def test_forms_that_cannot_be_matched_are_told_apart() -> None:
    assert is_matchable(alias("U.S. law"))
    for form in ("U.S.", "(a)", "a  b", "a\nb", " a", "ﬁre"):
        assert not is_matchable(alias(form)), form


def test_a_quote_stands_in_any_reading_of_one_allowed_block() -> None:
    blocks = [Block(role="text", text="The gov-\nernment  acts."), Block(role="header", text="Running head")]
    for quote in ("The government acts.", "The gov-ernment acts.", " The gov-\nernment acts. "):
        assert place_of_quote(blocks, ROLES, quote) == "block"
    for quote in ("acts", "government acts", "gov-ernment acts", "gov-\nernment  acts", "ernment acts."):
        assert place_of_quote(blocks, ROLES, quote) == "piece"
    for quote in ("Government acts", "Running head", " \n", "government act", "overnment acts"):
        assert place_of_quote(blocks, ROLES, quote) == "nowhere"


def test_conditions_of_a_text() -> None:
    forms = table((alias("water"),), (alias("government"),), (alias("WHO", "exact"),))
    assert conditions_in("Govern-\nment who", forms) == {1}
