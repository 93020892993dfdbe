"""What can be found wrong: every code there is, and the one list that findings are collected in."""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from nclue_build.core.errors import DataError, Finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_FINDINGS: Final = 1000
"""Findings that are kept in full; those beyond are counted by code only."""

GROUPS: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType({
    "Commands and configuration": {
        "usage-error": "The command, the workspace or the configuration cannot be used as it is.",
        "unknown-key": "A configuration has a key that there is not.",
        "bad-value": "A value of a configuration does not fit its key.",
        "not-fit": "Something on this machine or in this workspace stands in the way of a build.",
        "data-error": "A file does not hold what its format promises.",
        "call-error": "A model call has no usable recorded reply.",
        "release-error": "A release cannot be built or does not verify.",
        "nothing-to-deliver": "The run ended properly and has nothing to deliver; the message says why.",
        "system-error": "The operating system refused to read or write something.",
        "interrupted": "The command was interrupted; the message says how to go on.",
        "internal-error": "A bug of ours.",
    },
    "Files": {
        "file-missing": "A file that the build or the corpus should have is not there.",
        "digest-differs": "A file does not have the SHA-256 that another file records for it.",
        "size-differs": "A PDF does not have the size that is listed for it.",
        "bad-record": "A row or file does not fit its schema.",
        "bad-qrels-row": "A line of a TREC file is not four fields with single spaces and a plain integer grade.",
        "byte-order-mark": "A file starts with a byte order mark, which tools read as part of the first id.",
        "composition-differs": "composition.json or forms_qa.json does not count the queries there are.",
        "not-canonical": "A file reads well and is not byte for byte as its stage writes it: spacing, a repeated key.",
        "linked-file": "A file or folder of a build is a link: what it leads to changes without it.",
        "unknown-file": "Something in the folders of a build that no stage writes there.",
        "not-sorted": "The rows of a file are not in ascending order of their ids.",
        "output-altered": "A file is not what its stage wrote.",
        "output-missing": "A file that a stage wrote is gone.",
        "gate-report-differs": "gate.json contradicts itself, or counts other files than there are.",
        "bad-receipt": "A receipt cannot be read or contradicts itself.",
        "stale-stage": "Inputs, settings or rules of a stage changed since it ran.",
        "outdated-benchmark": "The benchmark was composed from another inventory than the one that is there.",
    },
    "Ids": {
        "duplicate-document": "Two rows have the same document id.",
        "duplicate-condition": "Two conditions have the same id.",
        "duplicate-query": "Two queries have the same id.",
        "duplicate-id": "Two duplicate groups, surface forms or clusters have the same id.",
        "duplicate-evidence": "Two evidence rows are about the same condition and document.",
        "duplicate-qrel": "A query and document are judged twice in one file.",
        "unknown-document": "A row names a document that does not exist there, or is not in the benchmark's corpus.",
        "unknown-condition": "A row names a condition that the inventory or the query does not have.",
        "unknown-query": "A row names a query that queries.jsonl does not have.",
        "query-id-clash": "A query has the id of a document.",
    },
    "Corpus and pages": {
        "corpus-missing": "The corpus file or the folder of PDFs is not there, or lists nothing.",
        "bad-file-name": "The name of a PDF or of a folder around it is not UTF-8, or has control characters.",
        "not-fetched": "A corpus row has no file yet.",
        "fetch-gone": "The server says that a document is no longer there (404 or 410).",
        "fetch-not-pdf": "What came instead of a document is no PDF, such as a web page.",
        "fetch-too-large": "A document is larger than fetch.max_document_mb.",
        "fetch-cut-short": "A fetched PDF has no mark of its end, and no SHA-256 is known to check it by.",
        "fetch-failed": "A document could not be fetched; the message lists every place that was tried, and why.",
        "document-failed": "A document could not be read.",
        "source-below-rate": "Less than extract.min_extraction_rate of a source's pages could be read.",
        "removal-differs": "A document is kept or removed against its pages, its source or the duplicate groups.",
        "outcome-differs": "A document's status, flags or fitness as a gold are not what its pages give.",
        "password-unused": "extract.passwords_file has an entry that belongs to no document of the corpus.",
        "page-failed": "A page could not be read.",
        "unknown-item-type": "MinerU's output has blocks of a type this program does not know; their text is kept.",
        "page-range-unknown": "A content list of MinerU ends before its PDF, and nothing says it begins at page 1.",
        "text-only-in-pdf": "Pages of a document have text in the PDF, and MinerU's output has none of it.",
        "page-count-differs": "A PDF does not have the number of pages that is listed for it.",
        "page-rows-differ": "A page file does not hold the pages 1..n of its document, or a status or digest is wrong.",
        "quality-counts-differ": "A count in documents_quality.jsonl is not what its rows and the pages give.",
        "duplicates-differ": "A duplicate group contradicts itself or what is in the benchmark's corpus.",
        "document-rows-differ": "documents.jsonl differs from the corpus or documents_quality.jsonl on a document.",
    },
    "Inventory": {
        "allowed-roles-differ": "version.json was made with other block roles than the configuration allows.",
        "text-version-differs": "version.json was made with other text rules than this program has.",
        "version-counts-differ": "A number in version.json is not what the files hold.",
        "condition-id-differs": "A condition id is not made of the condition's name.",
        "condition-name-differs": "The name of a condition is none of its aliases.",
        "bad-alias-form": "An alias is not normalised, or does not start and end with a word character.",
        "shared-alias": "Two conditions have the same alias, so their pages cannot be told apart.",
        "duplicate-alias": "A condition lists the same alias twice.",
        "wrong-level": "A row has pages in a document-level build, or none in a page-level build.",
        "missing-evidence": "A condition occurs in a document, and evidence.jsonl has no row for it.",
        "extra-evidence": "evidence.jsonl has a row for a condition that does not occur in the document.",
        "evidence-pages-differ": "The pages of an evidence row are not the pages where its condition occurs.",
        "evidence-mentions-differ": "The mentions of an evidence row are not the number of occurrences on its pages.",
        "evidence-headings-differ": "The heading marks of an evidence row are not the titles with its condition.",
        "condition-frequency-differs": "A condition's document or page frequency is not what its evidence gives.",
        "alias-frequency-differs": "An alias's document or page frequency is not where it occurs.",
        "mined-rows-differ": "surface_forms, clusters, rejected and conditions do not account for one another.",
    },
    "Queries": {
        "query-id-differs": "A query id is not the digest of the query's condition ids.",
        "query-conditions-differ": "The conditions of a query repeat, or are not in ascending order of their ids.",
        "query-names-differ": "A name or the aliases of a query's condition are not those of conditions.jsonl.",
        "form-without-concept": "A form of a query does not hold one of its concepts verbatim.",
        "query-form-differs": "A deterministic form of a query is not what its concepts give.",
        "query-golds-differ": "The golds of a query are not the documents that pass the gate, in order.",
        "query-judged-differs": "n_judged of a query is not the number of documents with one of its conditions.",
        "query-strata-differ": "The strata of a query are not those of its golds and judged documents.",
        "query-without-gold": "No document passes the gate for a query.",
        "ineligible-gold": "A gold is a document that documents_quality.jsonl excludes from being one.",
        "query-without-rows": "No document has any condition of a query.",
    },
    "Judgments": {
        "missing-qrel": "A document has conditions of a query, and the qrels do not say so.",
        "extra-qrel": "The qrels judge a document that has no condition of the query.",
        "qrels-count-differs": "The number of qrels is not the sum over queries of the documents with a condition.",
        "qrel-pages-differ": "The pages of a judgment are not P(d, c) of the query's conditions, a list for each.",
        "qrel-clue-count-differs": "The clue count of a judgment is not the number of conditions in the document.",
        "qrel-gate-differs": "The gate outcome of a judgment is not what its pages give.",
        "qrel-gold-differs": "A judgment says gold where the gate fails, or the reverse.",
        "qrel-grade-differs": "The grade of a judgment is not its clue count, capped where the gate fails.",
        "qrel-witness-differs": "The witness of a judgment is not the smallest assignment of distinct pages.",
        "qrel-shared-pages-differ": "The shared pages of a judgment are not those with every condition.",
        "qrel-violator-differs": "The violator of a judgment is not the first smallest Hall set.",
        "single-page-gold": "A stored gold has a page with every condition of the query.",
        "meta-differs": "qrels.meta.json does not say what the qrels hold or were made from.",
        "judge-differs": "A judge, model or call key is not what the configured judge leaves behind.",
    },
    "Quotes": {
        "quote-not-on-page": "A quote does not stand in an allowed block of the page it names.",
        "quote-page-differs": "A quote names a page that does not establish its condition.",
        "quote-without-alias": "A quote does not hold any alias of its condition.",
        "quote-of-other-condition": "A quote is about a condition that the query does not have.",
        "missing-quote": "A gold has no quote for one of the query's conditions.",
        "duplicate-quote": "A judgment has the same quote twice.",
        "quote-too-short": "A quote is short: the rules owe 40 characters or a whole block, people three words.",
    },
    "Decisions and repairs": {
        "duplicate-decision": "A file of decisions has the same id twice.",
        "decision-conflict": "Two decisions say the opposite of one condition in one document, or share an id.",
        "bad-response": "An answer of an evaluator is missing, or does not fit what was asked and the pages shown.",
        "decision-page": "A decision names a page that its document does not have.",
        "decisions-differ": "The decisions of a version are not those its version.json lists, or conflict.",
        "override-differs": "What a query alone is to see of P(d, c) is not what the pair decisions give.",
        "query-missing": "A query of the composed benchmark has a gold under the newest inventory, and is gone.",
        "repair-differs": "transitions, changes or repairs do not say what the two benchmarks differ in.",
    },
    "Model calls": {
        "frozen-miss": "A call has no recorded reply, and the mode is frozen.",
        "call-conflict": "Two different replies are recorded for one call.",
        "call-corrupt": "A line of recorded calls is not as it was written.",
        "call-torn": "The last line of a file of recorded calls was cut off while it was written; it is left out.",
        "call-misplaced": "A recorded call lies in a file that is not its own.",
        "call-status-differs": "The outcome of a recorded call is not what its response gives.",
        "used-calls-differ": "A verdict or quote and the list of used calls say different things of who judged.",
        "call-secret": "A record would hold something that looks like a credential.",
        "call-unknown": "An answer belongs to no call that is asked for.",
        "call-missing": "A recorded call that a build used is not there as it used it.",
        "call-rejected": "An answer is no reply of the form that was asked for.",
        "call-failed": "A live call was not answered; what was answered is kept.",
    },
    "Runs and scores": {
        "bad-run-row": "A row of a run is not what its format asks for, or the file holds no rows.",
        "bad-run-score": "A score in a run is no finite number.",
        "duplicate-run-row": "A run returns a document twice for one query.",
        "run-query-missing": "A run does not return a query of the benchmark, which counts as 0.",
        "table-drift": "A table made from runs and judgments is not the one that was declared.",
        "unknown-run-id": "A run names a query or document that the benchmark does not have.",
    },
    "TREC and BEIR": {
        "missing-trec-row": "A row is missing from a TREC file.",
        "extra-trec-row": "A TREC file has a row that should not be there.",
        "trec-grade-differs": "The grade of a TREC row is not the recomputed one.",
        "beir-corpus-differs": "The documents of the BEIR folder are not those of the benchmark.",
        "beir-card-differs": "The README of the BEIR folder is not what its counts and data files give.",
        "beir-queries-differ": "The queries of the BEIR folder are not those of the benchmark.",
        "beir-qrels-differ": "The judgments of the BEIR folder are not those of the benchmark.",
    },
})  # fmt: skip
"""The codes by what they are about; docs/findings.md is this table."""

CODES: Final[Mapping[str, str]] = MappingProxyType(
    {code: meaning for codes in GROUPS.values() for code, meaning in codes.items()}
)
"""Every code a finding can have, and what it means in one line."""

_SHOWN: Final = 200


def shown(value: object) -> str:
    """A value as a message shows it: cut where a long document would fill screens with page numbers."""
    text = str(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


class Findings:
    """Collects findings: all are counted, the first :data:`MAX_FINDINGS` are kept.

    Whoever reads, checks or compares takes one and adds to it, so that a broken file gives one report with
    everything that is wrong, and a hopeless one does not fill the memory.
    """

    def __init__(self, found: Iterable[Finding] = ()) -> None:
        """Start with the findings given."""
        self.kept: list[Finding] = []
        self._counts: Counter[str] = Counter()
        self.extend(found)

    def add(
        self,
        code: str,
        message: str,
        *,
        path: str | None = None,
        line: int | None = None,
        id: str | None = None,  # noqa: A002 - the name of the finding's field
    ) -> None:
        """Take in one finding.

        Raises:
            KeyError: the code is not in :data:`CODES`.
        """
        CODES[code]
        self._counts[code] += 1
        if len(self.kept) < MAX_FINDINGS:
            self.kept.append(Finding(code, message, path, line, id))

    def extend(self, found: Iterable[Finding]) -> None:
        """Take in findings made elsewhere."""
        for one in found:
            self.add(one.code, one.message, path=one.path, line=one.line, id=one.id)

    def merge(self, other: Findings) -> None:
        """Take in all that another list kept and counted."""
        self.kept += other.kept[: MAX_FINDINGS - len(self.kept)]
        self._counts.update(other._counts)

    @property
    def total(self) -> int:
        """Number of findings, kept or not."""
        return self._counts.total()

    @property
    def by_code(self) -> dict[str, int]:
        """Number of findings of every code that occurred, sorted by code."""
        return dict(sorted(self._counts.items()))

    def raise_any(self) -> None:
        """Raise everything found as one error; nothing found is no error.

        Raises:
            DataError: something was found.
        """
        if self.total:
            raise DataError.from_findings(self.kept, total=self.total)
