"""Writes what is generated from the code and committed: the JSON Schemas. ``--check`` compares."""

import sys
from pathlib import Path

import msgspec

from hookline import registry
from hookline.config.schema import config_schema
from hookline.model.answers import Answer
from hookline.model.events import AnyEvent

ROOT = Path(__file__).resolve().parent.parent
DRAFT = "https://json-schema.org/draft/2020-12/schema"


def schemas() -> dict[str, object]:
    """Every generated schema by file name."""
    event = {"$schema": DRAFT, "title": "hookline event", **msgspec.json.schema(AnyEvent)}
    answer = {"$schema": DRAFT, "title": "hookline answer", **msgspec.json.schema(Answer)}
    return {
        "config.schema.json": config_schema(registry.handlers()),
        "event.schema.json": event,
        "answer.schema.json": answer,
    }


def rendered(schema: object) -> str:
    """A schema as it is committed."""
    return (
        msgspec.json.format(msgspec.json.encode(schema, order="deterministic"), indent=2).decode()
        + "\n"
    )


def main() -> int:
    """Returns 1 when ``--check`` finds a difference."""
    stale = []
    for name, schema in schemas().items():
        path = ROOT / "schemas" / name
        text = rendered(schema)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    for name in stale:
        print(f"schemas/{name} is out of date: run `make schemas`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
