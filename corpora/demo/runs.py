"""Makes runs on the demonstration build: simulated systems whose strengths are known, for scoring and its tables.

``python corpora/demo/runs.py [WORKSPACE]`` reads ``benchmarks/demo`` and ``inventory/demo`` below the workspace (this
repository) and writes ``corpora/demo/runs``: gzipped TREC files, a page-aware run and the manifest. ``make demo`` does
it after every build. A system gives a document the share of conditions it covers, times its strength, and noise that
depends on the names alone; no retriever was run, and the scores say nothing about any.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HOME = Path(__file__).parent
DEPTH = 12
GOLD_BONUS = 0.15
FORM_PENALTY = {"raw": 0.0, "clean_v2": 0.05, "natural": 0.12}
STRENGTHS = {"terms": 0.38, "dense": 0.46, "cover": 0.56}
FUSED = ("dense", "cover")

Judgment = dict[str, Any]


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Rows of a JSONL file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def noise(*names: object) -> float:
    """A number from 0 to 1 that depends on the names alone."""
    digest = hashlib.sha256("\0".join(map(str, names)).encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def system(name: str, form: str, masked: int | None = None) -> Callable[[str, str, Judgment | None], float]:
    """A system that sees the share of conditions covered, and a little more in golds."""
    strength = STRENGTHS[name] - FORM_PENALTY[form]

    def score(query_id: str, doc_id: str, judgment: Judgment | None) -> float:
        seen = [] if judgment is None else judgment["pages"]
        shown = [pages for place, pages in enumerate(seen, start=1) if place != masked]
        covered = sum(1 for pages in shown if pages) / len(shown) if shown else 0.0
        bonus = GOLD_BONUS if judgment is not None and judgment["gold"] and masked is None else 0.0
        chance = 0.8 * noise(name, query_id, doc_id) + 0.2 * noise(name, form, masked, query_id, doc_id)
        return strength * (covered + bonus) + (1 - strength) * chance

    return score


def fused(query_id: str, doc_id: str, judgment: Judgment | None) -> float:
    """The mean of two systems."""
    return sum(system(name, "raw")(query_id, doc_id, judgment) for name in FUSED) / len(FUSED)


def control(query_id: str, doc_id: str, judgment: Judgment | None) -> float:
    """Reads the construction facts: golds, then what covers most, then chance."""
    if judgment is None:
        return noise("control", query_id, doc_id) / 10
    return 2.0 * judgment["gold"] + sum(1 for pages in judgment["pages"] if pages) / len(judgment["pages"])


def shown_pages(query_id: str, doc_id: str, judgment: Judgment | None, n_pages: int) -> list[list[float]]:
    """Pages as a page-aware system shows them: those that establish a condition often score best."""
    facts = {page for pages in (judgment["pages"] if judgment else ()) for page in pages}
    scored = [
        (round(0.6 * (page in facts) + 0.7 * noise("pages", query_id, doc_id, page), 4), page)
        for page in range(1, n_pages + 1)
    ]
    return [[page, score] for score, page in sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:5]]


def main(workspace: Path) -> None:
    """Write the runs and their manifest."""
    benchmark = workspace / "benchmarks" / "demo"
    quality = rows_of(workspace / "inventory" / "demo" / "documents_quality.jsonl")
    n_pages = {row["doc_id"]: row["n_pages"] for row in quality if row["kind"] == "document" and row["in_benchmark"]}
    queries = [row["query_id"] for row in rows_of(benchmark / "queries.jsonl")]
    judgments = {(row["query_id"], row["doc_id"]): row for row in rows_of(benchmark / "qrels.jsonl")}
    n_conditions = {row["query_id"]: row["n"] for row in rows_of(benchmark / "queries.jsonl")}
    popularity = {doc: sum(1 for pair in judgments if pair[1] == doc) / len(queries) for doc in n_pages}
    home = HOME / "runs"
    home.mkdir(exist_ok=True)
    manifest: list[dict[str, Any]] = []

    def ranked(score: Callable[[str, str, Judgment | None], float], query_id: str) -> list[tuple[float, str]]:
        scored = [(round(score(query_id, doc_id, judgments.get((query_id, doc_id))), 4), doc_id) for doc_id in n_pages]
        return sorted(scored, key=lambda pair: (-pair[0], pair[1]))[:DEPTH]

    def write(name: str, lines: list[str]) -> None:
        with (home / name).open("wb") as stream, gzip.GzipFile("", "wb", 9, stream, mtime=0) as packed:
            packed.write("".join(lines).encode())

    def add(run_id: str, score: Callable[[str, str, Judgment | None], float], category: str, **more: Any) -> None:
        masked = more.get("masked_condition")
        asked = [query_id for query_id in queries if masked is None or n_conditions[query_id] >= masked]
        lines = [
            f"{query_id} Q0 {doc_id} {place} {value:.4f} {run_id}\n"
            for query_id in asked
            for place, (value, doc_id) in enumerate(ranked(score, query_id), start=1)
        ]
        write(f"{run_id}.trec.gz", lines)
        name = run_id.partition(".")[0]
        entry = {"run_id": run_id, "file": f"{run_id}.trec.gz", "system": name, "category": category}
        manifest.append({**entry, "form": "raw", **more})

    add("chance", lambda query_id, doc_id, _: noise("chance", query_id, doc_id), "baseline")
    add("popular", lambda _, doc_id, __: popularity[doc_id], "baseline")
    for name in STRENGTHS:
        add(name, system(name, "raw"), "simulated")
    add("fused", fused, "fusion")
    for name in STRENGTHS:
        for form in ("clean_v2", "natural"):
            add(f"{name}.{form}", system(name, form), "simulated", form=form)
    for name in ("dense", "cover"):
        for place in range(1, max(n_conditions.values()) + 1):
            add(f"{name}.without-{place}", system(name, "raw", place), "simulated", masked_condition=place)
    add("control", control, "construction facts", privileged=True)
    lines = [
        json.dumps(
            {
                "query_id": query_id,
                "doc_id": doc_id,
                "score": value,
                "pages": shown_pages(query_id, doc_id, judgments.get((query_id, doc_id)), n_pages[doc_id]),
            }
        )
        + "\n"
        for query_id in queries
        for value, doc_id in ranked(system("cover", "raw"), query_id)[:10]
    ]
    write("pages.jsonl.gz", lines)
    manifest.append(
        {"run_id": "pages", "file": "pages.jsonl.gz", "system": "pages", "category": "page-aware", "form": "raw"}
    )
    manifest.append(
        {
            "run_id": "paraphrased",
            "file": None,
            "system": "cover",
            "category": "simulated",
            "form": "paraphrase",
            "blocked_reason": "the demonstration has no paraphrases: they take a model",
        }
    )
    digest = hashlib.sha256((benchmark / "qrels.jsonl").read_bytes()).hexdigest()
    rows = [{**entry, "qrels_sha256": digest} for entry in manifest]
    (home / "runs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HOME.parent.parent)
