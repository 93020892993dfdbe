"""A tiny build written by hand: its pages, and by literal table what occurs on them.

Nothing of the program takes part in writing it (but for the README of the BEIR folder): judgments come from trying
every assignment, and files from ``json``. It is whole, from the corpus file to gate.json, and
holds every gate outcome, a word broken at a line end, nested aliases, a case-sensitive acronym, an occurrence in a
running header, and a document that is not in the benchmark.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest

from nclue_build.core.errors import DataError
from nclue_build.core.progress import NullProgress
from nclue_build.rederive.stage import Gate
from nclue_build.store.beir import BeirFacts
from nclue_build.store.config_file import load_config
from nclue_build.store.stage import StageContext, StageResult
from nclue_build.store.workspace import Build, Workspace
from nclue_build.workflow.executors import LocalMapper
from nclue_build.workflow.validation.build import Validation, validate_build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from nclue_build.store.stage import Mapper


Row = dict[str, Any]
Level = Literal["page", "document"]

ADAPTATION = "climate-change-adaptation_bcfc7306"
CLIMATE = "climate-change_f28d567c"
WATER = "water-rights_36e568b9"
WHO = "who_30e8a5e1"

NAMES = {ADAPTATION: "climate change adaptation", CLIMATE: "climate change", WATER: "Water Rights", WHO: "WHO"}
ALIASES = {
    ADAPTATION: [("climate change adaptation", "folded", 3, 3)],
    CLIMATE: [("climate change", "folded", 5, 6), ("changing climate", "folded", 2, 2)],
    WATER: [("Water Rights", "folded", 3, 4)],
    WHO: [("WHO", "exact", 4, 4)],
}  # form, match, documents, pages

PAGES: dict[str, list[list[tuple[str, str]]]] = {
    "alpha": [
        [("header", "WHO"), ("title", "Climate change adaptation"), ("text", "Water rights are settled late.")],
        [("text", "Water rights, and more WATER RIGHTS."), ("text", "The changing climate worries farmers.")],
        [("text", "The WHO said who pays.")],
    ],
    "beta": [[("text", "Water rights under climate change.")], [("text", "Nothing here.")]],
    "copy": [[("text", "Climate change, water rights and the WHO.")]],
    "delta": [[("text", "Climate change and the WHO.")], [("list", "Climate change again.")]],
    "epsilon": [[("text", "A climate change adaptation plan.")], [("text", "The WHO met.")], [], [("text", "End.")]],
    "eta": [[("text", "Nothing of note, water or rights.")]],
    "gamma": [[("text", "The WHO met.")], [("text", "Plans for climate change adap-\ntation and water-\nrights.")]],
    "zeta": [[("text", "Of water rights.")], [("text", "A changing\nclimate.")]],
}
COPY_OF = {"copy": "alpha"}
"""The same bytes, as the digests say; what its pages hold is not looked at then."""
OUTSIDE = COPY_OF.keys()
SOURCES = {"alpha": "north", "zeta": "south"}

P: dict[str, dict[str, list[tuple[int, int, bool]]]] = {
    ADAPTATION: {"alpha": [(1, 1, True)], "epsilon": [(1, 1, False)], "gamma": [(2, 1, False)]},
    CLIMATE: {
        "alpha": [(1, 1, True), (2, 1, False)],
        "beta": [(1, 1, False)],
        "delta": [(1, 1, False), (2, 1, False)],
        "epsilon": [(1, 1, False)],
        "gamma": [(2, 1, False)],
        "zeta": [(2, 1, False)],
    },
    WATER: {"alpha": [(1, 1, False), (2, 2, False)], "beta": [(1, 1, False)], "zeta": [(1, 1, False)]},
    WHO: {"alpha": [(3, 1, False)], "delta": [(1, 1, False)], "epsilon": [(2, 1, False)], "gamma": [(1, 1, False)]},
}  # page, mentions, in a heading

QUERIES = [
    ("q_f647a5dad3", (ADAPTATION, CLIMATE, WHO)),
    ("q_3cf5327d7a", (CLIMATE, WATER)),
    ("q_97480fe057", (WATER, WHO)),
]


def judge(pages: list[list[int]], present: list[bool], level: Level) -> Row:
    """Judge one pair by trying everything."""
    n, clue_count = len(pages), sum(present)
    row: Row = {"grade": clue_count, "clue_count": clue_count, "gold": False, "gate": "incomplete", "pages": pages}
    row |= {"witness": None, "shared_pages": None, "violator": None, "evidence": []}
    if clue_count < n:
        return row
    if level == "document":
        return row | {"gold": True, "gate": "document_level"}
    if shared := [page for page in pages[0] if all(page in other for other in pages)]:
        return row | {"grade": n - 1, "gate": "single_page", "shared_pages": shared}
    if assignments := [choice for choice in itertools.product(*pages) if len(set(choice)) == n]:
        return row | {"gold": True, "gate": "ok", "witness": list(min(assignments))}
    for size in range(2, n + 1):
        for members in itertools.combinations(range(n), size):
            union = sorted({page for member in members for page in pages[member]})
            if len(union) < size:
                return row | {"grade": n - 1, "gate": "no_assignment", "violator": (members, union)}
    raise AssertionError(pages)


@dataclass(frozen=True)
class TinyBuild:
    """The build on disk, with ways to damage it."""

    build: Build
    level: Level

    @property
    def p0(self) -> Path:
        return self.build.version(0)

    @property
    def benchmark(self) -> Path:
        return self.build.benchmark

    def run(self, mapper: Mapper | None = None) -> StageResult:
        config = load_config(self.build.config_path)
        return Gate().run(StageContext(self.build, config, mapper or LocalMapper(1), NullProgress()))

    def validate(self) -> Validation:
        return validate_build(self.build.workspace, self.build.name)

    def codes(self) -> set[str]:
        """What gate and validate find."""
        return {finding.code for finding in self.validate().findings} | self.gate_codes()

    def gate_codes(self) -> set[str]:
        """What gate finds, be it bad rows for which it cannot go on."""
        try:
            return {finding.code for finding in self.run().findings}
        except DataError as error:
            return {finding.code for finding in error.findings}

    def report(self) -> Row:
        report: Row = json.loads((self.benchmark / "gate.json").read_text("utf-8"))
        return report

    def write(self, path: Path, rows: Iterable[Row]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(compact(row) + "\n" for row in rows), "utf-8")

    def write_json(self, path: Path, value: Row) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, ensure_ascii=False, indent=2) + "\n", "utf-8")

    def read(self, path: Path) -> list[Row]:
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    def edit(self, path: Path, change: Callable[[list[Row]], object]) -> None:
        """Change the rows of a JSONL file in place."""
        rows = self.read(path)
        change(rows)
        self.write(path, rows)

    def edit_json(self, path: Path, change: Callable[[Row], object]) -> None:
        """Change a JSON file in place."""
        value: Row = json.loads(path.read_text("utf-8"))
        change(value)
        self.write_json(path, value)

    def edit_lines(self, path: Path, change: Callable[[list[str]], object]) -> None:
        """Change the lines of a text file in place."""
        lines = path.read_text("utf-8").splitlines()
        change(lines)
        path.write_text("".join(line + "\n" for line in lines), "utf-8")

    def seal(self) -> None:
        """Make all recorded digests right again, so that a fault is judged for itself."""
        digests = {name: _sha256(self.p0 / name) for name in ("conditions.jsonl", "evidence.jsonl")}
        self.edit_json(self.p0 / "version.json", lambda value: value.update(digests=digests))
        qrels = _sha256(self.benchmark / "qrels.jsonl")
        self.edit_json(
            self.benchmark / "qrels.meta.json",
            lambda value: value.update(inventory_digests=digests, qrels_sha256=qrels),
        )


def judged_by_model(tiny: TinyBuild) -> None:
    """Make the build one that "somebody" judged, with a call for every verdict and every gold's quotes."""

    def used(number: int, prompt: str) -> Row:
        row = {"key": f"{number:064x}", "rec": "ab" * 32, "status": "ok", "prompt_id": prompt}
        return row | {"model": "glm-5.2", "answered_by": "somebody"}

    conditions = tiny.read(tiny.p0 / "conditions.jsonl")
    for number, row in enumerate(conditions):
        row["verdict"] |= {"judge": "model", "model": "somebody", "call_key": f"{number:064x}"}
    tiny.write(tiny.p0 / "conditions.jsonl", conditions)
    tiny.write(tiny.build.inventory / "calls.jsonl", [used(number, "cluster") for number in range(len(conditions))])
    qrels = tiny.read(tiny.benchmark / "qrels.jsonl")
    for number, row in enumerate(qrels):
        row["evidence"] = [quote | {"call_key": f"{100 + number:064x}"} for quote in row["evidence"]]
    tiny.write(tiny.benchmark / "qrels.jsonl", qrels)
    keys = [100 + number for number, row in enumerate(qrels) if row["evidence"]]
    tiny.write(tiny.benchmark / "calls.jsonl", [used(number, "item") for number in keys])
    meta = tiny.benchmark / "qrels.meta.json"
    tiny.edit_json(meta, lambda row: row.update(item_judge="model", item_model="somebody"))
    shutil.rmtree(tiny.benchmark / "beir")  # its card names the other judge
    config = tiny.build.config_path
    config.write_text(config.read_text("utf-8") + '\n[judge]\nkind = "model"\n', "utf-8")
    tiny.seal()


@pytest.fixture(scope="session")
def model_judge() -> Callable[[TinyBuild], None]:
    """Turns a tiny build into one that a model judged."""
    return judged_by_model


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def compact(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def write_config(tiny: TinyBuild) -> None:
    folder = tiny.build.config_path.parent
    folder.mkdir()
    (folder / "workspace.toml").write_text("schema = 1\n", "utf-8")
    tables = '[corpus]\nfile = "corpus.jsonl"\n[compose]\nn_queries = 3\n[run]\nworkers = 1\n'
    tiny.build.config_path.write_text(f"schema = 1\n{tables}", "utf-8")


def write_corpus(tiny: TinyBuild) -> None:
    root = tiny.build.workspace.root
    listed: list[Row] = []
    documents: list[Row] = []
    quality: list[Row] = []
    for doc_id, pages in PAGES.items():
        source = SOURCES.get(doc_id, "north")
        pdf = root / "pdf" / f"{doc_id}.pdf"
        pdf.parent.mkdir(exist_ok=True)
        pdf.write_bytes(b"%PDF-1.4 " + COPY_OF.get(doc_id, doc_id).encode())
        name = f"pdf/{doc_id}.pdf"
        listed.append({"doc_id": doc_id, "source": source, "file_name": name})
        document: Row = {"doc_id": doc_id, "source": source, "title": doc_id.title(), "url": None, "pdf_url": None}
        document |= {"sha256": _sha256(pdf), "bytes": pdf.stat().st_size, "n_pages": len(pages), "language": "en"}
        document |= dict.fromkeys(("license", "license_note", "published", "retrieved_at", "archive_url"))
        documents.append(document | {"file_name": name})
        outside = doc_id in OUTSIDE
        n_ok, n_words = sum(map(bool, pages)), sum(len(re.findall(r"\w+", text)) for text in body_texts(pages))
        row: Row = {"kind": "document", "doc_id": doc_id, "source": source, "status": "ok", "n_pages": len(pages)}
        row |= {"pages_ok": n_ok, "pages_empty": len(pages) - n_ok, "pages_failed": 0, "n_words": n_words}
        row |= {"language": "en", "flags": [], "in_benchmark": not outside, "gold_eligible": not outside}
        quality.append(row | {"removed": "duplicate" if outside else None, "message": None})
        if tiny.level == "page":
            tiny.write(tiny.build.page_file(doc_id), [page_row(doc_id, number) for number in range(1, len(pages) + 1)])
    for source, names in (("north", PAGES.keys() - SOURCES.keys() | {"alpha"}), ("south", {"zeta"})):
        n_pages = sum(len(PAGES[name]) for name in names)
        row = {"kind": "source", "source": source, "n_documents": len(names), "n_pages": n_pages}
        quality.append(row | {"pages_passed": n_pages, "passed": True})
    groups: list[Row] = [
        {"group_id": f"exact_{first}", "kind": "exact", "representative": first, "doc_ids": sorted([first, doc_id])}
        | {"removed": [doc_id], "similarity_percent": None}
        for doc_id, first in COPY_OF.items()
    ]
    tiny.write(tiny.build.inventory / "duplicates.jsonl", groups)
    tiny.write(root / "corpus.jsonl", listed)
    tiny.write(tiny.build.documents, documents)
    tiny.write(tiny.build.quality, quality)


def body_texts(pages: list[list[tuple[str, str]]]) -> list[str]:
    return [text.replace("-\n", "") for page in pages for role, text in page if role != "header"]


def page_row(doc_id: str, number: int) -> Row:
    blocks = [{"role": role, "level": None, "text": text, "bbox": None} for role, text in PAGES[doc_id][number - 1]]
    row: Row = {"doc_id": doc_id, "page": number, "page_label": None, "width": 61200, "height": 79200, "rotation": 0}
    row |= {"backend": "hand", "backend_version": "1", "status": "ok" if blocks else "empty", "flags": []}
    text = "\n".join(block["text"] or "" for block in blocks)
    return row | {"blocks": blocks, "text_sha256": hashlib.sha256(text.encode()).hexdigest()}


def write_mined(tiny: TinyBuild) -> None:
    """A cluster of every condition, and one more that was dropped at each of two places."""
    forms: list[Row] = []
    clusters: list[Row] = []
    rejected: list[Row] = []
    groups = [(key, [form.lower() for form, *_ in ALIASES[key]], "KEEP", "good") for key in ALIASES]
    groups += [("farmers_1", ["farmers"], "KEEP", "good"), ("nothing_1", ["nothing"], "REJECT", "generic")]
    for key, members, decision, reason in sorted(groups):
        for form in members:
            row: Row = {"form": form, "normal": form, "n_words": len(form.split(" ")), "document_frequency": 2}
            forms.append(row | {"page_frequency": 2, "mentions": 2, "heading_documents": 0, "termhood_milli": 900})
        row = {"cluster_id": key, "name": members[0], "aliases": sorted(members), "links": []}
        row |= {"document_frequency": 2, "mentions": 2 * len(members), "decision": decision, "reason": reason}
        clusters.append(row | {"judge": "rules", "model": None, "call_key": None})
    for kind, key, reason, detail in (
        ("cluster", "nothing_1", "generic", "nothing"),
        ("condition", "farmers_1", "too_few_documents", "1 documents"),
    ):
        rejected.append({"stage": "mine", "kind": kind, "id": key, "reason": reason, "detail": detail})
    forms.sort(key=lambda row: str(row["form"]))
    for name, rows in (("surface_forms", forms), ("clusters", clusters), ("rejected", rejected)):
        tiny.write(tiny.build.inventory / f"{name}.jsonl", rows)


def write_p0(tiny: TinyBuild) -> None:
    paged = tiny.level == "page"
    conditions: list[Row] = []
    evidence: list[Row] = []
    for key, documents in P.items():
        names = ("form", "match", "document_frequency", "page_frequency")
        row: Row = {"condition_id": key, "name": NAMES[key]}
        row |= {"aliases": [dict(zip(names, alias, strict=True)) for alias in ALIASES[key]]}
        row |= {"document_frequency": len(documents), "page_frequency": sum(map(len, documents.values()))}
        verdict: Row = {"judge": "rules", "model": None, "call_key": None, "reason": "kept"}
        conditions.append(row | {"verdict": verdict, "rubric": None})
        for doc_id, found in documents.items():
            pages, mentions, headings = ([*column] for column in zip(*found, strict=True))
            parallel: Row = {"pages": pages, "mentions": mentions, "in_heading": headings}
            parallel = parallel if paged else {"pages": None, "mentions": [], "in_heading": []}
            evidence.append({"condition_id": key, "doc_id": doc_id} | parallel)
    tiny.write(tiny.p0 / "conditions.jsonl", conditions)
    tiny.write(tiny.p0 / "evidence.jsonl", evidence)
    n_pages = sum(len(found) for documents in P.values() for found in documents.values())
    counts = {"conditions": 4, "documents": 7, "evidence": len(evidence), "pages": n_pages if paged else 0}
    version: Row = {"schema_version": 1, "version": 0, "parent": None, "level": tiny.level, "decisions": []}
    version |= {"allowed_roles": ["title", "text", "list", "table", "caption", "footnote"], "text_version": 1}
    tiny.write_json(tiny.p0 / "version.json", version | {"digests": {}, "counts": counts})


def quote(condition: str, doc_id: str, page: int, level: Level) -> Row:
    text = next(text for role, text in PAGES[doc_id][page - 1] if role != "header" and mentions(condition, text))
    return {"condition_id": condition, "page": page if level == "page" else None, "quote": text, "call_key": None}


def mentions(condition: str, text: str) -> bool:
    plain = text.replace("-\n", "").replace("\n", " ")
    return any(
        form in plain if match == "exact" else form.lower() in plain.lower() for form, match, *_ in ALIASES[condition]
    )


def in_words(names: list[str]) -> str:
    return {2: "{} and {}", 3: "{}, {}, and {}"}[len(names)].format(*names)


def write_benchmark(tiny: TinyBuild) -> None:
    queries: list[Row] = []
    qrels: list[Row] = []
    for query_id, ids in QUERIES:
        rows: list[Row] = []
        for doc_id in sorted({doc_id for key in ids for doc_id in P[key]}):
            pages = [[page for page, *_ in P[key].get(doc_id, [])] if tiny.level == "page" else [] for key in ids]
            row: Row = {"query_id": query_id, "doc_id": doc_id}
            row |= judge(pages, [doc_id in P[key] for key in ids], tiny.level)
            if row["violator"]:
                members, union = row["violator"]
                row["violator"] = {"conditions": [ids[member] for member in members], "pages": union}
            if row["gold"]:
                row["evidence"] = [quote(key, doc_id, P[key][doc_id][0][0], tiny.level) for key in ids]
            rows.append(row)
        golds = [row["doc_id"] for row in rows if row["gold"]]
        names = [NAMES[key] for key in ids]
        strata: Row = {"l_min": min(len(PAGES[doc_id]) for doc_id in golds), "d_plus": len(rows)}
        strata |= {"sources": sorted({SOURCES.get(doc_id, "north") for doc_id in golds})}
        quoted = [f'"{name}"' for name in names]
        forms = {"raw": in_words(names), "clean_v2": "; ".join(quoted)}
        forms["natural"] = f"Find the document that discusses {in_words(quoted)}."
        conditions = [
            {"condition_id": key, "name": NAMES[key], "raw_name": NAMES[key], "aliases": [a[0] for a in ALIASES[key]]}
            for key in ids
        ]
        query: Row = {"query_id": query_id, "n": len(ids), "conditions": conditions, "relaxation": None}
        query |= {"forms": forms | {"paraphrase": None}, "golds": golds, "n_judged": len(rows)}
        queries.append(query | {"strata": strata})
        qrels += rows
    queries.sort(key=lambda row: str(row["query_id"]))
    qrels.sort(key=lambda row: (row["query_id"], row["doc_id"]))
    tiny.write(tiny.benchmark / "queries.jsonl", queries)
    tiny.write(tiny.benchmark / "qrels.jsonl", qrels)
    meta: Row = {"schema_version": 1, "judging": "complete", "inventory_version": 0, "inventory_digests": {}}
    meta |= {"level": tiny.level, "item_judge": "rules", "item_model": None, "n_queries": 3, "n_qrels": len(qrels)}
    meta |= {"n_golds": sum(row["gold"] for row in qrels), "qrels_sha256": "0" * 64}
    tiny.write_json(tiny.benchmark / "qrels.meta.json", meta)
    write_reports(tiny)
    write_trec(tiny, qrels)
    write_beir(tiny, queries, qrels)


def write_reports(tiny: TinyBuild) -> None:
    rejected: list[Row] = [
        {"id": "q_0000000001", "reason": "fragment", "detail": f"alpha {WHO}"},
        {"id": "q_0000000002", "reason": "not_selected", "detail": "n_queries"},
    ]
    rows: list[Row] = [{"stage": "compose", "kind": "candidate"} | row for row in rejected]
    tiny.write(tiny.benchmark / "rejected.jsonl", rows)
    step: Row = {"name": None, "max_weak_conditions": 0, "titles": False, "relation": "close", "min_subsets": 0}
    step |= {"max_golds": 5}
    step |= {"max_capped_documents": 5, "enumerated": {"n2.found": 3, "n3.found": 2}, "dropped": {"n2.no_gold": 1}}
    step |= {"sampled": {"n2": 3, "n3": 2}, "verified": {"n2": 3, "n3": 1}, "selected": {"n2": 2, "n3": 1}}
    mix = [
        ("n", "2", 814, 2, 667), ("n", "3", 186, 1, 333), ("source", "north", 857, 2, 667),
        ("source", "south", 142, 1, 333), ("l_min", "1-5", None, 3, 1000), ("d_plus", "1-12", None, 3, 1000),
        ("n_golds", "1", None, 3, 1000), ("relaxation", "strict", None, 3, 1000),
    ]  # fmt: skip
    names = ("stratum", "value", "declared_permille", "queries", "realised_permille")
    caps: Row = {"max_per_condition": 5, "max_per_gold": 6, "busiest_condition_queries": 2}
    caps |= {"busiest_gold_queries": 2, "busiest_gold_permille": 667}
    diversity = {"gold_documents": 2, "families": 2, "conditions": 4, "queries_without_20_busiest_golds": 0}
    report: Row = {
        "schema_version": 1,
        "n_queries_asked": 3,
        "n_queries": 3,
        "goal_queries": 3,
        "goal_families": 2,
        "goal_golds": 1,
    }
    report |= {"seed": 11, "item_judge": "rules", "verify": "golds", "steps": [step], "refusals": {"fragment": 1}}
    report |= {"drop_rates": [{"n_golds": 1, "candidates": 5, "dropped": 1, "dropped_permille": 200}]}
    report |= {"mix": [dict(zip(names, row, strict=True)) for row in mix], "caps": caps, "diversity": diversity}
    blocked = {"left_over": 1, "max_per_condition": 0, "max_per_gold": 0, "share_n3": 0}
    tiny.write_json(tiny.benchmark / "composition.json", report | {"blocked": blocked, "shortfalls": []})
    proof: Row = {"schema_version": 1, "queries": 3, "passed": 3, "concepts_checked": 21, "names_cleaned": 0}
    tiny.write_json(tiny.benchmark / "forms_qa.json", proof | {"raw_names_with_and": 0, "problems": []})
    counts = {"documents": 7, "pages": 16, "conditions": 4, "evidence": 16, "queries": 3, "qrels": 18, "quotes": 7}
    verdict: Row = {"schema_version": 1, "ok": True, "level": tiny.level, "counts": counts, "n_findings": 0}
    tiny.write_json(tiny.benchmark / "gate.json", verdict | {"findings_by_code": {}, "findings": []})


def write_trec(tiny: TinyBuild, qrels: list[Row]) -> None:
    arity = {query_id: len(ids) for query_id, ids in QUERIES}
    conditions = dict(QUERIES)
    for folder, n in (("", None), ("n2/", 2), ("n3/", 3)):
        rows = [row for row in qrels if n in (None, arity[row["query_id"]])]
        grades = [f"{row['query_id']} 0 {row['doc_id']} {row['grade']}\n" for row in rows]
        golds = [f"{row['query_id']} 0 {row['doc_id']} 1\n" for row in rows if row["gold"]]
        (tiny.benchmark / folder).mkdir(exist_ok=True)
        (tiny.benchmark / folder / "qrels.trec").write_text("".join(grades), "utf-8")
        (tiny.benchmark / folder / "qrels.gold.trec").write_text("".join(golds), "utf-8")
    subtopics, pages = [], []
    for row in qrels:
        for number, key in enumerate(conditions[row["query_id"]], start=1):
            if row["doc_id"] in P[key]:
                subtopics.append(f"{row['query_id']} {number} {row['doc_id']} 1\n")
        every_page = sorted(itertools.chain(*row["pages"]))
        for page, copies in itertools.groupby(every_page):
            pages.append(f"{row['query_id']} 0 {row['doc_id']}_p{page:04d} {len(list(copies))}\n")
    (tiny.benchmark / "qrels.conditions.trec").write_text("".join(subtopics), "utf-8")
    (tiny.benchmark / "qrels.pages.trec").write_text("".join(pages), "utf-8")


def write_beir(tiny: TinyBuild, queries: list[Row], qrels: list[Row]) -> None:
    folder = tiny.benchmark / "beir"
    inside = [doc_id for doc_id in PAGES if doc_id not in OUTSIDE]
    rows: list[Row] = []
    for key in inside:
        about: Row = {"source": SOURCES.get(key, "north"), "n_pages": len(PAGES[key])}
        rows.append({"_id": key, "title": key.title(), "text": plain_text(key), "metadata": about})
    tiny.write(folder / "corpus.jsonl", rows)
    texts: list[Row] = []
    for query in queries:
        forms = query["forms"]
        about = {"n": query["n"], "raw": forms["raw"], "natural": forms["natural"]}
        texts.append({"_id": query["query_id"], "text": forms["clean_v2"], "metadata": about})
    tiny.write(folder / "queries.jsonl", texts)
    golds = [{**row, "grade": 1} for row in qrels if row["gold"]]
    (folder / "qrels").mkdir()
    for split, judged in (("test", qrels), ("gold", golds)):
        lines = [f"{row['query_id']}\t{row['doc_id']}\t{row['grade']}\n" for row in judged]
        (folder / "qrels" / f"{split}.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines), "utf-8")
        scores = [{"query-id": row["query_id"], "corpus-id": row["doc_id"], "score": row["grade"]} for row in judged]
        tiny.write(folder / "qrels" / f"{split}.jsonl", scores)
    facts = BeirFacts("tiny", len(inside), {2: 2, 3: 1}, len(qrels), len(golds), "rules")
    (folder / "README.md").write_text(facts.card(), "utf-8")


def plain_text(doc_id: str) -> str:
    blocks = [text for page in PAGES[doc_id] for role, text in page if role != "header"]
    return "\n".join(text.replace("-\n", "").replace("\n", " ") for text in blocks)


def make(folder: Path, level: Level) -> TinyBuild:
    tiny = TinyBuild(Build(Workspace(folder), "tiny"), level)
    write_config(tiny)
    write_corpus(tiny)
    write_mined(tiny)
    write_p0(tiny)
    write_benchmark(tiny)
    tiny.seal()
    return tiny


@pytest.fixture
def tiny(tmp_path: Path) -> TinyBuild:
    """A page-level build without a fault."""
    return make(tmp_path, "page")


@pytest.fixture
def tiny_documents(tmp_path: Path) -> TinyBuild:
    """A document-level build without a fault."""
    return make(tmp_path, "document")
