from __future__ import annotations

import pytest

from nclue_build.records.config import BuildConfig


def config(**tables: dict[str, object]) -> BuildConfig:
    return BuildConfig.model_validate({"schema": 1, "corpus": {"pdfs": "x"}, **tables})


@pytest.mark.parametrize(
    ("n_documents", "min_documents", "share", "min_subsets"),
    [
        (20, 3, 0.40, 2),
        (79, 3, 0.40, 9),
        (80, 3, 0.40, 10),
        (99, 3, 0.40, 10),
        (100, 5, 0.04, 10),
        (1000, 5, 0.04, 10),
        (1099, 5, 0.04, 10),
        (1500, 5, 0.04, 15),
        (2000, 5, 0.04, 20),
        (5000, 5, 0.04, 20),
    ],
)
def test_defaults_follow_the_size_of_the_corpus(
    n_documents: int, min_documents: int, share: float, min_subsets: int
) -> None:
    resolved = config().resolve(n_documents)
    assert resolved.mine.min_documents == min_documents
    assert resolved.mine.max_document_share == share
    assert resolved.compose.min_subsets == min_subsets


def test_what_is_written_stays() -> None:
    written = config(mine={"min_documents": 5}, compose={"min_subsets": 10}).resolve(20)
    assert written.mine.min_documents == 5
    assert written.mine.max_document_share == 0.40
    assert written.compose.min_subsets == 10


def test_a_default_written_down_changes_nothing_in_force() -> None:
    for table, key, value in (("mine", "min_documents", 3), ("compose", "min_subsets", 4), ("compose", "seed", 11)):
        assert config(**{table: {key: value}}).in_force(table, 36) == config().in_force(table, 36)  # type: ignore[arg-type]
    assert config(compose={"min_subsets": 5}).in_force("compose", 36)["min_subsets"] == "5"


def test_a_cap_that_grows_with_the_queries_is_not_one_that_does_not() -> None:
    written = config(compose={"max_per_gold": 6})
    assert written.in_force("compose", 36) != config().in_force("compose", 36)
    assert written.in_force("compose", 100) == config().in_force("compose", 100)
