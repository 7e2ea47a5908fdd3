"""Answers where lines, comments and commas are around an offset; changes nothing."""

from dataclasses import dataclass

from hookline.jsontext.nodes import Node
from hookline.jsontext.reading import Document, Span

__all__ = ["Layout", "Trail", "spans_lines"]

_BLANKS = " \t"
_BREAKS = "\r\n"


def spans_lines(text: str) -> bool:
    """Whether ``text`` holds a line break."""
    return "\n" in text or "\r" in text


@dataclass(frozen=True, slots=True)
class Trail:
    """The comments behind an offset that begin on its line.

    ``blocks`` is where the ``/* */`` ones end, ``comments`` where all of them end, and
    ``line_end`` where the line does, or None when something else follows on it.
    """

    blocks: int
    comments: int
    line_end: int | None


class Layout:
    """The layout of one document; offsets lie inside its root."""

    def __init__(self, document: Document) -> None:
        self.text = document.text
        self._comments = document.comments
        self._end_by_start = dict(document.comments)
        self._start_by_end = {end: start for start, end in document.comments}

    def blanks_before(self, offset: int) -> int:
        """Where the spaces and tabs that end at ``offset`` begin."""
        while offset and self.text[offset - 1] in _BLANKS:
            offset -= 1
        return offset

    def blanks_after(self, offset: int) -> int:
        """Where the spaces and tabs that begin at ``offset`` end."""
        while offset < len(self.text) and self.text[offset] in _BLANKS:
            offset += 1
        return offset

    def breaks_at(self, offset: int) -> bool:
        """Whether a line ends at ``offset``."""
        return self.text[offset : offset + 1] in tuple(_BREAKS)

    def break_before(self, offset: int) -> int | None:
        """Where the line break before ``offset`` begins, if only blanks come after it."""
        line = self.blanks_before(offset)
        if not line or self.text[line - 1] not in _BREAKS:
            return None
        return line - 2 if self.text.startswith(_BREAKS, line - 2) else line - 1

    def line_indent(self, offset: int) -> str:
        """The blanks that the line of ``offset`` begins with."""
        line = max(self.text.rfind(mark, 0, offset) for mark in _BREAKS) + 1
        return self.text[line : self.blanks_after(line)]

    def own_indent(self, start: int) -> str | None:
        """The indentation of the element at ``start``, or None if others come before it."""
        lead = self.lead(start)
        if self.break_before(lead) is None:
            return None
        return self.text[self.blanks_before(lead) : lead]

    def lead(self, start: int) -> int:
        """Where the comments right before ``start``, on the same line, begin."""
        while True:
            comment = self._start_by_end.get(self.blanks_before(start))
            if comment is None or spans_lines(self.text[comment:start]):
                return start
            start = comment

    def trail(self, offset: int) -> Trail:
        """What comes after ``offset`` on its line."""
        blocks = comments = offset
        while (end := self._end_by_start.get(at := self.blanks_after(comments))) is not None:
            comments = end
            if self.text.startswith("/*", at):
                blocks = end
        return Trail(blocks, comments, at if self.breaks_at(at) else None)

    def comma_after(self, offset: int) -> int | None:
        """The comma that follows the element ending at ``offset``, if one does."""
        while True:
            while self.text[offset] in _BLANKS + _BREAKS:
                offset += 1
            end = self._end_by_start.get(offset)
            if end is None:
                return offset if self.text[offset] == "," else None
            offset = end

    def ends_line_comment(self, offset: int) -> bool:
        """Whether a ``//`` comment ends at ``offset``, so that the line must end there too."""
        start = self._start_by_end.get(offset)
        return start is not None and self.text.startswith("//", start)

    def comments_in(self, container: Node) -> list[Span]:
        """The comments between the brackets of ``container``."""
        return [span for span in self._comments if container.start < span[0] < container.end]
