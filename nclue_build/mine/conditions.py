"""From kept clusters and their occurrences to conditions and P0."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.core.ids import condition_id
from nclue_build.core.text import fold
from nclue_build.inventory.table import Inventory, strong_rows
from nclue_build.mine.normal import variants
from nclue_build.mine.occurrences import DocumentOccurrences, Pattern
from nclue_build.mine.spelling import is_acronym
from nclue_build.records.inventory import Alias, Condition, Rejected, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nclue_build.mine.candidates import Vocabulary
    from nclue_build.mine.judge import ClusterCase, ClusterVerdict


@dataclass(frozen=True, slots=True)
class Kept:
    """A cluster the judge kept, with its rank."""

    case: ClusterCase
    verdict: ClusterVerdict
    termhood_milli: int


@dataclass(frozen=True, slots=True)
class Limits:
    """The document-frequency window and the other bounds a condition must respect."""

    min_documents: int
    max_documents: int
    min_strong_permille: int
    max_conditions: int


def build_patterns(kept: Sequence[Kept], vocabulary: Vocabulary) -> list[Pattern]:
    """Aliases to look for: every form of each cluster, its spelling variants, and these with one word misread.

    A (folded form, match) belongs to the first cluster that claims it; normal forms make clashes rare, and
    they are resolved in the order of ``kept``.
    """
    taken: dict[tuple[str, str], int] = {}
    patterns = []
    for owner, item in enumerate(kept):
        mixed = item.case.inside_sentence > item.case.capitalised_inside
        single_name = item.case.is_name and mixed and len(item.case.classes) == 1
        for form in item.case.aliases:
            if is_acronym(form):
                patterns.extend(_claim(taken, owner, (form, *_acronym_plural(form)), "exact"))
            elif single_name and " " not in form and form.isalpha():
                # "Labor" the department, not "labor": the capital carries the meaning.
                patterns.extend(_claim(taken, owner, (form.capitalize(), form.upper()), "exact"))
            else:
                folded = fold(form)  # a long form out of an acronym's definition stands as it was written
                texts = (folded, *variants(folded, vocabulary.compounds))
                patterns.extend(_claim(taken, owner, texts, "folded"))
                patterns.extend(_claim(taken, owner, _misread(texts, vocabulary.misreadings), "folded"))
    return patterns


def _misread(texts: Sequence[str], misreadings: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The forms with one of their words misread."""
    if not misreadings:
        return []
    found = []
    for text in texts:
        parts = text.split(" ")
        for place, part in enumerate(parts):
            found += [" ".join([*parts[:place], word, *parts[place + 1 :]]) for word in misreadings.get(part, ())]
    return found


def _acronym_plural(form: str) -> tuple[str, ...]:
    if form.endswith("s") and form[:-1].isupper():
        return (form[:-1],)
    return (form + "s",) if form.isupper() and not form.endswith("S") and form.isalpha() else ()


def _claim(taken: dict[tuple[str, str], int], owner: int, forms: Sequence[str], match: str) -> list[Pattern]:
    claimed = []
    for form in forms:
        key = (form, match)
        if key not in taken:
            taken[key] = owner
            claimed.append(Pattern(form, "exact" if match == "exact" else "folded", owner))
    return claimed


def assemble(
    kept: Sequence[Kept],
    patterns: Sequence[Pattern],
    occurrences: Sequence[DocumentOccurrences],
    document_ids: Sequence[str],
    limits: Limits,
) -> tuple[list[Condition], Inventory, list[Rejected]]:
    """Make conditions and their evidence, in the frequency window, strong enough, and at most so many.

    Args:
        kept: Clusters the judge kept, best first.
        patterns: From :func:`build_patterns`.
        occurrences: One per document, parallel to ``document_ids``.
        document_ids: Documents of the benchmark's corpus, sorted.
        limits: Bounds of the configuration.

    Returns:
        Conditions, inventory and the clusters dropped here with their reasons.
    """
    evidence = np.concatenate(
        [
            np.column_stack([rows.evidence, np.full(len(rows.evidence), index, dtype=np.int64)])
            for index, rows in enumerate(occurrences)
        ]
        or [np.zeros((0, 5), dtype=np.int64)]
    )
    evidence = evidence[np.lexsort((evidence[:, 1], evidence[:, 4], evidence[:, 0]))]
    aliases = _aliases(patterns, occurrences)
    names = _names(patterns, occurrences)
    bounds = np.searchsorted(evidence[:, 0], np.arange(len(kept) + 1))
    rejected: list[Rejected] = []
    chosen: list[tuple[Condition, NDArray[np.int64]]] = []
    for owner, item in enumerate(kept):
        rows = evidence[bounds[owner] : bounds[owner + 1]]
        problem = _problem(rows, limits)
        if problem is None and len(chosen) >= limits.max_conditions:
            problem = ("below_max_conditions", f"rank {owner + 1}")
        if problem is not None:
            rejected.append(
                Rejected(stage="mine", kind="condition", id=item.case.cluster_id, reason=problem[0], detail=problem[1])
            )
            continue
        name = names[owner]
        condition = Condition(
            condition_id=condition_id(name),
            name=name,
            aliases=tuple(sorted(aliases[owner], key=lambda alias: (-alias.page_frequency, alias.form, alias.match))),
            document_frequency=len(np.unique(rows[:, 4])),
            page_frequency=len(rows),
            verdict=Verdict(
                judge=item.verdict.judge,
                model=item.verdict.model,
                call_key=item.verdict.call_key,
                reason=item.verdict.reason,
            ),
            rubric=item.verdict.rubric,
        )
        chosen.append((condition, rows))
    return [condition for condition, _ in chosen], _inventory(chosen, document_ids), rejected


def _problem(rows: NDArray[np.int64], limits: Limits) -> tuple[str, str] | None:
    documents, first = np.unique(rows[:, 4], return_index=True)
    count = len(documents)
    if count < limits.min_documents:
        return "too_few_documents", f"{count} documents"
    if count > limits.max_documents:
        return "too_many_documents", f"{count} documents"
    strong = strong_rows(first, rows[:, 2], rows[:, 3].astype(np.bool_))
    if 1000 * int(strong.sum()) < limits.min_strong_permille * count:
        return "seldom_strong", f"strong in {int(strong.sum())} of {count} documents"
    return None


def _aliases(patterns: Sequence[Pattern], occurrences: Sequence[DocumentOccurrences]) -> dict[int, list[Alias]]:
    documents = np.zeros(len(patterns), dtype=np.int64)
    pages = np.zeros(len(patterns), dtype=np.int64)
    for rows in occurrences:
        documents[rows.alias_pages[:, 0]] += 1
        pages[rows.alias_pages[:, 0]] += rows.alias_pages[:, 1]
    result: dict[int, list[Alias]] = defaultdict(list)
    for index, pattern in enumerate(patterns):
        if documents[index]:
            result[pattern.owner].append(
                Alias(
                    form=pattern.form,
                    match=pattern.match,
                    document_frequency=int(documents[index]),
                    page_frequency=int(pages[index]),
                )
            )
    return result


def _names(patterns: Sequence[Pattern], occurrences: Sequence[DocumentOccurrences]) -> dict[int, str]:
    """Canonical name of each owner: its most frequent well-formed spelling.

    A long form goes before its acronym, a spelling inside sentences before one in titles or capitals.
    """
    counts: dict[tuple[int, str], int] = defaultdict(int)
    for rows in occurrences:
        for index, text, plain in rows.spellings:
            counts[index, text] += plain
    best: dict[int, tuple[tuple[int, int, int, str], str]] = {}
    for (index, text), plain in counts.items():
        pattern = patterns[index]
        rank = (pattern.match == "exact", text.isupper() and pattern.match == "folded", -plain, text)
        if pattern.owner not in best or rank < best[pattern.owner][0]:
            best[pattern.owner] = (rank, text)
    return {owner: text for owner, (_, text) in best.items()}


def _inventory(chosen: Sequence[tuple[Condition, NDArray[np.int64]]], document_ids: Sequence[str]) -> Inventory:
    order = sorted(range(len(chosen)), key=lambda index: chosen[index][0].condition_id)
    tables = [chosen[index][1] for index in order]
    rows = np.concatenate(tables) if tables else np.zeros((0, 5), dtype=np.int64)
    owner = np.repeat(np.arange(len(order)), [len(table) for table in tables])
    begins = np.flatnonzero(np.diff(owner * len(document_ids) + rows[:, 4], prepend=-1))
    return Inventory(
        condition_ids=tuple(chosen[index][0].condition_id for index in order),
        document_ids=tuple(document_ids),
        condition_of=owner[begins].astype(np.int32),
        document_of=rows[begins, 4].astype(np.int32),
        starts=np.append(begins, len(rows)).astype(np.int64),
        pages=rows[:, 1].astype(np.int32),
        mentions=rows[:, 2].astype(np.int32),
        in_heading=rows[:, 3].astype(np.bool_),
    )
