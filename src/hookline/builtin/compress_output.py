"""Takes out of a tool's output what says nothing: colours, progress bars, lines that repeat.

What it leaves out it counts in brackets; nothing else of a line is changed. An output of more than
4 MB or 200,000 lines is left as it is: nobody reads it, and `limit-output` puts it into a file.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import groupby
from typing import Annotated

from msgspec import Meta, Struct

from hookline.model.answers import PASS, Answer, Rewrite
from hookline.model.events import Event, ToolEvent
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("post_tool_use", "tool_response_transform")
PRIORITY: int = 55
GUARD: bool = False
EFFECT: str = "output"

# Control sequences, titles of windows and links, and single escapes; none reads past its line.
_ANSI = (
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[ -/]*[0-~])"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)
# How far something is, as a share or as so many of so many.
_SHARE = r"(?:^|[\s\[(|:])(\d{1,3}(?:\.\d+)?\s?%|\d+/\d+)(?=[\s\])|,:]|$)"
_LONGEST = 4 << 20
_MOST_LINES = 200_000
_NUMBERS = r"[\d.,:]+|[#=>\-█▓▒░. ]{2,}|[⠁-⣿]"


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is taken out, and from how many lines on."""

    colours: bool = True
    progress: bool = True
    repeats: Annotated[int, Meta(ge=2, le=1_000_000)] | None = 3
    """From how many equal lines in a row on only the first is shown; null: never."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""

    def answer(event: Event, caller: Caller) -> Answer:
        output = event.tool.output if isinstance(event, ToolEvent) else None
        if event.derived_from:
            return PASS  # what a failed tool said cannot be replaced
        if output is None or len(output) > _LONGEST or output.count("\n") > _MOST_LINES:
            return PASS
        short = compressed(output, options)
        # What is not shorter is left as it was, to the byte.
        if len(short) >= len(output):
            return PASS
        return Answer(rewrite=Rewrite(output=short))

    return answer


def compressed(output: str, options: Options) -> str:
    """The output with less in it that says nothing."""
    text = _compiled(_ANSI).sub("", output) if options.colours else output
    lines: Iterable[str] = text.split("\n")
    if options.progress:
        lines = _without_progress([_last_written(line) for line in lines])
    if options.repeats is not None:
        lines = _without_repeats(lines, options.repeats)
    return "\n".join(lines)


def _last_written(line: str) -> str:
    """What a terminal shows of a line that was written over."""
    if "\r" not in line:
        return line
    written = [each for each in line.split("\r") if each]
    end = "\r" if line.endswith("\r") and len(written) <= 1 else ""  # of a text with CRLF
    return (written[-1] if written else "") + end


def _without_progress(lines: Iterable[str]) -> Iterator[str]:
    """Of lines in a row that tell how one thing gets on, the first and the last.

    They differ in their numbers and bars alone, and the share in them never falls: the lines of a
    table do not look so.
    """
    share, numbers = _compiled(_SHARE).search, _compiled(_NUMBERS).sub
    run: list[str] = []
    before: tuple[str, float] | None = None
    for line in lines:
        found = share(line)
        here = (numbers("#", line), _value(found[1])) if found is not None else None
        goes_on = here and before and here[0] == before[0] and here[1] >= before[1]
        if not goes_on:
            yield from _ends(run)
            run = []
        run.append(line)
        before = here
    yield from _ends(run)


def _value(share: str) -> float:
    done, _, whole = share.rstrip("% ").partition("/")
    return float(done) / max(float(whole or 1), 1.0)


def _ends(run: list[str]) -> list[str]:
    if len(run) <= 3:
        return run
    return [run[0], f"[… {len(run) - 2} lines of progress]", run[-1]]


def _without_repeats(lines: Iterable[str], least: int) -> Iterator[str]:
    for line, group in groupby(lines):
        count = sum(1 for _ in group)
        # Blank ones are no longer than what would stand in their place.
        note = f"[… the same line {count - 1} times more]"
        if count >= least and (count - 1) * (len(line) + 1) > len(note):
            yield line
            yield note
        else:
            yield from [line] * count


@cache
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(source)
