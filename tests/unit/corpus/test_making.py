"""Running MinerU: fake programs of both generations, and all they may do wrong."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nclue_build.core.errors import OutcomeError, UsageError
from nclue_build.corpus.making.process import run_program
from nclue_build.corpus.making.program import find_program
from nclue_build.corpus.making.run import make_outputs, wanted_outputs
from nclue_build.corpus.making.said import last_line
from nclue_build.corpus.stage import Extract
from nclue_build.records.config import BuildConfig
from nclue_build.records.corpus import DocumentQuality

if TYPE_CHECKING:
    from collections.abc import Callable

    from nclue_build.store.stage import StageContext

    Install = Callable[..., Path]

KINDS = ["mineru-kit", "mineru"]
VERSIONS = {"mineru-kit": "MinerU version: 4.0.12\\nPython version: 3.11.7", "mineru": "mineru, version 2.7.6"}
READ = {
    "mineru-kit": """
pdf, out = sys.argv[2], sys.argv[4]
data = {"schema": "docvortex.middle", "metadata": {"producer": {"version": "4.0.12"}},
        "pages": [{"page_idx": 0, "blocks": [{"type": "text", "content": "as the program read it"}]}]}
path = os.path.join(out, os.path.basename(pdf)[:-4] + ".json")
""",
    "mineru": """
pdf, out = sys.argv[2], sys.argv[4]
data = {"_version_name": "2.7.6", "pdf_info": [{"page_idx": 0, "preproc_blocks": [
        {"type": "text", "lines": [{"spans": [{"type": "text", "content": "as the program read it"}]}]}]}]}
stem = os.path.basename(pdf)[:-4]
path = os.path.join(out, stem, "auto", stem + "_middle.json")
os.makedirs(os.path.dirname(path))
open(path.replace("_middle", "_model"), "w").write("[]")
open(path.replace("_middle", "_content_list"), "w").write("[]")
""",
}
WRITE = "open(path, 'w').write(json.dumps(data))\n"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a fake program on an otherwise empty PATH; every call is noted in a file ``calls`` beside it."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("nclue_build.corpus.making.program._OWN_PROGRAMS", str(folder))

    def install(kind: str, body: str | None = None, version: str | None = None) -> Path:
        program = folder / kind
        body = READ[kind] + WRITE if body is None else body
        shown = VERSIONS.get(kind, "") if version is None else version
        program.write_text(
            f"#!{sys.executable} -SE\nimport json, os, signal, subprocess, sys, time\n"
            f"if sys.argv[1:] == ['--version']:\n    print('''{shown}''')\n    sys.exit(0)\n"
            f"open({str(folder / 'calls')!r}, 'a').write(json.dumps(sys.argv[1:]) + '\\n')\n{body}"
        )
        program.chmod(0o755)
        return program

    return install


@pytest.fixture
def calls(tmp_path: Path) -> Callable[[], list[list[str]]]:
    def calls() -> list[list[str]]:
        path = tmp_path / "bin" / "calls"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    return calls


@pytest.fixture
def build(tmp_path: Path, write_pdf: Any, make_build: Callable[..., StageContext]) -> Callable[..., StageContext]:
    """Two documents; ``[mineru]`` as given."""
    rows = []
    for name in ("a", "b"):
        write_pdf(tmp_path / "pdfs" / f"the {name}.pdf", [[f"text of {name}"]])
        rows.append({"doc_id": f"doc-{name}", "source": "s", "file_name": f"pdfs/the {name}.pdf"})
    (tmp_path / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def build(settings: str = "", output: str = "../out") -> StageContext:
        extract = f'reader = "mineru"\nmineru_output = "{output}"\n[mineru]\nrun = true\n{settings}'
        return make_build('file = "../corpus.jsonl"', extract)

    return build


def messages(context: StageContext) -> dict[str, str | None]:
    lines = [line for line in context.build.quality.read_text().splitlines() if '"kind":"document"' in line]
    return {row.doc_id: row.message for row in map(DocumentQuality.model_validate_json, lines)}


@pytest.mark.parametrize(
    ("kind", "settings", "expected"),
    [
        ("mineru-kit", "", ["-f", "middle_json", "--tier", "basic"]),
        ("mineru-kit", 'tier = "flash"\nmethod = "txt"', ["-f", "middle_json", "--tier", "flash", "--ocr-mode", "txt"]),
        ("mineru", "", ["-b", "pipeline", "-m", "auto"]),
        (
            "mineru",
            'backend = "vlm-transformers"\nmethod = "ocr"\nlanguage = "en"',
            ["-b", "vlm-transformers", "-m", "ocr", "-l", "en"],
        ),
    ],
)
def test_each_generation_gets_its_own_arguments(  # noqa: PLR0913, PLR0917 - fixtures
    tmp_path: Path,
    install: Install,
    calls: Callable[[], list[list[str]]],
    build: Callable[..., StageContext],
    kind: str,
    settings: str,
    expected: list[str],
) -> None:
    install(kind)
    context = build(settings)
    make_outputs(context)
    for call, doc_id in zip(calls(), ("doc-a", "doc-b"), strict=True):
        first, pdf, flag, out, *rest = call
        assert (first, flag, rest) == ("parse" if kind == "mineru-kit" else "-p", "-o", expected)
        assert Path(pdf).name == f"{doc_id}.pdf"
        assert Path(out).is_relative_to(tmp_path / "out")
    assert wanted_outputs(context) == []
    Extract().run(context)
    assert messages(context) == {"doc-a": None, "doc-b": None}
    assert "as the program read it" in context.build.page_file("doc-a").read_text()
    left = sorted(path.name for path in (tmp_path / "out").iterdir() if path.name != ".lock")
    assert left == ["doc-a", "doc-b"]


def test_what_is_there_is_not_made_again_unless_something_changed(
    tmp_path: Path,
    install: Install,
    calls: Callable[[], list[list[str]]],
    build: Callable[..., StageContext],
    write_pdf: Any,
) -> None:
    install("mineru-kit")
    context = build()
    make_outputs(context)
    make_outputs(context)
    assert len(calls()) == 2
    write_pdf(tmp_path / "pdfs" / "the a.pdf", [["another text"]])
    assert [one.doc_id for one in wanted_outputs(context)] == ["doc-a"]
    make_outputs(context)
    assert wanted_outputs(context) == []
    damaged = tmp_path / "out" / "doc-b" / "doc-b.json"
    whole = damaged.read_bytes()
    for damage in (whole[:-1], whole + b" ", None):
        damaged.write_bytes(damage) if damage is not None else damaged.unlink()
        assert [one.doc_id for one in wanted_outputs(context)] == ["doc-b"]
        make_outputs(context)
        assert damaged.read_bytes() == whole
    (tmp_path / "out" / "doc-b" / ".made.json").write_text("{")
    assert [one.doc_id for one in wanted_outputs(context)] == ["doc-b"]
    assert {one.doc_id for one in wanted_outputs(build('tier = "flash"'))} == {"doc-a", "doc-b"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print('Error: no such model'); sys.exit(3)", r"failed \(exit code 3\): Error: no such model"),
        ("sys.exit(1)", r"failed \(exit code 1\): it said nothing"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"failed \(signal 11\): it said nothing"),
        ("print('starting', flush=True); time.sleep(600)", "took longer than mineru.document_timeout_s = 2"),
        ("print('all done')", "ended well and wrote no whole middle file: all done"),
        ("READopen(path, 'w').write(json.dumps(data)[:-9])", "ended well and wrote no whole middle file"),
        ("READWRITEprint('Error: late'); sys.exit(1)", r"failed \(exit code 1\): Error: late"),
        ("READWRITEopen(out + '/more.json', 'w').write(json.dumps(data))", "wrote several middle files"),
        ("sys.stdout.buffer.write(b'\\xff\\x00\\x1b[31m' * 99999); sys.exit(1)", r"failed \(exit code 1\): "),
        ("raise ValueError('no page of ' + sys.argv[2])", r"failed \(exit code 1\): ValueError: no page of doc-a\.pdf"),
    ],
)
def test_a_failure_is_the_documents_with_its_reason(
    tmp_path: Path, install: Install, build: Callable[..., StageContext], kind: str, body: str, reason: str
) -> None:
    made = READ[kind] + WRITE
    whole = body.replace("READWRITE", made).replace("READ", READ[kind])
    indented = "".join(f"    {line}\n" for line in whole.splitlines())
    install(kind, f"if 'doc-a' in sys.argv[2]:\n{indented}else:\n    " + made.strip().replace("\n", "\n    "))
    context = build("document_timeout_s = 2")
    make_outputs(context)
    assert [one.doc_id for one in wanted_outputs(context)] == ["doc-a"]  # it is tried again, the other is not
    (failure,) = (tmp_path / "out").glob("*/failure.json")
    assert failure.parent.name == "doc-a"
    said = json.loads(failure.read_text())["message"]
    assert re.match(f"MinerU {reason}", said), said
    assert str(tmp_path) not in said
    assert not list((tmp_path / "out").glob(".making-*"))


def test_a_failure_gives_way_to_an_output(tmp_path: Path, install: Install, build: Callable[..., StageContext]) -> None:
    install("mineru-kit", "sys.exit(1)")
    context = build()
    make_outputs(context)
    assert len(list((tmp_path / "out").glob("*/failure.json"))) == 2
    with pytest.raises(OutcomeError):
        Extract().run(context)
    assert messages(context)["doc-b"] == ("doc-b/failure.json: MinerU failed (exit code 1): it said nothing")
    install("mineru-kit")
    make_outputs(context)
    assert not list((tmp_path / "out").glob("*/failure.json"))
    assert wanted_outputs(context) == []


def test_what_others_put_there_is_theirs(
    tmp_path: Path, install: Install, calls: Callable[[], list[list[str]]], build: Callable[..., StageContext]
) -> None:
    theirs = tmp_path / "out" / "the a" / "auto" / "the a_middle.json"
    theirs.parent.mkdir(parents=True)
    theirs.write_text('{"pdf_info": [{"page_idx": 0}]}')
    (tmp_path / "out" / "doc-b").mkdir()
    (tmp_path / "out" / "doc-b" / "notes.txt").write_text("mine")
    install("mineru-kit")
    make_outputs(build())
    assert calls() == []
    assert theirs.read_text() == '{"pdf_info": [{"page_idx": 0}]}'
    assert (tmp_path / "out" / "doc-b" / "notes.txt").read_text() == "mine"


def test_two_runs_do_not_write_to_one_folder(
    tmp_path: Path, install: Install, build: Callable[..., StageContext]
) -> None:
    install("mineru-kit", READ["mineru-kit"] + "time.sleep(3)\n" + WRITE)
    context = build()
    first = threading.Thread(target=make_outputs, args=(context,))
    first.start()
    while not list((tmp_path / "out").glob(".making-*")):
        time.sleep(0.05)
    with pytest.raises(UsageError, match="another run has MinerU write there"):
        make_outputs(context)
    first.join()
    assert wanted_outputs(context) == []


def test_what_a_killed_run_left_goes(tmp_path: Path, install: Install, build: Callable[..., StageContext]) -> None:
    left = tmp_path / "out" / ".making-left" / "kept"
    left.mkdir(parents=True)
    (left / "doc-a.json").write_text("{")
    install("mineru")
    make_outputs(build("workers = 2"))
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".lock", "doc-a", "doc-b"]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_program_ends_with_all_it_started(tmp_path: Path) -> None:
    script = tmp_path / "script"
    for then, stop_after in (("time.sleep(600)", True), ("signal.signal(15, signal.SIG_IGN); time.sleep(1)", False)):
        script.write_text(
            "import signal, subprocess, time\n"
            "child = subprocess.Popen(['sleep', '600'])\n"
            f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))\nprint('started', flush=True)\n{then}\n"
        )
        stop = threading.Event()
        if stop_after:
            threading.Timer(1.5, stop.set).start()
        ended = run_program([sys.executable, "-SE", str(script)], tmp_path, 60, stop=stop)
        assert ended.said == "started\n"
        assert (ended.code is None) is stop_after
        assert not ended.timed_out
        pid = int((tmp_path / "pid").read_text())
        for _ in range(50):
            if not alive(pid):
                break
            time.sleep(0.1)
        assert not alive(pid)


def test_an_interruption_ends_the_programs_and_keeps_what_is_done(
    tmp_path: Path, install: Install, build: Callable[..., StageContext]
) -> None:
    slow = f"if 'doc-b' in sys.argv[2]:\n    os.kill({os.getpid()}, signal.SIGINT)\n    time.sleep(600)\n"
    install("mineru-kit", slow + READ["mineru-kit"] + WRITE)
    context = build()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            make_outputs(context)
    finally:
        signal.signal(signal.SIGINT, before)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [".lock", "doc-a"]
    assert [one.doc_id for one in wanted_outputs(context)] == ["doc-b"]


def test_the_program_is_found_by_what_is_installed(install: Install) -> None:
    with pytest.raises(UsageError, match=r"MinerU is not installed: .* pip install 'nclue-build\[mineru\]'"):
        find_program()
    install("magic-pdf", "")
    with pytest.raises(UsageError, match=r"not installed \(magic-pdf is, of a version before 2\.0"):
        find_program()
    install("mineru", version="mineru, version 3.4.4")
    assert (find_program().kind, find_program().version) == ("mineru", "3.4.4")
    install("mineru", version=VERSIONS["mineru-kit"])
    with pytest.raises(UsageError, match=r"is MinerU 4\.0\.12 without its mineru-kit"):
        find_program()
    kit = install("mineru-kit")
    assert (find_program("mineru").path, find_program("mineru").kind) == (kit, "mineru-kit")
    assert (find_program(str(kit)).kind, find_program().version) == ("mineru-kit", "4.0.12")
    with pytest.raises(UsageError, match=r"^elsewhere: no such program \(mineru\.program\)"):
        find_program("elsewhere")


@pytest.mark.parametrize(
    ("kind", "version", "problem"),
    [
        ("mineru", "mineru, version 1.3.12", r"is version 1\.3\.12; MinerU 2\.0 to 3\.4 and 4\.x can be run"),
        ("mineru-kit", "MinerU version: 5.0.0", r"is version 5\.0\.0"),
        ("mineru", "usage: something else", "does not say its version: usage: something else"),
        ("mineru", "", "does not say its version: ends with exit code 0"),
    ],
)
def test_a_program_that_is_not_known_is_refused(install: Install, kind: str, version: str, problem: str) -> None:
    install(kind, version=version)
    with pytest.raises(UsageError, match=problem):
        find_program()


@pytest.mark.parametrize(
    ("said", "line"),
    [
        ("", ""),
        ("\n  \n---\n", ""),
        ("a\nb\n", "b"),
        ("Error: it broke\nbye\n", "Error: it broke"),
        ("2026-11-30 08:46:14.120 | ERROR    | x: failed\n", "ERROR | x: failed"),
        ("\x1b[31mError:\x1b[0m red\x1b]0;title\x07\r\n", "Error: red"),
        ("Error: real\nLoading: 40%|####    | 4/10 [00:01<00:02, 3.1it/s]\r", "Error: real"),
        ('Traceback (most recent call last):\n  File "x.py", line 3\nOSError: none\n', "OSError: none"),
        ("cannot read /tmp/x/making-1/doc.pdf", "cannot read doc.pdf"),
    ],
)
def test_the_line_that_tells_most_is_shown(said: str, line: str) -> None:
    shown = last_line(said, "/tmp/x/making-1")  # noqa: S108 - a name in a text
    assert " ".join(shown.split()) == line
    assert len(last_line("Error: " + "x" * 999)) == 300


@pytest.mark.parametrize(
    ("extract", "problem"),
    [
        ({"reader": "pymupdf"}, 'mineru.run = true needs extract.reader = "mineru"'),
        ({"reader": "mineru"}, None),
    ],
)
def test_mineru_is_run_for_its_reader_only(extract: dict[str, str], problem: str | None) -> None:
    data = {"schema": 1, "corpus": {"pdfs": "x"}, "extract": extract, "mineru": {"run": True}}
    if problem is None:
        BuildConfig.model_validate(data)
    else:
        with pytest.raises(ValueError, match=problem):
            BuildConfig.model_validate(data)


def test_outputs_lie_with_the_build_where_no_folder_is_named(
    install: Install, build: Callable[..., StageContext]
) -> None:
    install("mineru")
    context = build(output="")
    make_outputs(context)
    own = context.build.workspace.state / "mineru" / context.build.name
    assert (own / "doc-a" / "doc-a_middle.json").is_file()
    assert own / "doc-a" / "doc-a_middle.json" in Extract().declare(context.build, context.config).inputs
