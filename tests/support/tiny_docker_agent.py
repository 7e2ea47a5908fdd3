"""A very small docker-agent, to be run as a program in its place.

It reads an agent file, asks the model over HTTP, runs a few tools, and obeys hooks as recorded
sessions show that docker-agent does: both lanes before a tool, rewrites of what a tool printed, a
blocked prompt, context in front of the conversation, and sub-agents with hooks of their own.
"""

import json
import os
import subprocess
import sys
import tty
from pathlib import Path
from typing import Any
from urllib.request import ProxyHandler, Request, build_opener

import yaml

__all__ = ["put_docker_agent"]

TOOLS = ("shell", "write_file", "edit_file", "read_file", "transfer_task")


def put_docker_agent(directory: Path, version: str = "1.123.0") -> Path:
    """An executable in ``directory`` that is this agent."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "docker-agent"
    words = f'VERSION={version} exec {sys.executable} -I {Path(__file__).resolve()} "$@"'
    path.write_text(f"#!/bin/sh\n{words}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


class Blocked(Exception):
    """A hook has ended the run."""


class Run:
    """One agent at one piece of work."""

    def __init__(self, config: dict[str, Any], name: str, *, yolo: bool) -> None:
        self.config, self.name, self.yolo = config, name, yolo
        self.agent = config["agents"][name]
        self.hooks = self.agent.get("hooks") or {}
        self.session = f"S-{name}"

    def go(self, prompt: str, task: str = "") -> str:
        context = self.fire("session_start", source="startup")
        if not task:
            context += self.fire("user_prompt_submit", prompt=prompt)
        system = "\n".join([self.agent["instruction"], task, *context])
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": system},
            {"role": "user", "content": prompt},
        ]
        while True:
            self.fire("turn_start")
            self.fire("before_llm_call")
            answer = self.ask(messages)
            messages.append(answer)
            calls = answer.get("tool_calls") or []
            for call in calls:
                function = call["function"]
                arguments = json.loads(function["arguments"])
                told = self.use(call["id"], function["name"], arguments)
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": told})
            if not calls:
                self.fire("stop")
                self.fire("session_end", reason="stream_ended")
                return str(answer.get("content") or "")

    def ask(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        model = self.config["models"][self.agent["model"]]
        tools = [{"type": "function", "function": {"name": name}} for name in TOOLS]
        body = {"model": model["model"], "messages": messages, "tools": tools}
        key = os.environ[model["token_key"]]
        head = {"content-type": "application/json", "authorization": f"Bearer {key}"}
        address = f"{model['base_url']}/chat/completions"
        request = Request(address, json.dumps(body).encode(), head)
        with build_opener(ProxyHandler({})).open(request, timeout=30) as said:
            found: dict[str, Any] = json.load(said)["choices"][0]["message"]
        return found

    # ── tools ──

    def use(self, id: str, name: str, arguments: dict[str, Any]) -> str:
        fields = {"tool_name": name, "tool_use_id": id, "tool_input": arguments}
        decision, reason = self.decide(fields, preempt=True)
        if not decision and not self.yolo:
            decision, reason = self.decide(fields, preempt=False)
        if decision == "deny":
            return f"Tool call blocked by hook: {reason}"
        if (decision == "ask" or (not decision and not self.yolo)) and not is_allowed(
            name, arguments
        ):
            return "The user rejected the tool call."
        try:
            output = self.perform(name, arguments)
        except OSError as error:
            output = str(error)
        for answer in self.answers("tool_response_transform", fields | {"tool_response": output}):
            own = answer.get("hook_specific_output") or {}
            output = own.get("updated_tool_response", output)
        self.fire("post_tool_use", **fields, tool_response=output)
        return output

    def decide(self, fields: dict[str, Any], *, preempt: bool) -> tuple[str, str]:
        found = ("", "")
        for answer in self.answers("pre_tool_use", fields, preempt=preempt):
            own = answer.get("hook_specific_output") or {}
            said = own.get("permission_decision")
            if said == "deny" or (said and not found[0]):
                found = (said, own.get("permission_decision_reason", ""))
        return found

    def perform(self, name: str, arguments: dict[str, Any]) -> str:
        if name == "transfer_task":
            inner = Run(self.config, arguments["agent"], yolo=self.yolo)
            return inner.go("Please proceed.", f"Your task: {arguments['task']}")
        if name == "shell":
            words = ["/bin/sh", "-c", arguments["cmd"]]
            ran = subprocess.run(words, capture_output=True, text=True, check=False)
            return ran.stdout + ran.stderr
        path = Path(arguments["path"])
        if name == "write_file":
            path.write_text(arguments["content"])
        elif name == "edit_file":
            text = path.read_text()
            for each in arguments["edits"]:
                text = text.replace(each["oldText"], each["newText"])
            path.write_text(text)
        return path.read_text()

    # ── hooks ──

    def fire(self, event: str, **fields: Any) -> list[str]:
        context = []
        for answer in self.answers(event, fields):
            if answer.get("decision") == "block" or answer.get("continue") is False:
                raise Blocked(answer.get("reason") or answer.get("stop_reason") or "blocked")
            own = answer.get("hook_specific_output") or {}
            context += [text for text in (own.get("additional_context"),) if text]
        return context

    def answers(self, event: str, fields: dict[str, Any], *, preempt: bool = False) -> list[Any]:
        entries = self.hooks.get(event) or []
        handlers = [
            handler
            for entry in entries
            for handler in entry.get("hooks", [entry])
            if bool(entry.get("preempt_yolo")) is preempt
        ]
        payload = {"session_id": self.session, "cwd": os.getcwd(), "hook_event_name": event}
        payload |= {"agent_name": self.name, **fields}
        return [self.answer(handler, payload) for handler in handlers]

    def answer(self, handler: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
        ran = subprocess.run(
            [os.environ.get("SHELL", "/bin/sh"), "-c", handler["command"]],
            input=json.dumps(payload),
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode == 2:
            return {"decision": "block", "reason": ran.stderr}
        found = json.loads(ran.stdout) if ran.stdout.strip() else {}
        return found if isinstance(found, dict) else {}


def is_allowed(name: str, arguments: dict[str, Any]) -> bool:
    """What a person says; with nobody there, the program answers its own question with no."""
    if not sys.stdout.isatty():
        return False
    sys.stdout.write(f"Calling {name}({json.dumps(arguments)})\n\nCan I run this tool? ")
    tty.setcbreak(0)  # it drops what was typed before: nobody may have seen the question by then
    sys.stdout.write("([y]es/[b]alanced/[a]ll/[n]o): ")
    sys.stdout.flush()
    return os.read(0, 1) == b"y"


def main() -> None:
    """One session."""
    if sys.argv[1:] == ["version"]:
        sys.stdout.write(f"docker-agent version v{os.environ['VERSION']}\n")
        return
    assert sys.argv[1:3] == ["run", "--exec"]
    file, prompt = sys.argv[3], sys.argv[-1]
    config = yaml.safe_load(Path(file).read_text())
    try:
        sys.stdout.write(Run(config, "root", yolo="--yolo" in sys.argv).go(prompt))
    except Blocked as block:
        sys.stderr.write(f"{block}\n")
        sys.exit(1)


if __name__ == "__main__":
    main()
