"""What records refuse."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from nclue_build.records.benchmark import Query
from nclue_build.records.corpus import Block, CorpusRow
from nclue_build.records.inventory import EvidenceRow
from nclue_build.workflow.families import FAMILIES

if TYPE_CHECKING:
    from nclue_build.records.base import Record

CONDITION = {"condition_id": "c", "name": "x", "raw_name": "x", "aliases": ["x"]}
QUERY: dict[str, Any] = {
    "query_id": "q", "n": 2, "conditions": [CONDITION, CONDITION | {"condition_id": "d"}], "relaxation": None,
    "forms": {"raw": "", "clean_v2": "", "natural": ""}, "golds": ["d1"], "n_judged": 1,
    "strata": {"l_min": 1, "d_plus": 1, "sources": ["s"]},
}  # fmt: skip


def evidence(**changes: object) -> dict[str, object]:
    return {
        "condition_id": "c",
        "doc_id": "d",
        "pages": [1, 3],
        "mentions": [1, 2],
        "in_heading": [True, False],
    } | changes


def check(model: type[Record], value: object) -> Record:
    return model.model_validate_json(json.dumps(value))


@pytest.mark.parametrize(
    ("model", "value"),
    [
        (CorpusRow, {"doc_id": "d", "source": "s", "file_name": "a.pdf"}),
        (CorpusRow, {"doc_id": "d", "source": "s", "pdf_url": "x"}),
        (CorpusRow, {"doc_id": "d", "source": "s", "url": "x"}),
        (EvidenceRow, evidence()),
        (EvidenceRow, evidence(pages=None, mentions=[], in_heading=[])),
        (Query, QUERY),
        (Block, {"role": "title", "level": 1, "text": "x", "bbox": [0, 0, 1, 1]}),
    ],
)
def test_good_rows(model: type[Record], value: object) -> None:
    record = check(model, value)
    with pytest.raises(ValidationError, match="frozen"):
        record.__setattr__(next(iter(type(record).model_fields)), 1)


@pytest.mark.parametrize(
    ("model", "value", "message"),
    [
        (CorpusRow, {"doc_id": "d", "source": "s"}, "file_name or a URL"),
        (CorpusRow, {"doc_id": "d_p0001", "source": "s", "file_name": "a"}, "ends like a page id"),
        (CorpusRow, {"doc_id": "d", "source": "s", "file_name": "a", "sha256": "ABC"}, "pattern"),
        (CorpusRow, {"doc_id": "d", "source": "s", "file_name": "a", "n_pages": 1.0}, "integer"),
        (CorpusRow, {"doc_id": "d", "source": "s", "file_name": "a", "colour": 1}, "not permitted"),
        (EvidenceRow, evidence(pages=[]), "at least 1"),
        (EvidenceRow, evidence(pages=[3, 1]), "ascending"),
        (EvidenceRow, evidence(pages=[3, 3]), "ascending"),
        (EvidenceRow, evidence(pages=[0, 1]), "greater than or equal to 1"),
        (EvidenceRow, evidence(mentions=[1]), "parallel"),
        (EvidenceRow, evidence(mentions=[0, 1]), "greater than or equal to 1"),
        (EvidenceRow, evidence(pages=None), "parallel"),
        (Query, QUERY | {"n": 3}, "number of conditions"),
        (Query, QUERY | {"golds": []}, "at least 1"),
        (Block, {"role": "body", "text": "x"}, "Input should be"),
    ],
)
def test_bad_rows(model: type[Record], value: object, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        check(model, value)


def test_every_family_has_its_own_name() -> None:
    names = [family.name for family in FAMILIES]
    assert len(set(names)) == len(names)
