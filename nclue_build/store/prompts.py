"""Prompt files: front matter and body, versioned, the same bytes everywhere.

A file starts with TOML between two lines ``+++``: id, version, variables, max_tokens, reply_schema. Then come a part
``=== system`` and a part ``=== user``, in which ``{{name}}`` stands for a variable.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, ValidationError

from nclue_build.core.canonical import sha256_bytes
from nclue_build.core.errors import InternalError, UsageError
from nclue_build.records.base import Id, Record

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CLUSTER_PROMPT: Final = "mine/cluster.md"
PARTITION_PROMPT: Final = "mine/partition.md"
PAGE_FACTS_PROMPT: Final = "mine/page-facts.md"
ITEM_PROMPT: Final = "compose/item.md"
PARAPHRASE_PROMPT: Final = "compose/paraphrase.md"
PAIR_PROMPT: Final = "audit/pair.md"
PROMPT_FILES: Final = (
    CLUSTER_PROMPT,
    PARTITION_PROMPT,
    PAGE_FACTS_PROMPT,
    ITEM_PROMPT,
    PARAPHRASE_PROMPT,
    PAIR_PROMPT,
)
"""Every prompt there is, below ``prompts/``."""

_FILE: Final = re.compile(
    r"\+\+\+\n(?P<head>.*?\n)\+\+\+\n=== system\n(?P<system>.*?)\n=== user\n(?P<user>.*)\Z", re.DOTALL
)
_VARIABLE: Final = re.compile(r"\{\{([a-z_]+)\}\}")


class PromptHead(Record):
    """The front matter of a prompt file."""

    id: Id
    version: Annotated[int, Field(ge=1)]
    variables: tuple[str, ...]
    max_tokens: Annotated[int, Field(ge=1)]
    reply_schema: Annotated[str, Field(pattern=r"^[a-z-]+/[0-9]+$")]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as read from its file; ``sha256`` is of the whole file."""

    head: PromptHead
    system: str
    user: str
    sha256: str

    def render(self, values: Mapping[str, str]) -> tuple[str, str]:
        """Put values in place; what a value holds is never looked at again.

        Args:
            values: One for every variable, no other.

        Returns:
            The system text and the user's message.

        Raises:
            InternalError: the values are not those of the front matter.
        """
        if values.keys() != set(self.head.variables):
            raise InternalError(f"prompt {self.head.id!r} takes {self.head.variables}, given {sorted(values)}")
        system, user = (_VARIABLE.sub(lambda found: values[found[1]], part) for part in (self.system, self.user))
        return system, user


def read_prompt(path: Path) -> Prompt:
    """Read a prompt file.

    Raises:
        UsageError: it is missing, not UTF-8 with LF line ends, not of this shape, or its variables are not those of its
            body.
    """
    try:
        data = path.read_bytes()
        text = data.decode("utf-8")
    except FileNotFoundError:
        raise UsageError(
            f"{path}: prompt file not found: 'nclue-build init' puts the ones that come with the program there"
        ) from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 ({error.reason} at byte {error.start})") from None
    if "\r" in text:
        # The digest of the file is part of every key: an editor that changes line ends would lose every reply.
        raise UsageError(f"{path}: has CR line ends: save it with LF")
    found = _FILE.match(text)
    if found is None:
        raise UsageError(f"{path}: not '+++', front matter, '+++', '=== system', text, '=== user', text")
    try:
        head = PromptHead.model_validate(_tuples(tomllib.loads(found["head"])))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: front matter is no TOML: {error}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UsageError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    used = {*_VARIABLE.findall(found["system"]), *_VARIABLE.findall(found["user"])}
    if used != set(head.variables):
        wrong = ", ".join(sorted(used ^ set(head.variables)))
        raise UsageError(f"{path}: variables of the front matter and of the body differ: {wrong}")
    return Prompt(head, found["system"].strip(), found["user"].strip(), sha256_bytes(data))


def _tuples(table: dict[str, object]) -> dict[str, object]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in table.items()}
