"""A good build with one fault each that validation is to find: it names every one with its code, and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.defects.conftest import Row, TinyBuild

    Fault = Callable[[TinyBuild], object]

FAULTS: dict[str, tuple[Fault, set[str]]] = {}


def fault(name: str, *codes: str) -> Callable[[Fault], Fault]:
    def register(plant: Fault) -> Fault:
        FAULTS[name] = (plant, set(codes))
        return plant

    return register


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Change the bytes of a file; a change that changes nothing is a mistake of the test."""
    before = path.read_bytes()
    after = change(before)
    assert after != before
    path.write_bytes(after)


def replace(path: Path, old: str, new: str) -> None:
    rewrite(path, lambda data: data.replace(old.encode(), new.encode(), 1))


# --- the form of rows and files -----------------------------------------------------------------------------------

JSONL = (
    "inventory/tiny/documents.jsonl", "inventory/tiny/documents_quality.jsonl", "inventory/tiny/duplicates.jsonl",
    "inventory/tiny/pages/alpha.jsonl", "inventory/tiny/surface_forms.jsonl", "inventory/tiny/clusters.jsonl",
    "inventory/tiny/rejected.jsonl", "inventory/tiny/P0/conditions.jsonl", "inventory/tiny/P0/evidence.jsonl",
    "benchmarks/tiny/queries.jsonl", "benchmarks/tiny/qrels.jsonl", "benchmarks/tiny/rejected.jsonl",
)  # fmt: skip
JSON = (
    "inventory/tiny/P0/version.json", "benchmarks/tiny/qrels.meta.json", "benchmarks/tiny/composition.json",
    "benchmarks/tiny/forms_qa.json", "benchmarks/tiny/gate.json",
)  # fmt: skip


def repeat_key(data: bytes) -> bytes:
    """The first key of the first row once more, before itself, with another value."""
    key = data.split(b'"', 2)[1]
    return data.replace(b"{", b'{"%s":"other",' % key, 1)


FORMS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "line ends of another system": (lambda data: data.replace(b"\n", b"\r\n"), "not-canonical"),
    "spaces between the fields": (lambda data: data.replace(b'":', b'" :', 1), "not-canonical"),
    "a key twice": (repeat_key, "not-canonical"),
    "a blank line at the end": (lambda data: data + b"\n", "not-canonical"),
    "a blank line within": (lambda data: data.replace(b"\n", b"\n  \n", 1), "not-canonical"),
    "no line end at the end": (lambda data: data.removesuffix(b"\n"), "not-canonical"),
    "a letter written as an escape": (lambda data: data.replace(b"d", b"\\u0064", 1), "not-canonical"),
    "a byte order mark": (lambda data: b"\xef\xbb\xbf" + data, "byte-order-mark"),
    "half a surrogate pair": (lambda data: data.replace(b'":"', b'":"\\ud800', 1), "bad-record"),
    "no UTF-8": (lambda data: data.replace(b'":"', b'":"\xff', 1), "bad-record"),
    "a field nobody knows": (lambda data: data.replace(b"{", b'{"more":1,', 1), "bad-record"),
    "a row cut short": (lambda data: data.rstrip()[:-1] + b"\n", "bad-record"),
    "an array for an object": (lambda data: b"[]\n" + data, "bad-record"),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", JSONL)
def test_rows_have_one_form(tiny: TinyBuild, name: str, form: str) -> None:
    change, code = FORMS[form]
    rewrite(tiny.build.workspace.root / name, change)
    found = [(finding.code, finding.path) for finding in tiny.validate().findings]
    assert (code, name) in found


@pytest.mark.parametrize(
    "form",
    ["line ends of another system", "spaces between the fields", "a key twice", "a blank line at the end",
     "no line end at the end", "a field nobody knows"],
)  # fmt: skip
@pytest.mark.parametrize("name", JSON)
def test_files_of_one_record_have_one_form(tiny: TinyBuild, name: str, form: str) -> None:
    change, code = FORMS[form]
    rewrite(tiny.build.workspace.root / name, change)
    found = [(finding.code, finding.path) for finding in tiny.validate().findings]
    assert (code, name) in found


def test_a_file_of_another_form_is_one_finding_that_counts_its_lines(tiny: TinyBuild) -> None:
    path = tiny.benchmark / "queries.jsonl"
    rewrite(path, lambda data: data.replace(b"\n", b"\r\n"))
    [finding] = [finding for finding in tiny.validate().findings if finding.code == "not-canonical"]
    assert (finding.path, finding.line) == ("benchmarks/tiny/queries.jsonl", 1)
    assert finding.message.startswith("a line end of another system (CR LF) (and 2 lines more): restore the file")


@pytest.mark.parametrize("value", ['"1"', "1.0", "NaN", "true", "null", "-1", "1e0"])
@pytest.mark.parametrize(
    ("name", "field"),
    [("benchmarks/tiny/qrels.jsonl", "grade"), ("benchmarks/tiny/queries.jsonl", "n_judged"),
     ("inventory/tiny/P0/conditions.jsonl", "page_frequency"), ("inventory/tiny/documents_quality.jsonl", "n_words"),
     ("inventory/tiny/surface_forms.jsonl", "mentions"), ("inventory/tiny/pages/alpha.jsonl", "page")],
)  # fmt: skip
def test_a_number_is_a_whole_number(tiny: TinyBuild, name: str, field: str, value: str) -> None:
    path = tiny.build.workspace.root / name
    number = json.loads(path.read_bytes().splitlines()[0])[field]
    replace(path, f'"{field}":{number}', f'"{field}":{value}')
    assert ("bad-record", name, 1) in {(found.code, found.path, found.line) for found in tiny.validate().findings}


# --- the corpus ---------------------------------------------------------------------------------------------------


@fault("a PDF changed", "digest-differs")
def _(tiny: TinyBuild) -> None:
    (tiny.build.workspace.root / "pdf" / "alpha.pdf").write_bytes(b"%PDF-1.4 aleph")


@fault("a PDF is gone", "file-missing")
def _(tiny: TinyBuild) -> None:
    (tiny.build.workspace.root / "pdf" / "alpha.pdf").unlink()


@fault("the digest of a document is of another file", "digest-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.documents, lambda rows: rows[0].update(sha256="1" * 64))


@fault("a corpus row names a file twice", "duplicate-document")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.documents, lambda rows: rows.insert(1, rows[0]))


@fault("the size of a document is wrong", "size-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.documents, lambda rows: rows[0].update(bytes=rows[0]["bytes"] + 1))


@fault("a document has another licence than the corpus file gives it", "document-rows-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.documents, lambda rows: rows[0].update(license="CC0"))


@fault("the corpus file is gone", "corpus-missing")
def _(tiny: TinyBuild) -> None:
    (tiny.build.workspace.root / "corpus.jsonl").unlink()


@fault("a text changed after its digest", "digest-differs")
def _(tiny: TinyBuild) -> None:
    replace(tiny.build.page_file("alpha"), "settled late", "settled soon")


@fault("a page says it is empty", "page-rows-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.page_file("alpha"), lambda rows: rows[0].update(status="empty"))


@fault("pages are in another order", "page-rows-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.page_file("alpha"), lambda rows: rows.reverse())


@fault("a page of another document", "unknown-document")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.page_file("alpha"), lambda rows: rows[0].update(doc_id="beta"))


@fault("a page file of nobody", "unknown-document")
def _(tiny: TinyBuild) -> None:
    tiny.write(tiny.build.page_file("nobody"), [])


@fault("the quality file counts a page less", "quality-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.quality, lambda rows: rows[0].update(pages_ok=2, pages_empty=1))


@fault("a source has no row", "quality-counts-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.quality, lambda rows: rows.pop())


@fault("a duplicate is in no group", "duplicates-differ")
def _(tiny: TinyBuild) -> None:
    tiny.write(tiny.build.inventory / "duplicates.jsonl", [])


def regroup(tiny: TinyBuild, **update: Any) -> None:
    tiny.edit(tiny.build.inventory / "duplicates.jsonl", lambda rows: rows[0].update(update))


@fault("a group names a document nobody knows", "unknown-document")
def _(tiny: TinyBuild) -> None:
    regroup(tiny, doc_ids=["alpha", "copy", "zzz"])


@fault("a group removes what is in the benchmark", "duplicates-differ")
def _(tiny: TinyBuild) -> None:
    regroup(tiny, doc_ids=["alpha", "beta", "copy"], removed=["beta", "copy"])


@fault("a group removes its representative", "duplicates-differ")
def _(tiny: TinyBuild) -> None:
    regroup(tiny, representative="copy")


@fault("the id of a group is of another document", "duplicates-differ")
def _(tiny: TinyBuild) -> None:
    regroup(tiny, group_id="exact_copy")


@fault("a group is out of order", "duplicates-differ")
def _(tiny: TinyBuild) -> None:
    regroup(tiny, doc_ids=["copy", "alpha"])


@fault("a similar document without a similarity", "duplicates-differ")
def _(tiny: TinyBuild) -> None:
    regroup(tiny, kind="near", group_id="near_alpha")


# --- what mining saw ----------------------------------------------------------------------------------------------


for file in ("surface_forms", "clusters", "rejected"):

    @fault(f"{file}.jsonl is empty", "mined-rows-differ")
    def _(tiny: TinyBuild, file: str = file) -> None:
        tiny.write(tiny.build.inventory / f"{file}.jsonl", [])

    @fault(f"a row of {file}.jsonl is gone", "mined-rows-differ")
    def _(tiny: TinyBuild, file: str = file) -> None:
        tiny.edit(tiny.build.inventory / f"{file}.jsonl", lambda rows: rows.pop())

    @fault(f"{file}.jsonl is out of order", "not-sorted")
    def _(tiny: TinyBuild, file: str = file) -> None:
        tiny.edit(tiny.build.inventory / f"{file}.jsonl", lambda rows: rows.reverse())

    @fault(f"a row of {file}.jsonl stands twice", "duplicate-id")
    def _(tiny: TinyBuild, file: str = file) -> None:
        tiny.edit(tiny.build.inventory / f"{file}.jsonl", lambda rows: rows.insert(1, rows[0]))


def recluster(tiny: TinyBuild, which: str = "nothing_1", **update: Any) -> None:
    def change(rows: list[Row]) -> None:
        next(row for row in rows if row["cluster_id"] == which).update(update)

    tiny.edit(tiny.build.inventory / "clusters.jsonl", change)


@fault("a rejected cluster says it was kept", "mined-rows-differ")
def _(tiny: TinyBuild) -> None:
    recluster(tiny, decision="KEEP")


@fault("a cluster was rejected for another reason", "mined-rows-differ")
def _(tiny: TinyBuild) -> None:
    recluster(tiny, reason="calendar")


@fault("a cluster claims a language model", "judge-differs")
def _(tiny: TinyBuild) -> None:
    recluster(tiny, judge="model", model="glm-5.2", call_key="a" * 64)


@fault("a cluster of the rules names a model", "judge-differs")
def _(tiny: TinyBuild) -> None:
    recluster(tiny, model="glm-5.2")


@fault("a cluster has another name", "mined-rows-differ")
def _(tiny: TinyBuild) -> None:
    recluster(tiny, "farmers_1", name="peasants")


@fault("the id of a cluster is of another name", "mined-rows-differ")
def _(tiny: TinyBuild) -> None:
    recluster(tiny, "who_30e8a5e1", cluster_id="whom_30e8a5e1")


@fault("a cluster counts other mentions", "mined-rows-differ")
def _(tiny: TinyBuild) -> None:
    recluster(tiny, "farmers_1", mentions=3)


@fault("a cluster is in more documents than its forms", "mined-rows-differ")
def _(tiny: TinyBuild) -> None:
    recluster(tiny, "farmers_1", document_frequency=3)


@fault("a form is in two clusters", "mined-rows-differ")
def _(tiny: TinyBuild) -> None:
    recluster(tiny, "farmers_1", aliases=["farmers", "nothing"], mentions=4)


@fault("a form has another number of words", "mined-rows-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.inventory / "surface_forms.jsonl", lambda rows: rows[0].update(n_words=7))


@fault("a form has fewer mentions than pages", "mined-rows-differ")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.build.inventory / "surface_forms.jsonl", lambda rows: rows[0].update(page_frequency=3))


# --- what composing says ------------------------------------------------------------------------------------------


def path_of(value: Row, field: str) -> tuple[Any, str | int]:
    *parents, last = (int(part) if part.isdigit() else part for part in field.split("."))
    inner: Any = value
    for part in parents:
        inner = inner[part]
    return inner, last


COMPOSITION = {
    "n_queries_asked": 4, "n_queries": 4, "goal_queries": 4, "goal_families": 3, "goal_golds": 3, "seed": 12,
    "item_judge": "model", "verify": "all", "steps.0.selected.n2": 3, "steps.0.sampled.n2": 4, "steps.0.verified.n3": 2,
    "steps.0.name": "easy",
    "refusals.fragment": 2, "drop_rates.0.candidates": 6, "drop_rates.0.dropped": 2,
    "drop_rates.0.dropped_permille": 201, "mix.0.queries": 3, "mix.0.declared_permille": 813,
    "mix.1.realised_permille": 334, "mix.2.value": "east", "mix.4.value": "6-30", "caps.max_per_condition": 4,
    "caps.max_per_gold": 5, "caps.busiest_condition_queries": 3, "caps.busiest_gold_queries": 1,
    "caps.busiest_gold_permille": 666, "diversity.gold_documents": 3, "diversity.families": 3,
    "diversity.conditions": 5, "diversity.queries_without_20_busiest_golds": 1, "blocked.left_over": 2,
    "blocked.max_per_gold": 2,
}  # fmt: skip

for name, value in COMPOSITION.items():

    @fault(f"composition.json has another {name}", "composition-differs")
    def _(tiny: TinyBuild, name: str = name, value: object = value) -> None:
        def change(report: Row) -> None:
            inner, last = path_of(report, name)
            assert inner[last] != value
            inner[last] = value

        tiny.edit_json(tiny.benchmark / "composition.json", change)


for name, number in {"queries": 2, "passed": 2, "concepts_checked": 20, "names_cleaned": 1}.items():

    @fault(f"forms_qa.json has another {name}", "composition-differs")
    def _(tiny: TinyBuild, name: str = name, number: int = number) -> None:
        tiny.edit_json(tiny.benchmark / "forms_qa.json", lambda value: value.update({name: number}))


@fault("the rejected candidates are gone", "composition-differs")
def _(tiny: TinyBuild) -> None:
    tiny.write(tiny.benchmark / "rejected.jsonl", [])


@fault("a rejected candidate is a query", "composition-differs", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "rejected.jsonl", lambda rows: rows[0].update(id="q_3cf5327d7a"))


@fault("a candidate was rejected for another reason", "composition-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "rejected.jsonl", lambda rows: rows[0].update(reason="names_only"))


@fault("rejected candidates are out of order", "not-sorted")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "rejected.jsonl", lambda rows: rows.reverse())


@fault("a rejected cluster among the candidates", "composition-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "rejected.jsonl", lambda rows: rows[0].update(stage="mine", kind="cluster"))


@fault("a query was found at a step nobody took", "composition-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit(tiny.benchmark / "queries.jsonl", lambda rows: rows[0].update(relaxation="weak_golds"))


def regate(tiny: TinyBuild, **update: Any) -> None:
    tiny.edit_json(tiny.benchmark / "gate.json", lambda value: value.update(update))


@fault("gate.json says ok and counts a finding", "gate-report-differs")
def _(tiny: TinyBuild) -> None:
    regate(tiny, n_findings=1, findings_by_code={"extra-qrel": 1})


@fault("gate.json is not ok without a finding", "gate-report-differs")
def _(tiny: TinyBuild) -> None:
    regate(tiny, ok=False)


@fault("gate.json counts other rows", "gate-report-differs")
def _(tiny: TinyBuild) -> None:
    tiny.edit_json(tiny.benchmark / "gate.json", lambda value: value["counts"].update(qrels=17))


@fault("gate.json is of a build without pages", "gate-report-differs")
def _(tiny: TinyBuild) -> None:
    regate(tiny, level="document")


# --- what lies around ---------------------------------------------------------------------------------------------

STRANGE = (
    "benchmarks/tiny/notes.txt", "benchmarks/tiny/qrels.old.trec", "benchmarks/tiny/n4/qrels.trec",
    "benchmarks/tiny/beir/extra.jsonl", "inventory/tiny/conditions.jsonl", "inventory/tiny/P0/extra.json",
    "inventory/tiny/pages/notes.txt",
)  # fmt: skip

for name in STRANGE:

    @fault(f"a stranger at {name}", "unknown-file")
    def _(tiny: TinyBuild, name: str = name) -> None:
        path = tiny.build.workspace.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("hello\n", "utf-8")


for name in ("benchmarks/tiny/qrels.trec", "inventory/tiny/P0/evidence.jsonl", "inventory/tiny/pages/alpha.jsonl"):

    @fault(f"{name} is a link", "linked-file")
    def _(tiny: TinyBuild, name: str = name) -> None:
        path = tiny.build.workspace.root / name
        elsewhere = tiny.build.workspace.root / "elsewhere"
        path.rename(elsewhere)
        path.symlink_to(elsewhere)


@fault("a folder of the benchmark is a link", "linked-file")
def _(tiny: TinyBuild) -> None:
    elsewhere = tiny.build.workspace.root / "elsewhere"
    (tiny.benchmark / "n2").rename(elsewhere)
    (tiny.benchmark / "n2").symlink_to(elsewhere)


def receipt(tiny: TinyBuild, stage: str) -> Path:
    return tiny.build.receipts / f"{stage}.json"


@fault("a receipt cannot be read", "bad-receipt")
def _(tiny: TinyBuild) -> None:
    receipt(tiny, "mine").parent.mkdir(parents=True)
    receipt(tiny, "mine").write_text("{}", "utf-8")


# --- the calls of a model -----------------------------------------------------------------------------------------


@fault("a call that was used is not recorded", "call-missing")
def _(tiny: TinyBuild) -> None:
    row = {"key": "0" * 64, "rec": "1" * 64, "status": "ok", "prompt_id": "cluster", "model": "m", "answered_by": "n"}
    tiny.write(tiny.build.inventory / "calls.jsonl", [row])


@fault("a recorded call is damaged", "call-corrupt")
def _(tiny: TinyBuild) -> None:
    path = tiny.build.frozen_outputs / "cluster" / "00.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text('{"key":"%s","rec":"%s","status":"ok"}\n' % ("0" * 64, "1" * 64), "utf-8")  # noqa: UP031 - braces


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_named_and_nothing_else(tiny: TinyBuild, name: str) -> None:
    plant, codes = FAULTS[name]
    plant(tiny)
    tiny.seal()
    findings = tiny.validate().findings
    assert {finding.code for finding in findings} == codes
    for finding in findings:
        assert finding.path is None or not finding.path.startswith("/")
        assert "\n" not in finding.message


def test_older_benchmarks_and_hidden_files_are_no_strangers(tiny: TinyBuild) -> None:
    for name in ("at-P0/queries.jsonl", "at-P0/n2/qrels.trec", ".directory"):
        path = tiny.benchmark / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("", "utf-8")
    assert tiny.validate().findings == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("workers", "worker", "workers"),
        ("n_queries = 3", "n_queries = 0", "n_queries"),
        ("n_queries = 3", "n_queries = '3'", "n_queries"),
        ("n_queries = 3", "n_queries = 3\nn_queries = 4", "line"),
        ("schema = 1", "schema = 2", "schema"),
        ('"corpus.jsonl"', '"corpus.jsonl"\npdfs = "pdf"', "either file"),
    ],
)
def test_a_bad_configuration_is_refused(tiny: TinyBuild, old: str, new: str, message: str) -> None:
    replace(tiny.build.config_path, old, new)
    with pytest.raises(UsageError, match=message):
        tiny.validate()


def test_settings_that_changed_show_in_what_they_made(tiny: TinyBuild) -> None:
    replace(tiny.build.config_path, "n_queries = 3", "n_queries = 4")
    assert tiny.codes() == {"composition-differs"}
    replace(tiny.build.config_path, "[compose]", '[extract]\nallowed_roles = ["text"]\n[compose]')
    assert tiny.codes() >= {"allowed-roles-differ", "extra-evidence"}
