"""A very small coding agent, to be run as a program in place of Claude Code.

It asks the model over HTTP, runs shell commands, and obeys PreToolUse and PostToolUse hooks of its
home's settings the way Claude Code does: everything that a session in the lab is made of, without
a client to install. With ``--permission-prompt-tool`` it asks a person over stdin and stdout.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from urllib.request import ProxyHandler, Request, build_opener

__all__ = ["put_agent"]

PERSON = "--permission-prompt-tool" in sys.argv


def put_agent(directory: Path, name: str = "claude", version: str = "") -> str:
    """An executable in ``directory`` that is this agent; without a version, it says the pinned."""
    if not version:
        # Here, because the agent itself is run without any of our packages.
        from hookline.lab.clients.claude_code import CLIENT

        version = CLIENT.package.version
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
    prompt = json.loads(sys.stdin.readline())["message"]["content"] if PERSON else sys.argv[-1]
    messages = [{"role": "user", "content": prompt}]
    for _ in range(50):
        answer = ask(messages)
        messages.append({"role": "assistant", "content": answer["content"]})
        calls = [part for part in answer["content"] if part["type"] == "tool_use"]
        if not calls:
            break
        messages.append({"role": "user", "content": [result(call) for call in calls]})
    sys.stdout.write('{"type": "result"}\n')


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
    decision, reason = hooks("PreToolUse", call)
    if decision == "ask" or (decision == "pass" and PERSON):
        decision = person(call)
    if decision == "deny":
        return part | {"content": reason, "is_error": True}
    command = str(call["input"]["command"])  # type: ignore[index]
    ran = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    hooks("PostToolUse", call | {"response": {"stdout": ran.stdout, "stderr": ran.stderr}})
    return part | {"content": ran.stdout + ran.stderr}


def person(call: dict[str, object]) -> str:
    """What the person decides; without one, nothing is allowed."""
    if not PERSON:
        return "deny"
    request = {"subtype": "can_use_tool", "tool_name": call["name"], "input": call["input"]}
    asked = {"type": "control_request", "request_id": call["id"], "request": request}
    print(json.dumps(asked), flush=True)
    answer = json.loads(sys.stdin.readline())["response"]
    assert answer["request_id"] == call["id"]
    return str(answer["response"]["behavior"])


def hooks(event: str, call: dict[str, object]) -> tuple[str, str]:
    """What the hooks for an event decide, and why."""
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
            if decision := specific.get("permissionDecision"):
                return decision, str(specific.get("permissionDecisionReason", ""))
            if ran.returncode == 2:
                return "deny", ran.stderr
    return "pass", ""


if __name__ == "__main__":
    main()
