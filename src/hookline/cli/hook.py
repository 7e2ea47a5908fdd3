"""``hookline hook DIALECT [EVENT]``: what agents call. Payload on stdin, answer on stdout.

The dialect is only a hint, since clients run each other's hook files; ``auto`` stands for none.
Nothing heavy is imported before it is needed, stdout belongs to the protocol, and whatever goes
wrong here is answered as the platform obeys it: a gate closes.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from msgspec.structs import replace

from hookline.cli._ending import ENDINGS, INTERRUPT, noted, run_light, watched
from hookline.cli._exchange import Arrived, Exchange
from hookline.cli._hook_options import HookOptions, allowance
from hookline.cli._streams import GRACE, deliver, read
from hookline.model.errors import HooklineError
from hookline.model.journal import Entry
from hookline.model.line_test import LINE_TEST, LineReport
from hookline.model.moments import begin_moment, end_moment
from hookline.model.outcome import Reply

if TYPE_CHECKING:
    import click

    from hookline.app import App
    from hookline.journals import Journals
    from hookline.model.events import Event
    from hookline.store.answers import FirstAnswers

__all__ = ["Arrived", "Desk", "alone", "command", "main"]

_KEPT_APPS = 32
_KEPT_WARNINGS = 1000
# All of the environment that is believed, where it is believed at all.
_PERSONAL = (
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "HOOKLINE_HOME",
    "HOOKLINE_CONFIG",
    "HOOKLINE_TRUST",
)


class Desk:
    """Answers events one after the other, and keeps what it has loaded for the next."""

    def __init__(
        self,
        journals: "Journals",
        answers: "FirstAnswers | None" = None,
        let_go: Callable[[], None] | None = None,
    ) -> None:
        """``answers`` in a process that hears of every call: what else is kept on the disk.

        ``let_go`` is called when an event is judged: what was kept of it for its own hooks may be
        large, and the next one may come in half an hour.
        """
        self._journals = journals
        self._answers = answers
        self._let_go = let_go
        self._apps: dict[tuple[object, ...], App] = {}
        self._warned: dict[str, None] = {}
        self._untold = ""

    async def respond(self, arrived: Arrived) -> Reply:
        """The reply in the client's words; what fails closes the gate.

        When the reply is there, the journal has the event.
        """
        exchange = Exchange(arrived)
        app: App | None = None
        try:
            options = exchange.begin()
            app = self._app_for(options, arrived)
            if arrived.payload == LINE_TEST:
                return exchange.reported(_report(options, arrived, app))
            event = exchange.decoded()
            outcome = await app.answer(
                event,
                entry=options.entry,
                timeout=_time_left(options, arrived),
                client=exchange.clients,
                again=exchange.again,
            )
            reply = exchange.encoded(outcome)
        except Exception as exc:
            reply = exchange.refusal(exc)
        except BaseException as exc:
            # Cancelled, or interrupted. In a coroutine that is thrown away nothing can be awaited.
            if not isinstance(exc, GeneratorExit):
                exchange.failure = "the client ended before it had an answer"
                # Said once, and to somebody who has gone: the next one is told.
                self._untold = await self._write_down(exchange.entry(Reply()), app) or self._untold
            raise
        warning = await self._write_down(exchange.entry(reply), app) or self._untold
        # Where nothing is configured nothing is asked of us, so nobody is to be bothered.
        told = warning and (app is None or app.configured) and self._is_news(exchange.event)
        if told:
            self._untold = ""
            return exchange.warned(reply, warning)
        return reply

    def _is_news(self, event: "Event | None") -> bool:
        """Whether a session hears for the first time that its events are not written down."""
        session = event.session_id if event is not None else ""
        if session in self._warned:
            return False
        if session:
            while len(self._warned) >= _KEPT_WARNINGS:
                self._warned.pop(next(iter(self._warned)))
            self._warned[session] = None
        return True

    async def _write_down(self, entry: Entry, app: "App | None") -> str:
        """A warning, where that failed: no verdict is lost for it."""
        if self._let_go is not None:
            self._let_go()
        try:
            journal = self._journals.open(app)
            if app is None or app.journal() is None:
                # Nobody can say now how much may be written, so it is the least.
                entry = replace(entry, event=_without_words(entry.event), payload=b"")
            if journal is None:
                return ""
            outcome = entry.outcome
            if app is not None and outcome is not None:
                told = outcome.with_files(app.files_of)
                entry = entry if told is outcome else replace(entry, outcome=told)
            return await journal.write(entry)
        except Exception as exc:
            return f"this event is not in the journal: {type(exc).__name__}: {exc}"

    def begin(self) -> None:
        """Several events come together: what is written of them may wait for the ``end``."""
        self._journals.together.begin()
        begin_moment()

    def end(self, done: Callable[[str], None]) -> None:
        """Calls ``done`` when what was written since ``begin`` will survive this process."""

        def written(warning: str) -> None:
            # They have their answers already: the next one is told.
            self._untold = warning or self._untold
            done(warning)

        end_moment()
        self._journals.together.end(written)

    async def aclose(self) -> None:
        """Ends worker processes and connections."""
        for app in self._apps.values():
            await app.aclose()
        self._apps.clear()
        await self._journals.aclose()

    def _app_for(self, options: HookOptions, arrived: Arrived) -> "App":
        key: tuple[object, ...] = (options.home, options.user_config)
        if not options.is_anywhere:
            believed = [arrived.env.get(name) for name in _PERSONAL] if options.trust_env else ()
            key = (*key, options.config, arrived.cwd, *believed)
        app = self._apps.get(key)
        if app is None:
            while len(self._apps) >= _KEPT_APPS:
                self._apps.pop(next(iter(self._apps)))
            app = self._apps[key] = _app(options, arrived)
            app.answers = self._answers or app.answers
        return app.for_caller(
            arrived.env,
            arrived.cwd,
            attempt=arrived.attempt,
            umask=arrived.umask,
            arrived=arrived.arrived,
        )


def _report(options: HookOptions, arrived: Arrived, app: "App") -> LineReport:
    from hookline.reporting import report_line

    place = (app.loader, arrived.cwd, arrived.env)
    return report_line(*place, options.dialect, reads_env=options.trust_env)


def _without_words(event: "Event | None") -> "Event | None":
    """What happened where, and nothing of what was said or done."""
    if event is None:
        return None
    kept = ("id", "session_id", "cwd", "time", "agent", "dialect", "native_event")
    return type(event)(**{name: getattr(event, name) for name in kept})


def _time_left(options: HookOptions, arrived: Arrived) -> float | None:
    """Of the time for the whole event: waiting for its turn was a part of it."""
    timeout = options.engine_timeout
    if timeout is None or arrived.arrived is None:
        return timeout
    return max(timeout - (monotonic() - arrived.arrived), 0.0)


def _app(options: HookOptions, arrived: Arrived) -> "App":
    from hookline.app import App

    trusted = dict(arrived.env) if options.trust_env else {}
    home = options.home or trusted.get("HOOKLINE_HOME")
    if home and not os.path.isabs(home) and not os.path.isdir(arrived.cwd):
        raise HooklineError(f"`{home}` is no whole path, and where it leads from is gone")
    return App(
        env=arrived.env,
        cwd=arrived.cwd,
        home=os.path.join(arrived.cwd, home) if home else None,
        config=options.config or trusted.get("HOOKLINE_CONFIG"),
        trust=trusted.get("HOOKLINE_TRUST"),
        remember=True,
        person=trusted | ({"XDG_CONFIG_HOME": options.user_config} if options.user_config else {}),
    )


def main(argv: Sequence[str], began: float | None = None) -> int:
    """Answers the event on stdin; returns the exit code.

    ``began`` is when the agent started to wait, by the monotonic clock; None: now.
    """
    began = monotonic() if began is None else began
    until = began + allowance(argv)
    arrived = Arrived(argv=argv, payload=b"", env=dict(os.environ), cwd=_directory(), arrived=began)
    with noted() as told:
        try:
            # What judges should be over by then; what has not come back gets no longer.
            with watched(until - monotonic() + GRACE / 2, lambda: _give_up(arrived)):
                arrived = replace(arrived, payload=read(sys.stdin, until, told))
                reply = run_light(_answered(arrived))
        except (Exception, KeyboardInterrupt) as exc:
            reply = _begun(arrived).refusal(exc)
        with noted(INTERRUPT, *ENDINGS) as hurried:
            return _handed_over(arrived, reply, max(until, monotonic() + GRACE), hurried)


def _handed_over(arrived: Arrived, reply: Reply, until: float, told: Sequence[int] = ()) -> int:
    """Writes the reply; returns the exit code."""
    streams = [(sys.stdout, reply.stdout), (sys.stderr, reply.stderr)]
    arrives, _ = deliver(streams, until, told)
    return reply.exit_code if arrives else _last_word(arrived)


def _give_up(arrived: Arrived) -> None:
    """The last answer, given from wherever this process waits. Does not return."""
    reply = _begun(arrived).refusal(HooklineError("its hooks did not answer in time"))
    os._exit(_handed_over(arrived, reply, monotonic() + GRACE))


def alone(argv: Sequence[str]) -> int:
    """The same in a process that was started for this event: its time began with it."""
    from hookline.daemon.beginning import started

    return main(argv, started())


async def _answered(arrived: Arrived) -> Reply:
    from hookline.journals import BriefJournals

    desk = Desk(BriefJournals())
    try:
        return await desk.respond(arrived)
    finally:
        await desk.aclose()


def _directory() -> str:
    """Where we are; what it was called before, where it was removed under us; else empty.

    The name that it had still tells whose project this is, as in the thin clients.
    """
    try:
        return os.getcwd()
    except OSError:
        pass
    try:
        name, deleted, rest = os.readlink("/proc/self/cwd").rpartition(" (deleted)")
        removed = os.stat(".").st_nlink == 0  # else it may be called so, and be out of reach
    except OSError:
        return ""
    return name if removed and deleted and not rest and name.startswith("/") else ""


def _begun(arrived: Arrived) -> Exchange:
    """As much of an exchange as can be had: who is calling, and for what."""
    exchange = Exchange(arrived)
    with suppress(HooklineError):
        exchange.begin()
        exchange.decoded()
    return exchange


def _last_word(arrived: Arrived) -> int:
    """The exit code when no answer could be written: 2 closes a gate, 1 has no effect."""
    event = _begun(arrived).event
    # Codex and Gemini CLI take an exit code of 2 for nothing when stderr is empty.
    word = b"hookline: the answer could not be written to stdout\n"
    deliver([(sys.stderr, word)], monotonic() + GRACE)
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
