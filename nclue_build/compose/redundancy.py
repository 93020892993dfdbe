"""Which conditions say the same thing: a conjunction of those would be no conjunction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from nclue_build.core.arrays import offsets
from nclue_build.core.english import function_words, singular

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scipy.sparse import csr_array

    from nclue_build.records.inventory import Condition

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W\d_]+)?")
_STEM_LENGTH: Final = 6
_MIN_INITIALS: Final = 2


def words(text: str) -> tuple[str, ...]:
    """Lower-case words of a text, split at hyphens, possessives dropped."""
    return tuple(match.split("'")[0].split("\u2019")[0] for match in _WORD.findall(text.lower()))


def stem(word: str) -> str:
    """A crude stem: at most six letters of the singular.

    Coarse on purpose ("regulate", "regulation", "regulatory" agree): a false match costs one of very many
    conjunctions, a missed one makes a query that asks for the same thing twice.
    """
    return singular(word)[:_STEM_LENGTH]


def content_keys(conditions: Sequence[Condition]) -> list[frozenset[str]]:
    """What each condition must not share with another of its query: content stems and acronym keys.

    A word that makes up an alias with nothing but function words around it counts as content everywhere.
    So an alias inside another alias (as a word sequence) always means a shared key.

    Returns:
        One set per condition, in the order given.
    """
    split = [[words(alias.form) for alias in condition.aliases] for condition in conditions]
    promoted = {word for forms in split for form in forms if function_words().issuperset(form) for word in form}
    empty = function_words() - promoted
    return [
        frozenset(stem(word) for form in forms for word in form if word not in empty).union(
            *(_acronym_keys(alias.form, form) for alias, form in zip(condition.aliases, forms, strict=True))
        )
        for condition, forms in zip(conditions, split, strict=True)
    ]


def _acronym_keys(form: str, form_words: tuple[str, ...]) -> Iterable[str]:
    """Keys on which an acronym and its long form agree."""
    content = [word for word in form_words if word not in function_words()]
    if len(form_words) == 1 and form.isupper() and len(form) >= _MIN_INITIALS:
        yield f"@{form.lower()}"
    elif len(content) >= _MIN_INITIALS:
        yield "@" + "".join(word[0] for word in content)
        yield "@" + "".join(word[0] for word in form_words)


def key_matrix(keys: Sequence[frozenset[str]]) -> csr_array:
    """Conditions x keys, 1 where a condition has the key; two rows are redundant when their product is not 0.

    Returns:
        int32 matrix of shape (conditions, distinct keys).
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - heavy

    index = {key: column for column, key in enumerate(sorted(frozenset().union(*keys)))}
    columns = [sorted(index[key] for key in row) for row in keys]
    indptr = offsets([len(row) for row in columns])
    indices = np.array([column for row in columns for column in row], dtype=np.int64)
    return csr_array((np.ones(len(indices), dtype=np.int32), indices, indptr), shape=(len(keys), max(len(index), 1)))
