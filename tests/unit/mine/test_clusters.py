from __future__ import annotations

from nclue_build.mine.acronyms import vote
from nclue_build.mine.clusters import build_clusters

LONG = "asset renewal fund"


def groups(strings: list[str], definitions: list[tuple[str, str]], capitals: set[str]) -> dict[str, set[str]]:
    votes = vote([definitions])
    clusters = build_clusters(strings, range(len(strings)), votes, [strings.index(text) for text in sorted(capitals)])
    assert sorted(form for cluster in clusters for form in cluster.forms) == list(range(len(strings)))
    return {cluster.key: {strings[form] for form in cluster.forms} | set(cluster.acronyms) for cluster in clusters}


def test_spellings_of_one_concept_are_one_cluster() -> None:
    found = groups(["health center", "health centers", "health-centre", "water supply"], [], set())
    assert sorted(map(sorted, found.values())) == [
        ["health center", "health centers", "health-centre"],
        ["water supply"],
    ]


def test_an_acronym_joins_its_long_form() -> None:
    found = groups([LONG, "arf"], [("ARF", "Asset Renewal Fund")], {"arf"})
    assert list(found.values()) == [{LONG, "arf", "ARF"}]


def test_an_acronym_brings_its_long_form_in_even_where_that_is_no_candidate() -> None:
    found = groups(["arf"], [("ARF", "Asset Renewal Fund")], {"arf"})
    assert list(found.values()) == [{"arf", "ARF"}]


def test_a_word_in_small_letters_is_not_the_acronym() -> None:
    found = groups(["aids", "acquired immune deficiency"], [("AIDS", "Acquired Immune Deficiency S")], set())
    assert {"aids"} in found.values()


def test_an_ambiguous_acronym_stays_apart() -> None:
    votes = vote([[("CRM", "customer relationship management")], [("CRM", "coastal resource mapping")]])
    strings = ["crm", "coastal resource mapping", "customer relationship management"]
    clusters = build_clusters(strings, range(3), votes, [0])
    assert sorted(cluster.forms for cluster in clusters) == [(0,), (1,), (2,)]
