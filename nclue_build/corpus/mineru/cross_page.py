"""Putting lines back that MinerU moved to an earlier page, where a paragraph over a page break is kept whole.

MinerU marks the spans it moved (``cross_page``) and leaves the block they came from in its place, without lines and
marked ``lines_deleted``, but with its box. The moved lines keep their boxes as well, so they can go home. Where a
table goes on on the next page (2.2 on), its notes are copied to the table before, the copies marked ``cross_page``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from nclue_build.corpus.values import as_array, as_number, as_object

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SLACK_PT: Final = 6.0
"""How far a line may stick out of the box of its block."""
_CORNERS: Final = 4


def put_back(pages: Sequence[list[dict[str, Any]]]) -> set[int]:
    """Move lines marked ``cross_page`` to the emptied blocks on the pages they came from; blocks are changed in place.

    Args:
        pages: The blocks of every page, in reading order.

    Returns:
        Positions of pages on which lines of later pages remain.
    """
    remaining: set[int] = set()
    for position, blocks in enumerate(pages):
        for block in blocks:
            if not _notes_put_back(block, pages[position + 1 :]):
                remaining.add(position)
            lines = as_array(block.get("lines"))
            moved = [line for line in lines if _is_moved(line)]
            if not moved:
                continue
            homeless = _to_their_pages(moved, pages[position + 1 :])
            block["lines"] = [line for line in lines if not _is_moved(line)] + homeless
            if homeless:
                remaining.add(position)
    return remaining


def _is_moved(line: object) -> bool:
    spans = as_array(as_object(line).get("spans"))
    return any(as_object(span).get("cross_page") is True for span in spans)


def _to_their_pages(lines: list[Any], pages: Sequence[list[dict[str, Any]]]) -> list[Any]:
    """Hand lines out to the emptied blocks of the pages that follow; return those that belong to none."""
    for blocks in pages:
        if not lines:
            break
        home = next(_emptied(blocks), None)
        if home is None:
            break
        fitting = len(lines)
        while fitting and not all(_fits(line, home) for line in lines[:fitting]):
            fitting -= 1
        if not fitting:
            break
        home["lines"] = [_at_home(line) for line in lines[:fitting]]
        lines = lines[fitting:]
    return lines


def _notes_put_back(block: dict[str, Any], pages: Sequence[list[dict[str, Any]]]) -> bool:
    """Move the copied notes of a table back; returns whether nothing of later pages is left in any child."""
    children = block.get("blocks")
    if not isinstance(children, list):
        return True
    whole = True
    for child in list(children):
        if as_object(child).get("cross_page") is True and as_array(child.get("lines")):
            home = next(_homes(child, pages), None)
            whole = whole and home is not None
            if home is not None:
                home["lines"] = child["lines"]
                children.remove(child)
        elif any(_is_moved(line) for line in as_array(as_object(child).get("lines"))):
            whole = False
    return whole


def _homes(note: dict[str, Any], pages: Sequence[list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """Emptied blocks of the same kind and place in the tables that go on: those marked are copies themselves."""
    for blocks in pages:
        for table in blocks:
            for child in map(as_object, as_array(table.get("blocks"))):
                same = child.get("type") == note.get("type") and child.get("bbox") == note.get("bbox")
                if same and child.get("cross_page") is not True and is_emptied(child):
                    yield child


def _emptied(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for block in blocks:
        if is_emptied(block):
            yield block


def is_emptied(block: dict[str, Any]) -> bool:
    """Whether the lines of a block were moved elsewhere; the earliest versions leave no mark."""
    if as_array(block.get("lines")) or as_array(block.get("blocks")):
        return False
    return block.get("lines_deleted") is True or (block.get("lines") == [] and block.get("type") == "text")


def _fits(line: object, block: dict[str, Any]) -> bool:
    """Whether a line lies in a block's box; boxes that are not known do not stand in the way."""
    inner, outer = _box(as_object(line).get("bbox")), _box(block.get("bbox"))
    if inner is None or outer is None:
        return True
    return (
        inner[0] >= outer[0] - _SLACK_PT
        and inner[1] >= outer[1] - _SLACK_PT
        and inner[2] <= outer[2] + _SLACK_PT
        and inner[3] <= outer[3] + _SLACK_PT
    )


def _box(value: object) -> list[float] | None:
    corners = [number for corner in as_array(value) if (number := as_number(corner)) is not None]
    return corners if len(corners) == _CORNERS else None


def _at_home(line: Any) -> Any:
    """The line without the mark, so that it is not moved once more."""
    if not isinstance(line, dict):
        return line
    spans = [
        {key: value for key, value in span.items() if key != "cross_page"} if isinstance(span, dict) else span
        for span in as_array(line.get("spans"))
    ]
    return {**line, "spans": spans}
