"""How many files an event passes through is a committed number: a rise needs a reason."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import hookline
from hookline.pipeline.answer import answer
from hookline.pipeline.call import Call
from hookline.pipeline.parts import LastingJournals, Parts

SRC = Path(hookline.__file__).parent
# Frozen: what is counted is the way of an event, not what a config happens to hold.
CONFIG = """\
version: 1
hooks:
  - {name: guard, on: pre_tool_use, use: shell-guard}
  - {name: note, on: pre_tool_use, run: 'echo take care'}
"""
PAYLOAD = {
    "session_id": "s1",
    "transcript_path": "/tmp/t.jsonl",
    "hook_event_name": "PreToolUse",
    "permission_mode": "default",
    "tool_name": "Bash",
    "tool_input": {"command": "git push --force origin main", "description": "push"},
    "tool_use_id": "toolu_1",
}
COLD, WARM = 127, 63


def entered(run: Callable[[], object]) -> set[str]:
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


def trace(directory: Path) -> list[list[str]]:
    """The files of the first event of a process, and those of the second."""
    config = directory / "hookline.yaml"
    config.write_text(CONFIG, encoding="utf-8")
    options = ["--home", str(directory / "state"), "--config", str(config)]
    call = Call(
        argv=["claude-code", "PreToolUse", *options],
        payload=json.dumps(PAYLOAD | {"cwd": str(directory)}).encode(),
        env={"PATH": "/usr/bin:/bin", "HOME": str(directory)},
        cwd=str(directory),
    )
    with asyncio.Runner() as runner:
        parts = Parts(LastingJournals())

        def fire() -> None:
            reply = runner.run(answer(call, parts))
            assert b'"permissionDecision":"' in reply.stdout

        files = [sorted(entered(fire)) for _ in range(2)]
        runner.run(parts.aclose())
    return files


def test_an_event_passes_through_no_more_files_than_before(tmp_path: Path) -> None:
    # A process of its own: what other tests have loaded and kept would count for cold.
    told = subprocess.run(
        [sys.executable, __file__, str(tmp_path)], capture_output=True, check=True, timeout=60
    )
    cold, warm = json.loads(told.stdout)
    # Not equal: whether a callback of the journal runs before or after the second event is chance.
    assert len(cold) <= COLD, "\n".join(cold)
    assert len(warm) <= WARM, "\n".join(warm)


if __name__ == "__main__":
    print(json.dumps(trace(Path(sys.argv[1]))))
