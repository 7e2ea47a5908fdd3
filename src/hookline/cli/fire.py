"""``hookline fire``: send an event through the hooks that hold here, and see what they say."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO

import click
import msgspec
from msgspec import Struct
from msgspec.structs import fields as fields_of
from msgspec.structs import replace

from hookline import registry
from hookline.app import App, open_app
from hookline.cli._output import print_json, print_outcome
from hookline.cli._signals import run
from hookline.config.firing import find_event
from hookline.model.answers import deny
from hookline.model.errors import ConfigError, HooklineError
from hookline.model.events import EVENTS, Event, Other
from hookline.model.outcome import Outcome
from hookline.model.text import visible
from hookline.pipeline.judge import judge

__all__ = ["command"]


def _complete_event(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in EVENTS if name.startswith(incomplete)]


def _input(ctx: click.Context, param: click.Parameter, text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.MsgspecError as exc:
        raise click.BadParameter(f"expected a JSON object: {exc}") from exc


def _pairs(
    ctx: click.Context, param: click.Parameter, pairs: tuple[str, ...]
) -> tuple[tuple[str, str], ...]:
    for pair in pairs:
        if "=" not in pair.strip("="):
            raise click.BadParameter(f"expected KEY=VALUE, got `{pair}`")
    return tuple((key, text) for key, _, text in (pair.partition("=") for pair in pairs))


@click.command("fire")
@click.argument("event", required=False, shell_complete=_complete_event)
@click.option("--tool", help="Tool kind (shell, read, write, …) or a platform's own tool name.")
@click.option("--command", help="The tool's shell command.")
@click.option("--path", "paths", multiple=True, help="A path the tool touches; may be repeated.")
@click.option("--url", help="The URL the tool fetches.")
@click.option("--input", callback=_input, help="The tool's whole input, as JSON.")
@click.option("--output", help="What the tool answered, for events after a tool.")
@click.option("--prompt", help="The person's prompt.")
@click.option("--session", help="Session id; default: `fire`.")
@click.option("--cwd", help="The directory the event happens in; default: here.")
@click.option(
    "--set",
    "fields",
    multiple=True,
    callback=_pairs,
    help="Any other field: KEY=VALUE, or KEY.INNER=VALUE; one that the event does not have goes "
    "to `raw`.",
)
@click.option("--config", type=click.Path(), help="Use this file instead of the project's own.")
@click.option(
    "--edited", is_flag=True, help="Use project files as they are on disk, trusted or not."
)
@click.option(
    "--host",
    "hosts",
    multiple=True,
    metavar="DIALECT",
    help="Run this platform's own hook files too, wherever it looks for them; may be repeated.",
)
@click.option("--as", "dialect", help="Read payloads of this dialect, and show its reply too.")
@click.option(
    "--jsonl", is_flag=True, help="One event per line on stdin, one outcome per line out."
)
@click.option("--json", "as_json", is_flag=True, help="Print the outcome as JSON.")
def command(**given: Any) -> None:
    """Fire EVENT at the hooks that hold here. Hooks run for real; nothing is recorded.

    Without EVENT, one payload is read from stdin; with --jsonl, one from each line.

    \b
      hookline fire pre_tool_use --tool shell --command 'git push -f'
      hookline fire --jsonl < events.jsonl
    """
    if given["event"] is not None:
        name, given["event"] = given["event"], _find_event(given["event"])
        if given["event"] == Other.event_id() != name:
            given["fields"] = (("native_event", name), *given["fields"])
    options = _Options(**given)
    options.check()
    if options.dialect:
        registry.dialect(options.dialect)  # a wrong name is the person's mistake, not a payload's
    # Names are those of the person's own directory, wherever the event is said to happen.
    config = os.path.abspath(options.config) if options.config else None
    app = open_app(cwd=options.cwd, config=config, edited=options.edited)
    if options.hosts:
        app.host(*options.hosts)
    if options.jsonl:
        with _take_stdin() as lines:
            sys.exit(run(_stream(app, options, lines)))
    payload = options.payload() if options.event is not None else _read_stdin()
    outcome, shown = run(_fire_once(app, options, payload))
    if options.as_json:
        print_json(shown)
    elif "error" in shown:
        raise HooklineError(shown["error"])
    else:
        print_outcome(outcome)
    sys.exit(1 if "error" in shown else 0)


def _find_event(name: str) -> str:
    """The canonical event; a platform's own name for it is taken, too."""
    if name in EVENTS or name not in registry.native_events():
        return name
    try:
        event = find_event(name, registry.native_events)
    except ConfigError as error:
        raise click.UsageError(f"{error.problems[0].message}: {error.problems[0].hint}") from None
    click.echo(f"{visible(name)} is {event}", err=True)
    return event


def _take_stdin() -> BinaryIO:
    """What comes on stdin, for us alone: hooks would find nothing there."""
    if sys.stdin is None:  # as Python has it when the descriptor is closed
        raise HooklineError("there is nothing to read: stdin is closed")
    stream: BinaryIO = sys.stdin.buffer
    with suppress(OSError, ValueError):  # one in memory has no number
        number = stream.fileno()
        stream = open(os.dup(number), "rb")  # noqa: SIM115 - it is read until we end
        os.dup2(os.open(os.devnull, os.O_RDONLY), number)
    return stream


def _read_stdin() -> bytes:
    with _take_stdin() as stream:
        return stream.read()


class _Options(Struct, frozen=True, kw_only=True):
    """The command line of one call."""

    event: str | None
    tool: str | None
    command: str | None
    paths: tuple[str, ...]
    url: str | None
    input: dict[str, Any]
    output: str | None
    prompt: str | None
    session: str | None
    cwd: str | None
    fields: tuple[tuple[str, str], ...]
    config: str | None
    edited: bool
    hosts: tuple[str, ...]
    dialect: str | None
    jsonl: bool
    as_json: bool

    @property
    def reads(self) -> str:
        """The dialect of the payload; one that the options spell out is canonical."""
        spelled = self.event is not None and not self.jsonl
        return "canonical" if spelled else self.dialect or "canonical"

    def check(self) -> None:
        """Raises UsageError for an option that would have no effect."""
        known = EVENTS.get(self.event or "")
        for option, field, value in (
            ("--tool", "tool", self.tool),
            ("--command", "tool", self.command),
            ("--path", "tool", self.paths),
            ("--url", "tool", self.url),
            ("--input", "tool", self.input),
            ("--output", "tool", self.output),
            ("--prompt", "prompt", self.prompt),
            ("--session", "session_id", self.session),
            ("--set", "raw", self.fields),
        ):
            if value and self.jsonl:
                raise click.UsageError(f"{option} has no place beside --jsonl")
            if value and self.event is None:
                raise click.UsageError(f"{option} needs an EVENT, such as `pre_tool_use`")
            if value and known is not None and field not in known.__struct_fields__:
                raise click.UsageError(f"`{self.event}` has no {field}, so {option} says nothing")

    def payload(self) -> bytes:
        """The canonical payload that the options spell out."""
        tool = {
            "name": self.tool,
            "command": self.command,
            "path": self.paths[0] if self.paths else None,
            "paths": self.paths,
            "url": self.url,
            "input": self.input,
            "output": self.output,
        }
        fields: dict[str, Any] = {
            "event": self.event,
            "session_id": self.session or "fire",
            "prompt": self.prompt,
            "tool": {key: value for key, value in tool.items() if value} or None,
        }
        fields = {key: value for key, value in fields.items() if value is not None}
        event = EVENTS.get(self.event or "", Other)
        types = {each.encode_name: each.type for each in fields_of(event)}
        for key, text in self.fields:
            path = key.split(".")
            known = path[0] in types
            _put(fields, path if known else ["raw", *path], _value(text, types.get(key)))
        try:
            return msgspec.json.encode(fields)
        except UnicodeEncodeError as exc:
            raise click.UsageError("an option holds text that is no UTF-8") from exc


def _value(text: str, kind: object) -> Any:
    """The JSON in ``text``, or the text itself where the event has text or it is no JSON."""
    try:
        return text if kind is str else msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return text


def _put(fields: dict[str, Any], path: list[str], value: Any) -> None:
    *outer, last = path
    for key in outer:
        fields = fields.setdefault(key, {})
        if not isinstance(fields, dict):
            raise click.UsageError(f"--set: `{key}` is no object, so nothing can be set in it")
    fields[last] = value


async def _fire_once(app: App, options: _Options, payload: bytes) -> tuple[Outcome, dict[str, Any]]:
    try:
        return await _fire(app, options, payload)
    finally:
        await app.aclose()


def _read_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Each line; Ctrl-C ends the wait for one, of which the event loop would only take a note."""
    task = asyncio.current_task()
    line = b"\n"
    while line:
        noted = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            if task is not None and task.cancelling():  # it came while the last line was judged
                raise KeyboardInterrupt
            line = stream.readline()
        finally:
            signal.signal(signal.SIGINT, noted)
        if line:
            yield line
    stream.close()


async def _stream(app: App, options: _Options, lines: BinaryIO) -> int:
    """One line out for each line in, in order; 1 when any of them was bad."""
    bad = False
    write: Callable[[bytes], Any] = sys.stdout.buffer.write
    encode = msgspec.json.Encoder().encode
    try:
        for line in _read_lines(lines):
            try:
                _, shown = await _fire(app, options, line)
            except Exception as exc:  # one line must not cost all others their answers
                _, shown = _denied(Other(), f"{type(exc).__name__}: {exc}")
            bad |= "error" in shown
            write(encode(shown) + b"\n")
            sys.stdout.buffer.flush()  # the reader may wait for this line before the next
    finally:
        await app.aclose()
    return int(bad)


async def _fire(app: App, options: _Options, payload: bytes) -> tuple[Outcome, dict[str, Any]]:
    """The outcome, and its JSON. What cannot be judged is denied, and says why."""
    codec = registry.dialect(options.reads)
    shows = registry.dialect(options.dialect) if options.dialect else None
    event: Event = Other()
    try:
        event = codec.decode(payload, options.event)
        outcome = await judge(event, app)
        reply = None if shows is None else shows.encode(outcome)
        if shows is not None:
            changes = shows.translate(outcome).substitutions
            outcome = replace(outcome, substitutions=(*outcome.substitutions, *changes))
        return outcome, outcome.as_json(reply=reply)
    except HooklineError as exc:
        return _denied(event, str(exc))


def _denied(event: Event, why: str) -> tuple[Outcome, dict[str, Any]]:
    outcome = Outcome(event=event, answer=deny(why))
    return outcome, outcome.as_json(error=why)
