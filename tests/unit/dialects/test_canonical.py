"""The portable contract: canonical JSON in, an answer in JSON out."""

import json
from typing import Any

import pytest
from hypothesis import given

from hookline.dialects.canonical import DIALECT
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, context, deny, notice
from hookline.model.errors import DecodeError, HandlerAnswerError, HandlerCrashed
from hookline.model.events import Event, PostToolUse, PreToolUse, Stop
from hookline.model.outcome import Outcome, Reply, Translated
from hookline.model.tools import Mcp, Tool, ToolKind
from support.lifecycle import ALL, CONTINUING, GATES
from support.strategies import answers, bare_event


def decode(payload: object, event: str | None = None) -> Event:
    return DIALECT.decode(json.dumps(payload).encode(), event)


def tool_in(**tool: Any) -> Tool:
    event = decode({"event": "pre_tool_use", "tool": tool})
    assert isinstance(event, PreToolUse)
    return event.tool


def read(stdout: bytes, *, event: str = "pre_tool_use") -> Answer:
    return DIALECT.read_answer(bare_event(event), stdout=stdout, stderr=b"", exit_code=0)


# Decoding


def test_the_documented_event_is_understood() -> None:
    event = decode(
        {
            "hookline": 1,
            "event": "pre_tool_use",
            "id": "e1",
            "session_id": "s1",
            "cwd": "/home/dev/app",
            "time": "2026-11-15T18:42:31Z",
            "agent": {"name": "root", "depth": 0},
            "dialect": "claude-code",
            "native_event": "PreToolUse",
            "tool": {
                "kind": "shell",
                "name": "Bash",
                "call_id": "t1",
                "input": {"command": "git push -f"},
                "command": "git push -f",
            },
            "budget": {"used_tokens": 78124, "effective_limit": 160000},
            "raw": {"tool_name": "Bash"},
        }
    )

    assert isinstance(event, PreToolUse)
    assert event.tool == Tool(
        kind=ToolKind.SHELL,
        name="Bash",
        call_id="t1",
        input={"command": "git push -f"},
        command="git push -f",
    )
    assert (event.dialect, event.native_event) == ("claude-code", "PreToolUse")
    assert event.time.isoformat() == "2026-11-15T18:42:31+00:00"
    assert event.budget is not None
    assert event.budget.used_tokens == 78124


@pytest.mark.parametrize("event", ALL)
def test_only_the_events_name_is_needed(event: str) -> None:
    decoded = decode({"event": event})

    assert decoded.event_id() == event
    assert (decoded.session_id, decoded.cwd, decoded.dialect) == ("", "", "canonical")
    assert (decoded.agent.name, decoded.agent.depth, decoded.budget) == ("root", 0, None)
    assert json.loads(bytes(decoded.raw)) == {"event": event}
    assert decoded.id


def test_what_we_do_not_know_of_survives_in_raw() -> None:
    decoded = decode({"event": "stop", "weather": "rain"})

    assert json.loads(bytes(decoded.raw))["weather"] == "rain"


@pytest.mark.parametrize("payload", [{}, {"event": None}, {"event": ""}, {"event": "stop"}])
def test_the_name_may_come_from_the_command_line(payload: dict[str, Any]) -> None:
    assert isinstance(decode(payload | {"last_message": "done"}, "stop"), Stop)


def test_a_payload_that_contradicts_the_command_line_is_refused() -> None:
    with pytest.raises(DecodeError, match="payload says `stop`, the command line says `error`"):
        decode({"event": "stop"}, "error")


def test_a_payload_that_names_no_event_is_refused_with_what_to_add() -> None:
    with pytest.raises(DecodeError, match='add `"event": "pre_tool_use"`'):
        decode({})


def test_an_unknown_event_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(DecodeError, match="no event is called `pretooluse`"):
        decode({"event": "pretooluse"})
    with pytest.raises(DecodeError, match="did you mean `pre_tool_use`"):
        decode({"event": "pre_tool_us"})


def test_keys_that_we_do_not_know_are_no_mistake() -> None:
    assert decode({"event": "stop", "from_the_future": {"a": 1}}).event_id() == "stop"


def test_normal_fields_are_derived_from_the_input() -> None:
    tool = tool_in(name="Write", input={"file_path": "/a", "content": "x"})

    assert (tool.kind, tool.path, tool.paths, tool.content) == ("write", "/a", ("/a",), "x")


def test_the_input_is_derived_from_normal_fields() -> None:
    tool = tool_in(kind="shell", command="ls")

    assert (tool.input, tool.command, tool.name) == ({"command": "ls"}, "ls", "shell")


def test_what_the_input_says_wins_over_the_normal_fields() -> None:
    tool = tool_in(name="Bash", input={"command": "rm -rf /"}, command="ls", path="/a")

    assert tool.command == "rm -rf /"
    assert tool.input == {"command": "rm -rf /", "path": "/a"}
    assert tool.path == "/a"


def test_several_paths_are_written_to_the_input_too() -> None:
    tool = tool_in(kind="delete", paths=["/a", "/b"])

    assert (tool.path, tool.paths) == ("/a", ("/a", "/b"))
    assert tool.input == {"paths": ["/a", "/b"]}


def test_a_kind_that_is_given_stands_and_other_means_unknown() -> None:
    assert tool_in(kind="read", name="Bash").kind is ToolKind.READ
    assert tool_in(kind="other", name="Bash").kind is ToolKind.SHELL


def test_an_mcp_tool_may_be_named_by_its_fields() -> None:
    tool = tool_in(name="create_issue", mcp={"server": "github", "tool": "create_issue"})

    assert (tool.kind, tool.mcp) == (ToolKind.MCP, Mcp("github", "create_issue"))
    assert tool_in(kind="shell", name="x", mcp={"server": "a", "tool": "b"}).kind == "shell"


def test_what_the_tool_answered_is_kept() -> None:
    event = decode(
        {
            "event": "post_tool_use",
            "tool": {"name": "Bash", "output": "ok", "ok": True, "duration_ms": 2, "call_id": "t"},
        }
    )

    assert isinstance(event, PostToolUse)
    tool = event.tool
    assert (tool.output, tool.ok, tool.duration_ms, tool.call_id) == ("ok", True, 2.0, "t")


# Encoding


def test_the_verdict_is_always_said() -> None:
    assert DIALECT.encode(Outcome(event=Stop())) == Reply(stdout=b'{"verdict":"pass"}\n')


@given(answers())
def test_there_is_nothing_to_translate(answer: Answer) -> None:
    outcome = Outcome(event=Stop(), answer=answer)

    assert DIALECT.translate(outcome) == Translated(answer)


@given(answers())
def test_an_encoded_answer_reads_back_as_the_same_answer(answer: Answer) -> None:
    reply = DIALECT.encode(Outcome(event=bare_event("pre_tool_use"), answer=answer))

    assert (reply.stderr, reply.exit_code) == (b"", 0)
    assert json.loads(reply.stdout)["verdict"] == answer.verdict
    assert read(reply.stdout) == answer


def test_an_answer_whose_text_is_no_unicode_is_said_all_the_same() -> None:
    outcome = Outcome(event=Stop(), answer=deny("caf\udce9", notice="\ud800"))

    assert json.loads(DIALECT.encode(outcome).stdout)["verdict"] == "deny"


@pytest.mark.parametrize("event", [*ALL, "unheard_of", "", None])
def test_without_an_outcome_a_gate_or_unknown_event_is_denied_and_others_are_left_alone(
    event: str | None,
) -> None:
    reply = DIALECT.refuse(event, "the config is broken: run `hookline doctor`")

    said = json.loads(reply.stdout)
    if event in GATES - CONTINUING or event not in ALL:
        assert said == {
            "verdict": "deny",
            "reason": "the config is broken: run `hookline doctor`",
        }
    else:
        assert said == {"verdict": "pass"}
    assert reply.stderr == b"hookline: the config is broken: run `hookline doctor`\n"
    assert reply.exit_code == 0


@pytest.mark.parametrize("event", ["pre_tool_use", "session_end", "caf\udce9"])
def test_a_refusal_can_be_said_whatever_its_reason_is_made_of(event: str) -> None:
    reply = DIALECT.refuse(event, "cannot read caf\udce9\x1b[2J")

    assert json.loads(reply.stdout)["verdict"] == ("pass" if event == "session_end" else "deny")
    assert b"\x1b" not in reply.stderr


# A program's answer


def test_the_documented_answer_is_understood() -> None:
    said = {
        "verdict": "deny",
        "reason": "force push rewrites shared history",
        "context": ["c"],
        "notice": ["n"],
        "rewrite": {"input": {"command": "git push --force-with-lease"}},
        "follow_up": ["f"],
        "metadata": {"blast_radius": "high"},
    }

    assert read(json.dumps(said).encode()) == Answer(
        verdict=Verdict.DENY,
        reason="force push rewrites shared history",
        context=("c",),
        notice=("n",),
        rewrite=Rewrite(input={"command": "git push --force-with-lease"}),
        follow_up=("f",),
        metadata={"blast_radius": "high"},
    )


@pytest.mark.parametrize("nothing", [b"", b"  \n", b"\xef\xbb\xbf", b"{}", b'{"verdict":"pass"}'])
def test_nothing_is_pass(nothing: bytes) -> None:
    assert read(nothing) is PASS


def test_a_byte_order_mark_before_the_answer_is_no_part_of_it() -> None:
    assert read(b'\xef\xbb\xbf\n{"context":["c"]}\n') == context("c")


def test_plain_text_is_for_the_model_where_it_takes_text_and_else_for_the_person() -> None:
    assert read(b"  formatted 3 files\n", event="post_tool_use") == context("formatted 3 files")
    assert read(b"formatted 3 files", event="session_end") == notice("formatted 3 files")


@pytest.mark.parametrize("text", [b"[info] done", b"[1, 2", b"12", b"null", b'"deny"', b"verdict"])
def test_text_that_only_resembles_json_is_plain_text(text: bytes) -> None:
    assert read(text) == context(text.decode())


def test_text_that_is_not_utf_8_is_shown_as_far_as_it_goes() -> None:
    assert read(b"caf\xe9") == context("caf\ufffd")


@pytest.mark.parametrize(
    ("stdout", "stderr", "reason"),
    [
        (b"", b" not on a friday \n", "not on a friday"),
        (b"said here instead", b"", "said here instead"),
        (b"ignored", b"counts", "counts"),
        (b"", b"", "blocked by a hook that gave no reason"),
        (b"", b" \n", "blocked by a hook that gave no reason"),
        (b"", b"caf\xe9", "caf\ufffd"),
        (b'{"verdict":"allow"}', b"no", "no"),
    ],
)
def test_exit_2_is_deny_with_what_was_printed_as_the_reason(
    stdout: bytes, stderr: bytes, reason: str
) -> None:
    answer = DIALECT.read_answer(Stop(), stdout=stdout, stderr=stderr, exit_code=2)

    assert answer == deny(reason)


@pytest.mark.parametrize("code", [1, 3, 126, 127, -9, 255])
def test_any_other_exit_is_a_failure_with_the_end_of_what_was_printed(code: int) -> None:
    with pytest.raises(HandlerCrashed) as caught:
        DIALECT.read_answer(
            Stop(), stdout=b'{"verdict":"allow"}', stderr=b"x" * 900 + b"\x1b end", exit_code=code
        )

    text = str(caught.value)
    assert text.startswith(f"exit code {code}: ")
    assert text.endswith("␛ end")
    assert len(text) < 600


def test_a_failure_that_is_told_on_stdout_alone_is_told() -> None:
    with pytest.raises(HandlerCrashed, match=r"^exit code 1: F401 unused import$"):
        DIALECT.read_answer(Stop(), stdout=b"F401 unused import\n", stderr=b"", exit_code=1)


def test_an_exit_without_a_word_is_told_by_its_code() -> None:
    with pytest.raises(HandlerCrashed, match=r"^exit code 1$"):
        DIALECT.read_answer(Stop(), stdout=b"", stderr=b"", exit_code=1)


def test_an_answer_that_does_not_fit_the_schema_says_where() -> None:
    with pytest.raises(HandlerAnswerError, match=r"not an answer: .*unknown field `decision`"):
        read(b'{"decision":"deny"}')


def test_what_a_hook_reads_is_the_event_as_json() -> None:
    shown = json.loads(DIALECT.stdin(bare_event("pre_tool_use")))

    assert shown["event"] == "pre_tool_use"
    assert shown["tool"] == {
        "kind": "shell",
        "name": "shell",
        "input": {"command": "ls"},
        "command": "ls",
    }


def test_a_hook_always_finds_a_tools_kind_name_and_input() -> None:
    shown = json.loads(DIALECT.stdin(PreToolUse()))

    assert shown["tool"] == {"kind": "other", "name": "", "input": {}}
