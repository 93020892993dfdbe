from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import InternalError
from nclue_build.corpus.document import make_document
from nclue_build.corpus.lines import FailedPage
from nclue_build.corpus.supervisor import ReadLimits, Supervisor, reader_command

if TYPE_CHECKING:
    from pathlib import Path

    from nclue_build.corpus.read import ReadDocument

PRELUDE = """
import json, os, signal, sys, time
def send(**message):
    to = int(sys.argv[2]) if "page" in message else 1
    os.write(to, json.dumps(message, separators=(",", ":")).encode() + b"\\n")
send(ready=True)
started = open(sys.argv[1], "a")
started.write("x")
started.close()
first = True
for line in sys.stdin:
    command = json.loads(line)
    start = command["start"]
"""
TAIL = """
    send(end=True)
    first = False
"""


def run(
    tmp_path: Path, body: str, n_documents: int = 1, start_s: float = 0, *, make: bool = False, **limits: float
) -> tuple[list[ReadDocument], int]:
    """Read documents with a fake reader that starts slowly; returns them and how many processes it took."""
    script = tmp_path / "reader.py"
    script.write_text(
        f"import time\ntime.sleep({start_s})\n" + PRELUDE + textwrap.indent(textwrap.dedent(body), "    ") + TAIL
    )
    starts = tmp_path / "starts"
    settings = {"page_timeout_s": 0.4, "document_timeout_s": 20, **limits}
    supervisor = Supervisor(
        ReadLimits(settings["page_timeout_s"], settings["document_timeout_s"], 256),
        [sys.executable, str(script), str(starts)],
    )
    try:
        read = [supervisor.read(tmp_path / "x.pdf", make=make) for _ in range(n_documents)]
    finally:
        supervisor.close()
    return read, len(starts.read_text())


def kinds(document: ReadDocument) -> list[str]:
    return [part.flag if isinstance(part, FailedPage) else "read" for part in document.payloads]


GOOD = """
send(n_pages=3, title=None)
for page in range(start, 3):
    {trouble}
    send(page=page + 1, lines=[])
"""


def test_one_process_serves_many_documents(tmp_path: Path) -> None:
    read, starts = run(tmp_path, GOOD.format(trouble="pass"), n_documents=3)
    assert [kinds(one) for one in read] == [["read"] * 3] * 3
    assert starts == 1
    assert not any(one.hit_limit for one in read)


def test_a_page_that_hangs_is_skipped(tmp_path: Path) -> None:
    (read,), starts = run(tmp_path, GOOD.format(trouble="if page == 1: time.sleep(30)"))
    assert kinds(read) == ["read", "page_timeout", "read"]
    assert starts == 2
    assert read.hit_limit


def test_a_crash_gets_a_second_chance_and_is_then_skipped(tmp_path: Path) -> None:
    (read,), starts = run(tmp_path, GOOD.format(trouble="if page == 1: os.kill(os.getpid(), signal.SIGSEGV)"))
    assert kinds(read) == ["read", "reader_crashed", "read"]
    assert isinstance(read.payloads[1], FailedPage)
    assert read.payloads[1].reason == "reader crashed (SIGSEGV)"
    assert starts == 3


def test_a_reader_that_somebody_kills_costs_no_page(tmp_path: Path) -> None:
    once = "if page == 1 and os.path.getsize(sys.argv[1]) == 1: os.kill(os.getpid(), signal.SIGKILL)"
    (read,), starts = run(tmp_path, GOOD.format(trouble=once))
    assert kinds(read) == ["read"] * 3
    assert starts == 2
    (read,), starts = run(tmp_path, GOOD.format(trouble="if page == 1: os.kill(os.getpid(), signal.SIGKILL)"))
    assert kinds(read) == ["read", "reader_crashed", "read"]


def test_a_fresh_reader_that_somebody_kills_gets_a_second_chance(tmp_path: Path) -> None:
    once = "if os.path.getsize(sys.argv[1]) == 1: os.kill(os.getpid(), signal.SIGKILL)"
    (read,), starts = run(tmp_path, once + GOOD.format(trouble="pass"))
    assert kinds(read) == ["read"] * 3
    assert starts == 2


def test_what_earlier_documents_left_behind_does_not_count(tmp_path: Path) -> None:
    (first, second), _ = run(tmp_path, GOOD.format(trouble="if not first: os.abort()"), n_documents=2)
    assert kinds(first) == kinds(second) == ["read"] * 3


def test_lack_of_memory_is_told_from_a_crash(tmp_path: Path) -> None:
    (read,), _ = run(tmp_path, GOOD.format(trouble="if page == 2: raise MemoryError"))
    assert kinds(read) == ["read", "read", "out_of_memory"]


def test_memory_reported_by_the_reader_restarts_it(tmp_path: Path) -> None:
    trouble = 'if page == 0: send(failed="out_of_memory", reason="memory limit reached"); break'
    (read,), starts = run(tmp_path, GOOD.format(trouble=trouble))
    assert kinds(read) == ["out_of_memory", "read", "read"]
    assert starts == 2


def test_a_page_error_needs_no_restart(tmp_path: Path) -> None:
    trouble = 'if page == 0: send(page=1, failed="page_error", reason="cycle"); continue'
    (read,), starts = run(tmp_path, GOOD.format(trouble=trouble))
    assert kinds(read) == ["page_error", "read", "read"]
    assert starts == 1
    assert not read.hit_limit


def test_a_slow_document_ends_at_its_deadline(tmp_path: Path) -> None:
    began = time.monotonic()
    (read,), _ = run(tmp_path, GOOD.format(trouble="time.sleep(0.3)"), document_timeout_s=0.5)
    assert time.monotonic() - began < 10
    assert kinds(read)[-1] == "document_timeout"
    assert len(read.payloads) == 3


def test_starting_a_reader_is_no_time_the_document_takes(tmp_path: Path) -> None:
    trouble = "if page == 1 and start < 2: os.kill(os.getpid(), signal.SIGSEGV)"
    (read,), starts = run(tmp_path, GOOD.format(trouble=trouble), start_s=0.8, document_timeout_s=0.7)
    assert kinds(read) == ["read", "reader_crashed", "read"]
    assert starts == 3


def test_a_hang_while_opening_fails_the_document(tmp_path: Path) -> None:
    (read,), _ = run(tmp_path, "time.sleep(30)")
    assert read.n_pages == 0
    assert read.error == "page took longer than 0.4 s"
    assert read.hit_limit


def test_a_made_up_number_of_pages_fails_the_document(tmp_path: Path) -> None:
    (read, other), _ = run(tmp_path, "send(n_pages=1_000_001, title=None)", n_documents=2)
    assert read.error == other.error == "says it has more than 1,000,000 pages"
    assert read.payloads == []


def test_a_reason_given_by_the_reader_is_kept(tmp_path: Path) -> None:
    body = 'send(error="encrypted: needs a password"); continue'
    (first, second), starts = run(tmp_path, body, n_documents=2)
    assert first.error == second.error == "encrypted: needs a password"
    assert starts == 1


def test_a_reader_that_does_not_start_is_our_bug(tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("raise ValueError('nothing works')")
    supervisor = Supervisor(ReadLimits(1, 1, 256), [sys.executable, str(script)])
    with pytest.raises(InternalError, match="nothing works"):
        supervisor.read(tmp_path / "x.pdf")


def test_closing_leaves_no_process(tmp_path: Path, supervisor: Supervisor) -> None:
    supervisor.read(tmp_path / "missing.pdf")
    own = Supervisor(supervisor.limits)
    own.read(tmp_path / "missing.pdf")
    assert own._process is not None
    pid = own._process.pid
    own.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIG_DFL)


def test_the_real_reader_gives_up_an_endless_page(endless_pdf: Path) -> None:
    own = Supervisor(ReadLimits(1, 20, 1024))
    read = own.read(endless_pdf)
    own.close()
    assert kinds(read) == ["page_timeout", "read"]
    assert isinstance(read.payloads[1], bytes)
    assert b"Still here" in read.payloads[1]


def test_an_orphaned_reader_dies_even_inside_a_c_call(endless_pdf: Path) -> None:
    command = [*reader_command(ReadLimits(0.2, 20, 1024)), "1"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)  # noqa: S603 - our own module
    process.communicate(json.dumps({"path": str(endless_pdf), "start": 0}).encode() + b"\n", timeout=30)
    assert process.returncode == -signal.SIGALRM


def test_the_memory_limit_is_in_force(tmp_path: Path, text: Any, make_pdf: Any) -> None:
    path = make_pdf(tmp_path / "a.pdf", [[text(72, 200, "x")]])
    probe = (
        "import sys; from nclue_build.corpus import opening; opening.limit_memory(300)\n"
        "try: bytearray(400 << 20)\nexcept MemoryError: print('refused')"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)  # noqa: S603 - our own module
    assert done.stdout == "refused\n"
    own = Supervisor(ReadLimits(20, 20, 300))
    assert kinds(own.read(path)) == ["read"]
    own.close()


ROWS_OF_ONE = """
send(n_pages=1, title=None)
send(page=1, lines=[])
send(end=True, made=command["make"] and first)
if command["make"] and first:
    {trouble}
first = False
continue
"""


@pytest.mark.parametrize(
    "trouble", ["sys.exit(1)", "os.kill(os.getpid(), signal.SIGSEGV)", "time.sleep(30)", "raise MemoryError"]
)
def test_a_reader_that_comes_to_grief_over_the_rows_costs_no_page(tmp_path: Path, trouble: str) -> None:
    body = ROWS_OF_ONE.format(trouble=trouble)
    (read, other), starts = run(tmp_path, body, n_documents=2, make=True)
    assert kinds(read) == kinds(other) == ["read"]
    assert read.made is other.made is None
    assert not read.hit_limit
    assert starts == 2  # one for each document


def test_the_reader_makes_the_rows_that_are_made_of_its_payloads(
    tmp_path: Path, text: Any, make_pdf: Any, supervisor: Supervisor
) -> None:
    pages = [
        [text(72, 60, f"Annual report {n}"), text(72, 200, "It is said."), text(72, 760, str(n))] for n in range(7)
    ]
    for path in (
        make_pdf(tmp_path / "plain.pdf", pages),
        make_pdf(tmp_path / "turned.pdf", pages, rotation=90, labels=[{"startpage": 2, "style": "D"}]),
        make_pdf(tmp_path / "empty.pdf", [[], []]),
    ):
        read = supervisor.read(path, make=True)
        assert read.made == make_document(read, version("pymupdf"))
        assert supervisor.read(path).made is None
