"""Redaction, against reading the same payload as JSON; and twice the text for twice the time.

Beyond what may be looked at, twice the text takes little more than the text.
"""

import statistics
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import msgspec

from bench.measure import Ratio, alternate, ratio
from bench.texts import KINDS, cut
from hookline.secrets import EFFORT, RULES, Scope, accelerate, redact_bytes
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


def bare_scan() -> Callable[[bytes], None]:
    """All that redaction searches for, with nothing done about what is found."""
    library: Any = import_module("hyperscan")
    sources = [*(rule.regex for rule in RULES), *(place.head for place in PLACES)]
    database = library.Database()
    database.compile(
        expressions=[source.encode() for source in sources],
        ids=list(range(len(sources))),
        elements=len(sources),
        flags=[0] * len(sources),
    )
    return lambda text: database.scan(text, match_event_handler=lambda *_: None)


def throughput(what: str, bare: Callable[[bytes], None], texts: list[bytes], least: float) -> Ratio:
    """kB/s of redaction as outputs are redacted, over that of a bare scan of the same texts."""

    def ours(text: bytes) -> Callable[[], object]:
        return lambda: redact_bytes(text, max(EFFORT, len(text) // 8), scope=Scope.LIKELY)

    def theirs(text: bytes) -> Callable[[], object]:
        return lambda: bare(text)

    # Text by text, so that what they are compared in is short and next to each other.
    rounds = max(9, 600 // len(texts))
    times = [alternate(ours(text), theirs(text), rounds) for text in texts]
    took = [sum(statistics.median(each[side]) for each in times) for side in (0, 1)]
    mine, other = (sum(map(len, texts)) * 1e3 / time for time in took)
    return Ratio(
        what=f"redact-secrets, kB/s of {what}",
        against="a bare hyperscan scan for the same rules",
        ours_us=mine,
        theirs_us=other,
        limit=least,
        least=True,
    )


def mixed(size: int, most: int) -> list[bytes]:
    """Some texts of every kind."""
    return [text for kind in KINDS for text in cut(kind, size, most)]


def with_tokens(texts: list[bytes]) -> list[bytes]:
    """The same, with a token on a line of its own in the middle of each."""
    found = []
    for text in texts:
        at = text.find(b"\n", len(text) // 2) + 1
        found.append(text[:at] + f"export GITHUB_AUTH={FAKE}\n".encode() + text[at:])
    return found


def against_hyperscan() -> list[Ratio]:
    """Redaction of what tools answer, against a bare scan for all that it searches for."""
    if find_spec("hyperscan") is None:
        return []
    bare, middle = bare_scan(), mixed(64_000, 16)
    alone = throughput("64 kB texts, without hyperscan", bare, middle, 0.1)
    # From here on the first look is another.
    accelerate()
    return [
        alone,
        throughput("2 kB texts", bare, mixed(2_000, 60), 0.5),
        throughput("64 kB texts", bare, middle, 0.5),
        throughput("1 MB texts", bare, mixed(1_000_000, 1), 0.5),
        *(throughput(f"64 kB of {kind}", bare, cut(kind, 64_000, 8), 0.2) for kind in KINDS),
        throughput("64 kB texts, a token in each", bare, with_tokens(middle), 0.05),
    ]


def run() -> list[Ratio]:
    """Payloads with and without a secret, and texts made to be slow."""
    clean, secret = payload(2_000), payload(2_000, FAKE)
    named = payload(2_000, "\ntoken: str = None\n")
    assert redact_bytes(clean).raw is clean
    looked = redact_bytes(named)
    assert (looked.looks, looked.count) == (2, 0)
    assert redact_bytes(secret).count == 1
    return [
        against_json("redact 2 kB without a secret", clean, 2_000, 8.0),
        against_json("redact 1 MB without a secret", payload(1_000_000), 60, 8.0),
        against_json("redact 2 kB with a secret", secret, 300, 100.0),
        against_json("redact 2 kB with a name of a secret", named, 300, 60.0),
        *(doubled(what, piece) for what, piece in HOSTILE.items()),
        bounded("names without end", HOSTILE["types without end"]),
        *against_hyperscan(),
    ]
