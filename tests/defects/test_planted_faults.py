"""A good build with one fault each: the gate names every one with its code, and nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import DataError
from nclue_build.core.findings import CODES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.defects.conftest import Row, TinyBuild

    Fault = Callable[[TinyBuild], object]

FAULTS: dict[str, tuple[Fault, set[str]]] = {}
CASCADES = {"two conditions have the same alias", "a query has a condition twice"}
"""Faults that make much else wrong too."""
UNSEALED = {
    "a digest in version.json is wrong",
    "a digest in the metadata is wrong",
    "a row changed after the digests",
    "version.json records no digest",
}


def fault(name: str, *codes: str) -> Callable[[Fault], Fault]:
    def register(plant: Fault) -> Fault:
        FAULTS[name] = (plant, set(codes))
        return plant

    return register


def pick(rows: list[Row], **values: Any) -> Row:
    [row] = [row for row in rows if all(row.get(name) == value for name, value in values.items())]
    return row


def change(tiny: TinyBuild, name: str, update: Row, **values: Any) -> None:
    """Set fields of one row of one file."""
    folder = tiny.p0 if name in ("conditions.jsonl", "evidence.jsonl") else tiny.benchmark
    tiny.edit(folder / name, lambda rows: pick(rows, **values).update(update))


def change_qrel(tiny: TinyBuild, query_id: str, doc_id: str, **update: Any) -> None:
    change(tiny, "qrels.jsonl", update, query_id=query_id, doc_id=doc_id)


THREE, CLIMATE_WATER, WATER_WHO = "q_f647a5dad3", "q_3cf5327d7a", "q_97480fe057"
ADAPTATION, CLIMATE, WATER, WHO = (
    "climate-change-adaptation_bcfc7306", "climate-change_f28d567c", "water-rights_36e568b9", "who_30e8a5e1",
)  # fmt: skip


# --- pages and corpus -------------------------------------------------------------------------------------------


@fault("a page file is missing", "beir-card-differs", "file-missing", "alias-frequency-differs",
       "condition-frequency-differs", "extra-evidence", "extra-qrel", "extra-trec-row", "meta-differs",
       "query-judged-differs", "query-strata-differ", "qrels-count-differs", "beir-qrels-differ",
       "quality-counts-differ", "removal-differs", "duplicates-differ")  # fmt: skip
def _(tiny: TinyBuild) -> None:
    tiny.build.page_file("beta").unlink()  # which takes its source below the rate


@fault("a page row stands twice", "page-rows-differ", "quality-counts-differ", "beir-corpus-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.page_file("epsilon"), lambda rows: rows.append(dict(rows[3])))


@fault("the last page is missing", "page-rows-differ", "quality-counts-differ", "beir-corpus-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.page_file("epsilon"), lambda rows: rows.pop())


@fault("a text changed so that a condition occurs once more", "page-rows-differ", "evidence-mentions-differ",
       "beir-corpus-differs", "quality-counts-differ")  # fmt: skip
def _(tiny: TinyBuild) -> None:
    tiny.edit(
        tiny.build.page_file("delta"), lambda rows: rows[1]["blocks"][0].update(text="Climate change? CLIMATE CHANGE!")
    )


@fault("a block became a heading", "evidence-headings-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.page_file("delta"), lambda rows: rows[1]["blocks"][0].update(role="title"))


@fault("a document stands twice in the corpus rows", "duplicate-document")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.documents, lambda rows: rows.insert(0, dict(rows[0])))


@fault("the corpus rows count other pages", "page-rows-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.documents, lambda rows: pick(rows, doc_id="beta").update(n_pages=7))


@fault("the source of a document changed", "document-rows-differ", "quality-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.documents, lambda rows: pick(rows, doc_id="beta").update(source="west"))


@fault("a document has a corpus row and no outcome", "unknown-document")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.quality, lambda rows: rows.remove(pick(rows, doc_id="copy")))


@fault("corpus rows are out of order", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.documents, lambda rows: rows.reverse())


@fault("outcomes are out of order", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.quality, lambda rows: rows.reverse())


@fault("a document of the benchmark has no corpus row", "beir-corpus-differs", "unknown-document",
       "quality-counts-differ")  # fmt: skip
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.documents, lambda rows: rows.remove(pick(rows, doc_id="beta")))


@fault("the source of a gold changed", "beir-corpus-differs", "query-strata-differ", "quality-counts-differ")
def _(tiny: TinyBuild) -> None:
    for path in (tiny.build.documents, tiny.build.quality):
        tiny.edit(path, lambda rows: pick(rows, doc_id="zeta").update(source="west"))


@fault("a document that may not be a gold is one", "ineligible-gold")
def _(tiny: TinyBuild) -> None:
    told = {"gold_eligible": False, "language": "de", "flags": ["non_english"]}
    tiny.edit(tiny.build.quality, lambda rows: pick(rows, doc_id="zeta").update(told))


@fault("a document with all its pages is called failed", "outcome-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.quality, lambda rows: pick(rows, doc_id="zeta").update(status="failed"))


@fault("the pages of a document are counted wrongly", "quality-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.quality, lambda rows: pick(rows, doc_id="epsilon").update(pages_ok=4, pages_empty=0))


@fault("a copy is removed for another reason", "removal-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.quality, lambda rows: pick(rows, doc_id="copy").update(removed="source_below_rate"))


@fault("a group of copies is missing", "duplicates-differ")
def _(tiny: TinyBuild) -> None:
    (tiny.build.inventory / "duplicates.jsonl").write_text("")


# --- inventory --------------------------------------------------------------------------------------------------


@fault("an evidence row is missing", "missing-evidence", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.p0 / "evidence.jsonl", lambda rows: rows.remove(pick(rows, condition_id=WHO, doc_id="delta")))


@fault("an evidence row is invented", "extra-evidence", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    row = {"condition_id": WHO, "doc_id": "zeta", "pages": [1], "mentions": [1], "in_heading": [False]}
    tiny.edit(tiny.p0 / "evidence.jsonl", lambda rows: rows.append(row))


@fault("a page is missing in an evidence row", "evidence-pages-differ", "evidence-mentions-differ",
       "evidence-headings-differ", "version-counts-differ")  # fmt: skip
def _(tiny: TinyBuild) -> None:
    update = {"pages": [1], "mentions": [1], "in_heading": [False]}
    change(tiny, "evidence.jsonl", update, condition_id=CLIMATE, doc_id="delta")


@fault("a page number is wrong", "evidence-pages-differ")
def _(tiny: TinyBuild) -> None:
    change(tiny, "evidence.jsonl", {"pages": [2]}, condition_id=CLIMATE, doc_id="beta")


@fault("mentions are wrong", "evidence-mentions-differ")
def _(tiny: TinyBuild) -> None:
    change(tiny, "evidence.jsonl", {"mentions": [1, 1]}, condition_id=WATER, doc_id="alpha")


@fault("a heading mark is wrong", "evidence-headings-differ")
def _(tiny: TinyBuild) -> None:
    change(tiny, "evidence.jsonl", {"in_heading": [False]}, condition_id=ADAPTATION, doc_id="alpha")


@fault("evidence rows are out of order", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.p0 / "evidence.jsonl", lambda rows: rows.reverse())


@fault("an evidence row stands twice", "duplicate-evidence", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.p0 / "evidence.jsonl", lambda rows: rows.insert(1, dict(rows[0])))


@fault("evidence of a removed document", "unknown-document", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    row = {"condition_id": ADAPTATION, "doc_id": "copy", "pages": [1], "mentions": [1], "in_heading": [False]}
    tiny.edit(tiny.p0 / "evidence.jsonl", lambda rows: rows.insert(1, row))


@fault("evidence of an unknown condition", "unknown-condition", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    row = {"condition_id": "zzz", "doc_id": "beta", "pages": [1], "mentions": [1], "in_heading": [False]}
    tiny.edit(tiny.p0 / "evidence.jsonl", lambda rows: rows.append(row))


@fault("an evidence row has no pages", "wrong-level", "missing-evidence", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    update: Row = {"pages": None, "mentions": [], "in_heading": []}
    change(tiny, "evidence.jsonl", update, condition_id=WATER, doc_id="zeta")


@fault("a document frequency is wrong", "condition-frequency-differs")
def _(tiny: TinyBuild) -> None:
    change(tiny, "conditions.jsonl", {"document_frequency": 9}, condition_id=WHO)


@fault("an alias's page frequency is wrong", "alias-frequency-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.p0 / "conditions.jsonl", lambda rows: rows[1]["aliases"][1].update(page_frequency=3))


@fault("a condition stands twice", "duplicate-condition", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.p0 / "conditions.jsonl", lambda rows: rows.insert(1, dict(rows[0])))


@fault("a condition has the id of another name", "condition-id-differs", "condition-name-differs", "query-names-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.p0 / "conditions.jsonl", lambda rows: rows[3].update(name="World Health Organization"))


@fault("two conditions have the same alias", "shared-alias")
def _(tiny: TinyBuild) -> None:
    alias = {"form": "WATER RIGHTS", "match": "folded", "document_frequency": 3, "page_frequency": 4}
    tiny.edit(tiny.p0 / "conditions.jsonl", lambda rows: rows[0]["aliases"].append(alias))


@fault("a condition has an alias twice", "duplicate-alias", "query-names-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.p0 / "conditions.jsonl", lambda rows: rows[3]["aliases"].append(dict(rows[3]["aliases"][0])))


@fault("an alias cannot be matched", "bad-alias-form", "query-names-differ")
def _(tiny: TinyBuild) -> None:
    alias = {"form": "(see below)", "match": "folded", "document_frequency": 0, "page_frequency": 0}
    tiny.edit(tiny.p0 / "conditions.jsonl", lambda rows: rows[3]["aliases"].append(alias))


@fault("other roles were allowed", "allowed-roles-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.p0 / "version.json", lambda value: value["allowed_roles"].append("header"))


@fault("other text rules were used", "text-version-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.p0 / "version.json", lambda value: value.update(text_version=99))


@fault("a count in version.json is wrong", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.p0 / "version.json", lambda value: value["counts"].update(pages=99))


@fault("P0 has a parent", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.p0 / "version.json", lambda value: value.update(parent=0))


@fault("version.json records no digest", "digest-differs", "meta-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.p0 / "version.json", lambda value: value.update(digests={}))


@fault("a digest in version.json is wrong", "digest-differs", "meta-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.p0 / "version.json", lambda value: value["digests"].update({"evidence.jsonl": "1" * 64}))


@fault("a digest in the metadata is wrong", "digest-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.benchmark / "qrels.meta.json", lambda value: value.update(qrels_sha256="1" * 64))


@fault("a row changed after the digests", "digest-differs", "qrel-grade-differs")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, THREE, "alpha", grade=2)


# --- queries ----------------------------------------------------------------------------------------------------


@fault("a query stands twice", "duplicate-query")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "queries.jsonl", lambda rows: rows.insert(0, dict(rows[0])))


@fault("a query id is not made from its conditions", "query-id-differs", "unknown-query", "missing-qrel",
       "missing-trec-row", "extra-trec-row", "beir-queries-differ", "beir-qrels-differ")  # fmt: skip
def _(tiny: TinyBuild) -> None:
    change(tiny, "queries.jsonl", {"query_id": "q_4"}, query_id=CLIMATE_WATER)


@fault("a document has the id of a query", "beir-corpus-differs", "beir-card-differs", "not-sorted", "query-id-clash")
def _(tiny: TinyBuild) -> None:
    known = {"doc_id": THREE, "n_pages": 1}
    tiny.edit(tiny.build.documents, lambda rows: rows.insert(-1, {**rows[0], **known, "sha256": "0" * 64}))
    counts = {"pages_ok": 1, "pages_empty": 0, "n_words": 1}
    tiny.edit(tiny.build.quality, lambda rows: rows.insert(-3, {**rows[0], **known, **counts}))
    north = {"n_documents": 8, "n_pages": 16, "pages_passed": 16}
    tiny.edit(tiny.build.quality, lambda rows: pick(rows, kind="source", source="north").update(north))
    page = tiny.read(tiny.build.page_file("eta"))[0] | {"doc_id": THREE}
    page["blocks"] = [page["blocks"][0] | {"text": "Nothing."}]
    page["text_sha256"] = hashlib.sha256(b"Nothing.").hexdigest()
    tiny.write(tiny.build.page_file(THREE), [page])
    tiny.edit_json(tiny.p0 / "version.json", lambda value: value["counts"].update(documents=8))
    row = {"_id": THREE, "title": "", "text": "Nothing.", "metadata": {}}
    tiny.edit(tiny.benchmark / "beir" / "corpus.jsonl", lambda rows: rows.append(row))


@fault("the conditions of a query are out of order", "not-sorted", "query-conditions-differ",
       "query-form-differs", "qrel-pages-differ",
       "qrel-witness-differs", "extra-trec-row", "missing-trec-row")  # fmt: skip
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "queries.jsonl", lambda rows: pick(rows, query_id=WATER_WHO)["conditions"].reverse())


@fault("a query has a condition twice", "query-conditions-differ", "query-id-differs", "query-without-gold")
def _(tiny: TinyBuild) -> None:
    def repeat(rows: list[Row]) -> None:
        conditions = pick(rows, query_id=WATER_WHO)["conditions"]
        conditions[1] = conditions[0]

    tiny.edit(tiny.benchmark / "queries.jsonl", repeat)


@fault("a query names an unknown condition", "beir-card-differs", "unknown-condition", "query-id-differs",
       "query-golds-differ", "query-without-gold", "query-judged-differs", "query-strata-differ", "extra-qrel",
       "extra-trec-row", "missing-quote", "quote-of-other-condition", "qrels-count-differs", "qrel-pages-differ",
       "qrel-clue-count-differs", "qrel-grade-differs", "qrel-gate-differs", "qrel-gold-differs",
       "qrel-witness-differs", "trec-grade-differs", "meta-differs", "beir-qrels-differ",
       "query-conditions-differ")  # fmt: skip
def _(tiny: TinyBuild) -> None:
    tiny.edit(
        tiny.benchmark / "queries.jsonl",
        lambda rows: pick(rows, query_id=WATER_WHO)["conditions"][0].update(condition_id="zzz"),
    )


@fault("a query without any known condition", "beir-card-differs", "unknown-condition", "query-id-differs",
       "query-golds-differ", "query-without-gold", "query-without-rows", "query-judged-differs",
       "query-strata-differ", "extra-qrel", "extra-trec-row", "missing-quote", "quote-of-other-condition",
       "qrels-count-differs", "meta-differs",
       "beir-qrels-differ")  # fmt: skip
def _(tiny: TinyBuild) -> None:
    def rename(rows: list[Row]) -> None:
        for index, condition in enumerate(pick(rows, query_id=WATER_WHO)["conditions"]):
            condition["condition_id"] = f"zzz{index}"

    tiny.edit(tiny.benchmark / "queries.jsonl", rename)


@fault("a mined name was changed", "query-names-differ", "form-without-concept")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "queries.jsonl", lambda rows: rows[0]["conditions"][0].update(raw_name="climate chance"))


@fault("cleaning changed a letter", "query-names-differ", "form-without-concept")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "queries.jsonl", lambda rows: rows[0]["conditions"][0].update(name="climate change s"))


@fault("a query lacks an alias", "query-names-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "queries.jsonl", lambda rows: rows[0]["conditions"][0]["aliases"].pop())


@fault("a form lacks a concept", "beir-queries-differ", "form-without-concept")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "queries.jsonl", lambda rows: rows[0]["forms"].update(natural='Find "climate change".'))


@fault("a form says the opposite", "beir-queries-differ", "query-form-differs")
def _(tiny: TinyBuild) -> None:
    def negate(rows: list[Row]) -> None:
        rows[0]["forms"]["natural"] = rows[0]["forms"]["natural"].replace("discusses", "never discusses")

    tiny.edit(tiny.benchmark / "queries.jsonl", negate)


@fault("a subset is listed as a gold", "query-golds-differ")
def _(tiny: TinyBuild) -> None:
    change(tiny, "queries.jsonl", {"golds": ["beta", "zeta"]}, query_id=CLIMATE_WATER)


@fault("the number judged is wrong", "query-judged-differs")
def _(tiny: TinyBuild) -> None:
    change(tiny, "queries.jsonl", {"n_judged": 5}, query_id=CLIMATE_WATER)


@fault("the shortest gold has other pages", "query-strata-differ")
def _(tiny: TinyBuild) -> None:
    change(tiny, "queries.jsonl", {"strata": {"l_min": 3, "d_plus": 6, "sources": ["south"]}}, query_id=CLIMATE_WATER)


# --- judgments --------------------------------------------------------------------------------------------------


@fault("a nonzero pair is missing", "missing-qrel", "qrels-count-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "qrels.jsonl", lambda rows: rows.remove(pick(rows, query_id=THREE, doc_id="beta")))


@fault("a zero pair is stored", "extra-qrel", "qrels-count-differs")
def _(tiny: TinyBuild) -> None:
    def add(rows: list[Row]) -> None:
        rows.append({**pick(rows, query_id=WATER_WHO, doc_id="gamma"), "doc_id": "eta", "pages": [[], [1]]})
        rows.sort(key=lambda row: (row["query_id"], row["doc_id"]))

    tiny.edit(tiny.benchmark / "qrels.jsonl", add)


@fault("a judgment stands twice", "duplicate-qrel", "qrels-count-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "qrels.jsonl", lambda rows: rows.insert(0, dict(rows[0])))


@fault("a judgment of a removed document", "unknown-document", "qrels-count-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "qrels.jsonl", lambda rows: rows.insert(2, {**rows[1], "doc_id": "copy"}))


@fault("a judgment of an unknown query", "unknown-query", "qrels-count-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "qrels.jsonl", lambda rows: rows.append({**rows[1], "query_id": "q_zzz"}))


@fault("judgments are out of order", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "qrels.jsonl", lambda rows: rows.reverse())


@fault("the pages of a judgment are wrong", "qrel-pages-differ")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, CLIMATE_WATER, "delta", pages=[[1], []])


@fault("a clue count is wrong", "qrel-clue-count-differs")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, THREE, "beta", clue_count=2)


@fault("a grade is not capped", "qrel-grade-differs")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, CLIMATE_WATER, "alpha", grade=2)


@fault("a gate outcome is wrong", "qrel-gate-differs")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, THREE, "gamma", gate="single_page")


@fault("a single page solves a gold", "single-page-gold", "qrel-gold-differs", "qrel-gate-differs",
       "qrel-grade-differs", "qrel-shared-pages-differ", "missing-quote")  # fmt: skip
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, CLIMATE_WATER, "beta", gold=True, gate="ok", grade=2, shared_pages=None)


@fault("a witness is not the smallest", "qrel-witness-differs")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, WATER_WHO, "alpha", witness=[2, 3])


@fault("a shared page is missing", "qrel-shared-pages-differ")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, CLIMATE_WATER, "alpha", shared_pages=[1])


@fault("a violator is not the smallest", "qrel-violator-differs")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, THREE, "epsilon", violator={"conditions": [ADAPTATION, CLIMATE, WHO], "pages": [1, 2]})


@fault("the metadata count other golds", "meta-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.benchmark / "qrels.meta.json", lambda value: value.update(n_golds=4))


def test_metadata_that_name_another_inventory_are_refused(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.benchmark / "qrels.meta.json", lambda value: value.update(inventory_version=1))
    with pytest.raises(DataError, match=r"P1/version\.json: file not found"):
        tiny.run()


# --- quotes -----------------------------------------------------------------------------------------------------


def requote(tiny: TinyBuild, **update: Any) -> None:
    """Change the quote for the WHO of the gold of two conditions."""

    def edit(rows: list[Row]) -> None:
        pick(rows, query_id=WATER_WHO, doc_id="alpha")["evidence"][1].update(update)

    tiny.edit(tiny.benchmark / "qrels.jsonl", edit)


@fault("a quote is paraphrased", "quote-not-on-page")
def _(tiny: TinyBuild) -> None:
    requote(tiny, quote="The WHO says who pays.")


@fault("a quote names another page", "quote-not-on-page", "quote-page-differs")
def _(tiny: TinyBuild) -> None:
    requote(tiny, page=2)


@fault("a quote stands in a running header only", "quote-not-on-page", "quote-page-differs")
def _(tiny: TinyBuild) -> None:
    requote(tiny, page=1, quote="WHO")


@fault("a quote lost its alias", "quote-too-short", "quote-without-alias")
def _(tiny: TinyBuild) -> None:
    requote(tiny, quote="said who pays.")


@fault("a quote has no page", "wrong-level")
def _(tiny: TinyBuild) -> None:
    requote(tiny, page=None)


@fault("a quote is about another condition", "quote-of-other-condition", "missing-quote", "quote-page-differs",
       "quote-without-alias")  # fmt: skip
def _(tiny: TinyBuild) -> None:
    requote(tiny, condition_id=CLIMATE)


@fault("a gold has no quote for a condition", "missing-quote")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "qrels.jsonl", lambda rows: pick(rows, query_id=THREE, doc_id="alpha")["evidence"].pop())


# --- TREC and BEIR files ----------------------------------------------------------------------------------------


@fault("a TREC file is missing", "file-missing")
def _(tiny: TinyBuild) -> None:
    (tiny.benchmark / "n3" / "qrels.gold.trec").unlink()


@fault("a TREC row is missing", "missing-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "qrels.conditions.trec", lambda lines: lines.pop(4))


@fault("a zero row in a TREC file", "extra-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "qrels.trec", lambda lines: lines.append(f"{THREE} 0 eta 0"))


@fault("a subset in the gold file", "extra-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "n2" / "qrels.gold.trec", lambda lines: lines.append(f"{CLIMATE_WATER} 0 beta 1"))


@fault("the grade of a page is wrong", "trec-grade-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(
        tiny.benchmark / "qrels.pages.trec", lambda lines: lines.insert(0, lines.pop(0).replace("0001 2", "0001 1"))
    )


@fault("a comment in a TREC file", "bad-qrels-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "qrels.trec", lambda lines: lines.insert(0, "# judged by hand"))


@fault("two spaces in a TREC file", "bad-qrels-row", "missing-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "qrels.trec", lambda lines: lines.insert(0, lines.pop(0).replace(" 0 ", "  0 ")))


@fault("a fraction as a grade", "bad-qrels-row", "missing-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "qrels.trec", lambda lines: lines.append(lines.pop() + ".0"))


@fault("rows of a TREC file are out of order", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "qrels.conditions.trec", lambda lines: lines.reverse())


@fault("a tab in a TREC file", "bad-qrels-row", "missing-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "qrels.trec", lambda lines: lines.insert(0, lines.pop(0).replace(" 0 ", "\t0 ")))


@fault("a blank line in a TREC file", "bad-qrels-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "qrels.trec", lambda lines: lines.insert(2, ""))


@fault("line ends of another system in a TREC file", "bad-qrels-row", "missing-trec-row")
def _(tiny: TinyBuild) -> None:
    path = tiny.benchmark / "qrels.trec"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


@fault("a repeated TREC row", "duplicate-qrel")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "n3" / "qrels.trec", lambda lines: lines.append(lines[0]))


@fault("a byte order mark", "byte-order-mark", "missing-trec-row")
def _(tiny: TinyBuild) -> None:
    path = tiny.benchmark / "qrels.trec"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


@fault("a BEIR document is missing", "beir-corpus-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "corpus.jsonl", lambda rows: rows.pop())


@fault("a removed document in the BEIR corpus", "beir-corpus-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "corpus.jsonl", lambda rows: rows.append({**rows[0], "_id": "copy"}))


@fault("a BEIR document has another text", "beir-corpus-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "corpus.jsonl", lambda rows: rows[0].update(text=rows[0]["text"] + "."))


@fault("the BEIR folder has no README", "file-missing")
def _(tiny: TinyBuild) -> None:
    (tiny.benchmark / "beir" / "README.md").unlink()


@fault("the README of the BEIR folder leaves a file out", "beir-card-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "beir" / "README.md", lambda lines: lines.pop())


@fault("a byte order mark in a BEIR file", "byte-order-mark", "beir-queries-differ")
def _(tiny: TinyBuild) -> None:
    path = tiny.benchmark / "beir" / "queries.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())


@fault("a BEIR query has another text", "beir-queries-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "queries.jsonl", lambda rows: rows[0].update(text="water"))


@fault("a BEIR query is missing", "beir-queries-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "queries.jsonl", lambda rows: rows.pop())


@fault("the BEIR qrels have no header", "beir-qrels-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "beir" / "qrels" / "test.tsv", lambda lines: lines.pop(0))


@fault("the header of the BEIR qrels has other names", "beir-qrels-differ")
def _(tiny: TinyBuild) -> None:
    path = tiny.benchmark / "beir" / "qrels" / "test.tsv"
    path.write_text(path.read_text("utf-8").replace("corpus-id", "document"), "utf-8")


@fault("a BEIR score is wrong", "beir-qrels-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "qrels" / "test.jsonl", lambda rows: rows[0].update(score=3))


@fault("a document that is no gold stands among the golds of the BEIR folder", "beir-qrels-differ")
def _(tiny: TinyBuild) -> None:
    rows = map(json.loads, (tiny.benchmark / "qrels.jsonl").read_bytes().splitlines())
    row = next(row for row in rows if not row["gold"])
    path = tiny.benchmark / "beir" / "qrels" / "gold.tsv"
    tiny.edit_lines(path, lambda lines: lines.append(f"{row['query_id']}\t{row['doc_id']}\t1"))


@fault("a gold is missing in the BEIR folder", "beir-qrels-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "qrels" / "gold.jsonl", lambda rows: rows.pop())


@fault("a BEIR row repeats", "beir-qrels-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "beir" / "qrels" / "test.tsv", lambda lines: lines.append(lines[-1]))


@fault("a BEIR row is no JSON", "bad-record")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "beir" / "qrels" / "test.jsonl", lambda lines: lines.append("{"))


@fault("a BEIR file is missing", "file-missing")
def _(tiny: TinyBuild) -> None:
    (tiny.benchmark / "beir" / "queries.jsonl").unlink()


# --- who judged ---------------------------------------------------------------------------------------------------


def forge(tiny: TinyBuild, **update: Any) -> None:
    tiny.edit(tiny.p0 / "conditions.jsonl", lambda rows: rows[1]["verdict"].update(update))


@fault("a verdict claims a language model", "judge-differs", "used-calls-differ")
def _(tiny: TinyBuild) -> None:
    forge(tiny, judge="model", model="glm-5.2", call_key="a" * 64)


@fault("a verdict of the rules names a model", "judge-differs")
def _(tiny: TinyBuild) -> None:
    forge(tiny, model="glm-5.2")


@fault("a verdict of the rules has the key of a call", "judge-differs")
def _(tiny: TinyBuild) -> None:
    forge(tiny, call_key="a" * 64)


@fault("the metadata claim another judge", "judge-differs", "beir-card-differs", "used-calls-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.benchmark / "qrels.meta.json", lambda value: value.update(item_judge="model"))


@fault("the metadata claim a language model", "judge-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.benchmark / "qrels.meta.json", lambda value: value.update(item_model="glm-5.2"))


@fault("a quote of the rules has the key of a call", "judge-differs")
def _(tiny: TinyBuild) -> None:
    requote(tiny, call_key="a" * 64)


# --- small changes that read well ---------------------------------------------------------------------------------


@fault("the aliases of a query are in another order", "query-names-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "queries.jsonl", lambda rows: rows[0]["conditions"][0]["aliases"].reverse())


@fault("the aliases of a condition are in another order", "not-sorted", "query-names-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.p0 / "conditions.jsonl", lambda rows: rows[1]["aliases"].reverse())


@fault("a quote is cut down to its alias", "quote-too-short")
def _(tiny: TinyBuild) -> None:
    requote(tiny, quote="WHO")


@fault("a quote ends inside a word", "quote-not-on-page")
def _(tiny: TinyBuild) -> None:
    requote(tiny, quote="The WHO said wh")


@fault("a quote stands twice", "duplicate-quote")
def _(tiny: TinyBuild) -> None:
    def repeat(rows: list[Row]) -> None:
        quotes = pick(rows, query_id=WATER_WHO, doc_id="alpha")["evidence"]
        quotes.append(quotes[-1])

    tiny.edit(tiny.benchmark / "qrels.jsonl", repeat)


@fault("the quotes of a judgment are in another order", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit(
        tiny.benchmark / "qrels.jsonl",
        lambda rows: pick(rows, query_id=WATER_WHO, doc_id="alpha")["evidence"].reverse(),
    )


@fault("a page past the end of its document", "evidence-pages-differ")
def _(tiny: TinyBuild) -> None:
    change(tiny, "evidence.jsonl", {"pages": [1, 99]}, condition_id=CLIMATE, doc_id="delta")


@fault("a page of a judgment past the end of its document", "qrel-pages-differ")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, CLIMATE_WATER, "delta", pages=[[1, 99], []])


@fault("the pages of two conditions are swapped", "qrel-pages-differ")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, WATER_WHO, "alpha", pages=[[3], [1, 2]])


@fault("a witness is swapped", "qrel-witness-differs")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, WATER_WHO, "alpha", witness=[3, 1])


@fault("a gold says it is none", "qrel-gold-differs")
def _(tiny: TinyBuild) -> None:
    change_qrel(tiny, WATER_WHO, "alpha", gold=False)


@fault("two judgments are swapped", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "qrels.jsonl", lambda rows: rows.insert(0, rows.pop(1)))


@fault("P0 had a decision applied", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.p0 / "version.json", lambda value: value.update(decisions=["d1"]))


@fault("version.json counts something unheard of", "version-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.p0 / "version.json", lambda value: value["counts"].update(people=3))


@fault("the allowed roles are in another order", "allowed-roles-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.p0 / "version.json", lambda value: value["allowed_roles"].reverse())


@fault("a paraphrase lacks a concept", "form-without-concept")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "queries.jsonl", lambda rows: rows[0]["forms"].update(paraphrase="what of rain?"))


# --- more on TREC and BEIR files ----------------------------------------------------------------------------------


@fault("a query of three conditions in the files of two", "extra-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "n2" / "qrels.trec", lambda lines: lines.append(f"{THREE} 0 alpha 3"))


@fault("a row is missing in the files of three conditions", "missing-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "n3" / "qrels.trec", lambda lines: lines.pop(1))


@fault("a grade of the files of three conditions is one less", "trec-grade-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(
        tiny.benchmark / "n3" / "qrels.trec", lambda lines: lines.insert(0, lines.pop(0).removesuffix("3") + "2")
    )


@fault("a gold is missing in the gold file", "missing-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "qrels.gold.trec", lambda lines: lines.pop())


@fault("a row names another condition", "extra-trec-row", "missing-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(
        tiny.benchmark / "qrels.conditions.trec", lambda lines: lines.append(lines.pop().replace(" 2 ", " 3 "))
    )


@fault("a page past the end in the file of pages", "extra-trec-row")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "qrels.pages.trec", lambda lines: lines.append(f"{THREE} 0 alpha_p0099 1"))


@fault("the last line of a TREC file is cut", "bad-qrels-row")
def _(tiny: TinyBuild) -> None:
    path = tiny.benchmark / "qrels.gold.trec"
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))


@fault("a BEIR document has another title", "beir-corpus-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "corpus.jsonl", lambda rows: rows[0].update(title="Beta"))


@fault("a BEIR document has another source", "beir-corpus-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "corpus.jsonl", lambda rows: rows[0]["metadata"].update(source="west"))


@fault("a BEIR query has another number of conditions", "beir-queries-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "queries.jsonl", lambda rows: rows[0]["metadata"].update(n=3))


@fault("BEIR queries are in another order", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "queries.jsonl", lambda rows: rows.reverse())


@fault("BEIR judgments are in another order", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "beir" / "qrels" / "test.jsonl", lambda rows: rows.reverse())


@fault("a BEIR score is a string", "bad-record", "beir-qrels-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(
        tiny.benchmark / "beir" / "qrels" / "test.jsonl", lambda rows: rows[0].update(score=str(rows[0]["score"]))
    )


@fault("a BEIR row has a key twice", "not-canonical")
def _(tiny: TinyBuild) -> None:
    path = tiny.benchmark / "beir" / "qrels" / "gold.jsonl"
    path.write_text(path.read_text("utf-8").replace('"score":1', '"score":0,"score":1', 1), "utf-8")


@fault("the last line of a BEIR table is cut", "not-canonical")
def _(tiny: TinyBuild) -> None:
    path = tiny.benchmark / "beir" / "qrels" / "test.tsv"
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))


@fault("a blank line in a BEIR table", "beir-qrels-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit_lines(tiny.benchmark / "beir" / "qrels" / "test.tsv", lambda lines: lines.insert(2, ""))


@fault("the README of the BEIR folder counts other golds", "beir-card-differs")
def _(tiny: TinyBuild) -> None:
    path = tiny.benchmark / "beir" / "README.md"
    path.write_text(path.read_text("utf-8").replace("| golds | 3 |", "| golds | 4 |"), "utf-8")


# --- the calls of a model -----------------------------------------------------------------------------------------


def used_call(tiny: TinyBuild, **update: Any) -> None:
    tiny.edit(tiny.build.inventory / "calls.jsonl", lambda rows: rows[1].update(update))


def item_call(tiny: TinyBuild, change: Callable[[list[Row]], object]) -> None:
    tiny.edit(tiny.benchmark / "calls.jsonl", change)


BY_MODEL: dict[str, Fault] = {
    "a verdict names an unused call": lambda tiny: tiny.edit(
        tiny.build.inventory / "calls.jsonl", lambda rows: rows.pop(1)
    ),
    "the list of used calls is missing": lambda tiny: (tiny.build.inventory / "calls.jsonl").unlink(),
    "a verdict comes from a call without a reply": lambda tiny: used_call(tiny, status="truncated"),
    "a verdict comes from another prompt": lambda tiny: used_call(tiny, prompt_id="item"),
    "a verdict names the model that did not answer": lambda tiny: used_call(tiny, answered_by="another"),
    "a quote comes from an unused call": lambda tiny: item_call(tiny, lambda rows: rows.pop()),
    "a quote comes from a call without a reply": lambda tiny: item_call(
        tiny, lambda rows: rows[0].update(status="empty")
    ),
    "another name answered": lambda tiny: item_call(tiny, lambda rows: rows[0].update(answered_by="another")),
    "the metadata name the model in the key": lambda tiny: tiny.edit_json(
        tiny.benchmark / "qrels.meta.json", lambda row: row.update(item_model="glm-5.2")
    ),
}


@pytest.mark.parametrize("name", BY_MODEL)
def test_who_judged_is_checked(tiny: TinyBuild, model_judge: Callable[[TinyBuild], None], name: str) -> None:
    model_judge(tiny)
    BY_MODEL[name](tiny)
    tiny.seal()
    found = {finding.code for finding in tiny.run().findings}
    assert found - {"beir-card-differs"} == {"used-calls-differ"}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_named_and_nothing_else(tiny: TinyBuild, name: str) -> None:
    plant, codes = FAULTS[name]
    plant(tiny)
    if name not in UNSEALED:
        tiny.seal()
    result = tiny.run()
    found = {finding.code for finding in result.findings}
    assert found >= codes if name in CASCADES else found == codes
    report = tiny.report()
    assert report["ok"] is False
    assert report["n_findings"] == len(result.findings)
    assert set(report["findings_by_code"]) == found
    for finding in result.findings:
        assert finding.path is not None
        assert not finding.path.startswith("/")
        assert "\n" not in finding.message


def test_every_code_of_the_re_derivation_is_provoked_by_a_fault(repository: Path) -> None:
    modules = set((repository / "nclue_build" / "rederive").glob("*.py"))
    # Only gate --extraction looks at the corpus, only repaired builds have decisions: tests of their own plant these.
    modules -= {module for module in modules if module.name in {"corpus_check.py", "decisions_check.py"}}
    of_repairs = (repository / "tests" / "defects" / "test_repairs.py").read_text("utf-8")
    sources = "".join(module.read_text("utf-8") for module in modules)
    assert set().union(*(codes for _, codes in FAULTS.values())) >= {
        code for code in CODES if f'"{code}"' in sources and f'"{code}"' not in of_repairs
    }


@pytest.mark.parametrize("name", ["queries.jsonl", "qrels.jsonl", "qrels.meta.json"])
def test_what_everything_is_compared_with_must_be_readable(tiny: TinyBuild, name: str) -> None:
    path = tiny.benchmark / name
    path.write_text(json.dumps({"query_id": "q"}) + "\n", "utf-8")
    with pytest.raises(DataError, match=name):
        tiny.run()
    path.unlink()
    with pytest.raises(DataError, match="file not found"):
        tiny.run()
