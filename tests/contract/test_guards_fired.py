"""Every builtin guard through ``hookline fire``: as a person types it, and with any client's payload."""

import json
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from support.cli import Machine
from support.guard_cases import PROMPTED, SHOWN, STOPPED, TOKEN
from support.guarded import FILES, lanes
from support.native_acts import arrivals


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    made = Machine(tmp_path, capfdbinary)
    for name, text in FILES.items():
        made.write(name, text)
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "Begin")):
        subprocess.run(["git", *who, *words], cwd=made.project, env=made.env, check=True)
    return made


def configured(machine: Machine, *uses: Mapping[str, Any]) -> str:
    path = machine.base / "guards.yaml"
    path.write_text(json.dumps({"version": 1, "hooks": list(uses)}), encoding="utf-8")
    return str(path)


# ── as a person types it, in a process of its own ──

BEFORE = ("pre_tool_use", "--tool", "shell", "--command")
AFTER = ("post_tool_use", "--tool", "shell", "--output")
LOCK_FILE = ("pre_tool_use", "--tool", "write", "--path", "package-lock.json")
ON_POST = {"on": "post_tool_use"}
MCP = {"with": {"allow": ["lab"], "deny": ["lab.drop_all"]}}

TYPED: Mapping[str, tuple[Mapping[str, Any], Sequence[str], Sequence[str], str]] = {
    "shell-guard": ({}, (*BEFORE, "rm -rf ~"), (*BEFORE, "ls ~"), "deny"),
    "safer_shell": ({}, (*BEFORE, "rm -rf build"), (*BEFORE, "ls -la"), "ask"),
    "protect-paths": ({}, LOCK_FILE, (*LOCK_FILE[:-1], "package.json"), "ask"),
    "protect-branches": ({}, (*BEFORE, "git push origin main"), (*BEFORE, "git push origin x"), "deny"),
    "no-secrets-in": ({}, ("user_prompt_submit", "--prompt", TOKEN), ("user_prompt_submit", "--prompt", "x"), "deny"),
    "mcp-guard": (MCP, ("pre_tool_use", "--tool", "mcp__lab__drop_all"), ("pre_tool_use", "--tool", "mcp__lab__echo"), "deny"),
    "redact-secrets": ({}, (*AFTER, f"x {TOKEN}"), (*AFTER, "x"), f"x {SHOWN}"),
    "limit-output": ({}, (*AFTER, "x\n" * 3000), (*AFTER, "x\n" * 3), "in 3000 lines"),
    "limit_large_tool_results": (ON_POST, (*AFTER, "x\n" * 3000), (*AFTER, "x\n" * 3), "in 3000 lines"),
    "compress-output": ({}, (*AFTER, "x\n" * 3000), (*AFTER, "x\n"), "2999 times more"),
}  # fmt: skip


@pytest.mark.parametrize("guard", TYPED)
def test_a_person_sees_what_a_guard_says_and_that_it_leaves_the_twin_alone(
    machine: Machine, guard: str
) -> None:
    keys, act, twin, says = TYPED[guard]
    config = configured(machine, {"use": guard, **keys})
    # So that what is kept of an output goes with the test.
    where = {"TMPDIR": str(machine.base)}
    said = machine.run("fire", *act, "--config", config, "--json", **where)
    assert (said.code, said.err) == (0, "")
    if says in {"deny", "ask"}:
        assert said.json["verdict"] == says
        assert guard in [run["hook"] for run in said.json["runs"]]
    else:
        assert says in said.json["rewrite"]["output"]
    assert TOKEN not in json.dumps({key: said.json[key] for key in ("reason", "notice", "rewrite")})
    left = machine.run("fire", *twin, "--config", config, "--json", **where).json
    assert (left["verdict"], left["rewrite"]) == ("pass", {})
    assert [run["failed"] for run in left["runs"]] == [None]


# ── with any client's payload ──


CASES = {**STOPPED, "a secret in a prompt": PROMPTED}


@pytest.mark.parametrize("name", CASES)
def test_payloads_of_every_platform_are_judged_alike(machine: Machine, name: str) -> None:
    case = CASES[name]
    config = configured(machine, {"use": case.guard, "with": dict(case.options)})
    told = [each for act in (case.act, case.twin) for each in arrivals(act, str(machine.project))]
    verdicts = {}
    for dialect in registry.dialect_names():
        lines = [json.dumps(each.payload) for each in told if each.dialect == dialect]
        words = ("fire", "--jsonl", "--as", dialect, "--config", config)
        done = machine.call(*words, stdin="\n".join(lines))
        verdicts[dialect] = [line["verdict"] for line in done.lines]
    ways = Counter(lane.split()[0] for lane in lanes(case.act))
    assert verdicts == {
        dialect: [case.says] * ways[dialect] + ["pass"] * ways[dialect]
        for dialect in registry.dialect_names()
    }
