"""Prints which rules of each platform our tests show to be kept, and which they do not.

The rules are data, in ``tests/conformance/requirements/<dialect>.toml``. ``--json`` prints all of
them for programs.
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "conformance" / "requirements"

Side = Literal["guest", "host", "install", "both"]


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


def _name(path: Path) -> str:
    return path.stem


def counts(known: Mapping[str, Manifest]) -> list[Count]:
    """Covered and gap for each platform."""
    return [
        Count(name, len(manifest.requirement) - len(manifest.gaps), len(manifest.gaps))
        for name, manifest in known.items()
    ]


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
