"""A machine on which hookline is installed, and its platform's way of running what was written."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hookline.client import PROGRAM
from hookline.model.outcome import Reply
from support.cli import Machine

__all__ = ["DENIES", "gone", "install", "run", "tree"]

DENIES = """\
version: 1
hooks:
  - name: nothing is removed
    on: pre_tool_use
    match: {command: "rm *"}
    deny: Nothing is removed here.
  - name: nothing is deployed
    on: user_prompt_submit
    deny: Nothing is deployed here.
"""


def install(machine: Machine, *words: str, config: str = DENIES) -> None:
    """``hookline install``, for a person whose own config says no."""
    machine.user_file.parent.mkdir(parents=True, exist_ok=True)
    machine.user_file.write_text(config)
    done = machine.call("install", *words)
    assert done.code == 0, done.err


def run(
    machine: Machine,
    argv: Sequence[str],
    payload: Mapping[str, Any] | None = None,
    cwd: str | Path | None = None,
    **env: str,
) -> Reply:
    """What the client gets from a hook that it starts like this."""
    done = subprocess.run(
        list(argv),
        input=json.dumps(payload).encode() if payload is not None else b"",
        capture_output=True,
        cwd=cwd or machine.project,
        # A daemon that begins to stay while the test ends would outlive it.
        env={**machine.env, "HOOKLINE_NO_DAEMON": "1", **env},
        timeout=60,
        check=False,
    )
    return Reply(stdout=done.stdout, stderr=done.stderr, exit_code=done.returncode)


def gone(command: str) -> str:
    """The same command after its program was removed."""
    client = f"{PROGRAM} {sys.executable}"
    assert client in command
    return command.replace(client, "/nowhere/hookline")


def tree(*bases: Path) -> dict[str, bytes]:
    """Every file below these directories."""
    files = [path for base in bases for path in sorted(base.rglob("*")) if path.is_file()]
    return {str(path): path.read_bytes() for path in files}
