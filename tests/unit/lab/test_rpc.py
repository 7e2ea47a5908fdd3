"""Conversations in JSON-RPC with a real process at the other end."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hookline.lab.clients._codex_talk import Talk, approve, refuse
from hookline.lab.clients._rpc import Message, Rpc
from hookline.model.errors import HooklineError

# Reads one line, says the lines it was given for that method, and so on.
PEER = """
import json, sys
script = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    for said in script.get(message.get("method", "answer"), []):
        text = said if isinstance(said, str) else json.dumps(said)
        print(text.replace('"ID"', json.dumps(message.get("id"))), flush=True)
    if message.get("method") == "die":
        break
"""


class Pipes:
    """A dialogue with a process, which is ended by the end of its input."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def write(self, data: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def readline(self) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.readline()


@contextmanager
def peer(**script: list[object]) -> Iterator[Pipes]:
    argv = [sys.executable, "-I", "-c", PEER, json.dumps(script)]
    pipes = subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipes, stdout=pipes) as process:
        yield Pipes(process)


def yes(question: Message) -> Message:
    return {"said": question["params"]["word"]}


def test_an_answer_is_found_among_all_that_is_said_meanwhile() -> None:
    noise = {"method": "noise", "params": {"n": 1}}
    other = {"id": 99, "result": {"not": "ours"}}
    with peer(ask=[noise, other, {"id": "ID", "result": {"a": 1}}]) as pipes:
        rpc = Rpc(pipes, yes)
        assert rpc.request("ask") == {"a": 1}
        assert rpc.heard == [noise]
        assert rpc.questions == []


def test_a_question_is_answered_on_the_way() -> None:
    question = {"id": 7, "method": "may", "params": {"word": "please"}}
    with peer(ask=[question], answer=[{"id": 1, "result": {"a": 2}}]) as pipes:
        rpc = Rpc(pipes, yes)
        assert rpc.request("ask") == {"a": 2}
        assert rpc.questions == [question]


def test_what_was_not_waited_for_yet_is_skipped_until_it_fits() -> None:
    told = [{"method": "step", "params": {"n": n}} for n in range(3)]
    with peer(go=list(told)) as pipes:
        rpc = Rpc(pipes, yes)
        rpc.notify("go")
        assert rpc.until("step", lambda params: params["n"] == 2) == {"n": 2}
        assert rpc.heard == told


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([{"id": "ID", "error": {"code": -1, "message": "no such thread"}}], "no such thread"),
        (["this is no JSON"], "no message of JSON-RPC: this is no JSON"),
        (["[1, 2]"], "no message of JSON-RPC"),
    ],
)
def test_what_goes_wrong_is_told_in_words(lines: list[object], expected: str) -> None:
    with peer(ask=lines) as pipes, pytest.raises(HooklineError, match=expected):
        Rpc(pipes, yes).request("ask")


def test_an_end_in_the_middle_is_told_in_words() -> None:
    with peer() as pipes, pytest.raises(HooklineError, match="ended in the middle"):
        Rpc(pipes, yes).request("die")


def test_codex_is_asked_for_its_hooks_and_told_to_trust_them() -> None:
    hook = {"key": "file:stop:0:0", "currentHash": "sha256:1"}
    with peer(
        **{
            "initialize": [{"id": "ID", "result": {}}],
            "hooks/list": [{"id": "ID", "result": {"data": [{"hooks": [hook]}]}}],
            "config/batchWrite": [{"id": "ID", "result": {"status": "ok"}}],
        }
    ) as pipes:
        talk = Talk(pipes, "/project")
        assert talk.hooks() == [hook]
        talk.trust_hooks()


def test_a_turn_of_codex_ends_with_its_own_thread_and_not_with_a_sub_agents() -> None:
    def completed(thread: str, status: str) -> Message:
        params = {"threadId": thread, "turn": {"status": status}}
        return {"method": "turn/completed", "params": params}

    run = {"eventName": "stop", "status": "failed", "entries": [{"text": "exited with code 1"}]}
    with peer(
        **{
            "initialize": [{"id": "ID", "result": {}}],
            "thread/start": [{"id": "ID", "result": {"thread": {"id": "main"}}}],
            "turn/start": [
                {"id": "ID", "result": {"turn": {"id": "t1"}}},
                completed("child", "completed"),
                {"method": "hook/completed", "params": {"run": run}},
                completed("main", "interrupted"),
            ],
        }
    ) as pipes:
        talk = Talk(pipes, "/project")
        assert talk.begin() == "main"
        assert talk.say("Go.") == "interrupted"
        [ended] = talk.hook_runs
        assert (ended.event, ended.status, ended.words) == ("stop", "failed", "exited with code 1")


def test_codex_has_two_kinds_of_questions_and_each_its_own_answers() -> None:
    command: Message = {"method": "item/commandExecution/requestApproval"}
    tool: Message = {"method": "mcpServer/elicitation/request"}
    assert (approve(command), refuse(command)) == ({"decision": "accept"}, {"decision": "decline"})
    assert approve(tool) == {"action": "accept", "content": {}}
    assert refuse(tool) == {"action": "decline"}
