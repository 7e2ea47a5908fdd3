"""The table of last answers, for both thin clients: what they say when nobody else can.

Generated from the encoders, so that a client obeys these words as it obeys all others.
"""

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from hookline import registry
from hookline.model.events import EVENTS
from hookline.model.outcome import Outcome, Reply
from hookline.model.ports import Dialect

REASON = (
    "hookline could not judge this: none of its programs gave an answer. "
    "`hookline doctor` says what to fix."
)

_C = """/* Generated from the encoders by tools/last_answers.py: run `make generate`. */
#include <stdbool.h>
#include <stddef.h>

#define LAST_REASON {reason}

/* Texts themselves and no pointers to them: those would be put right at each start. */
static const char TEXTS[][{longest_text}] = {{
{texts}
}};

/* What is said on an event; a row without one is for those that its platform does not know.
 * `out`, `err` and `pass` are numbers of texts. */
static const struct last {{
    char dialect[{longest_dialect}], event[{longest_event}];
    unsigned char out, err, pass, code;
    bool closes;
}} LAST[] = {{
{rows}
}};
"""

FOLDER = Path(__file__).resolve().parent.parent / "src" / "hookline" / "client"


class Row(Struct, frozen=True):
    """What is said on one event of one platform; ``event`` is None for one it does not know."""

    dialect: str
    event: str | None
    refusal: Reply
    closes: bool
    """Whether exit code 2 alone would close a gate here, and not keep the agent going."""
    passing: bytes
    """What stdout holds for a pass: some platforms expect words even then."""


def rows() -> Iterator[Row]:
    """Every row, each dialect's own events first."""
    for name in registry.dialect_names():
        dialect = registry.dialect(name)
        passes = {native: _pass(dialect, native) for native in dialect.support.events}
        for native, support in dialect.support.events.items():
            event = EVENTS[support.event]
            closes = event.gate and not event.continues
            yield Row(name, native, dialect.refuse(native, REASON), closes, passes[native])
        same = set(passes.values())
        yield Row(
            name, None, dialect.refuse(None, REASON), True, same.pop() if len(same) == 1 else b""
        )


def _pass(dialect: Dialect, native: str) -> bytes:
    event = EVENTS[dialect.support.events[native].event]
    return dialect.encode(Outcome(event=event(dialect=dialect.id, native_event=native))).stdout


class _Texts:
    """The distinct texts of the table, by number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: bytes) -> int:
        return self.numbers.setdefault(text.decode("ascii"), len(self.numbers))


def _quoted(text: str) -> str:
    """A C literal; the texts are ASCII, and this is all they need."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _table() -> tuple[list[str], list[tuple[Row, tuple[int, int, int]]]]:
    """The texts, and every row with the numbers of its own: stdout, stderr, stdout of a pass."""
    texts = _Texts()
    table = []
    for row in rows():
        refusal = row.refusal
        numbers = (texts(refusal.stdout), texts(refusal.stderr), texts(row.passing))
        table.append((row, numbers))
    return list(texts.numbers), table


def as_c() -> str:
    """last_answers.h."""
    texts, table = _table()
    lines = []
    for row, numbers in table:
        event = _quoted(row.event or "")
        rest = map(str, (*numbers, row.refusal.exit_code, int(row.closes)))
        lines.append(f"    {{{', '.join((_quoted(row.dialect), event, *rest))}}},")
    return _C.format(
        reason=_quoted(REASON),
        longest_text=1 + max(len(text.encode()) for text in texts),
        longest_dialect=1 + max(len(row.dialect) for row, _ in table),
        longest_event=1 + max(len(row.event or "") for row, _ in table),
        texts="\n".join(f"    {_quoted(text)}," for text in texts),
        rows="\n".join(lines),
    )


def as_text() -> str:
    """last_answers.txt, which needs no parser: the texts by number, then the rows."""
    texts, table = _table()
    lines = ["= " + text.replace("\n", "\\n") for text in texts]
    for row, numbers in table:
        cells = (row.dialect, row.event or "-", *numbers, row.refusal.exit_code, int(row.closes))
        lines.append(" ".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def generated() -> dict[Path, str]:
    """Both files and their text."""
    return {FOLDER / "last_answers.h": as_c(), FOLDER / "last_answers.txt": as_text()}
