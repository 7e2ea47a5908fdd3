"""``hookline adapt``: what converted hook files call. Another platform's hook, asked in its own
words; payload on stdin and answer on stdout are those of the platform that calls.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import click
import msgspec
from msgspec import Struct

from hookline import registry
from hookline.cli._signals import run
from hookline.client.thin_io import deliver, find_number
from hookline.config.discover import home_dir, project_root
from hookline.model.errors import HooklineError, nearest, sentence
from hookline.model.native import NativeEntry
from hookline.model.outcome import Reply
from hookline.model.ports import Caller, Client
from hookline.pipeline.adaptation import Adaptation, ask_hook
from hookline.pipeline.call import find_joint_client, parse_seconds, refuse
from hookline.pipeline.judge import hook_depth

__all__ = ["Options", "command", "main", "parse"]

_ONE = (
    "--from",
    "--event",
    "--to",
    "--on",
    "--if",
    "--name",
    "--agent",
    "--timeout",
    "--cwd",
    "--fails",
    "--type",
    "--url",
    "--options",
    "--file",
    "--home",
)
_MANY = ("--matcher", "--env")
_FLAGS = ("--background", "--exec")
_NEEDED = ("--from", "--event", "--to")
_FAILS = {"closed": True, "open": False}
_USAGE = "`hookline adapt --help` shows what it takes"


class Options(Struct, frozen=True, kw_only=True):
    """The command line, as ``convert`` wrote it."""

    target: str
    on: str | None
    what: Adaptation
    home: str | None = None


def parse(argv: Sequence[str]) -> Options:
    """The options. Raises HooklineError."""
    one, many, flags, command = _sorted_out(argv)
    for name in _NEEDED:
        if not one.get(name):
            raise HooklineError(f"{name} is missing; {_USAGE}")
    if "--fails" in one and one["--fails"] not in _FAILS:
        raise HooklineError(f"--fails is `closed` or `open`, not `{one['--fails']}`")
    url = one.get("--url", "")
    if not command and not url:
        raise HooklineError(f"no command stands after `--`; {_USAGE}")
    line: str | tuple[str, ...] = " ".join(command)
    entry = NativeEntry(
        event=one["--event"],
        type=one.get("--type", "command"),
        command=tuple(command) if "--exec" in flags else line,
        url=url,
        matcher=None,
        condition=one.get("--if", ""),
        timeout=parse_seconds(one.get("--timeout")),
        directory=one.get("--cwd", ""),
        env=_variables(many["--env"]),
        background="--background" in flags,
        fails_closed=_FAILS.get(one.get("--fails", "")),
        name=one.get("--name", ""),
        agent=one.get("--agent", ""),
        options=_object(one.get("--options")),
    )
    what = Adaptation(
        origin=one["--from"],
        entry=entry,
        matchers=tuple(many["--matcher"]),
        file=one.get("--file", ""),
    )
    return Options(target=one["--to"], on=one.get("--on"), what=what, home=one.get("--home"))


def _sorted_out(
    argv: Sequence[str],
) -> tuple[dict[str, str], dict[str, list[str]], set[str], list[str]]:
    one: dict[str, str] = {}
    many: dict[str, list[str]] = {name: [] for name in _MANY}
    flags: set[str] = set()
    rest = iter(argv)
    for word in rest:
        if word == "--":
            break
        if word in _FLAGS:
            flags.add(word)
            continue
        if word not in _ONE and word not in _MANY:
            hint = nearest(word, (*_ONE, *_MANY, *_FLAGS)) or "a command stands after `--`"
            raise HooklineError(f"unknown option `{word}`; {hint}")
        value = next(rest, None)
        if value is None:
            raise HooklineError(f"{word} needs a value")
        if word in _MANY:
            many[word].append(value)
        else:
            one[word] = value
    return one, many, flags, list(rest)


def _variables(pairs: Sequence[str]) -> Mapping[str, str]:
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise HooklineError(f"--env takes NAME=value; got `{pair}`")
        found[name] = value
    return found


def _object(text: str | None) -> Mapping[str, Any]:
    if text is None:
        return {}
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise HooklineError(f"--options takes a JSON object: {error}") from error


# ── one event ───────────────────────────────────────────────────────────────────────────────


def main(argv: Sequence[str]) -> int:
    """Answers the event on stdin; returns the exit code."""
    client: Client | None = None
    on = _value_of(argv, "--on")
    try:
        client = named = registry.dialect(_value_of(argv, "--to") or "")
        payload, env = sys.stdin.buffer.read(), dict(os.environ)
        # Clients run each other's files: whoever it is, is answered in words it understands.
        client = find_joint_client(named.id, on, payload, env) or named
        options = parse(argv)
        reply = run(_answer(options, client, payload, env))
    except HooklineError as error:
        reply = _refuse(client, on, str(error))
    except KeyboardInterrupt:
        reply = _refuse(client, on, "it was interrupted")
    except Exception as error:
        reply = _refuse(client, on, f"{type(error).__name__}: {error}")
    # The line round us speaks for a gate when it cannot be heard.
    numbers = find_number(sys.stdout), find_number(sys.stderr)
    return reply.exit_code if deliver(reply.stdout, reply.stderr, inf, numbers) else 1


def _value_of(argv: Sequence[str], name: str) -> str | None:
    """The value of an option before everything is parsed, so that mistakes are answered, too."""
    words = list(argv[: argv.index("--")] if "--" in argv else argv)
    return words[words.index(name) + 1] if name in words[:-1] else None


async def _answer(
    options: Options, client: Client, payload: bytes, env: Mapping[str, str]
) -> Reply:
    event = client.decode(payload, options.on)
    variable = client.support.project_variable
    project = project_root(event.cwd or "/", project_var=env.get(variable or ""))
    caller = Caller(env=env, project_dir=project, depth=hook_depth(env))
    # As for every call by an agent: a repository may have set the environment, so it is not asked.
    home = options.home or home_dir({})
    return client.encode(await ask_hook(options.what, event, caller, client=client, home=home))


def _refuse(client: Client | None, on: str | None, what: str) -> Reply:
    return refuse(client, on, f"hookline could not ask the hook for this: {sentence(what)}")


class _Raw(click.Command):
    """Leaves every word to ``parse``, which knows how to answer a platform."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args[:1] in (["--help"], ["-h"]):
            return super().parse_args(ctx, args)
        ctx.params["words"] = tuple(args)
        return []


@click.command("adapt", cls=_Raw)
@click.argument("words", nargs=-1, metavar="--from A --event E --to B [OPTIONS] -- COMMAND…")
def command(words: tuple[str, ...]) -> None:
    """Run a hook written for platform A on an event of platform B. `convert` writes such calls.

    The payload of B is read from stdin, and the answer is B's. The command gets A's payload for
    A's event E, with A's variables, exit codes and rule for failures.

    \b
      --on NAME          B's event, where its payload does not tell
      --matcher TEXT     only if A's matcher holds; may be repeated, then any will do
      --if TEXT          only if A's further condition holds
      --agent NAME       only for this agent
      --timeout SECONDS  how long the command may take
      --cwd DIR, --env NAME=VALUE, --background, --fails closed|open, --name TEXT
      --exec             the words are a program and its arguments, not one line for a shell
      --type, --url, --options JSON, --file PATH   what else A's file says
      --home DIR         hookline's state
    """
    sys.exit(main(words))
