"""Writes what is generated from the code and committed: the JSON Schemas, docs/events.md,
docs/builtins.md, docs/matrix.md, docs/requirements.md, the tables of the dialects, the thin
clients' last answers and the names of the programs that shell-guard judges.

``--check`` compares instead.
"""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import builtin_pages
import last_answers
import msgspec
import program_names
import requirements
import tables

from hookline import registry
from hookline.cli import matrix
from hookline.config.schema import config_schema
from hookline.model.answers import Answer
from hookline.model.derivation import COUNTED, DERIVATIONS, find_coverage
from hookline.model.events import EVENTS, AnyEvent, Event

ROOT = Path(__file__).resolve().parent.parent
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, object]:
    """Every generated schema by file name."""
    event = {"$schema": DRAFT, "title": "hookline event", **msgspec.json.schema(AnyEvent)}
    answer = {"$schema": DRAFT, "title": "hookline answer", **msgspec.json.schema(Answer)}
    return {
        "config.schema.json": config_schema(registry.handlers(), registry.native_events()),
        "event.schema.json": event,
        "answer.schema.json": answer,
    }


def rendered(schema: object) -> str:
    """A schema as it is committed."""
    encoded = msgspec.json.encode(schema, order="deterministic")
    return msgspec.json.format(encoded, indent=2).decode() + "\n"


def events_page() -> str:
    """docs/events.md: every event, when it fires, and what it carries."""
    common = set(Event.__struct_fields__)
    lines = [
        "# Events",
        "",
        "Generated from `hookline.model.events`. **Bold** events are gates: blocking is possible",
        "somewhere, so a hook on one of them is a guard and closes when it fails.",
        "",
        "Every event has `" + "`, `".join(sorted(Event.__struct_encode_fields__)) + "`.",
        "",
        "| event | when | own keys | verdicts | rewrites |",
        "|---|---|---|---|---|",
    ]
    for name, cls in EVENTS.items():
        own = [f"`{field}`" for field in cls.__struct_fields__ if field not in common]
        verdicts = ["allow"] * cls.allows + ["ask"] * cls.asks
        verdicts += ["deny (keep going)"] if cls.continues else ["deny"] * (cls.gate or cls.hides)
        when = (cls.__doc__ or "").splitlines()[0].removeprefix("Fires ")
        shown = f"**`{name}`**" if cls.gate else f"`{name}`"
        lines.append(
            f"| {shown} | {when} | {', '.join(own)} | {', '.join([*verdicts, 'halt'])} "
            f"| {', '.join(sorted(cls.rewrites))} |"
        )
    return "\n".join(lines) + "\n" + _DERIVED + "\n".join(_list_derived()) + "\n"


_DERIVED = """
## Derived events

Platforms tell different moments. Where one tells less, hookline fires the moment with an event that
the platform does send, so that a hook runs wherever its moment exists:

- The hook runs once for each moment, also if it is for both events. Its event has `derived_from`.
- What it says goes out with the event that was sent: the context of a `turn_start` with its prompt.
  What that event cannot say is replaced, as [matrix.md](matrix.md) shows.
- A session that no event ends is over when the agent's process is gone, or after 30 minutes without
  an event; never because another session starts. The daemon looks each minute and before it goes;
  without a daemon, the next event of any session does. The hooks run then without the agent's
  environment, and nobody reads what they say but the journal. A session that speaks again gets
  `session_resume`.
- `error` is also fired when a hook of yours fails, on every platform; a hook that fails on `error`
  fires nothing.

● the platform's own event, ○ derived, – nothing tells it.

"""


def _list_derived() -> Iterator[str]:
    names = [name for name in registry.dialect_names() if name != "canonical"]
    yield f"| event | from | {' | '.join(names)} |"
    yield "|---|---|" + "---|" * len(names)
    marks = {"native": "●", "derived": "○", "none": "–"}
    for each in DERIVATIONS:
        usual = "what a builtin counts" if each.event in COUNTED else "silence"
        sources = " or ".join(f"`{source}`" for source in each.sources) or usual
        cells = [
            marks[find_coverage(each.event, registry.dialect(name).support).how] for name in names
        ]
        when = f", {each.when}" if each.when else ""
        yield f"| `{each.event}` | {sources}{when} | {' | '.join(cells)} |"


_MATRIX = """# Support matrix

Generated from each dialect's `support.toml` and `evidence.toml`. Beside yes and no a cell names
what is said instead, never weaker than what was meant: `deny` for an ask nobody can be asked,
`feedback` where the output stays and the reason is added, `latch` where every later gate is closed
until the next prompt.

- **✓ proven**: a test showed it on the real, unmodified client, under each name of the event that
  `hookline install` writes. `hookline matrix --json` names the client's version and the test.
- **○ recorded**: seen in recorded sessions of the real client, which tests replay; the JSON has the
  versions and the sessions.
- **specified** (no sign): known from the client's documentation, its code or a look at it; the
  JSON has the source.
- **? unknown**: nobody has looked.

"""

_REQUIREMENTS = """# Requirements

Generated from `tests/conformance/requirements/`. Each platform's rules about hooks are written
down there with their source and the tests that show we keep them. A rule that no test shows is a
gap, and every gap is listed here.

"""
_SOURCES = """
# What the source documents say

Generated from `tests/conformance/statements/`. Each row of a table and each point about behaviour
in five documents is named there once, in our words, with the rules above or the tests that show it.
What waits for something that is not built yet, and what is done otherwise on purpose, is listed.

"""


def generated() -> dict[Path, str]:
    """Every generated file and its text."""
    files = {ROOT / "schemas" / name: rendered(schema) for name, schema in schemas().items()}
    files |= last_answers.generated() | program_names.generated()
    return files | {
        ROOT / "docs" / "events.md": events_page(),
        ROOT / "docs" / "builtins.md": builtin_pages.as_markdown(),
        ROOT / "docs" / "matrix.md": _MATRIX + matrix.as_markdown(matrix.platforms()),
        ROOT / "docs" / "requirements.md": _REQUIREMENTS
        + requirements.as_markdown(requirements.manifests())
        + _SOURCES
        + requirements.sources_as_markdown(requirements.documents()),
    }


def main() -> int:
    """Returns 1 when ``--check`` finds a difference."""
    # The tables first: everything else is made from what the dialects read in them.
    stale = _put(tables.generated()) + _put(generated())
    for path in stale:
        print(f"{path} is out of date: run `make generate`", file=sys.stderr)
    return 1 if stale else 0


def _put(files: Mapping[Path, str]) -> list[Path]:
    """Writes the files, or says which of them are not as they should be."""
    stale = []
    for path, text in files.items():
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(path.relative_to(ROOT))
    return stale


if __name__ == "__main__":
    sys.exit(main())
