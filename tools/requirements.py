"""Prints which rules of each platform our tests show to be kept, and which they do not.

The rules are data, in ``tests/conformance/requirements/<dialect>.toml``. What the source documents
say is data, too, in ``tests/conformance/statements``: every statement is named once, with the rules
or tests that show it, or with what it waits for. ``--json`` prints all rules for programs.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "conformance" / "requirements"

STATEMENTS = ROOT / "tests" / "conformance" / "statements"

Side = Literal["guest", "host", "install", "both"]
Need = Literal[
    "agent runtime",
    "loop detection",
    "MCP",
    "memory",
    "OpenCode",
    "Pi",
    "telemetry",
    "typed calls",
]


class Requirement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule of a platform, and either the tests that show it or why none does."""

    id: str
    side: Side
    source: str
    sentence: str
    tests: tuple[str, ...] = ()
    gap: str = ""


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules of one platform; ``beside`` names its tests that are about ourselves."""

    requirement: tuple[Requirement, ...]
    beside: tuple[str, ...] = ()

    @property
    def gaps(self) -> list[Requirement]:
        """The rules that no test shows."""
        return [rule for rule in self.requirement if rule.gap]


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row or bullet of a source document, and what shows that it holds."""

    id: str
    says: str
    rules: tuple[str, ...] = ()
    """Rules of the platforms' manifests; their tests count."""
    tests: tuple[str, ...] = ()
    later: Need | None = None
    """What has to be built before it holds, or holds in full."""
    choice: str = ""
    """What is done instead, on purpose."""


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The statements under one heading of a document."""

    name: str
    statements: tuple[Statement, ...]


class Document(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that one source document says of behaviour."""

    title: str
    section: tuple[Section, ...]

    @property
    def statements(self) -> list[Statement]:
        """Those of all sections, in order."""
        return [statement for section in self.section for statement in section.statements]


class Count(msgspec.Struct, frozen=True):
    """How many rules of a platform are shown by tests, and how many are not."""

    platform: str
    covered: int
    gap: int


def read(path: Path) -> Manifest:
    """One manifest. Raises msgspec.DecodeError with the key that is wrong."""
    return msgspec.toml.decode(path.read_bytes(), type=Manifest)


def manifests() -> dict[str, Manifest]:
    """Every manifest by dialect."""
    return {path.stem: read(path) for path in sorted(FOLDER.glob("*.toml"), key=_name)}


def documents() -> dict[str, Document]:
    """Every source document by the name of its file."""
    return {
        path.stem: msgspec.toml.decode(path.read_bytes(), type=Document)
        for path in sorted(STATEMENTS.glob("*.toml"), key=_name)
    }


def _name(path: Path) -> str:
    return path.stem


def counts(known: Mapping[str, Manifest]) -> list[Count]:
    """Covered and gap for each platform."""
    return [
        Count(name, len(manifest.requirement) - len(manifest.gaps), len(manifest.gaps))
        for name, manifest in known.items()
    ]


def sources_as_markdown(known: Mapping[str, Document]) -> str:
    """How much of each document is shown, what waits for what, and what is done otherwise."""
    lines = [
        "| document | statements | shown | done otherwise | later |",
        "|---|---:|---:|---:|---:|",
    ]
    for document in known.values():
        said = document.statements
        later = sum(each.later is not None for each in said)
        otherwise = sum(bool(each.choice) for each in said)
        shown = len(said) - later - otherwise
        lines.append(f"| {document.title} | {len(said)} | {shown} | {otherwise} | {later} |")
    lines += ["", "| id | what it says | waits for | section |", "|---|---|---|---|"]
    chosen = ["", "| id | what it says | what is done instead | section |", "|---|---|---|---|"]
    for document in known.values():
        for section in document.section:
            for each in section.statements:
                cells = (
                    f"| {each.id} | {each.says} | {each.later or each.choice} | {section.name} |"
                )
                if each.later or each.choice:
                    (lines if each.later else chosen).append(cells)
    return "\n".join([*lines, *chosen]) + "\n"


def as_markdown(known: Mapping[str, Manifest]) -> str:
    """The table, then every gap by platform."""
    rows = counts(known)
    total = Count("**all**", sum(row.covered for row in rows), sum(row.gap for row in rows))
    lines = ["| platform | covered | gap |", "|---|---:|---:|"]
    lines += [f"| {row.platform} | {row.covered} | {row.gap} |" for row in [*rows, total]]
    for name, manifest in known.items():
        if manifest.gaps:
            lines += ["", f"## {name}", "", "| id | side | rule | what is missing | source |"]
            lines += ["|---|---|---|---|---|", *(_row(rule) for rule in manifest.gaps)]
    return "\n".join(lines) + "\n"


def _row(rule: Requirement) -> str:
    cells = (rule.id, rule.side, rule.sentence, rule.gap, rule.source)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def as_json(known: Mapping[str, Manifest]) -> str:
    """The same for programs, with every rule."""
    found = {
        row.platform: {
            "covered": row.covered,
            "gap": row.gap,
            "requirements": known[row.platform].requirement,
        }
        for row in counts(known)
    }
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n"


def main() -> int:
    """Prints the table, or everything as JSON."""
    show = as_json if "--json" in sys.argv[1:] else as_markdown
    sys.stdout.write(show(manifests()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
