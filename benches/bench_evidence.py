"""An inventory of a million evidence rows, written and read back: time and memory.

python benches/bench_evidence.py [ROWS]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from nclue_build.core.arrays import offsets, ranges
from nclue_build.inventory.files import read_version, write_version
from nclue_build.inventory.table import Inventory
from nclue_build.records.inventory import Alias, Condition, Verdict

N_CONDITIONS, N_DOCUMENTS = 4000, 2021
ALIAS = Alias(form="form", match="folded", document_frequency=1, page_frequency=1)


def make(n_rows: int) -> Inventory:
    """Random rows with one to five pages each."""
    random = np.random.default_rng(11)
    keys = np.sort(random.choice(N_CONDITIONS * N_DOCUMENTS, n_rows, replace=False))
    lengths = random.integers(1, 6, n_rows)
    pages = ranges(random.integers(1, 200, n_rows), lengths)
    return Inventory(
        condition_ids=tuple(f"a-condition-{number:04d}_0123abcd" for number in range(N_CONDITIONS)),
        document_ids=tuple(f"a-document-of-the-corpus-{number:04d}_0123abcd" for number in range(N_DOCUMENTS)),
        condition_of=(keys // N_DOCUMENTS).astype(np.int32),
        document_of=(keys % N_DOCUMENTS).astype(np.int32),
        starts=offsets(lengths),
        pages=pages.astype(np.int32),
        mentions=random.integers(1, 9, len(pages)).astype(np.int32),
        in_heading=random.random(len(pages)) < 0.1,  # noqa: PLR2004 - a tenth of them
    )


def main() -> None:
    """Write, read, and say what it took (processor time, so that other work on the machine does not count)."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    inventory = make(n_rows)
    conditions = [
        Condition(
            condition_id=key, name=key, aliases=(ALIAS,), document_frequency=1, page_frequency=1,
            verdict=Verdict(judge="none", reason="none"),
        )
        for key in inventory.condition_ids
    ]  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        write_version(Path(folder), conditions, inventory, number=0, allowed_roles=("text",), text_version=1)
        written = time.process_time()
        before_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        back = read_version(Path(folder), inventory.document_ids).inventory
        read = time.process_time()
    after_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{back.n_rows} rows: written in {written - began:.1f} s, read in {read - written:.1f} s")
    print(f"peak memory {before_mb} MiB before reading, {after_mb} MiB after")


if __name__ == "__main__":
    main()
