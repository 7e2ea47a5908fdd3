"""Redaction, against reading the same payload as JSON; and twice the text for twice the time.

Beyond what may be looked at, twice the text takes little more than the text.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec

from bench.measure import Ratio, alternate, ratio
from hookline.secrets import RULES, accelerate, redact_bytes
from hookline.secrets.finding import first_hint
from hookline.secrets.places import PLACES

PROSE = (
    "def handle(self, event: Event) -> Outcome:\n    return self.merge(event, 'no \"secret\"')\n"
)
FAKE = "ghp" + "_" + "Ab1" * 12
# Each begins much and ends little, or is one candidate after the other.
HOSTILE = {
    "names without end": 'password=\\" ',
    "keys without end": "-----BEGIN PRIVATE KEY----- a-b",
    "types without end": "token: a",
    "headers without end": "'cookie: a",
    "many tokens": FAKE + " ",
    "long words of names": "token_",
    "long words of flags": "-a-token",
    "values of many ways": "TOKEN=" + "$(:::" * 30 + "( ",
}


def payload(size: int, extra: str = "") -> bytes:
    """A tool call that writes a file of about that size."""
    content = (PROSE * (size // len(PROSE) + 1))[: size - 300] + extra
    tool = {"name": "write", "file_path": "/home/someone/project/a.py", "content": content}
    event = {"session_id": "0" * 36, "cwd": "/home/someone", "tool": tool, "n": [1, 2, 3]}
    return msgspec.json.encode(event)


def against_json(what: str, raw: bytes, rounds: int, limit: float) -> Ratio:
    """Redaction of a payload, against decoding it."""
    times = alternate(lambda: redact_bytes(raw), lambda: msgspec.json.decode(raw), rounds)
    return ratio(what, "msgspec JSON decode", times, limit)


def doubled(what: str, piece: str) -> Ratio:
    """The time for a text, against that for half of it."""
    half, whole = ((piece * (size // len(piece))).encode() for size in (10_000, 20_000))

    def call(raw: bytes) -> Callable[[], object]:
        return lambda: redact_bytes(raw)

    return ratio(
        f"redact 20 kB of {what}", "10 kB of it", alternate(call(whole), call(half), 7), 2.6
    )


def bounded(what: str, piece: str) -> Ratio:
    """The time for a text of more candidates than are looked at, against that for half of it."""
    half, whole = ((piece * (size // len(piece))).encode() for size in (250_000, 500_000))
    times = alternate(lambda: redact_bytes(whole), lambda: redact_bytes(half), 5)
    return ratio(f"redact 500 kB of {what}", "250 kB of it", times, 1.6)


def against_hyperscan() -> list[Ratio]:
    """Redaction of real text without a hint, against a bare scan for all that it searches for."""
    if find_spec("hyperscan") is None:
        return []
    pages = sorted(Path(__file__).parents[1].joinpath("docs").glob("*.md"))
    lines = b"\n".join(page.read_bytes() for page in pages).split(b"\n")
    text = b"\n".join(line for line in lines if first_hint(line) < 0)
    library: Any = import_module("hyperscan")
    sources = [*(rule.regex for rule in RULES), *(place.head for place in PLACES)]
    database = library.Database()
    database.compile(
        expressions=[source.encode() for source in sources],
        ids=list(range(len(sources))),
        elements=len(sources),
        flags=[0] * len(sources),
    )
    accelerate()

    def bare() -> None:
        database.scan(text, match_event_handler=lambda *_: None)

    times = alternate(lambda: redact_bytes(text), bare, 200)
    return [ratio(f"redact {len(text) // 1000} kB of pages", "a bare hyperscan scan", times, 2.0)]


def run() -> list[Ratio]:
    """Payloads with and without a secret, and texts made to be slow."""
    clean, secret = payload(2_000), payload(2_000, FAKE)
    named = payload(2_000, "\ntoken: str = None\n")
    assert redact_bytes(clean).raw is clean
    assert redact_bytes(named).looks == 1
    assert redact_bytes(secret).count == 1
    return [
        against_json("redact 2 kB without a secret", clean, 2_000, 8.0),
        against_json("redact 1 MB without a secret", payload(1_000_000), 60, 8.0),
        against_json("redact 2 kB with a secret", secret, 300, 100.0),
        against_json("redact 2 kB with a name of a secret", named, 300, 60.0),
        *(doubled(what, piece) for what, piece in HOSTILE.items()),
        bounded("names without end", HOSTILE["types without end"]),
        # The last: from then on the first look is another.
        *against_hyperscan(),
    ]
