"""What a verb answers: one result, as a short text or as the JSON envelope."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from nclue_build.cli.streams import shows_unicode
from nclue_build.core.errors import EXIT_OK

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nclue_build.core.errors import Finding

_FINDINGS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome of a verb.

    Args:
        result: The result as JSON values: what scripts read.
        text: The same for people, a few lines.
        findings: Everything that was found wrong, also what did not change the exit code.
        exit_code: 0, or 1 when the verb ran to its end and found problems.
        essence: The text for those who want to read as little as possible; empty: the whole text.
        heading: What stands above the findings, where there are some, below the whole text.
    """

    result: Mapping[str, object]
    text: str
    findings: Sequence[Finding] = ()
    exit_code: int = EXIT_OK
    essence: str = ""
    heading: str = ""

    def render(self, *, as_json: bool, quiet: bool = False) -> str:
        """The whole of stdout."""
        if as_json:
            return envelope(self.result, self.findings, ok=self.exit_code == EXIT_OK)
        is_short = bool(quiet and self.essence)
        lines = [
            self.essence if is_short else self.text,
            *(["", self.heading] if self.heading and self.findings and not is_short else []),
            *(f"  {finding}" for finding in self.findings[:_FINDINGS_SHOWN]),
        ]
        if len(self.findings) > _FINDINGS_SHOWN:
            lines.append(f"  ... and {len(self.findings) - _FINDINGS_SHOWN} more: --json lists them all")
        return "\n".join(lines)


def envelope(result: Mapping[str, object] | None, findings: Sequence[Finding], *, ok: bool) -> str:
    """The JSON envelope: one object on one line, checked against the record that ``schema envelope`` prints."""
    from nclue_build.records.envelope import Envelope

    value = {"schema": 1, "ok": ok, "result": result, "findings": [asdict(finding) for finding in findings]}
    text = Envelope.model_validate_json(json.dumps(value)).model_dump_json(by_alias=True)
    return text if shows_unicode() else json.dumps(json.loads(text))


def table(rows: Sequence[tuple[str, object]]) -> str:
    """Rows of a label and a value, the values aligned; empty values are left out."""
    shown = [(label, str(value)) for label, value in rows if value not in ("", None)]
    width = max((len(label) for label, _ in shown), default=0)
    return "\n".join(f"  {label:<{width}}  {value}" for label, value in shown)
