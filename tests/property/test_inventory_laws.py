"""The inventory table against a plain dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.inventory.table import STRONG_MENTIONS, Inventory
from nclue_build.records.inventory import EvidenceRow

if TYPE_CHECKING:
    from random import Random

CONDITIONS = [f"c{index}" for index in range(4)]
DOCUMENTS = [f"d{index}" for index in range(5)]
CELL = st.dictionaries(st.integers(1, 300), st.tuples(st.integers(1, 4), st.booleans()), min_size=1, max_size=4)
TABLE = st.dictionaries(st.tuples(st.sampled_from(CONDITIONS), st.sampled_from(DOCUMENTS)), CELL)


def to_row(key: tuple[str, str], cell: dict[int, tuple[int, bool]]) -> EvidenceRow:
    pages = sorted(cell)
    return EvidenceRow(
        condition_id=key[0],
        doc_id=key[1],
        pages=tuple(pages),
        mentions=tuple(cell[page][0] for page in pages),
        in_heading=tuple(cell[page][1] for page in pages),
    )


@given(TABLE, st.randoms(use_true_random=False))
def test_table_holds_exactly_the_dictionary(
    table: dict[tuple[str, str], dict[int, tuple[int, bool]]], random: Random
) -> None:
    rows = [to_row(key, cell) for key, cell in table.items()]
    random.shuffle(rows)
    inventory = Inventory.from_rows(rows, CONDITIONS[::-1], DOCUMENTS[::-1])
    assert list(inventory.rows()) == [to_row(key, table[key]) for key in sorted(table)]
    found = inventory.find(np.arange(4)[:, None], np.arange(5)[None, :])
    for i, condition in enumerate(CONDITIONS):
        for j, document in enumerate(DOCUMENTS):
            cell = table.get((condition, document), {})
            assert inventory.pages_of(int(found[i, j])) == tuple(sorted(cell))
            assert (found[i, j] == -1) == (not cell)
    strong = [
        sum(count for count, _ in table[key].values()) >= STRONG_MENTIONS
        or any(flag for _, flag in table[key].values())
        for key in sorted(table)
    ]
    assert inventory.strong.tolist() == strong


@given(TABLE, st.dictionaries(st.tuples(st.sampled_from(CONDITIONS), st.sampled_from(DOCUMENTS)), st.none() | CELL))
def test_replacing_is_what_a_dictionary_does(
    table: dict[tuple[str, str], dict[int, tuple[int, bool]]],
    changes: dict[tuple[str, str], dict[int, tuple[int, bool]] | None],
) -> None:
    before = Inventory.from_rows([to_row(key, cell) for key, cell in table.items()], CONDITIONS, DOCUMENTS)
    after = before.replaced({key: None if cell is None else to_row(key, cell) for key, cell in changes.items()})
    expected = {key: cell for key, cell in {**table, **changes}.items() if cell is not None}
    assert list(after.rows()) == [to_row(key, expected[key]) for key in sorted(expected)]
    assert list(before.rows()) == [to_row(key, table[key]) for key in sorted(table)]
