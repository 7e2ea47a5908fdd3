"""``hookline hook DIALECT [EVENT]``: what agents call. Payload on stdin, answer on stdout.

Nothing heavy is imported before it is needed, stdout belongs to the protocol, and whatever goes
wrong here is answered as the platform obeys it: a gate closes.
"""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from hookline import registry
from hookline.model.errors import HooklineError
from hookline.model.outcome import Reply
from hookline.model.ports import Dialect

if TYPE_CHECKING:
    import click

__all__ = ["HookOptions", "answer", "command", "main", "parse"]

_USAGE = (
    "usage: hookline hook DIALECT [EVENT] [--home DIR] [--user-config DIR] [--config FILE] "
    "[--timeout SECONDS] [--trust-env]"
)


class HookOptions(Struct, frozen=True, kw_only=True):
    """The command line, as ``install`` wrote it; the environment is not asked."""

    dialect: str
    event: str | None = None
    home: str | None = None
    user_config: str | None = None
    """The directory that XDG_CONFIG_HOME named when hookline was installed."""
    config: str | None = None
    timeout: float | None = None
    """The platform's own limit for this hook, in seconds."""
    trust_env: bool = False
    """Believe the environment about HOOKLINE_*, HOME and XDG_*: for CI and containers only."""

    @property
    def engine_timeout(self) -> float | None:
        """Ours must end first: when the platform's timeout hits, it lets the tool run."""
        return None if self.timeout is None else max(0.8 * self.timeout - 0.5, 0.1)


def parse(argv: Sequence[str]) -> HookOptions:
    """The options. Raises HooklineError."""
    words: list[str] = []
    values: dict[str, str] = {}
    rest = iter(argv)
    trust_env = False
    for word in rest:
        if word == "--trust-env":
            trust_env = True
        elif word in {"--home", "--user-config", "--config", "--timeout"}:
            values[word[2:]] = next(rest, "")
            if not values[word[2:]]:
                raise HooklineError(f"{word} needs a value; {_USAGE}")
        elif word.startswith("-"):
            raise HooklineError(f"unknown option `{word}`; {_USAGE}")
        else:
            words.append(word)
    if not 1 <= len(words) <= 2:
        raise HooklineError(_USAGE)
    return HookOptions(
        dialect=words[0],
        event=words[1] if len(words) == 2 else None,
        home=values.get("home"),
        user_config=values.get("user-config"),
        config=values.get("config"),
        timeout=_seconds(values.get("timeout")),
        trust_env=trust_env,
    )


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise HooklineError(f"--timeout takes seconds, more than 0; got `{text}`")
    return seconds


async def answer(
    options: HookOptions, dialect: Dialect, payload: bytes, env: Mapping[str, str], cwd: str
) -> Reply:
    """The reply to one native payload. Raises HooklineError when there is no outcome."""
    from hookline.app import App

    event = dialect.decode(payload, options.event)
    trusted = dict(env) if options.trust_env else {}
    app = App(
        env=env,
        cwd=cwd,
        home=options.home or trusted.get("HOOKLINE_HOME"),
        config=options.config or trusted.get("HOOKLINE_CONFIG"),
        trust=trusted.get("HOOKLINE_TRUST"),
        remember=True,
        person=trusted | ({"XDG_CONFIG_HOME": options.user_config} if options.user_config else {}),
    )
    try:
        return dialect.encode(await app.fire(event, timeout=options.engine_timeout))
    finally:
        await app.aclose()


def main(argv: Sequence[str]) -> int:
    """Answers the event on stdin; returns the exit code."""
    dialect: Dialect | None = None
    event: str | None = None
    try:
        options = parse(argv)
        event = options.event
        dialect = registry.dialect(options.dialect)
        payload = sys.stdin.buffer.read()
        reply = asyncio.run(answer(options, dialect, payload, dict(os.environ), os.getcwd()))
    except HooklineError as exc:
        reply = _refusal(dialect, event, str(exc))
    except Exception as exc:
        reply = _refusal(dialect, event, f"{type(exc).__name__}: {exc}")
    _write(reply)
    return reply.exit_code


def _refusal(dialect: Dialect | None, event: str | None, what: str) -> Reply:
    reason = f"hookline could not judge this: {what}. `hookline check` says what to mend."
    if dialect is None:
        # Without a dialect only the exit code is left, and 2 blocks wherever anything does.
        return Reply(stderr=f"{reason}\n".encode(errors="replace"), exit_code=2)
    return dialect.refuse(event, reason)


def _write(reply: Reply) -> None:
    try:
        sys.stdout.buffer.write(reply.stdout)
        sys.stdout.buffer.flush()
        sys.stderr.buffer.write(reply.stderr)
        sys.stderr.buffer.flush()
    except BrokenPipeError:
        # The agent stopped listening; leave nothing for the interpreter to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def command() -> "click.Command":
    """For ``--help`` and completion only: agents take the short way through ``main``."""
    import click

    @click.command("hook", context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1, metavar="DIALECT [EVENT]")
    def hook(words: tuple[str, ...]) -> None:
        """Answer an agent's event: payload on stdin, answer on stdout.

        Options: --home DIR (hookline's state), --user-config DIR (where your own config is),
        --config FILE (instead of the project's), --timeout SECONDS (the platform's own limit),
        --trust-env (believe the environment about HOOKLINE_*, HOME and XDG_*).
        """
        sys.exit(main(words))

    return hook
