"""Converted files as their new platform runs them: real processes, judged by client models."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from hookline import registry
from hookline.converting.platforms import platform
from hookline.model.events import Event, PreToolUse
from hookline.model.native import NativeEntry
from hookline.model.outcome import Reply
from hookline.model.tools import tool
from support.cli import Machine
from support.clients.effects import Effect

__all__ = ["adapters", "effects", "environment", "run", "shell_call"]


def environment(project: Path) -> dict[str, str]:
    """A person's, with hookline on the PATH and a state of its own."""
    return {
        **{name: os.environ[name] for name in os.environ if name.startswith("COVERAGE_")},
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(project / "home"),
        "HOOKLINE_HOME": str(project / "state"),
        "LC_ALL": "C.UTF-8",
    }


def shell_call(name: str, command: str, project: Path) -> tuple[str, Event, bytes]:
    """A shell command about to run on a platform: its native event, the event, the payload."""
    dialect: Any = registry.dialect(name)
    native = next(n for n, row in dialect.support.events.items() if row.event == "pre_tool_use")
    given = tool("shell", command=command)
    event = PreToolUse(tool=given, session_id="s1", cwd=str(project))
    return native, event, dialect.stdin(replace(event, dialect=name, native_event=native))


def run(argv: list[str], payload: bytes, project: Path) -> Reply:
    """A hook's process."""
    done = subprocess.run(
        argv,
        input=payload,
        capture_output=True,
        cwd=project,
        env=environment(project),
        timeout=60,
        check=False,
    )
    return Reply(stdout=done.stdout, stderr=done.stderr, exit_code=done.returncode)


def effects(
    name: str,
    files: dict[str, bytes],
    command: str,
    project: Path,
    machine: Machine | None = None,
) -> list[Effect]:
    """What the client does with the reply of each hook that it asks about a shell command.

    With a ``machine`` the adapter runs in this process: the same, and quicker.
    """
    native, event, payload = shell_call(name, command, project)
    model = import_module(f"support.clients.{name.replace('-', '_')}")
    return [
        model.obey(native, _reply(argv, payload, project, machine), json.loads(payload))
        for path, content in files.items()
        for argv in _asked(name, project / path, content, native, event, project)
    ]


def _reply(argv: list[str], payload: bytes, project: Path, machine: Machine | None) -> Reply:
    if machine is None:
        return run(argv, payload, project)
    words = _adapter(Path(argv[0]).read_text(encoding="utf-8") if argv[-1] == "run" else argv[-1])
    done = machine.call(*words, stdin=payload)
    return Reply(stdout=done.out.encode(), stderr=done.err.encode(), exit_code=done.code)


def adapters(name: str, files: Mapping[str, bytes]) -> dict[str, list[str]]:
    """The adapter's words for each event of a new file."""
    if name == "kodelet":
        lines = [content.decode() for content in files.values()]
    else:
        read = [platform(name).rules.read(f"/srv/{path}", text) for path, text in files.items()]
        lines = [_line(entry) for file in read for entry in file.entries]
    words = [_adapter(line) for line in lines]
    return {each[each.index("--on") + 1]: each for each in words}


def _adapter(line: str) -> list[str]:
    """The adapter's words in a line for a shell, or in one of Kodelet's programs."""
    script = line.partition("\nrun)")[2].partition("\n  ;;")[0] or line
    words = shlex.split(script)
    return words[words.index("adapt") :]


def _asked(
    name: str, path: Path, content: bytes, native: str, event: Event, project: Path
) -> list[list[str]]:
    """The command lines that the platform starts for one event."""
    rules: Any = platform(name).rules
    read = rules.read(str(path), content)
    if name == "kodelet":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(0o755)
        says = run([str(path), "hook"], b"", project).stdout.decode().strip()
        return [[str(path), "run"]] if says == native else []
    return [
        [*rules.start(entry).interpreter, _line(entry)]
        for entry in read.entries
        if entry.event == native and rules.matches(entry, event)
    ]


def _line(entry: NativeEntry) -> str:
    assert isinstance(entry.command, str)
    return entry.command
