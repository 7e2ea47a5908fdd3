"""Law 8: hookline's own calls fire no hooks, and an agent that a hook starts is guarded like any."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFIG = """
version: 1
hooks:
  - name: no removing
    on: pre_tool_use
    match: {{tool: shell, command: "rm *"}}
    deny: MK_DENY
  - name: starts an agent of its own
    on: session_start
    run: ["{python}", "{agent}"]
"""
AGENT = """
import os, subprocess, sys
payload = '{{"event": "pre_tool_use", "tool": {{"name": "shell", "command": "rm x"}}}}'
argv = [sys.executable, "-m", "hookline", "hook", "canonical", "pre_tool_use", *{options!r}]
done = subprocess.run(argv, input=payload, capture_output=True, text=True)
print("inner agent was told:", done.stdout.replace('"', "'"), "at depth", os.environ["HOOKLINE_DEPTH"])
"""


@pytest.fixture
def options(tmp_path: Path) -> list[str]:
    config, agent = tmp_path / "hookline.yaml", tmp_path / "agent.py"
    options = ["--home", str(tmp_path / "state"), "--config", str(config)]
    config.write_text(CONFIG.format(python=sys.executable, agent=agent), encoding="utf-8")
    agent.write_text(AGENT.format(options=options), encoding="utf-8")
    return options


def hook(event: str, options: list[str], **env: str) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "hook", "canonical", event, *options],
        input=json.dumps({"event": event}),
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        check=True,
    )
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_an_agent_that_a_hook_starts_is_guarded_like_any_other(options: list[str]) -> None:
    (told,) = hook("session_start", options)["context"]  # type: ignore[misc]
    assert "'verdict':'deny'" in told
    assert "MK_DENY" in told
    assert "at depth 1" in told


@pytest.mark.parametrize(("depth", "verdict"), [("3", "pass"), ("4", "deny"), ("x", "deny")])
def test_agents_inside_agents_inside_agents_end_closed(
    options: list[str], depth: str, verdict: str
) -> None:
    assert hook("pre_tool_use", options, HOOKLINE_DEPTH=depth)["verdict"] == verdict
