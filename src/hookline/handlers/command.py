"""Commands: a program gets the event on stdin and answers on stdout, stderr and by exit code.

Knows how a hook's program is started; must not know what its answer means or how it is run.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from hookline.handlers._environment import hook_directory, hook_environment
from hookline.handlers._exchange import (
    OUTPUT_CAP,
    as_asked,
    question,
    signal_name,
    tail,
    understood,
)
from hookline.model.answers import NOT_ASKED, PASS, Answer
from hookline.model.errors import (
    HandlerAnswerError,
    HandlerCrashed,
    HandlerTimeout,
    HandlerUnavailable,
)
from hookline.model.hook import Hook
from hookline.model.ports import Call, Handler, KeyProblem, PinnedFiles, Services
from hookline.shell import PathWord, read_path_words, split

if TYPE_CHECKING:
    from hookline.processes import Finished
    from hookline.shell.programs import Trouble

__all__ = ["COMBINES", "EXTRA_KEYS", "KEYS", "check", "make"]

KEYS: Mapping[str, Any] = {"run": str | list[str]}
EXTRA_KEYS: Mapping[str, Any] = {}
COMBINES: bool = False

_SHELL = ("/bin/sh", "-c")
_PROJECT = "HOOKLINE_PROJECT_DIR"
# How shells and interpreters end that cannot start, find or read what they were given.
_NOT_RUN = frozenset({0, 2, 126, 127})


def check(values: Mapping[str, Any], hook: Hook, services: Services) -> Sequence[KeyProblem]:
    """Whether there is a command at all."""
    return [KeyProblem("run", message, hint) for message, hint in _mistakes(values["run"])]


def make(hook: Hook, services: Services) -> Handler:
    """The handler for one command."""
    return Command(hook, services)


class Command:
    """A program of the user's, started anew for every event."""

    instant: ClassVar[Literal[False]] = False

    def __init__(self, hook: Hook, services: Services) -> None:
        self._command: str | Sequence[str] = hook.handler.values["run"]
        self._codec = services.codec(hook.speaks)
        self._services = services

    async def run(self, call: Call) -> Answer:
        """The program's answer."""
        event = as_asked(call)
        platform = self._codec.variables(event, call.caller) if call.hook.native else {}
        env = hook_environment(call, platform)
        start = call.hook.start
        if start is not None and start.answers_to:
            said = await self._finished(call, start.answers_to, b"", env)
            if said.exit_code != 0 or said.stdout.strip() != call.hook.native.encode():
                return NOT_ASKED
        stdin = question(self._codec, event, call.caller)
        if start is not None and start.background:
            await self._leave(call, stdin, env)
            return PASS
        finished = await self._finished(call, self._command, stdin, env)
        if start is not None and start.strict_exit and finished.exit_code not in {0, 2}:
            said_last = tail(finished.stderr)
            raise HandlerCrashed(f"exit code {_exit_code(finished, call)}{said_last}")
        return understood(
            self._codec,
            event,
            stdout=finished.stdout,
            stderr=finished.stderr,
            exit_code=_exit_code(finished, call),
        )

    async def _finished(
        self, call: Call, command: str | Sequence[str], stdin: bytes, env: Mapping[str, str]
    ) -> "Finished":
        # Slow to load, and an event may have no command to run.
        from hookline.processes import CannotStart, run

        files = self._services.pins(call.hook)
        try:
            argv = _argv(call, files, command, env)
            finished = await run(
                argv,
                stdin=stdin,
                cwd=hook_directory(call),
                env=env,
                timeout=call.timeout,
                output_cap=OUTPUT_CAP,
                umask=call.caller.umask,
            )
        except CannotStart as error:
            raise HandlerUnavailable(str(error)) from error
        files.finish()
        code = finished.exit_code
        codes = _NOT_RUN if call.event.continues else {0}
        if call.event.gate and code is not None and code in codes and command is self._command:
            given = argv[-1] if isinstance(command, str) else argv
            directory = hook_directory(call)
            if code or finished.stderr or _may_fail_in_silence(given, directory, env):
                said = tail(finished.stderr)
                _check_started(given, argv[0], code, said, directory, env)
        return finished

    async def _leave(self, call: Call, stdin: bytes, env: Mapping[str, str]) -> None:
        """Starts a program that nobody waits for."""
        from hookline.processes import CannotStart, run_behind

        try:
            await run_behind(
                _argv(call, self._services.pins(call.hook), self._command, env),
                stdin=stdin,
                cwd=hook_directory(call),
                env=env,
                timeout=call.hook.timeout,
                umask=call.caller.umask,
            )
        except CannotStart as error:
            raise HandlerUnavailable(str(error)) from error


def _may_fail_in_silence(
    command: str | Sequence[str], directory: str, env: Mapping[str, str]
) -> bool:
    """Whether what cannot start may leave stderr empty: that goes elsewhere, a shell was given
    a directory or a script with the line ends of Windows, or a script is empty.
    """
    text = command if isinstance(command, str) else " ".join(command)
    if ">" in text or "sh " in text:
        return True
    given = command if isinstance(command, str) else tuple(command)
    words = read_path_words(given, _PROJECT, env.get(_PROJECT, ""))
    return any(_is_empty(os.path.join(directory, each.path)) for each in words if each.is_executed)


def _is_empty(path: str) -> bool:
    try:
        return os.path.getsize(path) == 0
    except (OSError, ValueError):
        return False


def _check_started(
    command: str | Sequence[str],
    shell: str,
    exit_code: int,
    said: str,
    cwd: str,
    env: Mapping[str, str],
) -> None:
    """Raises HandlerUnavailable for a command that could not do its work.

    Exit code 2 keeps an agent going, and by it interpreters say that their script is missing or
    that they cannot read it.
    """
    from shutil import which

    from hookline.shell.programs import (
        find_command_troubles,
        find_last_programs,
        find_troubles,
        has_given_up,
    )

    def find_program(name: str) -> str | None:
        return which(name, path=env["PATH"])

    facts: Any = {"cwd": cwd, "variables": env, "shell": shell}
    troubles: list[Trouble] = []
    if exit_code == 2:  # which counts unless it is certain that nobody meant it
        for program in find_last_programs(command, **facts):
            found = find_troubles(program, find_program)
            troubles += [each for each in found if each.id != "script-empty"]  # which ends well
        if not troubles and has_given_up(command, shell, said.rpartition("\n")[2], env):
            raise HandlerUnavailable(f"it could not be read to its end{said}")
    else:
        troubles += find_command_troubles(command, which=find_program, **facts)
        if said and not exit_code and not troubles:
            # In a branch that need not have been taken; what was tried and failed is on stderr.
            found = find_command_troubles(command, which=find_program, reads_branches=True, **facts)
            troubles += [each for each in found if _tells_of(said, each)]
    for trouble in troubles:
        raise HandlerUnavailable(f"{trouble.what} ({trouble.fix})")


def _tells_of(said: str, trouble: "Trouble") -> bool:
    return os.path.basename(trouble.what.split("`")[1]) in said


def _argv(
    call: Call, files: PinnedFiles, command: str | Sequence[str], env: Mapping[str, str]
) -> list[str]:
    """What to execute, with trusted copies in place of files that are not as trusted."""
    directory = hook_directory(call)

    def copy_of(word: PathWord) -> str | None:
        # Other words are data, unless the hook says that they are pinned, too.
        is_pinned = word.is_executed or (word.is_argument and bool(call.hook.pins))
        if not word.text or not is_pinned or word.is_on_path or word.is_computed:
            return None
        return files.stand_in(os.path.join(directory, word.path))

    copies = list(_copies(read_path_words(command, _PROJECT, env.get(_PROJECT, "")), copy_of))
    files.start()
    if isinstance(command, str):
        shell = call.hook.start.interpreter if call.hook.start is not None else _SHELL
        return [*shell, _substitute(command, copies)]
    changed = {word.start: copy for word, copy in copies}
    return [changed.get(at, word) for at, word in enumerate(command)]


def _copies(
    words: Sequence[PathWord], copy_of: Callable[[PathWord], str | None]
) -> Iterator[tuple[PathWord, str]]:
    """What to write in place of words, and of those in the code that the command gives to shells.

    Raises HandlerUnavailable for what is executed without standing there as a word.
    """
    for word in words:
        inner = list(_copies(word.code, copy_of))
        copy = _substitute(word.text, inner) if inner else copy_of(word)
        if copy is not None and word.start < 0:
            message = f"`{word.text}` is not as it was trusted, and the command cannot run a copy"
            raise HandlerUnavailable(f"{message}: look at it and run `hookline trust`")
        if copy is not None:
            yield word, copy


def _substitute(script: str, copies: Sequence[tuple[PathWord, str]]) -> str:
    from shlex import quote

    parts = []
    done = 0
    for word, copy in copies:
        parts += [script[done : word.start], quote(copy)]
        done = word.end
    return "".join([*parts, script[done:]])


def _exit_code(finished: "Finished", call: Call) -> int:
    """The exit code of a program that ended by itself. Raises HandlerError for any other."""
    if finished.timed_out:
        raise HandlerTimeout(call.timeout)
    said = tail(finished.stderr)
    if finished.stdout_cut:
        raise HandlerAnswerError(f"it printed more than {OUTPUT_CAP:,} bytes{said}")
    code = finished.exit_code
    if code is None:
        raise HandlerCrashed(f"how it ended is unknown{said}")
    if code < 0:
        raise HandlerCrashed(f"killed by {signal_name(-code)}{said}")
    return code


def _mistakes(command: str | Sequence[str]) -> Iterator[tuple[str, str]]:
    words = [command] if isinstance(command, str) else command
    if not words or not words[0].strip():
        yield "`run` has no command", "write a shell command, or a list of a program and arguments"
    elif any("\0" in word for word in words):
        yield "the command has a NUL character", ""
    elif isinstance(command, str):
        yield from _syntax_mistakes(command)


def _syntax_mistakes(script: str) -> Iterator[tuple[str, str]]:
    import shlex

    try:
        shlex.split(script, comments=True)
    except ValueError as error:
        # It knows neither here-documents nor quotes inside `$(…)`, so the parser must agree.
        if "<<" not in script and split(script).unreadable:
            yield f"the shell command cannot be read: {error}".lower(), ""
