"""The tables of each dialect as JSON, which a hook reads in a fraction of the time of TOML.

People write ``support.toml`` and ``shape.toml``; nobody edits what comes of them.
"""

import tomllib
from pathlib import Path

import msgspec

DIALECTS = Path(__file__).resolve().parent.parent / "src" / "hookline" / "dialects"


def generated() -> dict[Path, str]:
    """Every table and its text."""
    return {
        file.with_suffix(".json"): msgspec.json.encode(
            tomllib.loads(file.read_text(encoding="utf-8"))
        ).decode()
        + "\n"
        for name in ("support", "shape")
        for file in sorted(DIALECTS.glob(f"*/{name}.toml"))
    }
