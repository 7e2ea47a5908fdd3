"""A very small coding agent, to be run as a program in place of Claude Code.

It asks the model over HTTP, runs shell commands, and obeys PreToolUse and PostToolUse hooks of its
home's settings the way Claude Code does: everything that a session in the lab is made of, without
a client to install.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

__all__ = ["put_agent"]


def put_agent(directory: Path, name: str = "claude", version: str = "2.1.325") -> str:
    """An executable in ``directory`` that is this agent and says that it has this version."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    words = f'VERSION={version} exec {sys.executable} -I {Path(__file__).resolve()} "$@"'
    path.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def main() -> None:
    """One session."""
    if "--version" in sys.argv:
        sys.stdout.write(f"{os.environ['VERSION']} (Tiny Agent)\n")
        return
    messages = [{"role": "user", "content": sys.argv[-1]}]
    for _ in range(50):
        answer = ask(messages)
        messages.append({"role": "assistant", "content": answer["content"]})
        calls = [part for part in answer["content"] if part["type"] == "tool_use"]
        if not calls:
            return
        messages.append({"role": "user", "content": [result(call) for call in calls]})


def ask(messages: list[dict[str, object]]) -> dict[str, list[dict[str, object]]]:
    """The model's next words."""
    tool = {"name": "Bash", "input_schema": {"type": "object"}}
    body = {"model": "m", "messages": messages, "tools": [tool], "max_tokens": 100}
    request = Request(
        f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages",
        json.dumps(body).encode(),
        {"content-type": "application/json"},
    )
    with build_opener(ProxyHandler({})).open(request, timeout=30) as answer:
        said: dict[str, list[dict[str, object]]] = json.load(answer)
    return said


def result(call: dict[str, object]) -> dict[str, object]:
    """Run a tool call, if the hooks let it."""
    part = {"type": "tool_result", "tool_use_id": call["id"]}
    refusal = hooks("PreToolUse", call)
    if refusal:
        return part | {"content": refusal, "is_error": True}
    command = str(call["input"]["command"])  # type: ignore[index]
    ran = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    hooks("PostToolUse", call | {"response": {"stdout": ran.stdout, "stderr": ran.stderr}})
    return part | {"content": ran.stdout + ran.stderr}


def hooks(event: str, call: dict[str, object]) -> str:
    """What the hooks for an event say against it."""
    settings = Path(os.environ["HOME"], ".claude/settings.json")
    found = json.loads(settings.read_text(encoding="utf-8")) if settings.exists() else {}
    payload = {
        "session_id": "tiny",
        "cwd": os.path.abspath("."),
        "hook_event_name": event,
        "tool_name": call["name"],
        "tool_input": call["input"],
        "tool_use_id": call["id"],
    }
    if "response" in call:
        payload["tool_response"] = call["response"]
    for group in found.get("hooks", {}).get(event, []):
        for hook in group["hooks"]:
            argv = [hook["command"], *hook.get("args", [])]
            run = argv if hook.get("args") else ["/bin/sh", "-c", hook["command"]]
            ran = subprocess.run(
                run, input=json.dumps(payload), capture_output=True, text=True, check=False
            )
            said = json.loads(ran.stdout) if ran.stdout.startswith("{") else {}
            specific = said.get("hookSpecificOutput", {})
            if specific.get("permissionDecision") == "deny":
                return str(specific["permissionDecisionReason"])
            if ran.returncode == 2:
                return ran.stderr
    return ""


if __name__ == "__main__":
    main()
