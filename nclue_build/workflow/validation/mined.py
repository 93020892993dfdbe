"""What mining saw and dropped: surface forms, clusters, rejected and conditions account for one another.

None of these files is recomputed here. But every form is in a cluster, every cluster was kept or rejected, and what
was kept is a condition or was rejected later: an emptied or shortened file leaves others without their counterpart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nclue_build.core.ids import slug
from nclue_build.core.text import fold
from nclue_build.records.inventory import PART_OF
from nclue_build.store import layout
from nclue_build.workflow.families import find_family

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from nclue_build.records.inventory import Cluster, Condition, Rejected, SurfaceForm
    from nclue_build.workflow.validation.reading import Reading

    Lines = list[tuple[int, Cluster]]


def check_mined(reading: Reading, conditions: Iterable[Condition], judge: str) -> None:
    """``surface_forms.jsonl``, ``clusters.jsonl`` and ``rejected.jsonl``, with the conditions of P0.

    Args:
        reading: Takes what is found.
        conditions: Of P0.
        judge: ``judge.kind`` of the configuration.
    """
    folder = reading.build.inventory
    forms = _read_forms(reading, folder / layout.SURFACE_FORMS)
    clusters = _read_clusters(reading, folder / layout.CLUSTERS, forms, judge)
    rejected = _read_rejected(reading, folder / layout.REJECTED, clusters)
    whole = [(line, row) for line, row in clusters if not _is_part(row)]
    _check_forms_used(reading, folder / layout.SURFACE_FORMS, forms, whole)
    kept = [(line, row) for line, row in clusters if row.decision == "KEEP" and row.cluster_id not in rejected]
    _match_conditions(reading, folder / layout.CLUSTERS, kept, conditions)


def _read_forms(reading: Reading, path: Path) -> dict[str, tuple[int, SurfaceForm]]:
    """The surface forms, by their folded string."""
    forms: dict[str, tuple[int, SurfaceForm]] = {}
    row: SurfaceForm
    rows = reading.ids(reading.rows(path, find_family("surface_forms").model), path, "form", "duplicate-id")
    for line, row in reading.ascending(rows, path, "form"):
        forms[fold(row.form)] = (line, row)
        if row.n_words != row.form.count(" ") + 1:
            message = f"{row.form!r}: n_words is {row.n_words}"
            reading.add("mined-rows-differ", message, path, line)
        if not row.heading_documents <= row.document_frequency <= row.page_frequency <= row.mentions:
            message = f"{row.form!r}: heading_documents, document_frequency, page_frequency, mentions must not fall"
            reading.add("mined-rows-differ", message, path, line)
    return forms


def _read_clusters(reading: Reading, path: Path, forms: Mapping[str, tuple[int, SurfaceForm]], judge: str) -> Lines:
    clusters: Lines = []
    row: Cluster
    rows = reading.ids(reading.rows(path, find_family("clusters").model), path, "cluster_id", "duplicate-id")
    for line, row in reading.ascending(rows, path, "cluster_id"):
        clusters.append((line, row))
        if row.cluster_id.rpartition("_")[0] != (slug(row.name) or "unnamed"):
            message = f"cluster {row.cluster_id}: the id is not made of its name {row.name!r}"
            reading.add("mined-rows-differ", message, path, line, row.cluster_id)
        wanted = {fold(form) for form in row.aliases}  # "OSS" and "OSs" are one form
        members = [forms[form][1] for form in wanted if form in forms]
        if not members or (len(members) < len(wanted) and not row.links):
            message = f"cluster {row.cluster_id}: {layout.SURFACE_FORMS} lacks one of {list(row.aliases)}"
            reading.add("mined-rows-differ", message, path, line, row.cluster_id)
        elif not _is_part(row) and row.mentions != (mentions := sum(form.mentions for form in members)):
            message = f"cluster {row.cluster_id}: {row.mentions} mentions, its forms have {mentions}"
            reading.add("mined-rows-differ", message, path, line, row.cluster_id)
        frequencies = [form.document_frequency for form in members]
        if members and not _is_part(row) and not max(frequencies) <= row.document_frequency <= sum(frequencies):
            message = f"cluster {row.cluster_id}: its forms cannot be in {row.document_frequency} documents"
            reading.add("mined-rows-differ", message, path, line, row.cluster_id)
        if fold(row.name) not in map(fold, row.aliases):
            message = f"cluster {row.cluster_id}: its name {row.name!r} is none of its aliases"
            reading.add("mined-rows-differ", message, path, line, row.cluster_id)
        without = row.judge == "rules" or (row.judge, row.decision) == ("none", "NONE")
        known = without or row.judge == judge
        if without != (row.model is None and row.call_key is None) or not known:
            message = f"cluster {row.cluster_id}: judge {row.judge!r} with model {row.model!r}, configured is {judge!r}"
            reading.add("judge-differs", message, path, line, row.cluster_id)
    return clusters


def _is_part(row: Cluster) -> bool:
    """Whether it is a part of a split cluster: its counts are those of the whole."""
    return any(link.startswith(PART_OF) for link in row.links)


def _read_rejected(reading: Reading, path: Path, clusters: Lines) -> frozenset[str]:
    """Compare what was rejected with the clusters; gives the ids of the clusters that are no condition after all."""
    decided = {row.cluster_id: row for _, row in clusters}
    dropped: dict[str, Rejected] = {}
    kept: set[str] = set()
    previous = ("", "")
    row: Rejected
    for line, row in reading.rows(path, find_family("rejected").model):
        key = (row.kind, row.id)
        if key < previous:
            reading.add("not-sorted", f"{' '.join(key)} comes after {' '.join(previous)}", path, line, row.id)
        elif key == previous:
            reading.add("duplicate-id", f"{row.kind} {row.id!r} stands twice", path, line, row.id)
        previous = key
        cluster = decided.get(row.id)
        wanted = ("REJECT", "NONE") if row.kind == "cluster" else ("KEEP",)
        if row.stage != "mine" or row.kind == "candidate" or cluster is None or cluster.decision not in wanted:
            message = f"{row.stage} {row.kind} {row.id!r}: {layout.CLUSTERS} has no such cluster with {wanted[0]}"
            reading.add("mined-rows-differ", message, path, line, row.id)
        elif row.kind == "condition":
            kept.add(row.id)
        else:
            dropped[row.id] = row
            # A model gives its reasons in words; the row has the name they are counted by.
            reason = cluster.reason if cluster.judge != "model" else row.reason
            if (row.reason, row.detail) != (reason, cluster.name):
                message = f"cluster {row.id!r}: reason and name are not those of {layout.CLUSTERS}"
                reading.add("mined-rows-differ", message, path, line, row.id)
    for cluster_id, cluster in decided.items():
        if cluster.decision in {"REJECT", "NONE"} and cluster_id not in dropped:
            reading.add(
                "mined-rows-differ", f"cluster {cluster_id!r} was rejected and has no row", path, None, cluster_id
            )
    return frozenset(kept)


def _check_forms_used(
    reading: Reading, path: Path, forms: Mapping[str, tuple[int, SurfaceForm]], clusters: Lines
) -> None:
    used: dict[str, str] = {}
    for line, row in clusters:
        for form in map(fold, row.aliases):
            if (other := used.setdefault(form, row.cluster_id)) != row.cluster_id:
                message = f"{form!r} is in the clusters {other} and {row.cluster_id}"
                reading.add("mined-rows-differ", message, path.with_name(layout.CLUSTERS), line, row.cluster_id)
    for form, (line, _) in forms.items():
        if form not in used:
            reading.add("mined-rows-differ", f"{form!r} is in no cluster of {layout.CLUSTERS}", path, line)


def _match_conditions(reading: Reading, path: Path, kept: Lines, conditions: Iterable[Condition]) -> None:
    """Every cluster that was kept is one condition: they share an alias.

    Clusters have acronyms as they are written and all other forms folded: "EVs", which is matched exactly, is no "EVS".
    """
    owner = {form: row.cluster_id for _, row in kept for form in row.aliases}
    acronyms = {fold(form): cluster_id for form, cluster_id in owner.items() if form != fold(form)}
    found: set[str] = set()
    for condition in conditions:
        places = [owner.get(alias.form) or owner.get(fold(alias.form)) for alias in condition.aliases]
        places += [acronyms.get(fold(alias.form)) for alias in condition.aliases if alias.match == "folded"]
        clusters = {place for place in places if place is not None}
        if len(clusters) != 1 or not clusters.isdisjoint(found):
            message = (
                f"condition {condition.condition_id} shares an alias with {len(clusters)} kept clusters of its own"
            )
            reading.add("mined-rows-differ", message, path, None, condition.condition_id)
        found |= clusters
    for line, row in kept:
        if row.cluster_id not in found:
            message = f"cluster {row.cluster_id} was kept, and is neither a condition nor in {layout.REJECTED}"
            reading.add("mined-rows-differ", message, path, line, row.cluster_id)
