"""Names of the files of a build, each once; :class:`~nclue_build.store.workspace.Build` says where they lie."""

from __future__ import annotations

from typing import Final

DOCUMENTS: Final = "documents.jsonl"
QUALITY: Final = "documents_quality.jsonl"
DUPLICATES: Final = "duplicates.jsonl"
SURFACE_FORMS: Final = "surface_forms.jsonl"
CLUSTERS: Final = "clusters.jsonl"
REJECTED: Final = "rejected.jsonl"
"""What mining (beside the inventory) and composing (beside the benchmark) dropped, and why."""

CALLS: Final = "calls.jsonl"
"""The recorded model calls that mining (beside the inventory) and composing (beside the benchmark) used, if any."""
AGREEMENT: Final = "agreement.jsonl"
"""What the rules say of the cases that a model judged, beside CALLS."""

CONDITIONS: Final = "conditions.jsonl"
EVIDENCE: Final = "evidence.jsonl"
VERSION: Final = "version.json"
VERSION_FILES: Final = (CONDITIONS, EVIDENCE, VERSION)
"""The files of an inventory version."""

DECISIONS: Final = "decisions.jsonl"
"""Decisions that a version applied to P(d, c) itself (scope inventory)."""
PAIR_DECISIONS: Final = "pair_decisions.jsonl"
"""Decisions that a version applied to one query alone (scope pair); PAIR_OVERRIDES is what they come to."""
PAIR_OVERRIDES: Final = "pair_overrides.jsonl"
UNFINISHED: Final = ".unfinished"
"""In the folder of a version while a repair is putting it in place: to be finished or taken back."""

TRANSITIONS: Final = "transitions.json"
REPAIRS: Final = "repairs.jsonl"
CHANGES: Final = "changes.jsonl"
CHANGES_TEXT: Final = "changes.md"
REPAIR_FILES: Final = (TRANSITIONS, REPAIRS, CHANGES, CHANGES_TEXT)
"""What a repair leaves beside the benchmark it regenerated."""

QUERIES: Final = "queries.jsonl"
QRELS: Final = "qrels.jsonl"
META: Final = "qrels.meta.json"
COMPOSITION: Final = "composition.json"
FORMS_QA: Final = "forms_qa.json"
GATE_REPORT: Final = "gate.json"

TREC: Final = "qrels.trec"
TREC_GOLD: Final = "qrels.gold.trec"
TREC_CONDITIONS: Final = "qrels.conditions.trec"
TREC_PAGES: Final = "qrels.pages.trec"
ARITIES: Final = (2, 3)
"""Numbers of conditions a composed query may have; each has judgments of its own in ``n2/``, ``n3/``."""


def split_file(n: int, name: str) -> str:
    """The file, relative to the benchmark, that holds the rows of ``name`` for queries of n conditions."""
    return f"n{n}/{name}"


TREC_SPLITS: Final = tuple(split_file(n, name) for n in ARITIES for name in (TREC, TREC_GOLD))
TREC_FILES: Final = (TREC, TREC_GOLD, TREC_CONDITIONS, TREC_PAGES, *TREC_SPLITS)
"""Every TREC file of a benchmark, relative to its folder."""

BEIR: Final = "beir"
BEIR_CORPUS: Final = "corpus.jsonl"
BEIR_QUERIES: Final = "queries.jsonl"
BEIR_QRELS_TSV: Final = "qrels/test.tsv"
BEIR_QRELS_JSONL: Final = "qrels/test.jsonl"
BEIR_GOLD_TSV: Final = "qrels/gold.tsv"
BEIR_GOLD_JSONL: Final = "qrels/gold.jsonl"
"""The split of the gold judgments alone: as n differs between queries, no threshold on scores selects them."""
BEIR_CARD: Final = "README.md"
BEIR_FILES: Final = (
    BEIR_CORPUS,
    BEIR_QUERIES,
    BEIR_QRELS_TSV,
    BEIR_QRELS_JSONL,
    BEIR_GOLD_TSV,
    BEIR_GOLD_JSONL,
    BEIR_CARD,
)
