"""From the corpus profile to cases for the cluster judge, with their termhood."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from nclue_build.core.ids import named_id
from nclue_build.core.text import fold
from nclue_build.mine.judge import ClusterCase
from nclue_build.mine.ngrams import MAX_WORDS
from nclue_build.mine.normal import normal_form
from nclue_build.mine.tokens import TOKEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from nclue_build.mine.acronyms import AcronymVote
    from nclue_build.mine.clusters import FormCluster
    from nclue_build.mine.profile import CorpusProfile, Lexicon

_SUMMED = (
    "mentions",
    "nested",
    "labels",
    "verb_contexts",
    "inside_sentence",
    "capitalised_inside",
    "all_capitals",
    "ends_before_capital",
    "starts_after_capital",
    "heading_mentions",
    "numbered",
    "after_place",
    "code",
)


@dataclass(frozen=True, slots=True)
class FormFacts:
    """Per form: fixed neighbours that make it a piece of something longer, document names, termhood."""

    left_fixed: NDArray[np.int64]
    right_fixed: NDArray[np.int64]
    in_document_names: NDArray[np.int64]
    termhood_milli: tuple[int, ...]


def termhood_milli(n_words: int, mentions: int, nested: int, documents: int, heading_documents: int) -> int:
    """Rank of a form in thousandths, after the C-value of Frantzi, Ananiadou & Mima (2000).

    log2(1 + words) x log2(1 + independent mentions), raised by the share of documents that use the form
    in a title ("how titles use them"). Independent mentions are those outside longer candidates.
    """
    independent = max(mentions - nested, 0)
    value = math.log2(1 + n_words) * math.log2(1 + independent) * (1 + heading_documents / max(documents, 1))
    return round(1000 * value)


def form_facts(profile: CorpusProfile, document_titles: Sequence[str]) -> FormFacts:
    """Derive the facts of every form.

    Args:
        profile: Sums over the corpus.
        document_titles: Folded titles of the documents.
    """
    columns = [profile.column(name).tolist() for name in ("mentions", "nested", "documents", "heading_documents")]
    termhood = tuple(
        termhood_milli(text.count(" ") + 1, *row) for text, *row in zip(profile.strings, *columns, strict=True)
    )
    index = {text: form for form, text in enumerate(profile.strings)}
    in_names = np.zeros(len(profile.strings), dtype=np.int64)
    for title in document_titles:
        words = TOKEN.findall(title)
        pieces = {" ".join(words[i : i + n]) for n in range(1, MAX_WORDS + 1) for i in range(len(words) - n + 1)}
        in_names[[index[piece] for piece in sorted(pieces) if piece in index]] += 1
    return FormFacts(profile.fixed_left(), profile.fixed_right(), in_names, termhood)


def _aliases(
    cluster: FormCluster, profile: CorpusProfile, capitals: NDArray[np.int64], mentions: NDArray[np.int64]
) -> tuple[str, ...]:
    """The cluster's forms: acronyms as written, everything else folded."""
    acronyms = {fold(acronym) for acronym in cluster.acronyms}
    forms = set(cluster.long_forms) | set(cluster.acronyms)
    for form in cluster.forms:
        text = profile.strings[form]
        if " " not in text and 2 * int(capitals[form]) > int(mentions[form]):
            forms.add(profile.spelled[form])
        elif text not in acronyms:
            forms.add(text)
    return tuple(sorted(forms))


def build_cases(
    clusters: Sequence[FormCluster],
    profile: CorpusProfile,
    facts: FormFacts,
    lexicon: Lexicon,
    acronyms: Mapping[str, AcronymVote],
) -> list[ClusterCase]:
    """What the judge sees of each cluster, parallel to ``clusters``."""
    columns = {name: profile.column(name) for name in _SUMMED}
    documents = profile.column("documents")
    headings = profile.column("heading_documents")
    templates = profile.column("template_documents")
    front = profile.column("front_documents")
    ambiguous = {fold(vote.acronym) for vote in acronyms.values() if vote.ambiguous}
    cases = []
    for cluster in clusters:
        forms = cluster.forms
        top = max(forms, key=lambda form: (int(documents[form]), int(columns["mentions"][form]), -form))
        name = profile.strings[top]
        sums = {key: int(sum(int(column[form]) for form in forms)) for key, column in columns.items()}
        classes = tuple(int(lexicon.classes[lexicon.vocabulary.get(word, 0)]) for word in name.split(" "))
        cases.append(
            ClusterCase(
                cluster_id=named_id(name, cluster.key),
                name=name,
                aliases=_aliases(cluster, profile, columns["all_capitals"], columns["mentions"]),
                classes=classes,
                defined_acronym=bool(cluster.acronyms),
                ambiguous_acronym=name in ambiguous and normal_form(name) == cluster.key,
                documents=int(documents[top]),
                heading_documents=max(int(headings[form]) for form in forms),
                template_documents=int(templates[top]),
                front_documents=int(front[top]),
                name_mentions=int(columns["mentions"][top]),
                left_fixed=sum(int(facts.left_fixed[form]) for form in forms),
                right_fixed=sum(int(facts.right_fixed[form]) for form in forms),
                in_document_names=int(facts.in_document_names[top]),
                **sums,
            )
        )
    return cases
