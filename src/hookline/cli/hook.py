"""``hookline hook DIALECT [EVENT]``: what agents call. Payload on stdin, answer on stdout.

The dialect is only a hint, since clients run each other's hook files; ``auto`` stands for none.
Nothing heavy is imported before it is needed, stdout belongs to the protocol, and whatever goes
wrong here is answered as the platform obeys it: a gate closes.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hookline import registry
from hookline.cli._ending import run
from hookline.model.errors import DecodeError, HooklineError, sentence
from hookline.model.events import Event
from hookline.model.outcome import Outcome, Reply

if TYPE_CHECKING:
    from typing import TextIO

    import click

    from hookline.joint_reply import Clients
    from hookline.model.ports import Dialect

__all__ = ["HookOptions", "answer", "command", "main", "parse"]

_USAGE = (
    "usage: hookline hook DIALECT [EVENT] [--home DIR] [--user-config DIR] [--config FILE] "
    "[--timeout SECONDS] [--trust-env]; with `auto` for DIALECT the payload tells who is calling"
)


_AUTO = "auto"


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
    words, values, flaw = _sorted_out(argv)
    if flaw:
        raise HooklineError(f"{flaw}; {_USAGE}")
    if not 1 <= len(words) <= 2:
        raise HooklineError(_USAGE)
    return HookOptions(
        dialect=words[0],
        event=words[1] if len(words) == 2 else None,
        home=values.get("--home"),
        user_config=values.get("--user-config"),
        config=values.get("--config"),
        timeout=_seconds(values.get("--timeout")),
        trust_env="--trust-env" in values,
    )


def _sorted_out(argv: Sequence[str]) -> tuple[list[str], dict[str, str], str]:
    """The plain words, the options, and what is wrong with them if something is."""
    words: list[str] = []
    values: dict[str, str] = {}
    flaw = ""
    rest = iter(argv)
    for word in rest:
        if word == "--trust-env":
            values[word] = ""
        elif word in {"--home", "--user-config", "--config", "--timeout"}:
            values[word] = next(rest, "")
            flaw = flaw or ("" if values[word] else f"{word} needs a value")
        elif word.startswith("-"):
            flaw = flaw or f"unknown option `{word}`"
        else:
            words.append(word)
    return words, values, flaw


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
    options: HookOptions,
    event: Event,
    env: Mapping[str, str],
    cwd: str,
    clients: "Clients | None" = None,
) -> Outcome:
    """What the hooks in force say. Raises HooklineError when there is no outcome."""
    from hookline.app import App

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
        outcome = await app.answer(
            event, entry=repr(options), timeout=options.engine_timeout, client=clients
        )
    finally:
        await app.aclose()
    noted = clients.callers.noted() if clients is not None else ()
    return replace(outcome, substitutions=(*outcome.substitutions, *noted)) if noted else outcome


def main(argv: Sequence[str]) -> int:
    """Answers the event on stdin; returns the exit code."""
    speaker: Dialect | Clients | None = None
    # Before the options are judged, so that even a wrong one is answered in the client's words.
    words = _sorted_out(argv)[0]
    named, name = (*words, None, None)[:2]
    event: Event | None = None
    try:
        speaker = registry.dialect(named) if named and named != _AUTO else None
        payload, env = _payload(), dict(os.environ)
        clients = _clients(named, name, payload, env)
        speaker = clients or speaker
        options = parse(argv)
        assert speaker is not None
        event = speaker.decode(payload, name)
        name = name or event.native_event or event.event_id()
        outcome = run(answer(options, event, env, _directory(), clients))
        reply = speaker.encode(outcome)
    except DecodeError as exc:
        reply = _refusal(speaker, name, str(exc), "")
    except HooklineError as exc:
        reply = _refusal(speaker, name, str(exc))
    except (Exception, KeyboardInterrupt) as exc:
        reply = _refusal(speaker, name, f"{type(exc).__name__}: {exc}")
    return reply.exit_code if _delivered(reply) else _last_word(event)


def _clients(
    named: str | None, event: str | None, payload: bytes, env: Mapping[str, str]
) -> "Clients | None":
    """Who is calling, when it is not simply the dialect named. Raises DecodeError."""
    if named is None or named == "canonical":
        return None  # no client's: whoever says this means it
    from hookline.callers import recognise

    callers = recognise(None if named == _AUTO else named, event, payload, env)
    if callers.ids == (named,):
        return None
    if not callers.ids:
        raise DecodeError(
            "the payload does not tell who is calling; name it: `hookline hook DIALECT`"
        )
    from hookline.joint_reply import Clients

    return Clients(callers)


def _payload() -> bytes:
    if sys.stdin is None:  # as Python has it when the descriptor is closed
        raise HooklineError("there is no payload: stdin is closed")
    return sys.stdin.buffer.read()


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError:
        # It was removed under us. Events say themselves where they happened.
        return "/"


def _refusal(
    speaker: "Dialect | Clients | None",
    event: str | None,
    what: str,
    advice: str = " `hookline doctor` says what to mend.",
) -> Reply:
    reason = f"hookline could not judge this: {sentence(what)}{advice}"
    if speaker is None:
        # Without a caller only the exit code is left, and 2 blocks wherever anything does.
        return Reply(stderr=f"{reason}\n".encode(errors="replace"), exit_code=2)
    return speaker.refuse(event, reason)


def _delivered(reply: Reply) -> bool:
    """Writes the reply, and says whether the part that clients act on arrived."""
    _write(2, sys.stderr, reply.stderr)
    return _write(1, sys.stdout, reply.stdout)


def _write(number: int, stream: "TextIO | None", content: bytes) -> bool:
    if not content:
        return True
    if stream is None:
        return False
    try:
        stream.buffer.write(content)
        stream.buffer.flush()
    except OSError:
        # Nobody listens, or the disk is full; leave nothing for the interpreter to flush at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        return False
    return True


def _last_word(event: Event | None) -> int:
    """The exit code when no answer could be written: 2 closes a gate, 1 has no effect."""
    # Codex and Gemini CLI take an exit code of 2 for nothing when stderr is empty.
    _write(2, sys.stderr, b"hookline: the answer could not be written to stdout\n")
    return 2 if event is None or (event.gate and not event.continues) else 1


def command() -> "click.Command":
    """For ``--help`` and completion only: agents take the short way through ``main``."""
    import click

    @click.command("hook", context_settings={"ignore_unknown_options": True})
    @click.argument("words", nargs=-1, metavar="DIALECT|auto [EVENT]")
    def hook(words: tuple[str, ...]) -> None:
        """Answer an agent's event: payload on stdin, answer on stdout.

        Options: --home DIR (hookline's state), --user-config DIR (where your own config is),
        --config FILE (instead of the project's), --timeout SECONDS (the platform's own limit),
        --trust-env (believe the environment about HOOKLINE_*, HOME and XDG_*).
        """
        sys.exit(main(words))

    return hook
