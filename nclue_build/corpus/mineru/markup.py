r"""Plain text out of the Markdown, HTML and LaTeX that MinerU puts into its texts."""

from __future__ import annotations

import re
from html import unescape
from html.parser import HTMLParser
from typing import Final

_MATH: Final = re.compile(r"(?<!\\)\$\$?(?=\S)[^$]*(?<![\\\s])\$\$?")
_ESCAPED: Final = re.compile(r"\\([\\`*_{}\[\]()#+.!|~$<>&-])")
_SUP: Final = re.compile(r"<sup>([^<]*)</sup>", re.IGNORECASE)
_TAGS: Final = re.compile(r"</?(?:sub|sup|text|hyperlink|eq)(?:\s[^<>]*)?>", re.IGNORECASE)
_NOTE_MARK: Final = re.compile(r"[\d,*\u2020\u2021\u00a7\s]+")
_MARKED: Final = re.compile(r"[\\<\[*~`&$]")
_STYLE_TAGS: Final = re.compile(
    r"<(strong|em|b|i|u|s|del|code|span|a)(?:\s[^<>]*)?>((?:(?!</?\1\b).)*)</\1>", re.IGNORECASE | re.DOTALL
)
_MAX_STYLES: Final = 8
"""No more styles are on one word."""
_LINK: Final = re.compile(r"(?<!\\)!?\[((?:[^\[\]\\]|\\.)*)\]\((?:#|[a-z][a-z0-9+.-]{1,20}:)[^()\s]*\)", re.IGNORECASE)
_STYLES: Final = (
    re.compile(r"(?<![\\*])\*\*\*(?=[^\s*])([^*\n]*[^\s*\\])\*\*\*(?!\*)"),
    re.compile(r"(?<![\\*])\*\*(?=[^\s*])([^*\n]*[^\s*\\])\*\*(?!\*)"),
    re.compile(r"(?<![\\*\w])\*(?=[^\s*])([^*\n]*[^\s*\\])\*(?![*\w])"),
    re.compile(r"(?<![\\~])~~(?=[^\s~])([^~\n]*[^\s~\\])~~(?!~)"),
    re.compile(r"(?<![\\`])`(?=[^\s`])([^`\n]*[^\s`\\])`(?!`)"),
)
_ENTITY: Final = re.compile(r"&(?:lt|gt|amp|quot|nbsp);")
_NUMBER: Final = re.compile(r"[+-]?\s*\d[\d\s]*(?:[.,]\s*\d[\d\s]*)*(?:\\?%)?")
_LONG_NUMBER: Final = re.compile(r"\d\d")
_CELL_ESCAPED: Final = re.compile(r"\\([%&#_])")
_FENCE: Final = re.compile(r"\s*```[^\n`]*\n(.*?)\n?```\s*", re.DOTALL)
_DISPLAY: Final = re.compile(r"\s*(?:\$\$|\\\[)(.*?)(?:\$\$|\\\])\s*", re.DOTALL)
_LATEX_FRAME: Final = re.compile(
    r"\\(?:begin|end)\{(?:tabular|array|table)[^}]*\}(?:\[[^\]]*\])?(?:\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})?"
    r"|\\(?:hline|toprule|midrule|bottomrule)|\\c(?:line|midrule)\{[^}]*\}"
)
_HTML_TABLE: Final = re.compile(r"<\s*/?\s*(?:table|tr|td|th|html|body)\b", re.IGNORECASE)
_ROW: Final = re.compile(r"\\\\|\n+")
CELL: Final = " | "
"""Between the cells of a row: no phrase goes on from one cell to the next."""


def unescape_markdown(text: str) -> str:
    r"""Text without the backslashes that keep its characters from being Markdown (``\*``), formulas untouched."""
    if "\\" not in text:
        return text
    parts: list[str] = []
    end = 0
    for math in _MATH.finditer(text):
        parts += [_ESCAPED.sub(r"\1", text[end : math.start()]), math[0]]
        end = math.end()
    return "".join(parts) + _ESCAPED.sub(r"\1", text[end:])


def without_tags(text: str) -> str:
    """Text without the tags that MinerU writes into it; a raised note mark is set apart from the word before it."""
    if "<" not in text:
        return text
    return _TAGS.sub("", _SUP.sub(_raised, text))


def _raised(found: re.Match[str]) -> str:
    text, before, after = found[1].strip(), found.string[: found.start()][-1:], found.string[found.end() :][:1]
    if not _NOTE_MARK.fullmatch(text):
        return text
    left = " " if before and not before.isspace() else ""
    right = " " if after.isalnum() else ""
    return left + text + right


def plain_markdown(text: str) -> str:
    """Text without the marks of Markdown: links, type styles and their tags, escapes; formulas untouched.

    Up to 3.x MinerU writes no styles, and most of those versions escape what would look like one.
    """
    if not _MARKED.search(text):
        return text
    text = without_tags(text)
    parts: list[str] = []
    end = 0
    for math in _MATH.finditer(text):
        parts += [_unmarked(text[end : math.start()]), _inline_math(text, math)]
        end = math.end()
    return "".join(parts) + _unmarked(text[end:])


def _inline_math(text: str, math: re.Match[str]) -> str:
    """A formula of a text, unless it is a number; one between two prices is none ("$5$6")."""
    number = None if text[math.end() : math.end() + 1].isdigit() else _number(math[0].strip("$").strip())
    return number or math[0]


def _unmarked(text: str) -> str:
    for _ in range(_MAX_STYLES):
        before = text
        text = _STYLE_TAGS.sub(r"\2", text)
        if text == before:
            break
    text = _LINK.sub(r"\1", text)
    for marks in _STYLES:
        text = marks.sub(r"\1", text)
    text = _ENTITY.sub(lambda found: " " if found[0] == "&nbsp;" else unescape(found[0]), text)
    return _ESCAPED.sub(r"\1", text)


def without_fence(code: str) -> str:
    """Code without the fence that makes it a Markdown code block."""
    found = _FENCE.fullmatch(code)
    return found[1] if found else code


def without_dollars(formula: str) -> str:
    """A displayed formula without the signs around it."""
    found = _DISPLAY.fullmatch(formula)
    return found[1].strip() if found else formula


def is_html_table(source: str) -> bool:
    """Whether a table is given as HTML, whole or in part."""
    return "<" in source and _HTML_TABLE.search(source) is not None


def table_text(source: str) -> str:
    """The text of a table, a row a line with ``|`` between its cells.

    Args:
        source: HTML or LaTeX; anything else is returned as it is.
    """
    if is_html_table(source):
        parser = _Table()
        parser.feed(source)
        parser.close()
        return parser.text()
    if "\\begin{" in source:
        rows = [
            CELL.join(cell.strip() for cell in re.split(r"(?<!\\)&", row))
            for row in _ROW.split(_LATEX_FRAME.sub("", source))
        ]
        return "\n".join(row for row in rows if row.strip(" |")).replace(r"\&", "&").replace(r"\%", "%")
    return source


def picture_text(source: str) -> str:
    """What a program says a picture or a chart shows, which may be a table."""
    return table_text(source) if is_html_table(source) else without_tags(source)


class _Table(HTMLParser):
    """Collects the text of cells; text outside of any cell is a row of its own."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._rows: list[list[str]] = [[]]
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base class's
        if tag == "tr":
            self._rows.append([])
            self._in_cell = False
        elif tag in {"td", "th", "caption"}:
            self._rows[-1].append("")
            self._in_cell = True
        elif tag in {"br", "p", "div", "li", "sup"}:
            self._add(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"td", "th", "tr", "table", "caption"}:
            self._in_cell = False
        if tag in {"table", "caption"}:
            self._rows.append([])

    def handle_data(self, data: str) -> None:
        self._add(data)

    def _add(self, data: str) -> None:
        if self._in_cell:
            self._rows[-1][-1] += data
        elif data.strip():
            self._rows[-1].append(data)
            self._rows.append([])

    def text(self) -> str:
        rows = (CELL.join(_without_escapes(" ".join(cell.split())) for cell in row) for row in self._rows)
        return "\n".join(row for row in rows if row.strip(" |"))


def _without_escapes(cell: str) -> str:
    r"""A cell without the backslashes of LaTeX that up to 1.x stand in it (``4.5\%``), formulas untouched."""
    return cell if "\\" not in cell or "$" in cell else _CELL_ESCAPED.sub(r"\1", cell)


def join_pieces(pieces: list[tuple[str, bool]], *, apart: bool) -> str:
    """Put the pieces of a line together.

    Args:
        pieces: Texts, and whether each is a formula.
        apart: Whether pieces are words or more, so that there is a space between two letters; else white space is
            in the texts, and only formulas are set apart.
    """
    text = ""
    was_formula = False
    for piece, is_formula in pieces:
        if not piece:
            continue
        if text and not text[-1].isspace() and not piece[0].isspace():
            before, after = text[-1].isalnum() or was_formula, piece[0].isalnum() or is_formula
            if before and after and (apart or is_formula or was_formula):
                text += " "
        text += piece
        was_formula = is_formula
    return text


def formula(latex: str) -> str:
    """A formula within a line, as MinerU's own Markdown has it; one that is a mere number is text."""
    latex = latex.strip()
    return (_number(latex) or f"${latex}$") if latex else ""


def _number(latex: str) -> str | None:
    r"""A number or a percentage as it is printed: ``3 0 \%`` is 30%; None for any other formula."""
    if not _NUMBER.fullmatch(latex):
        return None
    number = latex.replace("\\%", "%")
    # The model that reads formulas puts a space behind every sign: one between longer numbers is printed.
    return number if _LONG_NUMBER.search(number) else "".join(number.split())
