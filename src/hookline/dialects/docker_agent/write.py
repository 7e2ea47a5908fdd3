"""docker-agent's hooks, written from entries as a drop-in file with a comment for each."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from hookline.dialects._write import COMMENT, Writer
from hookline.dialects.docker_agent.answers import PREEMPT, PREEMPT_LANE
from hookline.dialects.docker_agent.reading import MATCHED
from hookline.model.native import NativeEntry

__all__ = ["WRITER", "DockerAgentWriter"]

_GATE = "pre_tool_use"


class DockerAgentWriter(Writer):
    """Entries with a matcher for tools, hooks alone for everything else."""

    path = "hooks.d/hookline.yaml"
    says = frozenset({"matcher", "timeout", "env", "name", "fails_closed"})
    matched = frozenset({*MATCHED, PREEMPT_LANE})
    heeds = frozenset({"agent", "main", "agents", "on_error", PREEMPT, "with"})

    def lanes(self, event: str) -> tuple[str, ...]:
        """Before a tool two: what was approved beforehand never reaches the default one."""
        return (PREEMPT_LANE, event) if event == _GATE else (event,)

    def placed(self, entry: NativeEntry) -> NativeEntry:
        """The lane and what a failure means are options there."""
        options = dict(entry.options)
        if entry.event == PREEMPT_LANE:
            options[PREEMPT] = True
        if entry.fails_closed:
            options["on_error"] = "block"
        event = _GATE if entry.event == PREEMPT_LANE else entry.event
        return replace(entry, event=event, options=options)

    def write(self, entries: Sequence[NativeEntry]) -> Mapping[str, bytes]:
        """One file."""
        events: dict[str, list[NativeEntry]] = {}
        for entry in map(self.placed, entries):
            events.setdefault(entry.event, []).append(entry)
        lines = []
        for event, listed in events.items():
            lines.append(f"{event}:")
            for entry in listed:
                lines += _entry(entry)
        return {self.path: ("\n".join(lines) + "\n").encode()}


def _entry(entry: NativeEntry) -> Iterator[str]:
    comment = entry.options.get(COMMENT, "")
    if comment:
        yield f"  # {comment}"
    if entry.event not in MATCHED:
        first, *rest = _hook(entry)
        yield f"  - {first}"
        yield from (f"    {line}" for line in rest)
        return
    yield f"  - matcher: {_quoted(entry.matcher or '*')}"
    if entry.options.get(PREEMPT):
        yield f"    {PREEMPT}: true"
    yield "    hooks:"
    first, *rest = _hook(entry)
    yield f"      - {first}"
    yield from (f"        {line}" for line in rest)


def _hook(entry: NativeEntry) -> Iterator[str]:
    yield "type: command"
    if entry.name:
        yield f"name: {_quoted(entry.name)}"
    assert isinstance(entry.command, str)
    yield f"command: {_quoted(entry.command)}"
    if entry.timeout is not None:
        yield f"timeout: {int(entry.timeout)}"
    if entry.options.get("on_error") == "block" and entry.event != _GATE:  # closed by itself
        yield "on_error: block"
    if entry.env:
        yield "env:"
        yield from (f"  {_quoted(name)}: {_quoted(value)}" for name, value in entry.env.items())


def _quoted(text: str) -> str:
    from yaml import safe_dump

    # Wide enough that no line is ever folded.
    return safe_dump(text, default_style='"', width=1_000_000, allow_unicode=True).strip()


WRITER = DockerAgentWriter()
