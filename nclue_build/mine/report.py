"""What mining saw and why it dropped things, as records."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nclue_build.mine.normal import normal_form
from nclue_build.records.calls import Agreement
from nclue_build.records.inventory import PART_OF, Cluster, Rejected, SurfaceForm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nclue_build.mine.cases import FormFacts
    from nclue_build.mine.clusters import FormCluster
    from nclue_build.mine.judge import ClusterCase, ClusterVerdict
    from nclue_build.mine.profile import CorpusProfile


def surface_forms(profile: CorpusProfile, facts: FormFacts) -> Iterator[SurfaceForm]:
    """Every candidate form, sorted by its string."""
    documents, pages = profile.column("documents"), profile.column("pages")
    mentions, headings = profile.column("mentions"), profile.column("heading_documents")
    for form in sorted(range(len(profile.strings)), key=lambda index: profile.strings[index]):
        text = profile.strings[form]
        yield SurfaceForm(
            form=text,
            normal=normal_form(text),
            n_words=text.count(" ") + 1,
            document_frequency=int(documents[form]),
            page_frequency=int(pages[form]),
            mentions=int(mentions[form]),
            heading_documents=int(headings[form]),
            termhood_milli=facts.termhood_milli[form],
        )


def clusters(
    groups: Sequence[FormCluster], cases: Sequence[ClusterCase], verdicts: Sequence[ClusterVerdict]
) -> list[Cluster]:
    """Every cluster, and every part of a split one, with its verdict, sorted by id."""
    rows = []
    for group, case, verdict in zip(groups, cases, verdicts, strict=True):
        rows.append(_cluster(group.links, case, verdict))
        rows += [_cluster((PART_OF + case.cluster_id,), part.case, part.verdict) for part in verdict.parts]
    return sorted(rows, key=lambda row: row.cluster_id)


def _cluster(links: tuple[str, ...], case: ClusterCase, verdict: ClusterVerdict) -> Cluster:
    return Cluster(
        cluster_id=case.cluster_id,
        name=case.name,
        aliases=case.aliases,
        links=links,
        document_frequency=case.documents,
        mentions=case.mentions,
        decision=verdict.decision,
        reason=verdict.reason,
        judge=verdict.judge,
        model=verdict.model,
        call_key=verdict.call_key,
    )


def rejected_clusters(judged: Iterable[tuple[ClusterCase, ClusterVerdict]]) -> list[Rejected]:
    """Clusters that the judge rejected or has no verdict on, with the reason."""
    return [
        Rejected(
            stage="mine", kind="cluster", id=case.cluster_id, reason=verdict.code or verdict.reason, detail=case.name
        )
        for case, verdict in judged
        if verdict.decision in {"REJECT", "NONE"}
    ]


def agreement(judged: Sequence[tuple[ClusterCase, ClusterVerdict]], rules: Sequence[ClusterVerdict]) -> list[Agreement]:
    """What the rules say of the clusters that a model judged, sorted by id."""
    rows = [
        Agreement(
            case_id=case.cluster_id,
            kind="cluster",
            name=case.name,
            rules=other.decision,
            rules_reason=other.reason,
            model=verdict.decision,
            model_reason=verdict.reason,
            call_key=verdict.call_key,
        )
        for (case, verdict), other in zip(judged, rules, strict=True)
    ]
    return sorted(rows, key=lambda row: row.case_id)


def top_reasons(rejected: Sequence[Rejected], shown: int = 3) -> str:
    """The most frequent reasons, in words."""
    counts = Counter(row.reason for row in rejected)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:shown]
    return ", ".join(f"{reason} ({count})" for reason, count in ranked)
