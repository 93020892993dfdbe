"""The build configuration: one annotated TOML per build.

Some defaults depend on the size of the corpus; they apply only where the key is
omitted (:meth:`BuildConfig.resolve`).
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from nclue_build.records.calls import Decimal
from nclue_build.records.comparison import Contrast
from nclue_build.records.corpus import Role
from nclue_build.records.descriptions import describe_fields

SMALL_CORPUS = 100
"""Documents below which the small-corpus defaults of mining and composing apply."""
TINY_CORPUS = 80
"""Documents below which ``min_subsets`` shrinks with the corpus."""
LARGE_CORPUS = 1000
"""Documents above which ``min_subsets`` grows with the corpus (docs/decisions/0018)."""

Positive = Annotated[int, Field(ge=1, le=1_000_000_000)]
Seconds = Annotated[int, Field(ge=1, le=86_400)]
PathText = Annotated[str, Field(min_length=1, pattern=r"^[^\x00]+$")]
OptionalPathText = Annotated[str, Field(pattern=r"^[^\x00]*$")]
"""Empty: none."""
EnvironmentName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of an environment variable."""
OcrLanguage = Annotated[str, Field(max_length=40, pattern=r"^(script/)?[A-Za-z]+(_[A-Za-z]+)*$")]
"""A code of Tesseract's: ``eng``, ``chi_sim``, ``script/Latin``."""
Share = Annotated[float, Field(gt=0.0, le=1.0)]
FreeShare = Annotated[float, Field(ge=0.0, le=1.0)]


class Section(BaseModel):
    """A table of the configuration: unknown keys are errors."""

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", allow_inf_nan=False, json_schema_extra=describe_fields
    )


class CorpusSection(Section):
    """Where documents come from: a corpus file or a folder of PDFs, relative to the workspace."""

    file: PathText | None = None
    pdfs: PathText | None = None

    @model_validator(mode="after")
    def _names_one_place(self) -> CorpusSection:
        if (self.file is None) == (self.pdfs is None):
            message = "give either file (a corpus.jsonl) or pdfs (a folder)"
            raise ValueError(message)
        return self


BUILD_PLACE: Final = "{build}"
"""Stands for the name of the build in ``fetch.folder``."""
MIRROR_PLACES: Final = frozenset({"doc_id", "sha256", "url", "host", "path", "file"})
"""What a mirror's address may name in braces."""
PMC_PLACES: Final = frozenset({"id", "version"})
"""What an address for PMC ids may name in braces."""
_PLACE: Final = re.compile(r"\{([^{}]*)\}")


def _check_address(value: str, known: frozenset[str]) -> str:
    if not value.startswith(("http://", "https://")):
        message = "must start with http:// or https://"
        raise ValueError(message)
    if unknown := sorted(set(_PLACE.findall(value)) - known):
        message = f"{{{unknown[0]}}} stands for nothing: there are {', '.join(f'{{{name}}}' for name in sorted(known))}"
        raise ValueError(message)
    return value


def _check_mirror(value: str) -> str:
    return _check_address(value, MIRROR_PLACES)


def _check_pmc(value: str) -> str:
    return _check_address(value, PMC_PLACES)


PmcAddress = Annotated[str, AfterValidator(_check_pmc)]


class FetchSection(Section):
    """Downloading the documents of a corpus file that have a URL and no file yet."""

    folder: PathText = f"corpora/{BUILD_PLACE}/pdf"
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    host_concurrency: Annotated[int, Field(ge=1, le=64)] = 2
    host_pause_ms: Annotated[int, Field(ge=0, le=600_000)] = 250
    timeout_s: Seconds = 30
    document_timeout_s: Seconds = 600
    retries: Annotated[int, Field(ge=0, le=20)] = 3
    max_document_mb: Annotated[int, Field(ge=1, le=1_048_576)] = 200
    max_redirects: Annotated[int, Field(ge=0, le=20)] = 5
    mirrors: tuple[Annotated[str, AfterValidator(_check_mirror)], ...] = ()
    local_folders: tuple[PathText, ...] = ()
    contact: Annotated[str, Field(max_length=200, pattern=r"^[ -~]*$")] = ""
    pmc_pdf_url: PmcAddress = "https://pmc-oa-opendata.s3.amazonaws.com/{id}.{version}/{id}.{version}.pdf"
    pmc_service_url: PmcAddress = "https://www.ncbi.nlm.nih.gov/pmc/utils/oa/oa.fcgi?id={id}"


class ExtractSection(Section):
    """Reading pages."""

    reader: Literal["pymupdf", "mineru", "page-json"] = "pymupdf"
    mineru_output: OptionalPathText = ""
    page_json: OptionalPathText = ""
    passwords_file: OptionalPathText = ""
    ocr: Literal["none", "missing", "force"] = "none"
    ocr_languages: Annotated[tuple[OcrLanguage, ...], Field(min_length=1, max_length=20)] = ("eng",)
    ocr_dpi: Annotated[int, Field(ge=70, le=1200)] = 300
    ocr_max_megapixels: Annotated[int, Field(ge=1, le=400)] = 40
    ocr_page_timeout_s: Seconds = 120
    page_timeout_s: Seconds = 20
    document_timeout_s: Seconds = 300
    document_memory_mb: Annotated[int, Field(ge=256, le=1_048_576)] = 1024
    min_extraction_rate: FreeShare = 0.98
    duplicates: Literal["remove", "keep"] = "remove"
    allowed_roles: Annotated[tuple[Role, ...], Field(min_length=1)] = (
        "title",
        "text",
        "list",
        "table",
        "caption",
        "footnote",
    )


class MineruSection(Section):
    """Having MinerU read the documents, where ``extract.reader`` is ``mineru``."""

    run: bool = False
    program: OptionalPathText = ""
    tier: Literal["flash", "basic", "standard", "advanced"] = "basic"
    method: Literal["auto", "txt", "ocr"] = "auto"
    backend: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,59}$")] = "pipeline"
    language: Annotated[str, Field(pattern=r"^([a-z][a-z0-9_-]{0,29})?$")] = ""
    document_timeout_s: Seconds = 3600
    workers: Annotated[int, Field(ge=1, le=64)] = 1


class MineSection(Section):
    """Finding conditions and their pages."""

    miner: Literal["lexical", "llm"] = "lexical"
    min_documents: Positive = 5
    max_document_share: Share = 0.04
    max_documents: Positive = 80
    max_conditions: Positive = 4000
    min_strong_share: FreeShare = 0.30
    fuzzy_aliases: bool = False


class JudgeSection(Section):
    """Who judges clusters and items."""

    kind: Literal["rules", "model"] = "rules"


Code = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[!-~]+$")]
"""An error code as a service writes it in the body of a response."""
Price = Annotated[str, Field(pattern=r"^[0-9]{1,6}(\.[0-9]{1,6})?$")]
Date = Annotated[str, Field(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$")]


class PriceRow(Section):
    """What a model costs from a day on, for a million tokens, as text."""

    model: Annotated[str, Field(min_length=1, max_length=200)]
    since: Date
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
    input: Price
    output: Price
    source: Annotated[str, Field(max_length=500)] = ""


class CallsSection(Section):
    """Model calls, where ``judge.kind`` is ``model`` or ``mine.miner`` is ``llm``."""

    mode: Literal["frozen", "record", "refresh"] = "frozen"
    profile: Annotated[str, Field(min_length=1, max_length=100)] = "anthropic-compatible"
    model: Annotated[str, Field(min_length=1, max_length=200)] = "glm-5.2"
    base_url_env: EnvironmentName = "NCLUE_BASE_URL"
    key_env: EnvironmentName = "NCLUE_API_KEY"
    auth: Literal["bearer", "x-api-key", "both"] = "bearer"
    thinking: Literal["disabled", "unset"] = "disabled"
    sampling: dict[Annotated[str, Field(pattern=r"^(temperature|top_p|top_k)$")], Decimal] = {}
    generation: Annotated[int, Field(ge=1, le=9999)] = 1
    concurrency: Annotated[int, Field(ge=1, le=64)] = 4
    attempt_timeout_s: Seconds = 120
    call_timeout_s: Seconds = 600
    max_attempts: Annotated[int, Field(ge=1, le=20)] = 5
    max_wait_s: Seconds = 60
    max_failures: Annotated[int, Field(ge=1, le=1000)] = 5
    retry_statuses: tuple[Annotated[str, Field(pattern=r"^[45]([0-9]{2}|xx)$")], ...] = ("408", "409", "429", "5xx")
    retry_codes: tuple[Code, ...] = ("1302", "1303", "1305", "1312")
    fatal_codes: tuple[Code, ...] = (
        "1113",
        "1304",
        "1308",
        "1309",
        "1310",
        "1311",
        "1313",
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "linked_organization_spend_limit_reached",
    )
    prices: tuple[PriceRow, ...] = ()

    @model_validator(mode="after")
    def _names_each_code_once(self) -> CallsSection:
        if both := sorted(set(self.retry_codes) & set(self.fatal_codes)):
            message = f"{both[0]} is in retry_codes and in fatal_codes"
            raise ValueError(message)
        days = [(row.model, row.since) for row in self.prices]
        if len(days) != len(set(days)):
            message = "two prices of one model begin on the same day"
            raise ValueError(message)
        return self


class ComposeSection(Section):
    """Making queries."""

    n_queries: Positive = 1000
    n_candidates: Positive = 4000
    share_n3: FreeShare = 0.186
    max_golds: Positive = 5
    min_subsets: Annotated[int, Field(ge=0, le=1_000_000_000)] = 10
    strong_golds: bool = True
    capped_documents: Literal["penalise", "drop"] = "penalise"
    max_per_condition: Positive = 5
    max_per_gold: Positive = 6
    verify: Literal["golds", "golds+hard", "all"] = "golds"
    paraphrases: Literal["none", "recorded"] = "none"
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 11


class ScoreSection(Section):
    """Scoring runs: never changes the benchmark."""

    contrasts: tuple[Contrast, ...] = ()
    """What ``compare`` compares; every contrast that was tried belongs here, displayed or not."""

    @model_validator(mode="after")
    def _names_each_once(self) -> ScoreSection:
        names = [one.name for one in self.contrasts]
        if len(names) != len(set(names)):
            message = "two contrasts have the same name"
            raise ValueError(message)
        return self


class RunSection(Section):
    """How to run: never changes a result."""

    executor: Literal["local", "dask"] = "local"
    address: Annotated[str, Field(pattern=r"^((tcp|tls)://[!-~]+)?$")] = ""
    workers: Annotated[int, Field(ge=0, le=1_000_000_000)] = 0

    @model_validator(mode="after")
    def _knows_the_cluster(self) -> RunSection:
        if self.executor == "dask" and not self.address:
            message = 'executor = "dask" needs address, that of the scheduler, such as "tcp://127.0.0.1:8786"'
            raise ValueError(message)
        return self


class BuildConfig(Section):
    """A whole build configuration."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    corpus: CorpusSection
    fetch: FetchSection = FetchSection()
    extract: ExtractSection = ExtractSection()
    mineru: MineruSection = MineruSection()
    mine: MineSection = MineSection()
    judge: JudgeSection = JudgeSection()
    compose: ComposeSection = ComposeSection()
    calls: CallsSection = CallsSection()
    score: ScoreSection = ScoreSection()
    run: RunSection = RunSection()

    @model_validator(mode="after")
    def _names_what_is_read(self) -> BuildConfig:
        reader = self.extract.reader
        if self.mineru.run and reader != "mineru":
            message = f'mineru.run = true needs extract.reader = "mineru", not "{reader}"'
            raise ValueError(message)
        if reader == "mineru" and not self.extract.mineru_output and not self.mineru.run:
            message = (
                'extract.reader = "mineru" needs extract.mineru_output, the folder with its files, '
                "or mineru.run = true, which makes them"
            )
            raise ValueError(message)
        if reader == "page-json" and not self.extract.page_json:
            message = 'extract.reader = "page-json" needs extract.page_json: the folder with its files'
            raise ValueError(message)
        if reader != "pymupdf" and self.extract.ocr != "none":
            message = (
                f'extract.ocr = "{self.extract.ocr}" needs extract.reader = "pymupdf": '
                f'with "{reader}", text comes from another program'
            )
            raise ValueError(message)
        return self

    def resolve(self, n_documents: int) -> BuildConfig:
        """Fill the size-dependent defaults in for a corpus of ``n_documents`` documents.

        Keys written in the file are left alone. ``max_per_gold`` also depends on how many
        queries get selected, which only the selection knows (``0.15`` of them under
        :data:`SMALL_CORPUS` documents).
        """
        mine: dict[str, object] = {}
        compose: dict[str, object] = {}
        if n_documents < SMALL_CORPUS:
            mine = {"min_documents": 3, "max_document_share": 0.40}
        if n_documents < TINY_CORPUS:
            compose = {"min_subsets": min(10, n_documents // 8)}
        elif n_documents > LARGE_CORPUS:
            compose = {"min_subsets": min(20, n_documents // 100)}
        return self.model_copy(
            update={
                "mine": self.mine.model_copy(update=_unset(self.mine, mine)),
                "compose": self.compose.model_copy(update=_unset(self.compose, compose)),
            }
        )

    def in_force(self, table: Literal["mine", "compose"], n_documents: int) -> dict[str, str]:
        """The values of a table that apply to a corpus of ``n_documents`` documents, as text.

        What a stage depends on is the value, not whether it was written down or is a default: receipts compare these.
        """
        section = getattr(self.resolve(n_documents), table)
        values = {key: str(value) for key, value in section.model_dump().items()}
        if table == "compose" and n_documents < SMALL_CORPUS and "max_per_gold" not in section.model_fields_set:
            values["max_per_gold"] = f"{values['max_per_gold']} or 15% of the queries"
        return values


def _unset(section: Section, values: dict[str, object]) -> dict[str, object]:
    return {key: value for key, value in values.items() if key not in section.model_fields_set}


class WorkspaceMarker(Section):
    """``configs/workspace.toml``: marks a workspace and may name its default build."""

    schema_: Annotated[Literal[1], Field(alias="schema")]
    default_build: str | None = None
