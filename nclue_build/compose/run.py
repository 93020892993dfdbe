"""One run of composing, with all that it reads and writes."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from nclue_build.calls.session import Calls, answered_by
from nclue_build.compose import emit, report
from nclue_build.compose.agreement import agreement, compared
from nclue_build.compose.candidates import Corpus
from nclue_build.compose.forms import clean_name, render
from nclue_build.compose.item_calls import ItemCalls
from nclue_build.compose.ladder import Material, compose, selection_rules
from nclue_build.compose.model_judge import MODEL
from nclue_build.compose.paraphrases import paraphrase
from nclue_build.compose.verify import Item, judge_document, plan_items
from nclue_build.compose.writing import BenchmarkWriting, write_benchmark
from nclue_build.core.errors import DataError, Finding, OutcomeError, about
from nclue_build.gate.check import row_bitsets
from nclue_build.inventory.documents import benchmark_documents
from nclue_build.inventory.files import read_version
from nclue_build.records.benchmark import Query, QueryCondition, Quote, Strata
from nclue_build.records.config import SMALL_CORPUS
from nclue_build.records.inventory import Rejected
from nclue_build.store.jsonl import write_json, write_jsonl
from nclue_build.store.layout import AGREEMENT, CALLS, COMPOSITION, FORMS_QA, QUERIES, REJECTED
from nclue_build.store.pages import read_pages
from nclue_build.store.prompts import ITEM_PROMPT, PARAPHRASE_PROMPT, read_prompt
from nclue_build.store.stage import StageResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from nclue_build.compose.ladder import Composed, Judge
    from nclue_build.compose.needs import ItemQuotes, Judged, Need
    from nclue_build.compose.select import PoolEntry
    from nclue_build.inventory.files import StoredVersion
    from nclue_build.records.corpus import DocumentQuality, Role
    from nclue_build.store.stage import StageContext


def run(context: StageContext) -> StageResult:
    """Compose and write the benchmark.

    Raises:
        OutcomeError: no query is possible; says which constraint binds.
        DataError: an input is missing or not what it should be.
    """
    quality = benchmark_documents(context.build.quality)
    stored = read_version(context.build.version(0), [row.doc_id for row in quality])
    return _Composing(context, quality, stored).run()


class _JudgeTask(NamedTuple):
    document: int
    path: Path
    items: tuple[Item, ...]


def _judge_file(allowed_roles: tuple[Role, ...], task: _JudgeTask) -> tuple[int, list[ItemQuotes]]:
    with about(f"document {task.path.stem}"):
        return task.document, judge_document(read_pages(task.path), task.items, allowed_roles)


class _Composing:
    """One run of the stage."""

    def __init__(self, context: StageContext, quality: Sequence[DocumentQuality], stored: StoredVersion) -> None:
        self._context, self._build, self._quality = context, context.build, quality
        self._config = context.config.resolve(len(quality)).compose
        self._version = stored.version
        self._conditions = sorted(stored.conditions, key=lambda row: row.condition_id)
        self._inventory = stored.inventory
        self._by_page = stored.version.level == "page"
        self._judge_name: str = context.config.judge.kind if self._by_page else "none"
        asks = self._judge_name == MODEL or self._config.paraphrases != "none"
        self._calls = (
            Calls(context.build, context.config.calls, "compose", context.progress, context.spending) if asks else None
        )
        sources = tuple(sorted({row.source for row in quality}))
        self._corpus = Corpus(
            inventory=stored.inventory,
            bitsets=row_bitsets(stored.inventory),
            n_pages=np.array([row.n_pages for row in quality], dtype=np.int32),
            gold_eligible=np.array([row.gold_eligible for row in quality], dtype=np.bool_),
            source=np.array([sources.index(row.source) for row in quality], dtype=np.int32),
            sources=sources,
        )

        self._n_paraphrases = 0

    def run(self) -> StageResult:
        rules = selection_rules(self._corpus, self._config, small_corpus=len(self._quality) < SMALL_CORPUS)
        material = Material(self._corpus, self._conditions, self._config, rules, self._judge())
        composed = compose(material, self._context.progress)
        if not composed.chosen:
            raise OutcomeError(
                f"no query is possible: {report.nothing_chosen(composed, self._config, self._judge_name)}"
            )
        queries = [self._query(composed, entry) for entry in composed.chosen]
        self._check_ids(queries)
        queries = self._paraphrased(queries)
        counts = self._write_judgments(composed, queries)
        summary = report.composition(queries, composed, self._config, self._corpus.sources, self._judge_name)
        proof = report.forms_qa(queries)
        folder = self._build.composed
        n_rejected = write_jsonl(folder / REJECTED, self._rejected(composed))
        write_json(folder / FORMS_QA, proof)
        write_json(folder / COMPOSITION, summary)
        findings = tuple(
            Finding(
                "form-without-concept",
                f"{row.form}: {row.problem}",
                self._build.relative(folder / QUERIES),
                id=row.query_id,
            )
            for row in proof.problems
        )
        counts |= {
            "candidates": len(queries) + n_rejected,
            "rejected": n_rejected,
            "gold_documents": summary.diversity.gold_documents,
            "families": summary.diversity.families,
        }
        counts |= self._write_agreement(composed) | self._write_calls()
        return StageResult(counts, findings, summary.shortfalls)

    def _judge(self) -> Judge | None:
        """The judge that the configuration names; none in document-level builds."""
        if not self._by_page:
            return None
        if self._calls is None or self._judge_name != MODEL:
            return self._judge_by_rules
        prompt = read_prompt(self._build.workspace.prompts / ITEM_PROMPT)
        return ItemCalls(
            self._context, self._calls, prompt, self._conditions, self._inventory, self._version.allowed_roles
        ).judge

    def _judge_by_rules(self, needs: Sequence[Need], phase: str = "compose: verify") -> Judged:
        aliases = {index: condition.aliases for index, condition in enumerate(self._conditions)}
        plan = plan_items(needs, self._inventory, aliases)
        tasks = [
            _JudgeTask(document, self._build.page_file(self._inventory.document_ids[document]), tuple(items))
            for document, items in plan.items()
        ]
        self._context.progress.start(phase, len(tasks), "documents")
        quotes: dict[tuple[int, int], ItemQuotes] = {}
        judge = partial(_judge_file, self._version.allowed_roles)
        for document, found in self._context.mapper.map(judge, tasks):
            quotes |= {(document, item.condition): item for item in found}
            self._context.progress.advance()
        return {need: tuple(quotes[need.document, condition] for condition in need.conditions) for need in needs}

    def _query(self, composed: Composed, entry: PoolEntry) -> Query:
        conditions = tuple(
            QueryCondition(
                condition_id=row.condition_id,
                name=clean_name(row.name),
                raw_name=row.name,
                aliases=tuple(alias.form for alias in row.aliases),
            )
            for row in (self._conditions[index] for index in entry.conditions)
        )
        n_judged = len(emit.judged_documents(self._inventory, entry.conditions))
        golds = [self._quality[document] for document in entry.golds]
        return Query(
            query_id=entry.query_id,
            n=len(conditions),
            conditions=conditions,
            relaxation=composed.steps[entry.step].requirements.name,
            forms=render(conditions),
            golds=tuple(row.doc_id for row in golds),
            n_judged=n_judged,
            strata=Strata(
                l_min=min(row.n_pages for row in golds),
                d_plus=n_judged,
                sources=tuple(sorted({row.source for row in golds})),
            ),
        )

    def _paraphrased(self, queries: list[Query]) -> list[Query]:
        """Queries with a fourth form, where a reply for it is recorded."""
        if self._calls is None or self._config.paraphrases == "none":
            return queries
        prompt = read_prompt(self._build.workspace.prompts / PARAPHRASE_PROMPT)
        forms = paraphrase(self._calls, prompt, queries)
        self._n_paraphrases = sum(form is not None for form in forms)
        return [
            query
            if form is None
            else query.model_copy(update={"forms": query.forms.model_copy(update={"paraphrase": form})})
            for query, form in zip(queries, forms, strict=True)
        ]

    def _write_calls(self) -> dict[str, int]:
        """The list of used calls; counts of what there is to say of them."""
        path = self._build.composed / CALLS
        if self._calls is None:
            path.unlink(missing_ok=True)
            return {}
        used = self._calls.used
        write_jsonl(path, used)
        counts = {f"calls_{status}": number for status, number in sorted(Counter(row.status for row in used).items())}
        return {"calls": len(used), **counts, "paraphrases": self._n_paraphrases}

    def _write_agreement(self, composed: Composed) -> dict[str, int]:
        """What the rules say of the same items, where a model judged; how many were compared."""
        path = self._build.composed / AGREEMENT
        if self._judge_name != MODEL:
            path.unlink(missing_ok=True)
            return {}
        needs = compared(composed.judged, self._inventory.document_ids)
        rules = self._judge_by_rules(needs, "compose: compare with the rules")
        return {
            "items_compared": write_jsonl(path, agreement(composed.judged, rules, self._inventory, self._conditions))
        }

    def _check_ids(self, queries: Iterable[Query]) -> None:
        clashes = sorted({query.query_id for query in queries}.intersection(self._inventory.document_ids))
        if clashes:
            raise DataError(f"document id {clashes[0]!r} is also the id of a query: rename the document")

    def _evidence(self, composed: Composed, entry: PoolEntry) -> dict[int, tuple[Quote, ...]]:
        """Quotes of every document judged for a query, by document index."""
        evidence: dict[int, tuple[Quote, ...]] = {}
        for need in composed.needs[entry.query_id]:
            quotes = []
            for item, page in zip(composed.judged[need], need.pages, strict=False):
                found, condition_id = item.quote_for(page), self._inventory.condition_ids[item.condition]
                quotes.append(
                    Quote(condition_id=condition_id, page=found.page, quote=found.text, call_key=item.call_key)
                )
            evidence[need.document] = tuple(quotes)
        return evidence

    def _write_judgments(self, composed: Composed, queries: Sequence[Query]) -> dict[str, int]:
        """Write queries, qrels in all their shapes, and the BEIR folder."""
        writing = BenchmarkWriting(
            build=self._build,
            folder=self._build.composed,
            version=self._version,
            quality=self._quality,
            mapper=self._context.mapper,
            progress=self._context.progress,
            item_judge=self._judge_name,
            item_model=None if self._calls is None else answered_by(self._calls.used, ["item"]),
            with_texts=self._by_page and self._build.composed == self._build.benchmark,
        )
        judged = (
            emit.judge_query(self._inventory, entry.query_id, entry.conditions, self._evidence(composed, entry))
            for entry in composed.chosen
        )
        return write_benchmark(writing, queries, judged)

    def _rejected(self, composed: Composed) -> list[Rejected]:
        """Every candidate that was sampled and is no query, with its reason."""
        rows = [
            Rejected(
                stage="compose",
                kind="candidate",
                id=query_id,
                reason=mismatch.reason,
                detail=f"{self._inventory.document_ids[mismatch.document]} "
                f"{self._inventory.condition_ids[mismatch.condition]}",
            )
            for query_id, mismatch in composed.mismatches.items()
        ]
        rows.extend(
            Rejected(
                stage="compose", kind="candidate", id=composed.pool[index].query_id, reason="not_selected", detail=cap
            )
            for index, cap in composed.selection.left_over.items()
        )
        return sorted(rows, key=lambda row: row.id)
