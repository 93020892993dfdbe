from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nclue_build.corpus.plain_html import plain_table

ALLOWED = {"table", "caption", "thead", "tbody", "tfoot", "tr", "td", "th"}


@pytest.mark.parametrize(
    ("source", "plain"),
    [
        (
            '<table class="a"><tr><td rowspan="2" onclick="x()">1\n &amp; 2</td><th>b<br>c</th></tr></table>',
            '<table><tr><td rowspan="2">1 &amp; 2</td><th>b c</th></tr></table>',
        ),
        ("<tr><td>a<td>b<tr><td>c", "<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>"),
        ("<table><td>a</table>after", "<table><tr><td>a</td></tr></table>after"),
        ("<td colspan='0'>a <b>bold</b></td>", "<table><tr><td>a bold</td></tr></table>"),
        ("<script>x</script>&lt;script&gt;", "x&lt;script&gt;"),
        ("", ""),
    ],
)
def test_rows_cells_and_spans_stay(source: str, plain: str) -> None:
    assert plain_table(source) == plain


PIECES = st.sampled_from([
    "<table>", "</table>", "<tr>", "</tr>", "<td>", "</td>", '<td colspan="3">', "<th>", "<script>", "</script>",
    "<!--", "-->", "<img src=x onerror=y>", "<a href='javascript:x'>", "text", "&lt;", "\n\n", "<", ">", '"',
    "<tbody>", "</tbody>", "<svg/onload=x>", "<![CDATA[", "<?php", "<caption>",
])  # fmt: skip


class _Balanced(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED
        assert {name for name, _ in attrs} <= {"rowspan", "colspan"}
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@given(st.lists(PIECES, max_size=30).map("".join))
def test_nothing_else_comes_through_and_all_tags_close(source: str) -> None:
    plain = plain_table(source)
    check = _Balanced()
    check.feed(plain)
    check.close()
    assert check.open == []
    assert "\n" not in plain
