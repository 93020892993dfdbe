"""What mining saw and why it dropped things, as records."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from nclue_build.mine.normal import normal_form
from nclue_build.records.inventory import Cluster, Rejected, SurfaceForm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    """Every cluster with its verdict, sorted by id."""
    rows = [
        Cluster(
            cluster_id=case.cluster_id,
            name=case.name,
            aliases=case.aliases,
            links=group.links,
            document_frequency=case.documents,
            mentions=case.mentions,
            decision=verdict.decision,
            reason=verdict.reason,
            judge=verdict.judge,
            model=verdict.model,
            call_key=verdict.call_key,
        )
        for group, case, verdict in zip(groups, cases, verdicts, strict=True)
    ]
    return sorted(rows, key=lambda row: row.cluster_id)


def rejected_clusters(cases: Sequence[ClusterCase], verdicts: Sequence[ClusterVerdict]) -> list[Rejected]:
    """Clusters the judge rejected, with its reason."""
    return [
        Rejected(stage="mine", kind="cluster", id=case.cluster_id, reason=verdict.reason, detail=case.name)
        for case, verdict in zip(cases, verdicts, strict=True)
        if verdict.decision == "REJECT"
    ]


def top_reasons(rejected: Sequence[Rejected], shown: int = 3) -> str:
    """The most frequent reasons, in words."""
    counts = Counter(row.reason for row in rejected)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:shown]
    return ", ".join(f"{reason} ({count})" for reason, count in ranked)
