"""Making requests from prompts and values, by the configuration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from nclue_build.records.calls import CallRequest, Message

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nclue_build.records.config import CallsSection
    from nclue_build.store.prompts import Prompt

_MARK: Final = re.compile(r"<(?=\s*/?\s*(?:page|context)\b)", re.IGNORECASE)


def make_request(prompt: Prompt, values: Mapping[str, str], config: CallsSection, attempt: int = 0) -> CallRequest:
    """The request of one call.

    Args:
        prompt: From its file.
        values: Of its variables.
        config: The ``[calls]`` table.
        attempt: 0, or which repetition this is.
    """
    system, user = prompt.render(values)
    return CallRequest(
        profile=config.profile,
        model=config.model,
        prompt_id=prompt.head.id,
        prompt_version=prompt.head.version,
        prompt_sha256=prompt.sha256,
        system=system,
        messages=(Message(role="user", content=user),),
        max_tokens=prompt.head.max_tokens,
        thinking=config.thinking,
        sampling=dict(config.sampling),
        reply_schema=prompt.head.reply_schema,
        attempt=attempt,
    )


def quoted_material(text: str) -> str:
    """Text of a document as it may stand between marks: it cannot end them, nor begin new ones."""
    return _MARK.sub("\u2039", text)
