"""The cluster judge: KEEP, SPLIT or REJECT with a reason.

Judges share one interface. ``rules`` is deterministic and offline; it is *not* a language model, and everything
it decides is labelled with its name. Its rules follow what a reading of three corpora showed
to separate concepts from junk (docs/mine.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from nclue_build.inventory.table import STRONG_MENTIONS
from nclue_build.mine import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nclue_build.records.inventory import Rubric

RULES = "rules"
MODEL = "model"

_TRUNCATED_PERCENT = 60
_PIECE_PERCENT = 50
_LABEL_PERCENT = 50
_VERB_PERCENT = 20
_TEMPLATE_PERCENT = 30
_NESTED_PERCENT = 85
_DOCUMENT_NAME_PERCENT = 50
_CAPITAL_PERCENT = 80
_MIN_SINGLE_LENGTH = 5
_MIN_ACRONYM_LENGTH = 3
_MAX_ACRONYM_LENGTH = 7
_HEADING_PERCENT = 70
_FEW_PERCENT = 5
_SPECIFIC_WORDS = 3
_MOSTLY_NAME_PERCENT = 50
_NUMBERED_PERCENT = 30
_PLACE_PERCENT = 25
_PUBLISHER_PERCENT = 50
_FAMILIAR_MENTIONS = 5
_JOINED_MENTIONS = 4
_CODE_PERCENT = 30
_MAX_PERSON_WORDS = 2


@dataclass(frozen=True, slots=True)
class ClusterCase:
    """What a judge sees of one cluster; counts are summed over its forms.

    Args:
        cluster_id: Id of the cluster.
        name: Its most frequent form, folded.
        aliases: All forms, folded (acronyms as written).
        classes: Word classes (:mod:`nclue_build.mine.words`) of the name's words.
        defined_acronym: Whether documents define an acronym for it.
        ambiguous_acronym: Whether it is an acronym with several unrelated long forms.
        mentions: Mentions.
        name_mentions: Mentions of the most frequent form.
        documents: Document frequency of the most frequent form.
        heading_documents: Documents with it in a title.
        nested: Mentions inside longer candidates.
        template_documents: Documents with it in template text only.
        front_documents: Documents of ten pages and more with the most frequent form on the first one.
        labels: Mentions that are a whole block or end at a colon.
        verb_contexts: Mentions after "to", a modal or a pronoun.
        inside_sentence: Mentions inside a sentence, not all capitals.
        capitalised_inside: Of these, with a capital on the last word ("Human Resources", not "American workers").
        all_capitals: Mentions all in capitals.
        ends_before_capital: Mentions followed by a capitalised word.
        starts_after_capital: Mentions preceded by a capitalised word, link words skipped.
        heading_mentions: Mentions in titles.
        numbered: Mentions followed by a number.
        after_place: Mentions preceded by a preposition of place.
        code: Mentions that touch a sign of code or markup.
        left_fixed: Mentions with the most frequent left neighbour.
        right_fixed: Mentions with the most frequent right neighbour.
        in_document_names: Documents whose title holds it.
    """

    cluster_id: str
    name: str
    aliases: tuple[str, ...]
    classes: tuple[int, ...]
    defined_acronym: bool
    ambiguous_acronym: bool
    mentions: int
    name_mentions: int
    documents: int
    heading_documents: int
    nested: int
    template_documents: int
    front_documents: int
    labels: int
    verb_contexts: int
    inside_sentence: int
    capitalised_inside: int
    all_capitals: int
    ends_before_capital: int
    starts_after_capital: int
    heading_mentions: int
    numbered: int
    after_place: int
    code: int
    left_fixed: int
    right_fixed: int
    in_document_names: int

    @property
    def is_name(self) -> bool:
        """Whether it is written with capitals inside sentences: a proper name or an acronym."""
        if self.inside_sentence == 0:
            return self.all_capitals == self.mentions
        return 100 * self.capitalised_inside >= _CAPITAL_PERCENT * self.inside_sentence


@dataclass(frozen=True, slots=True)
class ClusterVerdict:
    """A judge's decision on one cluster.

    Args:
        decision: ``NONE`` where a call to a model had no usable reply: then there is no verdict.
        reason: In words, or the name of a rule.
        judge: Who decided.
        model: Which model, or who answered in its place.
        call_key: The call it comes from.
        rubric: What to ask people who check it.
        code: The reason by which rejections are counted; the reason itself where it is a name.
        parts: What a split cluster was divided into.
    """

    decision: Literal["KEEP", "SPLIT", "REJECT", "NONE"]
    reason: str
    judge: str
    model: str | None = None
    call_key: str | None = None
    rubric: Rubric | None = None
    code: str | None = None
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a split cluster, judged like a cluster."""

    case: ClusterCase
    verdict: ClusterVerdict


class RulesJudge:
    """The offline judge: the first rule that applies rejects, else the cluster is kept."""

    name = RULES

    def judge(self, cases: Sequence[ClusterCase]) -> list[ClusterVerdict]:
        """One verdict per case, in the order of the cases."""
        return [self._judge(case) for case in cases]

    def _judge(self, case: ClusterCase) -> ClusterVerdict:
        for reason, applies in _RULES:
            if applies(case):
                return ClusterVerdict("REJECT", reason, RULES)
        return ClusterVerdict("KEEP", "no_rule_against", RULES)


def _all(case: ClusterCase, bits: int) -> bool:
    content = [classes for classes in case.classes if not classes & words.LINK]
    return all(classes & bits for classes in content)


def _calendar(case: ClusterCase) -> bool:
    return any(classes & words.CALENDAR for classes in case.classes)


def _generic(case: ClusterCase) -> bool:
    """General words only; three of them make a concept when titles use it ("open data portal")."""
    if not _all(case, words.GENERIC):
        return False
    content = sum(not classes & words.LINK for classes in case.classes)
    if case.is_name and content > 1:
        return content < _SPECIFIC_WORDS and not case.defined_acronym
    return content < _SPECIFIC_WORDS or case.heading_documents == 0


def _weak_single(case: ClusterCase) -> bool:
    """A single word must be a defined acronym, or said often or in a heading and besides no everyday or vague word.

    A name of one word must be new to the tagger and no place one is in ("Medicaid", not "in Fairhollow"): others are
    places, people and pieces of names.
    """
    if len(case.classes) > 1 or case.defined_acronym:
        return False
    word, classes = case.name, case.classes[0]
    if case.name_mentions < STRONG_MENTIONS * case.documents and not case.heading_documents:
        return True
    seldom = case.mentions < _FAMILIAR_MENTIONS * case.documents
    if case.all_capitals * 100 >= _CAPITAL_PERCENT * case.mentions:
        # What nobody defines everybody knows ("FAQ", "USA"): it takes as much as for a familiar word.
        return seldom or not _MIN_ACRONYM_LENGTH <= len(word) <= _MAX_ACRONYM_LENGTH
    if len(word) < _MIN_SINGLE_LENGTH or classes & (words.COMMON | words.GENERIC):
        return True
    if case.is_name:
        return not classes & words.UNKNOWN or 100 * case.after_place >= _PLACE_PERCENT * case.mentions
    weak = words.VAGUE | words.VERB_TOO | words.ADJECTIVE | (words.FAMILIAR if seldom else 0)
    return bool(classes & weak) or "-" in word


def _code(case: ClusterCase) -> bool:
    """A command, an option, a variable: text about code, but nothing a document is about."""
    return 100 * case.code >= _CODE_PERCENT * case.mentions


def _mixed_case(case: ClusterCase) -> bool:
    """A short word that stands in capitals here and not there is two things ("LAS" and "Las Vegas")."""
    if len(case.classes) > 1 or len(case.name) > _MAX_ACRONYM_LENGTH or case.defined_acronym:
        return False
    capitals = 100 * case.all_capitals
    return _FEW_PERCENT * case.mentions < capitals < (100 - _FEW_PERCENT) * case.mentions


def _verb(case: ClusterCase) -> bool:
    return bool(case.classes[0] & words.VERB_TOO) and 100 * case.verb_contexts >= _VERB_PERCENT * case.mentions


def _adjective_head(case: ClusterCase) -> bool:
    """The last word reads better as an adjective: "federal", "cost effective"."""
    return bool(case.classes[-1] & words.ADJECTIVE_FIRST) and not case.is_name


def _truncated(case: ClusterCase) -> bool:
    return (
        100 * max(case.left_fixed, case.right_fixed) >= _TRUNCATED_PERCENT * case.mentions and not case.defined_acronym
    )


def _broken_name(case: ClusterCase) -> bool:
    """What is mostly a name and mostly continues in another capitalised word is a piece of a longer name."""
    fixed = max(case.ends_before_capital, case.starts_after_capital)
    is_name = case.is_name or 100 * case.capitalised_inside >= _MOSTLY_NAME_PERCENT * max(case.inside_sentence, 1)
    return is_name and 100 * fixed >= _PIECE_PERCENT * case.mentions and not case.defined_acronym


def _possessive(case: ClusterCase) -> bool:
    """Something of somebody ("the agency's priorities"), unless it is a name ("Children's Bureau")."""
    return bool(case.classes[0] & words.POSSESSIVE) and not case.is_name


def _publisher(case: ClusterCase) -> bool:
    """A name on the first page of half of its documents: who made them, not what they are about."""
    named = case.is_name or case.defined_acronym
    return named and 100 * case.front_documents >= _PUBLISHER_PERCENT * case.documents


def _name_in_passing(case: ClusterCase) -> bool:
    """A name of plain letters with no everyday word in it, said in passing: a person, a place, a brand.

    A title does not help: the names of authors stand in titles.
    """
    if not case.is_name or case.defined_acronym or len(case.classes) > _MAX_PERSON_WORDS:
        return False
    shouted = 100 * case.all_capitals >= _CAPITAL_PERCENT * case.mentions
    everyday = words.GENERIC | words.COMMON | words.FAMILIAR
    plain = all(classes & (words.PROPER | words.UNKNOWN) and not classes & everyday for classes in case.classes)
    return plain and not shouted and case.mentions < STRONG_MENTIONS * case.documents


def _weak_phrase(case: ClusterCase) -> bool:
    """A phrase with a general word, or of two things ("workers and businesses"), said in passing and in no title."""
    if len(case.classes) == 1 or case.is_name or case.defined_acronym or case.heading_documents:
        return False
    if " and " in case.name or " or " in case.name:
        return case.mentions < _JOINED_MENTIONS * case.documents
    content = [classes for classes in case.classes if not classes & words.LINK]
    general = any(classes & words.GENERIC for classes in content) and all(
        classes & (words.GENERIC | words.COMMON) for classes in content
    )
    return general and case.mentions < STRONG_MENTIONS * case.documents


def _heading_only(case: ClusterCase) -> bool:
    """A phrase that hardly occurs outside titles names a section, not a topic."""
    return 100 * case.heading_mentions >= _HEADING_PERCENT * case.mentions


def _nested(case: ClusterCase) -> bool:
    return 100 * case.nested >= _NESTED_PERCENT * case.mentions and not case.defined_acronym


def _label(case: ClusterCase) -> bool:
    """The label of a field, or of a number ("KPI 1.3.1")."""
    numbered = 100 * case.numbered >= _NUMBERED_PERCENT * case.mentions
    return numbered or 100 * case.labels >= _LABEL_PERCENT * case.mentions


def _template(case: ClusterCase) -> bool:
    return 100 * case.template_documents >= _TEMPLATE_PERCENT * case.documents


def _document_name(case: ClusterCase) -> bool:
    return 100 * case.in_document_names >= _DOCUMENT_NAME_PERCENT * case.documents


def _ambiguous(case: ClusterCase) -> bool:
    return case.ambiguous_acronym


_RULES: tuple[tuple[str, Callable[[ClusterCase], bool]], ...] = (
    ("calendar", _calendar),
    ("ambiguous_acronym", _ambiguous),
    ("mixed_case", _mixed_case),
    ("code", _code),
    ("label", _label),
    ("heading_only", _heading_only),
    ("template", _template),
    ("document_name", _document_name),
    ("publisher", _publisher),
    ("generic", _generic),
    ("possessive", _possessive),
    ("verb_context", _verb),
    ("no_noun_head", _adjective_head),
    ("truncated", _truncated),
    ("piece_of_name", _broken_name),
    ("nested", _nested),
    ("name_in_passing", _name_in_passing),
    ("weak_phrase", _weak_phrase),
    ("weak_single_word", _weak_single),
)
RULE_NAMES = tuple(name for name, _ in _RULES)
