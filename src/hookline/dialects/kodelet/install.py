"""Kodelet's hooks folder: one executable of ours for each type of hook."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from hookline.dialects._call import call_words, words_of
from hookline.dialects._spoken import refusal
from hookline.dialects.kodelet import DIALECT
from hookline.model.installing import (
    Call,
    Entry,
    Inactive,
    Installed,
    InstallError,
    Machine,
    Remains,
    Scope,
    Target,
)
from hookline.model.support import Support

__all__ = ["INSTALLER", "KodeletHooks"]

# By ADR 021 the last hook that succeeds is the one that counts, so ours sort last.
_PREFIX = "zz-hookline-"
# The client ends a hook after this, whatever anybody says.
_TIMEOUT = 30

_SCRIPT = """\
#!/bin/sh
# hookline's hook for {event}. `hookline uninstall kodelet` takes this file away.
case "$1" in
hook)
	echo {event}
	;;
run)
	{call}
	{ends}
	;;
esac
"""
# Exit codes mean nothing to the client: only words block. What a call that failed had printed
# before is dropped, since two answers are none.
_CLOSED = 'o=$("$@") && {{ printf %s "$o"; exit; }}\n\tprintf %s {said}'
_OPEN = '"$@"'
# Of all hooks after a tool the last that ends with 0 counts, silence included: one that is not
# there must not take back what another has redacted.
_ABSENT = 'command -v "$1" >/dev/null 2>&1 || exit {code}\n\t"$@"'

_CALL = re.compile(r"^\tset -- (.*)$", re.MULTILINE)
# The first version with extensions in place of hooks.
_WITHOUT_HOOKS = (0, 5, 0)


class KodeletHooks:
    """``~/.kodelet/hooks``, and ``.kodelet/hooks`` in a project."""

    id: ClassVar[str] = "kodelet"
    support: ClassVar[Support] = DIALECT.support
    scopes: ClassVar[tuple[Scope, ...]] = (Scope.USER, Scope.PROJECT)
    left_out: ClassVar[Mapping[str, str]] = {}
    takes_files: ClassVar[bool] = False
    clients: ClassVar[tuple[str, ...]] = ("kodelet",)

    def targets(self, machine: Machine, scope: Scope, *, shared: bool) -> Sequence[Target]:
        """One file for each type."""
        return [place for place in self.places(machine) if place.scope is scope]

    def places(self, machine: Machine) -> Sequence[Target]:
        """The user's files and the project's, which have one name: only one of both is run."""
        bases = {Scope.USER: machine.home, Scope.PROJECT: machine.project}
        return [
            Target(
                file=os.path.join(base, ".kodelet", "hooks", f"{_PREFIX}{event}"),
                scope=scope,
                personal=scope is Scope.USER,
                events=(event,),
                executable=True,
            )
            for scope, base in bases.items()
            for event in self.events()
        ]

    def events(self) -> Sequence[str]:
        """Every type of hook."""
        return list(self.support.events)

    def add(self, target: Target, content: bytes | None, call: Call) -> bytes:
        """The script; of one that a person changed only the call."""
        (event,) = target.events
        text = _text(content or b"")
        if not text.strip():
            return _script(event, call).encode()
        found = _CALL.search(text)
        if found is None or not self.inspect(target, text.encode()):
            raise InstallError("this is no script of hookline's: rename it, then install again")
        if not _is_ours(event, text):
            return f"{text[: found.start()]}{_call(event, call)}{text[found.end() :]}".encode()
        return _script(event, call).encode()

    def remove(self, target: Target, content: bytes, before: bytes | None = None) -> Remains:
        """Nothing; of a script that a person changed, all but the call."""
        (event,) = target.events
        text = _text(content)
        if _is_ours(event, text):
            return Remains(b"", empty=True)
        return Remains(_CALL.sub("\texit 0", text).encode())

    def inspect(self, target: Target, content: bytes) -> Sequence[Entry]:
        """The call in a script."""
        (event,) = target.events
        text = _text(content)
        return [Entry(event=event, words=words, written=text) for words in _calls(text)]

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        """A version without hooks, and what keeps our files from being run.

        `no_hooks` in a config is nothing: `kodelet run` ignores it.
        """
        return [*_without_hooks(machine), *_passed_over(machine, installed)]


def _without_hooks(machine: Machine) -> Iterator[Inactive]:
    program = machine.which("kodelet")
    version = machine.version((program, "version")) if program and machine.version else ()
    if version >= _WITHOUT_HOOKS:
        why = f"{program} is {'.'.join(map(str, version))}: since 0.5.0 Kodelet runs no hooks"
        yield Inactive(why, "use Kodelet 0.4.22 or older, or another agent")


def _passed_over(machine: Machine, installed: Sequence[Installed]) -> Iterator[Inactive]:
    ours = {each.target.file for each in installed}
    folder = os.path.join(machine.project, ".kodelet", "hooks")
    if ours and os.path.lexists(folder) and not os.path.isdir(folder):
        why = f"{folder} is no directory, and for this Kodelet runs no hooks at all here"
        yield Inactive(why, "remove it")
    for file in ours:
        other = os.path.join(folder, os.path.basename(file))
        if not _can_run(file):
            why = f"{file} is not executable, and Kodelet passes it over"
            yield Inactive(why, f"chmod +x {shlex.quote(file)}")
        elif other not in ours and _can_run(other):
            why = f"{other} has the name of hookline's file, and Kodelet runs it in its place"
            yield Inactive(why, "look at it and remove it")


def _can_run(path: str) -> bool:
    """As Kodelet sees it: any bit counts, and a file without one does not claim its name."""
    return os.path.isfile(path) and bool(os.stat(path).st_mode & 0o111)


def _text(content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InstallError("this is no script: its text is not UTF-8") from error


def _calls(text: str) -> Iterator[tuple[str, ...]]:
    for found in _CALL.finditer(text):
        words = words_of(found[1], DIALECT.id)
        if words:
            yield words


def _call(event: str, call: Call) -> str:
    seconds = min(call.timeout or _TIMEOUT, _TIMEOUT)
    return f"\tset -- {shlex.join(call_words(call, DIALECT.id, event, seconds))}"


def _script(event: str, call: Call) -> str:
    call = replace(call, file=f".kodelet/hooks/{_PREFIX}{event}")
    said = refusal(DIALECT, event, call)
    ends = _ABSENT.format(code=int(event == "after_tool_call")) if call.shared else _OPEN
    ends = _CLOSED.format(said=shlex.quote(said)) if said else ends
    return _SCRIPT.format(event=event, call=_call(event, call).lstrip(), ends=ends)


def _is_ours(event: str, text: str) -> bool:
    """Whether a script is as we write it, whatever it calls."""
    bare = _CALL.sub("\t", text)
    calls = (Call(program=("",), shared=shared) for shared in (True, False))
    return any(bare == _CALL.sub("\t", _script(event, call)) for call in calls)


INSTALLER = KodeletHooks()
