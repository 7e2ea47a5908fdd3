"""A PreToolUse is followed end to end in five files, and a newcomer can rely on it."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import hookline.app
from hookline import registry
from hookline.cli import hook as hook_command

SRC = Path(hookline.__file__).parent
FIVE = {
    "cli/hook.py",
    "dialects/canonical/codec.py",
    "engine/engine.py",
    "handlers/command.py",
    "engine/merge.py",
}
# Beside the five: nouns, the trusted bytes of a program, the journal, leaves that know nothing of hooks, and
# helpers that start with `_` and serve one module.
ASIDE = (
    "model/",
    "config/copies.py",
    "store/",
    "secrets/",
    "shell/",
    "processes/",
    "app.py",
    "sessions.py",
    "journals.py",
    "registry.py",
)
# Set-up before the event and tidying up after it are one call each.
ONE_CALL = {"_pins_for", "config_for", "engine_for", "_settle", "files_of", "__init__", "aclose"}


def entered(run: Callable[[], object]) -> set[str]:
    """The files of ours in which a function was called during ``run``, set-up aside."""
    files: set[str] = set()
    aside: list[FrameType] = []

    def watch(frame: FrameType, event: str, arg: object) -> None:
        code = frame.f_code
        if event == "call":
            if code.co_filename.endswith("hookline/app.py") and code.co_name in ONE_CALL:
                aside.append(frame)
            # Importing a module runs its body; only calls tell where an event travels.
            elif not aside and code.co_name != "<module>":
                files.add(code.co_filename)
        elif event == "return" and aside and aside[-1] is frame:
            aside.pop()

    registry.handlers()  # importing modules is set-up, too
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
    assert stages == FIVE
