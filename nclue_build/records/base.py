"""What every record on disk has in common."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from nclue_build.core.ids import document_id_problem, id_problem
from nclue_build.records.descriptions import describe_fields

SCHEMA_VERSION = 1


class Record(BaseModel):
    """A frozen, strict row: unknown fields, NaN and silent conversions are errors."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", allow_inf_nan=False, json_schema_extra=describe_fields
    )


def _check_id(value: str) -> str:
    if problem := id_problem(value):
        raise ValueError(problem)
    return value


def _check_document_id(value: str) -> str:
    if problem := document_id_problem(value):
        raise ValueError(problem)
    return value


Id = Annotated[str, AfterValidator(_check_id)]
DocumentId = Annotated[str, AfterValidator(_check_document_id)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
MAX_INT32: Final = 2**31 - 1
Page = Annotated[int, Field(ge=1, le=MAX_INT32)]
"""A 1-based physical page number; it fits the 32 bits it has in memory."""
Count = Annotated[int, Field(ge=0)]
Level = Literal["page", "document"]
"""What an inventory knows: the pages that establish a condition, or only the documents."""
