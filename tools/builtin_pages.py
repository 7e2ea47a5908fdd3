"""docs/builtins.md: what ships with hookline, from the modules themselves."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from hookline import registry
from hookline.builtin._docker_agent import CONTEXT_EVENTS
from hookline.model.events import EVENTS
from hookline.model.ports import BuiltinModule

__all__ = ["as_markdown"]

_HEAD = """# Builtins

Generated from `hookline.builtin`. Each is a hook that ships with hookline and runs in process:

```yaml
version: 1
hooks:
  - use: limit-output
    with: {max_lines: 500}
```

Names may be written with `-` or `_`. Without `on:` a builtin runs on its own events, shown first;
those in brackets it can be put on. `args` is docker-agent's way to give options.
"""


def as_markdown() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *(_section(name) for name in registry.builtin_names())])


def _section(name: str) -> str:
    module = registry.builtin(name)
    about = " ".join((module.__doc__ or "").split())
    also = tuple(getattr(module, "ALSO", ()))
    events = ", ".join(f"`{event}`" for event in module.EVENTS)
    if also == CONTEXT_EVENTS:
        events += " (any event that takes context)"
    elif {*module.EVENTS, *also} == set(EVENTS):
        events += " (any other event)"
    elif also:
        events += " (" + ", ".join(f"`{event}`" for event in also) + ")"
    guard = "a guard: when it fails, the gate closes" if module.GUARD else "no guard"
    lines = [f"## {name}", "", about, "", f"On {events}; priority {module.PRIORITY}, {guard}."]
    rows = list(_options(module))
    if rows:
        lines += ["", "| option | takes | default |", "|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def _options(module: BuiltinModule) -> Iterator[str]:
    _, components = msgspec.json.schema_components([module.Options])
    schema = components[module.Options.__name__]
    for name, each in schema.get("properties", {}).items():
        if name != "args":
            default = each.get("default")
            shown = "" if default is None else f"`{msgspec.json.encode(default).decode()}`"
            yield f"| `{name}` | {_taken(each)} | {shown} |"


def _taken(schema: Mapping[str, Any]) -> str:
    choices = [each for each in schema.get("anyOf", (schema,)) if each.get("type") != "null"]
    return " or ".join(_one(each) for each in choices)


def _one(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " or ".join(f"`{each}`" for each in schema["enum"])
    if schema.get("type") == "array":
        return f"a list of {_one(schema.get('items', {}))}s"
    kinds = {"integer": "a number", "string": "text", "boolean": "true or false"}
    kind = kinds.get(schema.get("type", ""), "a mapping")
    least, most = schema.get("minimum"), schema.get("maximum")
    bounds = [
        f"from {least}" if least is not None else "",
        f"to {most}" if most is not None else "",
    ]
    return " ".join([kind, *filter(None, bounds)])
