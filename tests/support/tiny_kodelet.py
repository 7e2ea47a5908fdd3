"""A very small Kodelet, to be run as a program in its place.

It asks the model over HTTP, runs a few tools, and asks executables in its hooks folders as recorded
sessions show that Kodelet does: each says once what it is for, and only JSON with exit code 0 counts.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

__all__ = ["put_kodelet"]


def put_kodelet(directory: Path, version: str = "0.4.22") -> Path:
    """An executable in ``directory`` that is this agent."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "kodelet"
    words = f'VERSION={version} exec {sys.executable} -I {Path(__file__).resolve()} "$@"'
    path.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def run(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, input=stdin, capture_output=True, text=True, check=False)


def discover() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for base in (Path(), Path(os.environ["HOME"])):
        for file in sorted(base.joinpath(".kodelet/hooks").glob("*")):
            kind = run(str(file.resolve()), "hook").stdout.strip()
            found.setdefault(kind, []).append(str(file.resolve()))
    return found


def fire(event: str, **fields: Any) -> dict[str, Any]:
    payload = {"event": event, "conv_id": "C1", "cwd": os.getcwd(), "invoked_by": "main", **fields}
    answer: dict[str, Any] = {}
    for hook in HOOKS.get(event, ()):
        ran = run(hook, "run", stdin=json.dumps(payload))
        if ran.returncode == 0 and ran.stdout.strip():
            answer |= json.loads(ran.stdout)
        if answer.get("blocked"):
            break
    return answer


def ask(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    tools = [{"name": "bash", "input_schema": {"type": "object"}}]
    body = {"model": "m", "messages": messages, "tools": tools, "max_tokens": 100}
    address = f"{os.environ['ANTHROPIC_BASE_URL']}/v1/messages"
    request = Request(address, json.dumps(body).encode(), {"content-type": "application/json"})
    with build_opener(ProxyHandler({})).open(request, timeout=30) as answer:
        said: list[dict[str, Any]] = json.load(answer)["content"]
    return said


def use(call: dict[str, Any]) -> dict[str, Any]:
    fields = {"tool_name": call["name"], "tool_input": call["input"], "tool_user_id": call["id"]}
    answer = fire("before_tool_call", **fields)
    if answer.get("blocked"):
        said = f"Tool execution was blocked by security hook: {answer.get('reason', '')}"
        return {"type": "tool_result", "tool_use_id": call["id"], "content": said, "is_error": True}
    given = answer.get("input", call["input"])
    output = perform(call["name"], given)
    result = {"toolName": call["name"], "success": True, "metadata": {"output": output}}
    fire("after_tool_call", **{**fields, "tool_input": given}, tool_output=result)
    return {"type": "tool_result", "tool_use_id": call["id"], "content": output}


def perform(name: str, given: dict[str, Any]) -> str:
    if name == "bash":
        ran = run("/bin/sh", "-c", given["command"])
        return ran.stdout + ran.stderr
    path = Path(given["file_path"])
    assert path.is_absolute(), "the tools for files take whole paths"
    if name == "file_write":
        path.write_text(given["text"])
    elif name == "file_edit":
        path.write_text(path.read_text().replace(given["old_text"], given["new_text"]))
    return path.read_text()


def main() -> None:
    """One session."""
    if sys.argv[1:] == ["version"]:
        sys.stdout.write(json.dumps({"version": f"{os.environ['VERSION']}-beta"}))
        return
    assert sys.argv[1:3] == ["run", "--no-save"]
    HOOKS.update(discover())
    prompt = sys.argv[-1]
    if fire("user_message_send", message=prompt).get("blocked"):
        sys.stderr.write("[ERROR] Failed to process query: message blocked by hook\n")
        return
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    while True:
        parts = ask(messages)
        messages.append({"role": "assistant", "content": parts})
        calls = [part for part in parts if part["type"] == "tool_use"]
        if calls:
            messages.append({"role": "user", "content": [use(call) for call in calls]})
            continue
        more = fire("agent_stop", messages=[]).get("follow_up_messages") or []
        if not more:
            return
        messages += [{"role": "user", "content": text} for text in more]


HOOKS: dict[str, list[str]] = {}

if __name__ == "__main__":
    main()
