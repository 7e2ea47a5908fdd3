"""A PreToolUse is followed end to end in five files, and a newcomer can rely on it."""

import io
import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import hookline
from hookline.cli import hook as hook_command

SRC = Path(hookline.__file__).parent
FIVE = {
    "cli/hook.py",
    "dialects/canonical/codec.py",
    "engine/engine.py",
    "handlers/command.py",
    "engine/merge.py",
}
# Beside the five: nouns, set-up before the event, leaves that know nothing of hooks, and helpers
# that start with `_` and serve one module.
ASIDE = ("model/", "config/", "store/", "shell/", "processes/", "app.py", "registry.py")


def entered(run: Any) -> set[str]:
    """The files of ours in which a function was called during ``run``."""
    files: set[str] = set()

    def watch(frame: FrameType, event: str, arg: object) -> None:
        # Importing a module runs its body; only calls tell where an event travels.
        if event == "call" and frame.f_code.co_name != "<module>":
            files.add(frame.f_code.co_filename)

    sys.setprofile(watch)
    try:
        run()
    finally:
        sys.setprofile(None)
    return {str(Path(name).relative_to(SRC)) for name in files if name.startswith(str(SRC))}


def test_a_pre_tool_use_is_followed_in_five_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    config = tmp_path / "hookline.yaml"
    config.write_text(
        "version: 1\nhooks:\n"
        "  - {name: no, on: pre_tool_use, run: 'echo too dangerous >&2; exit 2'}\n"
        "  - {name: note, on: pre_tool_use, run: 'echo take care'}\n",
        encoding="utf-8",
    )
    payload = {"event": "pre_tool_use", "tool": {"name": "shell", "command": "rm -rf /"}}
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(payload).encode())))
    argv = ["canonical", "pre_tool_use", "--home", str(tmp_path), "--config", str(config)]

    files = entered(lambda: hook_command.main(argv))

    answer = json.loads(capfdbinary.readouterr().out)
    assert answer["verdict"] == "deny"
    stages = {
        name for name in files if not name.startswith(ASIDE) and not Path(name).name.startswith("_")
    }
    assert stages - {"engine/plan.py"} == FIVE
