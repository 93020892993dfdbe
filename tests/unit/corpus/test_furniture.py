from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.corpus.furniture import Furniture

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.corpus.lines import Line, RawPage
    from nclue_build.records.corpus import Role


def roles(pages: list[RawPage]) -> list[list[Role | None]]:
    furniture = Furniture()
    for page in pages:
        furniture.observe(page)
    furniture.settle(1000)
    return [furniture.roles(page) for page in pages]


def test_lines_repeating_at_one_place_are_furniture(
    make_line: Callable[..., Line], make_page: Callable[..., RawPage]
) -> None:
    pages = [
        make_page(
            [
                make_line("Strategic Plan", y=40),
                make_line(f"body text of page {number}", y=300),
                make_line(f"Page {number} of 9", y=750),
                make_line("Office of Programs", x=400, y=750),
            ],
            number,
        )
        for number in range(1, 10)
    ]
    assert roles(pages) == [["header", None, "page_number", "footer"]] * 9


def test_text_that_repeats_in_the_middle_of_the_page_is_text(
    make_line: Callable[..., Line], make_page: Callable[..., RawPage]
) -> None:
    pages = [make_page([make_line("Performance Indicators", y=300)], number) for number in range(1, 10)]
    assert roles(pages) == [[None]] * 9


def test_a_first_line_that_differs_on_every_page_is_text(
    make_line: Callable[..., Line], make_page: Callable[..., RawPage]
) -> None:
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"]
    pages = [make_page([make_line(f"The {word} came first", y=80)], number) for number, word in enumerate(words, 1)]
    assert roles(pages) == [[None]] * 8


def test_odd_and_even_pages_may_differ(make_line: Callable[..., Line], make_page: Callable[..., RawPage]) -> None:
    pages = [
        make_page([make_line("Left head" if number % 2 else "Right head", x=50 if number % 2 else 400, y=40)], number)
        for number in range(1, 9)
    ]
    assert roles(pages) == [["header"]] * 8


def test_chapter_heads_count_even_when_a_chapter_has_one_page(
    make_line: Callable[..., Line], make_page: Callable[..., RawPage]
) -> None:
    chapters = ["Scope"] * 4 + ["Methods"] * 4 + ["Contacts"]
    pages = [make_page([make_line(chapter, y=40, size=8)], number) for number, chapter in enumerate(chapters, 1)]
    assert roles(pages) == [["header"]] * 9


def test_figures_of_a_table_at_the_foot_are_no_page_numbers(
    make_line: Callable[..., Line], make_page: Callable[..., RawPage]
) -> None:
    figures = [17, 4, 88, 23, 51, 9]
    pages = [make_page([make_line(str(figure), y=750)], number) for number, figure in enumerate(figures, 1)]
    assert roles(pages) == [[None]] * 6


def test_roman_and_bare_numbers_that_grow_are_page_numbers(
    make_line: Callable[..., Line], make_page: Callable[..., RawPage]
) -> None:
    numbers = ["i", "ii", "iii", "iv", "1", "2", "3", "4"]
    pages = [make_page([make_line(text, y=750)], number) for number, text in enumerate(numbers, 1)]
    assert roles(pages) == [["page_number"]] * 8


def test_letters_that_only_look_like_roman_numbers_are_none(
    make_line: Callable[..., Line], make_page: Callable[..., RawPage]
) -> None:
    texts = ["\u0131", "\u0131\u0131", "\u0130", "\u017f"]  # the Turkish i without a dot counts as i in a regex
    pages = [make_page([make_line(text, y=750)], number) for number, text in enumerate(texts, 1)]
    assert roles(pages) == [[None]] * 4


def test_large_titles_at_the_top_are_no_heads(
    make_line: Callable[..., Line], make_page: Callable[..., RawPage]
) -> None:
    pages = [
        make_page(
            [make_line("Findings" if number in {3, 4, 5} else f"Chapter title {'x' * number}", y=40, size=24)], number
        )
        for number in range(1, 21)
    ]
    assert roles(pages) == [[None]] * 20
