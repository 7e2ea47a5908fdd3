"""What a session in the lab came to, for people and for programs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self, TypeAlias

import click
import msgspec
from msgspec import Struct

from hookline.cli._output import print_json
from hookline.lab.exchanges import Exchange, exchanges
from hookline.lab.finding import age
from hookline.lab.ports import Session
from hookline.model.text import visible

__all__ = ["Called", "Report", "states"]

_LONGEST = 100
_LINES = 6
# The arguments that say what a call is about, in the words of all the clients.
_TELLING = ("command", "cmd", "file_path", "path", "filePath", "prompt", "message", "input")
_COLOURS = {"ran": "green", "denied": "red", "failed": "yellow", "not answered": "yellow"}


class Called(Struct, frozen=True, kw_only=True):
    """One tool call of the script, and what came of it."""

    name: str
    arguments: Mapping[str, Any]
    state: str
    """``ran``, ``failed``, ``denied`` by hookline, ``answered`` when nothing says which of these,
    ``not answered`` when the model was told nothing."""
    told: str | None
    agent: str = ""
    """The prompt of the sub-agent that made it."""


class Report(Struct, frozen=True, kw_only=True):
    """One session: who, what, and how it ended."""

    client: str
    version: str
    age: str
    """How the version compares with the one known best."""
    isolated: bool
    calls: tuple[Called, ...]
    events: Sequence[Mapping[str, Any]]
    """What hookline judged, from its journal."""
    changed: Mapping[str, str]
    exit_code: int | None
    cut: str
    seconds: float
    asked: int
    """How often the model was asked, side calls left out."""
    stderr: str

    @classmethod
    def of(cls, session: Session, events: Sequence[Mapping[str, Any]], *, pinned: str) -> Self:
        """The report on a session, given what hookline wrote down of it."""
        return cls(
            client=session.client,
            version=session.version,
            age=age(session.version, pinned),
            isolated=session.isolated,
            calls=tuple(_called(exchanges(session.asked), events)),
            events=tuple(_event(each) for each in events),
            changed=session.changed,
            exit_code=session.exit_code,
            cut=session.cut,
            seconds=round(session.seconds, 3),
            asked=sum(not each.side for each in session.asked),
            stderr=session.stderr.decode(errors="replace")[-2000:],
        )

    @property
    def took_place(self) -> bool:
        """Whether there was a session: the client asked the model, and ended by itself."""
        return self.asked > 0 and not self.cut

    def show(self, *, as_json: bool, kept: str = "") -> None:
        """Print it."""
        if as_json:
            print_json({"report": self, "kept": kept or None, "took_place": self.took_place})
            return
        version = f"{self.version or 'of unknown version'}{_aged(self.age)}"
        kept_to = "kernel" if self.isolated else "proxy settings only"
        click.echo(
            f"{click.style(self.client, bold=True)} {version}, kept to loopback by {kept_to}"
        )
        for call in self.calls:
            _tell_call(call)
        for event in self.events:
            _tell_event(event)
        for path, what in self.changed.items():
            click.echo(f"{what:<13} {visible(path)}")
        if not self.changed:
            click.echo("no file of the project changed")
        self._tell_end(kept)

    def _tell_end(self, kept: str) -> None:
        ended = f"was ended: {self.cut}" if self.cut else f"ended with exit code {self.exit_code}"
        times = "once" if self.asked == 1 else f"{self.asked} times"
        click.echo(f"the client {ended}, after {self.seconds:.1f} s; the model was asked {times}")
        if not self.took_place or self.exit_code:
            for line in self.stderr.strip().splitlines()[-_LINES:]:
                click.secho(f"  {visible(line)}", dim=True)
        if kept:
            click.echo(f"kept: {kept}")


def _aged(how: str) -> str:
    said = {"newer": "newer", "older": "older"}.get(how)
    return f" ({said} than the version known best)" if said else ""


def _called(calls: Sequence[Exchange], events: Sequence[Mapping[str, Any]]) -> Iterator[Called]:
    for exchange, state in zip(calls, states(calls, events), strict=True):
        yield Called(
            name=exchange.name,
            arguments=exchange.arguments,
            state=state,
            told=exchange.told,
            agent=exchange.lane,
        )


def _event(recorded: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("event", "native_event", "tool_name", "subject", "verdict", "reason", "decided_by")
    kept = {key: recorded.get(key) for key in keys}
    return kept | {"answer": recorded.get("answer"), "failure": recorded.get("failure")}


def _tell_call(call: Called) -> None:
    word = click.style(f"{call.state:<13}", fg=_COLOURS.get(call.state, "white"), bold=True)
    whose = f" (sub-agent: {_short(call.agent)})" if call.agent else ""
    click.echo(f"{word} {visible(call.name)} {_short(_gist(call.arguments))}{whose}")
    lines = [line for line in (call.told or "").splitlines() if line.strip()]
    for number, line in enumerate(lines[:_LINES]):
        label = "     " if number else click.style("told:", fg="cyan")
        click.echo(f"{'':<13} {label} {_short(line)}")
    if len(lines) > _LINES:
        click.secho(
            f"{'':<13}       and {len(lines) - _LINES} more lines; --json has all", dim=True
        )


def _gist(arguments: Mapping[str, Any]) -> str:
    """What a call is about: the one argument that says it, or all of them."""
    for key in _TELLING:
        if isinstance(arguments.get(key), str):
            return str(arguments[key])
    return msgspec.json.encode(arguments).decode() if arguments else ""


def _tell_event(event: Mapping[str, Any]) -> None:
    """Only those in which hookline said something: the others are in the journal."""
    if event["verdict"] == "pass" and not event["answer"] and not event["failure"]:
        return
    said = event["reason"] or event["failure"] or ""
    click.secho(f"{'hookline':<13} {event['event']} {event['verdict']} {_short(said)}", dim=True)


def _short(text: str) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


_Events: TypeAlias = Sequence[Mapping[str, Any]]

_AFTER = {"post_tool_use": "ran", "post_tool_use_failure": "failed"}


def states(calls: Sequence[Exchange], events: _Events) -> tuple[str, ...]:
    """One word for each call: ``ran``, ``failed``, ``denied``, ``answered``, ``not answered``.

    What was said after a call counts before what was decided of it: a call that was denied and ran
    all the same has to be seen.
    """
    found = []
    for number, call in enumerate(calls):
        same = sum(each.arguments == call.arguments for each in calls[:number])
        found.append(_state(call, _about(call, same, events)))
    return tuple(found)


def _state(call: Exchange, own: _Events) -> str:
    for event in own:
        if event.get("event") in _AFTER:
            return "failed" if call.error else _AFTER[event["event"]]
    if any(event.get("verdict") in {"deny", "halt"} for event in own):
        return "denied"
    if call.told is None:
        return "not answered"
    return "failed" if call.error else "answered"


def _about(call: Exchange, same: int, events: _Events) -> _Events:
    """The events of a call: those with its id, or the n-th that have its arguments."""
    named = [each for each in events if call.id in _values(each)]
    if named or not call.arguments:
        return named
    alike = [each for each in events if call.arguments in _values(each)]
    begins = [n for n, each in enumerate(alike) if each.get("event") == "pre_tool_use"]
    if same >= len(begins):
        return ()
    end = begins[same + 1] if same + 1 < len(begins) else len(alike)
    return alike[begins[same] : end]


def _values(event: Mapping[str, Any]) -> list[Any]:
    payload = event.get("payload")
    return list(payload.values()) if isinstance(payload, Mapping) else []
