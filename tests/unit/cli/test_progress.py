from __future__ import annotations

import io

from nclue_build.cli.progress import LiveDisplay, PlainDisplay, QuietDisplay


def exercise(display: PlainDisplay | QuietDisplay | LiveDisplay) -> None:
    with display:
        display.note("mine: not run yet")
        display.start("words", 4, "documents")
        for _ in range(4):
            display.advance()
        display.start("looking", None, "files")
        display.advance(3)
        display.warn("mine: few documents")
        display.note("[mine] is no markup")


def test_quiet_says_warnings_only() -> None:
    stream = io.StringIO()
    exercise(QuietDisplay(stream))
    assert stream.getvalue() == "warning: mine: few documents\n"


def test_plain_lines_come_now_and_then() -> None:
    stream = io.StringIO()
    times = iter(range(0, 1000, 4))
    exercise(PlainDisplay(stream, clock=lambda: float(next(times))))
    assert stream.getvalue().splitlines() == [
        "mine: not run yet",
        "  words (4 documents)",
        "  words: 3 of 4 documents",
        "  looking",
        "warning: mine: few documents",
        "[mine] is no markup",
    ]


def test_one_is_counted_as_one() -> None:
    stream = io.StringIO()
    PlainDisplay(stream).start("recognising text", 1, "pages")
    assert stream.getvalue() == "  recognising text (1 page)\n"


def test_live_bars_leave_only_what_was_said() -> None:
    stream = io.StringIO()
    exercise(LiveDisplay(stream))
    said = [line.rstrip() for line in stream.getvalue().splitlines() if line.strip()]
    assert "mine: not run yet" in said
    assert "warning: mine: few documents" in said
    assert "[mine] is no markup" in said
