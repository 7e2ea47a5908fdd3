"""``hookline fire``: send an event through the hooks that hold here, and see what they say."""

import asyncio
import sys
from collections.abc import Callable, Iterable
from typing import Any

import click
import msgspec
from msgspec import Struct

from hookline import registry
from hookline.app import App, open_app
from hookline.cli._output import print_json, print_outcome
from hookline.model.answers import deny
from hookline.model.errors import HooklineError
from hookline.model.events import EVENTS, Event, Other
from hookline.model.outcome import Outcome

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


def _fields(ctx: click.Context, param: click.Parameter, pairs: tuple[str, ...]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals:
            raise click.BadParameter(f"expected KEY=VALUE, got `{pair}`")
        try:
            fields[key] = msgspec.json.decode(text)
        except msgspec.MsgspecError:
            fields[key] = text
    return fields


@click.command("fire")
@click.argument("event", required=False, shell_complete=_complete_event)
@click.option("--tool", help="Tool kind (shell, read, write, …) or a platform's own tool name.")
@click.option("--command", help="The tool's shell command.")
@click.option("--path", "paths", multiple=True, help="A path the tool touches; may be repeated.")
@click.option("--url", help="The URL the tool fetches.")
@click.option("--input", callback=_input, help="The tool's whole input, as JSON.")
@click.option("--output", help="What the tool answered, for events after a tool.")
@click.option("--prompt", help="The person's prompt.")
@click.option("--session", default="fire", show_default=True, help="Session id.")
@click.option("--cwd", help="The directory the event happens in; default: here.")
@click.option(
    "--set", "fields", multiple=True, callback=_fields, help="Any other field: KEY=VALUE."
)
@click.option("--config", type=click.Path(), help="Use this file instead of the project's own.")
@click.option(
    "--edited", is_flag=True, help="Use project files as they are on disk, trusted or not."
)
@click.option("--as", "dialect", default="canonical", help="Read native payloads of this dialect.")
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
    options = _Options(**given)
    app = open_app(cwd=options.cwd, config=options.config, edited=options.edited)
    if options.jsonl:
        sys.exit(asyncio.run(_stream(app, options.dialect, sys.stdin.buffer)))
    if options.event is None:
        fired = _fire_once(app, options.dialect, sys.stdin.buffer.read())
    else:
        fired = _fire_once(app, "canonical", options.payload())
    outcome, shown = asyncio.run(fired)
    if options.as_json:
        print_json(shown)
    elif "error" in shown:
        raise HooklineError(shown["error"])
    else:
        print_outcome(outcome)
    sys.exit(1 if "error" in shown else 0)


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
    session: str
    cwd: str | None
    fields: dict[str, Any]
    config: str | None
    edited: bool
    dialect: str
    jsonl: bool
    as_json: bool

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
        fields = {
            "event": self.event,
            "session_id": self.session,
            "prompt": self.prompt,
            "tool": {key: value for key, value in tool.items() if value} or None,
            **self.fields,
        }
        return msgspec.json.encode({k: v for k, v in fields.items() if v is not None})


async def _fire_once(app: App, dialect: str, payload: bytes) -> tuple[Outcome, dict[str, Any]]:
    try:
        return await _fire(app, dialect, payload)
    finally:
        await app.aclose()


async def _stream(app: App, dialect: str, lines: Iterable[bytes]) -> int:
    """One line out for each line in, in order; 1 when any of them was bad."""
    bad = False
    write: Callable[[bytes], Any] = sys.stdout.buffer.write
    encode = msgspec.json.Encoder().encode
    try:
        for line in lines:
            if line.strip():
                _, shown = await _fire(app, dialect, line)
                bad |= "error" in shown
                write(encode(shown) + b"\n")
                sys.stdout.buffer.flush()  # the reader may wait for this line before the next
    finally:
        await app.aclose()
    return int(bad)


async def _fire(app: App, dialect: str, payload: bytes) -> tuple[Outcome, dict[str, Any]]:
    """The outcome, and its JSON. What cannot be judged is denied, and says why."""
    codec = registry.dialect(dialect)
    event: Event = Other()
    try:
        event = codec.decode(payload, None)
        outcome = await app.fire(event)
    except HooklineError as exc:
        return _denied(event, str(exc))
    return outcome, outcome.as_json(reply=None if dialect == "canonical" else codec.encode(outcome))


def _denied(event: Event, why: str) -> tuple[Outcome, dict[str, Any]]:
    outcome = Outcome(event=event, answer=deny(why))
    return outcome, outcome.as_json(error=why)
