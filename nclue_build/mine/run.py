"""One run of mining, with all that it reads and writes."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from nclue_build.calls.session import Calls
from nclue_build.core.errors import InternalError, OutcomeError
from nclue_build.core.phrases import counted
from nclue_build.core.text import TEXT_VERSION, fold, matching_text
from nclue_build.inventory.documents import benchmark_documents
from nclue_build.inventory.files import write_version
from nclue_build.mine import acronyms, candidates, cases, conditions, exchange, report, worker
from nclue_build.mine.clusters import FormCluster, build_clusters
from nclue_build.mine.judge import MODEL, ClusterCase, ClusterVerdict, Part, RulesJudge
from nclue_build.mine.model_judge import ModelJudge
from nclue_build.mine.normal import variants
from nclue_build.mine.page_facts import mine_pages
from nclue_build.mine.profile import CorpusProfile, Lexicon
from nclue_build.mine.sights import ClusterSight, DocumentSight, cluster_sight
from nclue_build.records.inventory import Rejected
from nclue_build.store.jsonl import write_jsonl
from nclue_build.store.layout import AGREEMENT, CALLS, CLUSTERS, REJECTED, SURFACE_FORMS
from nclue_build.store.pages import read_documents
from nclue_build.store.prompts import CLUSTER_PROMPT, PAGE_FACTS_PROMPT, PARTITION_PROMPT, read_prompt
from nclue_build.store.stage import StageResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from nclue_build.inventory.table import Inventory
    from nclue_build.records.corpus import DocumentQuality
    from nclue_build.records.inventory import Cluster, Condition, SurfaceForm
    from nclue_build.store.stage import StageContext

    ResultT = TypeVar("ResultT")

LLM: Final = "llm"
_RANK_MARGIN = 2
"""Clusters searched per condition wanted: some leave the window once all aliases are counted."""


def run(context: StageContext) -> StageResult:
    """Mine the corpus.

    Raises:
        OutcomeError: no document has readable text, or no condition is left.
    """
    build = context.build
    quality = benchmark_documents(build.quality)
    if not quality:
        raise OutcomeError("no document of the corpus is readable: nothing to mine (see documents_quality.jsonl)")
    scratch = build.workspace.state / "scratch" / build.name / "mine"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    try:
        return _Mining(context, quality, scratch).run()
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


class _Mining:
    """One run of the stage: its passes over the documents, in order."""

    def __init__(self, context: StageContext, quality: Sequence[DocumentQuality], scratch: Path) -> None:
        self._context = context
        self._config = context.config.resolve(len(quality)).mine
        self._document_ids = [row.doc_id for row in quality]
        self._tasks = [
            worker.Task(index, context.build.page_file(row.doc_id), row.gold_eligible)
            for index, row in enumerate(quality)
        ]
        self._roles = frozenset(context.config.extract.allowed_roles)
        self._scratch = scratch
        self._judge_name = context.config.judge.kind
        asks = self._judge_name == MODEL or self._config.miner == LLM
        self._calls = (
            Calls(context.build, context.config.calls, "mine", context.progress, context.spending) if asks else None
        )
        share = int(Fraction(str(self._config.max_document_share)) * len(quality))
        bound = min(self._config.max_documents, share)
        self._max_documents = max(self._config.min_documents, bound)
        self._shortfalls: list[str] = []
        if bound < self._config.min_documents:
            self._shortfalls.append(
                f"max_document_share and max_documents allow {bound} of {len(quality)} documents, fewer than "
                f"min_documents = {self._config.min_documents}: conditions in exactly {self._max_documents} are taken"
            )
        # Half of the documents may use one spelling and half another: the window is checked again on conditions.
        self._min_form_documents = max(2, (self._config.min_documents + 1) // 2)
        self._counts: dict[str, int] = {"documents": len(quality)}

    def run(self) -> StageResult:
        vocabulary, votes = self._read_words()
        lexicon = self._select_forms(vocabulary)
        profile = self._profile(lexicon)
        facts = self._facts(profile)
        clusters = self._cluster(profile, votes)
        judged = cases.build_cases(clusters, profile, facts, lexicon, votes)
        ranks = [max(facts.termhood_milli[form] for form in cluster.forms) for cluster in clusters]
        verdicts = self._judge(judged, ranks, vocabulary)
        # A split cluster stands for its parts; each has the rank of the whole.
        settled = [
            (part.case, part.verdict, rank)
            for case, verdict, rank in zip(judged, verdicts, ranks, strict=True)
            for part in (Part(case, verdict), *verdict.parts)
        ]
        kept = [conditions.Kept(*row) for row in settled if row[1].decision == "KEEP"]
        kept.sort(key=lambda item: (-item.termhood_milli, item.case.cluster_id))
        found, inventory, dropped = self._find(kept, vocabulary)
        rejected = [*report.rejected_clusters((case, verdict) for case, verdict, _ in settled), *dropped]
        self._counts |= {
            "clusters_kept": len(kept),
            "clusters_rejected": sum(row[1].decision == "REJECT" for row in settled),
            "clusters_split": sum(row[1].decision == "SPLIT" for row in settled),
            "clusters_without_verdict": sum(row[1].decision == "NONE" for row in settled),
            "conditions": len(found),
            "conditions_rejected": len(dropped),
            "evidence": inventory.n_rows,
        }
        self._write(report.surface_forms(profile, facts), report.clusters(clusters, judged, verdicts), rejected)
        self._write_calls(list(zip(judged, verdicts, strict=True)), [verdict for _, verdict, _ in settled])
        if not found:
            raise OutcomeError(self._nothing_found(rejected))
        write_version(
            self._context.build.version(0),
            found,
            inventory,
            number=0,
            allowed_roles=self._context.config.extract.allowed_roles,
            text_version=TEXT_VERSION,
        )
        return StageResult(self._counts, shortfalls=tuple(self._shortfalls))

    def _map(self, task: str, function: Callable[[worker.Task], ResultT]) -> Iterator[ResultT]:
        progress = self._context.progress
        progress.start(f"mine: {task}", len(self._tasks), "documents")
        for result in self._context.mapper.map(partial(worker.about_document, function), self._tasks):
            progress.advance()
            yield result

    def _read_words(self) -> tuple[candidates.Vocabulary, dict[str, acronyms.AcronymVote]]:
        read = list(self._map("words", partial(worker.read_words, self._roles)))
        vocabulary = candidates.build_vocabulary(
            ((found.words, found.recognised) for found in read),
            self._min_form_documents,
            fuzzy=self._config.fuzzy_aliases,
        )
        self._counts["vocabulary"] = len(vocabulary.ids)
        if self._config.fuzzy_aliases:
            self._counts["misread_words"] = sum(map(len, vocabulary.misreadings.values()))
        return vocabulary, acronyms.vote(found.definitions for found in read)

    def _select_forms(self, vocabulary: candidates.Vocabulary) -> Lexicon:
        named = self._named_forms(vocabulary)
        tables = exchange.save_lexicon(self._scratch, candidates.bare_lexicon(vocabulary, named))
        keys = list(self._map("phrases", partial(worker.read_keys, self._roles, tables)))
        lexicon, seen = candidates.select(
            vocabulary,
            [found.phrases for found in keys],
            [found.runs for found in keys],
            (self._min_form_documents, self._max_documents),
            named,
        )
        self._counts |= seen
        return lexicon

    def _named_forms(self, vocabulary: candidates.Vocabulary) -> set[str] | None:
        """The forms a model names, with their spelling variants; None where counting alone proposes."""
        if self._calls is None or self._config.miner != LLM:
            return None
        prompt = read_prompt(self._context.build.workspace.prompts / PAGE_FACTS_PROMPT)
        shown = list(self._map("pages", partial(worker.read_facts_pages, self._roles)))
        mined = mine_pages(self._calls, prompt, list(zip(self._document_ids, shown, strict=True)))
        self._counts |= {"pages_asked": mined.pages, "facts": mined.facts, **dict(sorted(mined.dropped.items()))}
        if without := mined.dropped["pages_without_reply"]:
            self._shortfalls.append(f"{counted(without, 'page')} left out: the calls have no usable reply")
        return mined.forms | {other for form in mined.forms for other in variants(form, vocabulary.compounds)}

    def _profile(self, lexicon: Lexicon) -> CorpusProfile:
        tables = exchange.save_lexicon(self._scratch, lexicon)
        profile = CorpusProfile(len(lexicon.form_keys))
        for found in self._map("profiles", partial(worker.profile, self._roles, tables)):
            profile.add(found)
        return profile

    def _facts(self, profile: CorpusProfile) -> cases.FormFacts:
        titles = [fold(matching_text(row.title or "")) for row in read_documents(self._context.build.documents)]
        return cases.form_facts(profile, titles)

    def _cluster(self, profile: CorpusProfile, votes: dict[str, acronyms.AcronymVote]) -> list[FormCluster]:
        capitals = np.flatnonzero(20 * profile.column("all_capitals") >= 19 * profile.column("mentions")).tolist()
        present = np.flatnonzero(profile.column("documents")).tolist()
        clusters = build_clusters(profile.strings, present, votes, capitals)
        self._counts |= {"forms": len(present), "clusters": len(clusters)}
        return clusters

    def _judge(
        self, judged: Sequence[ClusterCase], ranks: Sequence[int], vocabulary: candidates.Vocabulary
    ) -> list[ClusterVerdict]:
        """Verdicts, parallel to the cases. A model is asked only about as many as are searched for."""
        if self._calls is None or self._judge_name != MODEL:
            return RulesJudge().judge(judged)
        prompts = self._context.build.workspace.prompts
        judge = ModelJudge(
            self._calls,
            read_prompt(prompts / CLUSTER_PROMPT),
            read_prompt(prompts / PARTITION_PROMPT),
            partial(self._look, vocabulary),
            len(self._tasks),
        )
        limit = _RANK_MARGIN * self._config.max_conditions
        order = sorted(range(len(judged)), key=lambda index: (-ranks[index], judged[index].cluster_id))[:limit]
        verdicts = [ClusterVerdict("NONE", "below_max_conditions", "none")] * len(judged)
        for index, verdict in zip(order, judge.judge([judged[index] for index in order]), strict=True):
            verdicts[index] = verdict
        return verdicts

    def _look(self, vocabulary: candidates.Vocabulary, found: Sequence[ClusterCase]) -> list[ClusterSight]:
        """How the forms of cases stand in the corpus."""
        forms = [(case, alias) for case in found for alias in case.aliases]
        unjudged = ClusterVerdict("NONE", "not_judged_yet", "none")
        owners = [conditions.Kept(replace(case, aliases=(alias,)), unjudged, 0) for case, alias in forms]
        tables = exchange.save_patterns(self._scratch, conditions.build_patterns(owners, vocabulary))
        seen: list[list[tuple[int, DocumentSight]]] = [[] for _ in forms]
        for index, sights in enumerate(self._map("contexts", partial(worker.see_forms, self._roles, tables))):
            for sight in sights:
                seen[sight.owner].append((index, sight))
        rows = iter(seen)
        return [cluster_sight(case.aliases, [next(rows) for _ in case.aliases]) for case in found]

    def _write_calls(
        self, judged: Sequence[tuple[ClusterCase, ClusterVerdict]], settled: Sequence[ClusterVerdict]
    ) -> None:
        """The list of used calls and what the rules say of the same clusters, where a model judged."""
        folder = self._context.build.inventory
        if self._calls is None:
            for name in (CALLS, AGREEMENT):
                (folder / name).unlink(missing_ok=True)
            return
        used = self._calls.used
        write_jsonl(folder / CALLS, used)
        asked = [row for row in judged if row[1].judge == MODEL]
        if asked:
            write_jsonl(folder / AGREEMENT, report.agreement(asked, RulesJudge().judge([case for case, _ in asked])))
        else:
            (folder / AGREEMENT).unlink(missing_ok=True)
        counts = Counter(row.status for row in used)
        self._counts |= {"calls": len(used), **{f"calls_{status}": counts[status] for status in sorted(counts)}}
        without = sum(verdict.code is not None and verdict.decision == "NONE" for verdict in settled)
        if without:
            self._shortfalls.append(f"{counted(without, 'cluster')} left out: the calls have no usable reply")

    def _find(
        self, kept: list[conditions.Kept], vocabulary: candidates.Vocabulary
    ) -> tuple[list[Condition], Inventory, list[Rejected]]:
        limit = _RANK_MARGIN * self._config.max_conditions
        searched = kept[:limit]
        patterns = conditions.build_patterns(searched, vocabulary)
        tables = exchange.save_patterns(self._scratch, patterns)
        occurrences = list(self._map("occurrences", partial(worker.find_aliases, self._roles, tables)))
        limits = conditions.Limits(
            min_documents=self._config.min_documents,
            max_documents=self._max_documents,
            min_strong_permille=round(1000 * Fraction(str(self._config.min_strong_share))),
            max_conditions=self._config.max_conditions,
        )
        found, inventory, dropped = conditions.assemble(searched, patterns, occurrences, self._document_ids, limits)
        if len({row.condition_id for row in found}) != len(found):
            raise InternalError("two conditions have one canonical name")
        dropped += [
            Rejected(stage="mine", kind="condition", id=item.case.cluster_id, reason="below_max_conditions")
            for item in kept[limit:]
        ]
        return found, inventory, dropped

    def _write(self, forms: Iterable[SurfaceForm], clusters: Iterable[Cluster], rejected: Sequence[Rejected]) -> None:
        folder = self._context.build.inventory
        write_jsonl(folder / SURFACE_FORMS, forms)
        write_jsonl(folder / CLUSTERS, clusters)
        ordered = sorted(rejected, key=lambda row: (row.kind, row.id, row.reason))
        write_jsonl(folder / REJECTED, ordered)

    def _nothing_found(self, rejected: Sequence[Rejected]) -> str:
        reasons = report.top_reasons(rejected)
        found = f"no condition found in {counted(len(self._tasks), 'document')}"
        if len(self._tasks) <= self._config.min_documents:
            return f"{found}: a condition must occur in at least {self._config.min_documents} documents, add some"
        return (
            f"{found}: a condition must occur in {self._config.min_documents} to {self._max_documents} of them "
            "([mine] min_documents, max_document_share). "
            f"Most frequent reasons: {reasons or 'no phrase is shared by enough documents'}"
        )
