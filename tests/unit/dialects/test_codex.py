"""Codex: what it sends is understood, what we say it obeys, what its hooks say we understand."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hookline
from hookline import registry
from hookline.dialects.codex import DIALECT
from hookline.model.answers import (
    PASS,
    Answer,
    Rewrite,
    Verdict,
    allow,
    ask,
    context,
    deny,
    follow_up,
    halt,
    notice,
    rewrite,
)
from hookline.model.errors import (
    DecodeError,
    HandlerAnswerError,
    HandlerCrashed,
    HandlerError,
    UnsupportedError,
)
from hookline.model.events import (
    EVENTS,
    AfterLlmCall,
    Agent,
    BeforeLlmCall,
    Event,
    Notification,
    Other,
    PostToolUse,
    PreCompact,
    PreToolUse,
    SessionEnd,
    SessionResume,
    SessionStart,
    SteeringSubmit,
    Stop,
    ToolEvent,
    UserPromptSubmit,
)
from hookline.model.outcome import Outcome, Reply
from hookline.model.tools import CANONICAL_TOOLS, Mcp, Tool, ToolKind, tool
from support.clients import codex as client
from support.clients.effects import Does, Effect
from support.strategies import json_values

NATIVE = tuple(DIALECT.support.events)
CAPTURES = Path(hookline.__file__).parent / "dialects/codex/captures"
PATCH = "*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch\n"


def decode(payload: object, event: str | None = None) -> Event:
    return DIALECT.decode(json.dumps(payload).encode(), event)


def sent(native: str, **more: Any) -> Event:
    """An event as the client sends it."""
    return decode({**client.payload(native), **more})


def tool_of(name: str, **input: Any) -> Tool:
    event = sent("PreToolUse", tool_name=name, tool_input=input)
    assert isinstance(event, PreToolUse)
    return event.tool


def reply_to(event: Event, answer: Answer) -> Reply:
    return DIALECT.encode(Outcome(event=event, answer=answer))


def body_of(event: Event, answer: Answer) -> Any:
    return json.loads(reply_to(event, answer).stdout)


def effect_of(native: str, answer: Answer, **more: Any) -> Effect:
    """What the client does with our reply."""
    event = sent(native, **more)
    return client.obey(native, reply_to(event, answer), {**client.payload(native), **more})


def read(native: str, said: object = "", *, stderr: bytes = b"", exit_code: int = 0) -> Answer:
    """What a Codex hook said, by its stdout: an object is written as JSON."""
    text = said if isinstance(said, str) else json.dumps(said)
    return DIALECT.read_answer(
        sent(native), stdout=text.encode(), stderr=stderr, exit_code=exit_code
    )


def own(native: str, **fields: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": native, **fields}}


# Decoding


@pytest.mark.parametrize("native", NATIVE)
def test_every_native_event_decodes_to_its_canonical_one(native: str) -> None:
    event = sent(native)
    assert type(event) is EVENTS[DIALECT.support.events[native].event]
    assert event.native_event == native
    assert event.dialect == "codex"
    assert event.cwd == "/srv/app"


def test_all_fourteen_events_of_the_client_are_known() -> None:
    assert set(NATIVE) == {*client.TOP, *client.IGNORED}
    assert len(NATIVE) == 14


def test_an_interrupt_is_an_other_with_its_own_name() -> None:
    event = sent("Interrupt")
    assert isinstance(event, Other)
    assert event.native_event == "Interrupt"


def test_an_event_nobody_knows_survives_with_all_its_fields() -> None:
    event = decode({"hook_event_name": "PreTeleport", "session_id": "s1", "to": {"x": [1]}})
    assert isinstance(event, Other)
    assert event.native_event == "PreTeleport"
    assert json.loads(bytes(event.raw))["to"] == {"x": [1]}


def test_fields_nobody_knows_survive_in_raw() -> None:
    event = sent("PreToolUse", tomorrow="yes")
    assert json.loads(bytes(event.raw))["tomorrow"] == "yes"
    assert DIALECT.stdin(event) == bytes(event.raw)


def test_the_fields_of_each_event_are_read() -> None:
    start, end = sent("SessionStart", source="compact"), sent("SessionEnd")
    assert isinstance(start, SessionStart)
    assert start.source == "compact"
    assert isinstance(end, SessionEnd)
    assert end.reason == "other"
    prompt, before = sent("UserPromptSubmit"), sent("PreModelRequest")
    assert isinstance(prompt, UserPromptSubmit)
    assert prompt.prompt == "do the task"
    assert isinstance(before, BeforeLlmCall)
    assert before.model == "gpt-5.5"
    after = sent("PostModelRequest", token_usage={"total_tokens": 120})
    assert isinstance(after, AfterLlmCall)
    assert after.usage == {"total_tokens": 120}
    compact, stop = sent("PreCompact"), sent("Stop", stop_hook_active=True)
    assert isinstance(compact, PreCompact)
    assert compact.trigger == "auto"
    assert isinstance(stop, Stop)
    assert stop.stop_hook_active
    assert stop.last_message == "All done."


def test_a_null_message_or_usage_is_an_absent_one() -> None:
    stop = sent("Stop", last_assistant_message=None)
    assert isinstance(stop, Stop)
    assert stop.last_message == ""
    after = sent("PostModelRequest", token_usage="many")
    assert isinstance(after, AfterLlmCall)
    assert after.usage is None


def test_a_sub_agent_is_below_the_main_one() -> None:
    event = sent("PreToolUse", agent_id="a1", agent_type="default")
    assert event.agent == Agent(name="default", depth=1, id="a1")


def test_the_arguments_of_an_mcp_tool_hook_are_no_payload_and_break_nothing() -> None:
    recorded = json.loads((CAPTURES / "mcp_tool/PreToolUse.json").read_text(encoding="utf-8"))
    event = decode(recorded["payload"])
    assert isinstance(event, PreToolUse)
    assert event.session_id == ""


# Tools


def test_a_shell_call_is_its_command() -> None:
    shell = tool_of("Bash", command="ls")
    assert (shell.kind, shell.command, shell.call_id) == (ToolKind.SHELL, "ls", "call-1")


@pytest.mark.parametrize(
    ("hunks", "kind", "paths"),
    [
        ("*** Add File: a\n+x", ToolKind.WRITE, ("a",)),
        ("*** Delete File: a", ToolKind.DELETE, ("a",)),
        ("*** Update File: a\n@@\n-x\n+y", ToolKind.EDIT, ("a",)),
        ("*** Update File: a\n*** Move to: b\n@@\n-x", ToolKind.EDIT, ("a", "b")),
        ("*** Add File: a\n+x\n*** Delete File: b", ToolKind.EDIT, ("a", "b")),
        ("  *** Add File: .env\n+x", ToolKind.WRITE, (".env",)),
        ("\t*** Update File: .env \r\n@@\n+x", ToolKind.EDIT, (".env",)),
    ],
)
def test_a_patch_tells_its_paths_and_what_it_does(
    hunks: str, kind: ToolKind, paths: tuple[str, ...]
) -> None:
    patch = f"*** Begin Patch\n{hunks}\n*** End Patch"
    edit = tool_of("apply_patch", command=patch)
    assert (edit.kind, edit.paths, edit.path) == (kind, paths, paths[0])
    assert edit.content == patch
    assert edit.command is None, "a patch is no shell command"


def test_a_patch_given_as_words_tells_its_paths_too() -> None:
    edit = tool_of("apply_patch", command=["apply_patch", PATCH])
    assert edit.paths == ("new.txt",)


def test_a_patch_that_is_no_text_names_no_paths() -> None:
    edit = tool_of("apply_patch", command=5)
    assert (edit.kind, edit.paths, edit.command) == (ToolKind.EDIT, (), None)


def test_a_patch_inside_a_shell_command_tells_its_paths() -> None:
    shell = tool_of("Bash", command=f"apply_patch <<'EOF'\n{PATCH}EOF")
    assert shell.kind is ToolKind.SHELL
    assert shell.paths == ("new.txt",)


@pytest.mark.parametrize(
    ("name", "input", "kind", "field", "value"),
    [
        ("spawn_agent", {"message": "do it"}, ToolKind.AGENT, "content", "do it"),
        ("collaborationspawn_agent", {"message": "do it"}, ToolKind.AGENT, "content", "do it"),
        ("view_image", {"path": "/p.png"}, ToolKind.READ, "path", "/p.png"),
        ("request_user_input", {"questions": []}, ToolKind.ASK, "command", None),
        ("mcp__git__push", {"x": 1}, ToolKind.MCP, "mcp", Mcp("git", "push")),
        ("tomorrows_shell", {"command": "ls"}, ToolKind.SHELL, "command", "ls"),
    ],
)
def test_every_tool_is_read_by_its_own_keys(
    name: str, input: dict[str, Any], kind: ToolKind, field: str, value: object
) -> None:
    found = tool_of(name, **input)
    assert found.kind is kind
    assert getattr(found, field) == value


@pytest.mark.parametrize(
    ("name", "response", "output", "ok"),
    [
        ("Bash", "hi\n", "hi\n", None),
        ("view_image", "seen", "seen", True),
        ("mcp__a__b", {"content": [{"type": "text", "text": "hi"}]}, "hi", True),
        ("mcp__a__b", {"content": [{"type": "image"}]}, '{"content":[{"type":"image"}]}', True),
        ("mcp__a__b", {"content": []}, '{"content":[]}', True),
        ("mcp__a__b", {"content": "x"}, '{"content":"x"}', True),
    ],
)
def test_a_tools_answer_is_read_as_text_and_a_shells_success_is_not_guessed(
    name: str, response: object, output: str, ok: bool | None
) -> None:
    event = sent("PostToolUse", tool_name=name, tool_input={}, tool_response=response)
    assert isinstance(event, PostToolUse)
    assert event.tool.output == output
    assert event.tool.ok is ok


def test_a_number_beyond_all_measure_does_not_lose_the_event() -> None:
    event = sent("PostToolUse", duration_ms=10**400)
    assert isinstance(event, PostToolUse)
    assert event.tool.duration_ms is None


# What we say, and what the client makes of it


@pytest.mark.parametrize("native", NATIVE)
def test_pass_is_said_with_nothing_at_all(native: str) -> None:
    assert reply_to(sent(native), PASS) == Reply()


def test_a_deny_says_three_keys_and_nothing_else() -> None:
    event = sent("PreToolUse")
    expected = own("PreToolUse", permissionDecision="deny", permissionDecisionReason="no")
    assert body_of(event, deny("no")) == expected
    assert effect_of("PreToolUse", deny("no")).does is Does.BLOCKS


def test_a_deny_would_block_even_if_stdout_got_lost() -> None:
    for native in ("PreToolUse", "PermissionRequest", "UserPromptSubmit", "PostToolUse"):
        reply = reply_to(sent(native), deny("no"))
        lost = Reply(stderr=reply.stderr, exit_code=2)
        assert client.obey(native, lost, client.payload(native)).does is Does.BLOCKS


def test_a_deny_keeps_its_context_and_its_notice() -> None:
    effect = effect_of("PreToolUse", deny("no", context="C", notice="N"))
    assert effect.does is Does.BLOCKS
    assert "C" in effect.context


def test_allow_says_nothing_before_a_tool_and_is_recorded() -> None:
    outcome = Outcome(event=sent("PreToolUse"), answer=allow())
    assert DIALECT.encode(outcome) == Reply()
    assert [change.was for change in DIALECT.translate(outcome).substitutions] == ["allow"]


def test_ask_becomes_a_deny_before_a_tool() -> None:
    effect = effect_of("PreToolUse", ask("are you sure"))
    assert (effect.does, effect.reason) == (Does.BLOCKS, "are you sure")


def test_halt_becomes_a_deny_and_a_latch_on_tool_events() -> None:
    for native in ("PreToolUse", "PermissionRequest", "PostToolUse"):
        outcome = Outcome(event=sent(native), answer=halt("stop it"))
        assert DIALECT.translate(outcome).latch == "stop it"
        reply = DIALECT.encode(outcome)
        assert b"continue" not in reply.stdout
        assert client.obey(native, reply, client.payload(native)).does is Does.BLOCKS


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.ALLOW])
def test_a_rewrite_before_a_tool_is_what_runs(verdict: Verdict) -> None:
    answer = Answer(verdict=verdict, context=("C",), rewrite=Rewrite(input={"command": "echo ok"}))
    effect = effect_of("PreToolUse", answer)
    assert effect.failed == ""
    assert effect.does is not Does.BLOCKS
    assert effect.input == {"command": "echo ok"}
    assert "C" in effect.context


@pytest.mark.parametrize("verdict", [Verdict.ASK, Verdict.DENY, Verdict.HALT])
def test_a_rewrite_beside_a_refusal_is_none(verdict: Verdict) -> None:
    change = Rewrite(input={"command": "echo ok"})
    effect = effect_of("PreToolUse", Answer(verdict=verdict, reason="why", rewrite=change))
    assert (effect.does, effect.input) == (Does.BLOCKS, None)
    assert "why" in effect.reason


@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.ASK])
@pytest.mark.parametrize("name", ["Bash", "apply_patch"])
def test_a_rewrite_with_keys_that_the_client_drops_is_a_deny_that_names_them(
    name: str, verdict: Verdict
) -> None:
    event = sent("PreToolUse", tool_name=name, tool_input={"command": "ls"})
    change = Rewrite(input={"command": "ls", "workdir": "/safe"})
    answer = Answer(verdict=verdict, reason="why" if verdict is Verdict.ASK else "", rewrite=change)
    outcome = Outcome(event=event, answer=answer)
    reply = DIALECT.encode(outcome)
    effect = client.obey("PreToolUse", reply, client.payload("PreToolUse"))
    assert effect.does is Does.BLOCKS
    assert "/safe" in effect.reason
    assert ("why" in effect.reason) is (verdict is Verdict.ASK)
    changes = DIALECT.translate(outcome).substitutions
    assert ("rewrite.input", "deny") in [(each.was, each.now) for each in changes]


def test_other_tools_have_their_whole_input_rewritten() -> None:
    given = {"a": 1, "b": [1]}
    event = sent("PreToolUse", tool_name="mcp__x__y", tool_input=given)
    body = body_of(event, rewrite(b=[2], c="x"))["hookSpecificOutput"]
    assert body["updatedInput"] == {"a": 1, "b": [2], "c": "x"}


@pytest.mark.parametrize("value", ["x\ud800", ["x\ud800"], {"x\ud800": 1}], ids=repr)
def test_a_rewrite_that_is_no_json_to_the_client_is_a_deny(value: object) -> None:
    event = sent("PreToolUse", tool_name="mcp__x__y", tool_input={})
    reply = reply_to(event, rewrite(a=value))
    effect = client.obey("PreToolUse", reply, client.payload("PreToolUse"))
    assert (effect.failed, effect.does) == ("", Does.BLOCKS)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_rewrite_of_a_question_is_a_deny_that_names_the_command(verdict: Verdict) -> None:
    reason = "why" if verdict >= Verdict.ASK else ""
    answer = Answer(verdict=verdict, reason=reason, rewrite=Rewrite(input={"command": "echo safe"}))
    effect = effect_of("PermissionRequest", answer)
    assert effect.does is Does.BLOCKS
    assert effect.input is None
    if verdict is not Verdict.HALT:
        assert "echo safe" in effect.reason


def test_variables_that_cannot_be_set_are_a_deny() -> None:
    assert effect_of("PreToolUse", rewrite(env={"A": "1"})).does is Does.BLOCKS


def test_permission_is_granted_denied_or_left_to_the_person() -> None:
    assert effect_of("PermissionRequest", allow()).does is Does.SKIPS_ITS_QUESTION
    denied = effect_of("PermissionRequest", deny("no"))
    assert (denied.does, denied.reason) == (Does.BLOCKS, "no")
    assert effect_of("PermissionRequest", PASS).does is Does.GOES_ON
    assert body_of(sent("PermissionRequest"), ask("why me")) == {"systemMessage": "why me"}
    assert effect_of("PermissionRequest", ask("why me")).does is Does.GOES_ON


def test_context_for_a_permission_reaches_the_person() -> None:
    said = body_of(sent("PermissionRequest"), context("C"))
    assert set(said) == {"systemMessage"}
    assert "C" in said["systemMessage"]


def test_an_output_is_replaced_by_blocking_with_the_new_one() -> None:
    assert effect_of("PostToolUse", rewrite(output="clean")).output == "clean"
    assert effect_of("PostToolUse", deny("not for you")).output == "not for you"
    both = Answer(verdict=Verdict.DENY, reason="no", rewrite=Rewrite(output="clean"))
    assert effect_of("PostToolUse", both).output == "no"


@pytest.mark.parametrize("blank", ["", " \n", "\u2003\u00a0"])
def test_a_blank_output_still_replaces_the_old_one(blank: str) -> None:
    effect = effect_of("PostToolUse", rewrite(output=blank))
    assert not effect.failed
    assert effect.output == "(no output)"


@pytest.mark.parametrize("native", ["Stop", "SubagentStop"])
def test_the_agent_keeps_going_with_a_reason_and_no_other_key(native: str) -> None:
    said = body_of(sent(native), follow_up("run the tests", "then lint"))
    assert said == {"decision": "block", "reason": "run the tests\n\nthen lint"}
    assert effect_of(native, follow_up("")).follow_up
    assert effect_of(native, Answer(follow_up=("go",), context=("C",))).follow_up == "go"


def test_halt_beats_follow_up() -> None:
    both = Answer(verdict=Verdict.HALT, reason="enough", follow_up=("go on",))
    effect = effect_of("Stop", both)
    assert (effect.does, effect.follow_up) == (Does.ENDS_THE_RUN, "")
    said = body_of(sent("SubagentStop"), both)
    assert (said["continue"], said["stopReason"]) == (False, "enough")
    assert effect_of("SubagentStop", both).follow_up == ""
    assert DIALECT.translate(Outcome(event=sent("SubagentStop"), answer=both)).latch == "enough"


@pytest.mark.parametrize("native", ["UserPromptSubmit", "PreCompact", "PostCompact"])
def test_a_halt_inside_a_sub_agent_closes_the_gates_as_well(native: str) -> None:
    alone = DIALECT.translate(Outcome(event=sent(native), answer=halt("enough")))
    assert (alone.latch, alone.substitutions) == ("", ())
    inside = sent(native, agent_id="a1", agent_type="default")
    translated = DIALECT.translate(Outcome(event=inside, answer=halt("enough")))
    assert translated.latch == "enough"
    assert translated.answer.verdict is Verdict.HALT
    assert translated.substitutions[-1].was == "halt"


def test_a_compaction_is_vetoed_by_ending_the_turn() -> None:
    outcome = Outcome(event=sent("PreCompact"), answer=deny("not now"))
    assert body_of(outcome.event, outcome.answer) == {"continue": False, "stopReason": "not now"}
    assert effect_of("PreCompact", deny("not now")).does is Does.ENDS_THE_RUN
    assert [c.now for c in DIALECT.translate(outcome).substitutions] == ["halt"]


def test_a_veto_in_a_sub_agent_is_no_halt_of_everybody() -> None:
    inside = sent("PreCompact", agent_id="a1", agent_type="default")
    assert DIALECT.translate(Outcome(event=inside, answer=deny("not now"))).latch == ""


def test_a_summary_is_not_worth_the_turn() -> None:
    outcome = Outcome(event=sent("PreCompact"), answer=rewrite(summary="S"))
    assert set(body_of(outcome.event, outcome.answer)) == {"systemMessage"}
    assert [c.was for c in DIALECT.translate(outcome).substitutions] == ["rewrite.summary"]


@pytest.mark.parametrize(
    ("native", "does"),
    [
        ("SessionStart", Does.ENDS_THE_RUN),
        ("UserPromptSubmit", Does.ENDS_THE_RUN),
        ("PostCompact", Does.ENDS_THE_RUN),
        ("SubagentStart", Does.GOES_ON),
        ("Interrupt", Does.GOES_ON),
    ],
)
def test_a_halt_ends_what_the_client_lets_it_end(native: str, does: Does) -> None:
    effect = effect_of(native, halt("enough", context="C"))
    assert (effect.does, effect.failed) == (does, "")
    latch = DIALECT.translate(Outcome(event=sent(native), answer=halt("enough"))).latch
    assert bool(latch) is (does is Does.GOES_ON)


def test_a_prompt_is_blocked_and_never_rewritten() -> None:
    assert effect_of("UserPromptSubmit", deny("no")).does is Does.BLOCKS
    assert effect_of("UserPromptSubmit", rewrite(prompt="other")).does is Does.BLOCKS


@pytest.mark.parametrize("native", ["SessionEnd", "PreModelRequest", "PostModelRequest"])
def test_nothing_is_printed_where_the_client_reads_nothing(native: str) -> None:
    for answer in (notice("N"), deny("no", context="C"), halt("no")):
        outcome = Outcome(event=sent(native), answer=answer)
        assert DIALECT.encode(outcome) == Reply()
        assert DIALECT.translate(outcome).substitutions, "what is not said is recorded"


def test_nothing_is_printed_on_an_event_nobody_knows() -> None:
    outcome = Outcome(event=decode({"hook_event_name": "PreTeleport"}), answer=deny("no"))
    assert DIALECT.encode(outcome) == Reply()
    assert DIALECT.translate(outcome).substitutions


@pytest.mark.parametrize("native", ["SessionStart", "SubagentStart", "UserPromptSubmit"])
def test_context_reaches_the_model(native: str) -> None:
    assert "C" in effect_of(native, context("C")).context


def test_context_is_cut_to_what_the_client_passes_on() -> None:
    outcome = Outcome(event=sent("SessionStart"), answer=context("x" * 20_000))
    shown = body_of(outcome.event, outcome.answer)["hookSpecificOutput"]["additionalContext"]
    assert len(shown) <= 8_100
    assert DIALECT.translate(outcome).substitutions


@pytest.mark.parametrize("native", sorted(client.TOP))
def test_half_a_surrogate_pair_voids_nothing(native: str) -> None:
    bad = "x\ud800"
    row = DIALECT.support.events[native]
    change = Rewrite(output=bad if row.can("output") else None)
    answer = Answer(context=(bad,), notice=(bad,), follow_up=(bad,), rewrite=change)
    assert effect_of(native, answer).failed == ""
    assert effect_of(native, halt("no", context=bad)).failed == ""


def test_every_reply_fits_the_schema_that_our_own_host_side_reads() -> None:
    for native in NATIVE:
        for answer in (deny("no", notice="N", context="C"), halt("no"), allow(), follow_up("go")):
            event = sent(native)
            reply = reply_to(event, answer)
            DIALECT.read_answer(
                event, stdout=reply.stdout, stderr=reply.stderr, exit_code=reply.exit_code
            )


# Refusing


@pytest.mark.parametrize("native", NATIVE)
def test_a_refusal_blocks_wherever_the_client_can_be_blocked(native: str) -> None:
    reply = DIALECT.refuse(native, "config broken")
    effect = client.obey(native, reply, client.payload(native))
    gate = native in {"PreToolUse", "PermissionRequest", "UserPromptSubmit", "PreCompact"}
    assert effect.failed == ""
    assert effect.does >= Does.BLOCKS if gate else effect.does is Does.GOES_ON
    assert effect.follow_up == "", "a failure never keeps an agent going"
    assert b"config broken" in reply.stderr


@pytest.mark.parametrize("native", [None, "PreTeleport"])
def test_a_refusal_of_an_unknown_event_blocks_tools_and_continues_nobody(
    native: str | None,
) -> None:
    reply = DIALECT.refuse(native, "config broken")
    assert client.obey("PreToolUse", reply, client.payload("PreToolUse")).does is Does.BLOCKS
    for stopping in ("Stop", "SubagentStop"):
        assert client.obey(stopping, reply, client.payload(stopping)).follow_up == ""


@given(reason=st.text())
def test_a_refusal_blocks_whatever_its_reason_is(reason: str) -> None:
    reply = DIALECT.refuse("PreToolUse", f"broken: {reason}")
    assert client.obey("PreToolUse", reply, client.payload("PreToolUse")).does is Does.BLOCKS


# As a host: what a Codex hook is shown


def foreign(name: str, **fields: Any) -> Event:
    event: Event = EVENTS[name](session_id="s1", cwd="/srv/app", dialect="claude-code", **fields)
    return event


def shown(event: Event) -> dict[str, Any]:
    payload: dict[str, Any] = json.loads(DIALECT.stdin(event))
    return payload


@pytest.mark.parametrize("native", [name for name in NATIVE if name != "Interrupt"])
def test_a_hook_is_shown_exactly_the_keys_that_codex_sends(native: str) -> None:
    cls = EVENTS[DIALECT.support.events[native].event]
    agent = Agent(name="default", depth=1, id="a1") if native.startswith("Sub") else Agent()
    shell = {"tool": tool("Bash", command="ls")} if issubclass(cls, ToolEvent) else {}
    payload = shown(foreign(cls.event_id(), agent=agent, **shell))
    assert set(payload) == set(client.payload(native))
    assert payload["hook_event_name"] == native
    assert decode(payload).event_id() == cls.event_id()


def test_a_sub_agent_is_shown_where_codex_shows_it() -> None:
    agent = Agent(name="reviewer", depth=1, id="a1")
    prompt = shown(foreign("user_prompt_submit", agent=agent, prompt="hi"))
    assert (prompt["agent_id"], prompt["agent_type"]) == ("a1", "reviewer")
    assert "agent_id" not in shown(foreign("stop", agent=agent))


def test_values_are_said_in_codex_words() -> None:
    assert shown(foreign("session_start", source="fork"))["source"] == "fork"
    assert shown(foreign("session_start", source="teleport"))["source"] == "startup"
    assert shown(foreign("session_end", reason="clear"))["reason"] == "other"
    assert shown(foreign("pre_compact", trigger="manual"))["trigger"] == "manual"
    assert shown(foreign("stop", last_message="done"))["last_assistant_message"] == "done"
    assert shown(foreign("after_llm_call", usage={"a": 1}, model="m"))["token_usage"] == {"a": 1}
    assert shown(foreign("before_llm_call", model="m"))["model"] == "m"


def test_moments_that_codex_names_otherwise_are_shown_under_its_name() -> None:
    resumed = shown(SessionResume())
    assert (resumed["hook_event_name"], resumed["source"]) == ("SessionStart", "resume")
    steered = shown(SteeringSubmit(prompts=("one", "two")))
    assert (steered["hook_event_name"], steered["prompt"]) == ("UserPromptSubmit", "one\ntwo")


@pytest.mark.parametrize("event", [Notification(), Other(dialect="gemini", native_event="X")])
def test_a_moment_that_codex_does_not_have_is_not_made_up(event: Event) -> None:
    with pytest.raises(UnsupportedError, match="has no event"):
        DIALECT.stdin(event)
    with pytest.raises(HandlerAnswerError, match="has no event"):
        DIALECT.read_answer(event, stdout=b"", stderr=b"", exit_code=0)


@pytest.mark.parametrize(
    ("call", "name", "input"),
    [
        (
            Tool(kind=ToolKind.SHELL, name="run_in_terminal", input={"x": 1}, command="ls"),
            "Bash",
            {"command": "ls"},
        ),
        (tool("Bash", command="ls", timeout=5), "Bash", {"command": "ls"}),
        (
            tool("Write", file_path="a.txt", content="one\ntwo\n"),
            "apply_patch",
            {"command": "*** Begin Patch\n*** Add File: a.txt\n+one\n+two\n*** End Patch"},
        ),
        (
            tool("Edit", file_path="a.txt", old_string="x", new_string="y"),
            "apply_patch",
            {"command": "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch"},
        ),
        (
            Tool(kind=ToolKind.DELETE, name="rm", path="a"),
            "apply_patch",
            {"command": "*** Begin Patch\n*** Delete File: a\n*** End Patch"},
        ),
        (tool("apply_patch", input=PATCH), "apply_patch", {"command": PATCH}),
        (tool("MultiEdit", file_path="a", edits=[]), "MultiEdit", {"file_path": "a", "edits": []}),
        (tool("Write", content="x"), "Write", {"content": "x"}),
        (tool("Agent", content="go"), "spawn_agent", {"message": "go"}),
        (tool("Agent", prompt="go"), "Agent", {"prompt": "go"}),
        (
            Tool(kind=ToolKind.MCP, name="git_push", input={"a": 1}, mcp=Mcp("git", "push")),
            "mcp__git__push",
            {"a": 1},
        ),
        (tool("Read", file_path="a"), "Read", {"file_path": "a"}),
        (Tool(kind=ToolKind.SHELL, name="sh", input={"argv": 1}), "sh", {"argv": 1}),
    ],
)
def test_another_platforms_tool_is_shown_as_codex_would(
    call: Tool, name: str, input: dict[str, Any]
) -> None:
    payload = shown(foreign("pre_tool_use", tool=call))
    assert (payload["tool_name"], payload["tool_input"]) == (name, input)


# As a host: what a Codex hook answers


@pytest.mark.parametrize("native", NATIVE)
def test_no_output_is_pass(native: str) -> None:
    assert read(native) == PASS
    assert read(native, " \n") == PASS


@pytest.mark.parametrize("native", sorted(client.TOP))
def test_a_system_message_is_a_notice_everywhere_it_is_read(native: str) -> None:
    assert read(native, {"systemMessage": "N"}) == notice("N")


@pytest.mark.parametrize(
    ("native", "said", "answer"),
    [
        (
            "PreToolUse",
            own("PreToolUse", permissionDecision="deny", permissionDecisionReason=" no "),
            deny("no"),
        ),
        ("PreToolUse", {"decision": "block", "reason": "no"}, deny("no")),
        ("PreToolUse", own("PreToolUse", additionalContext="C"), context("C")),
        ("PreToolUse", own("Stop", additionalContext="C"), context("C")),
        (
            "PreToolUse",
            {"decision": "block", "reason": "no", **own("PreToolUse", additionalContext="C")},
            deny("no", context="C"),
        ),
        (
            "PreToolUse",
            {
                "decision": "block",
                "reason": "ignored",
                **own("PreToolUse", permissionDecision="deny", permissionDecisionReason="no"),
            },
            deny("no"),
        ),
        (
            "PreToolUse",
            own("PreToolUse", permissionDecision="allow", updatedInput={"command": "ls"}),
            rewrite(command="ls"),
        ),
        ("PreToolUse", {"continue": True, "suppressOutput": False}, PASS),
        ("PermissionRequest", own("PermissionRequest", decision={"behavior": "allow"}), allow()),
        (
            "PermissionRequest",
            own("PermissionRequest", decision={"behavior": "deny", "message": "no"}),
            deny("no"),
        ),
        (
            "PermissionRequest",
            own("PermissionRequest", decision={"behavior": "deny"}),
            deny("PermissionRequest hook denied approval"),
        ),
        ("PermissionRequest", own("PermissionRequest"), PASS),
        ("PostToolUse", {"decision": "block", "reason": "no"}, deny("no")),
        ("PostToolUse", {"continue": False, "stopReason": "S"}, deny("S")),
        ("PostToolUse", {"continue": False, "reason": "R", "stopReason": "S"}, deny("R")),
        ("PostToolUse", {"continue": False}, deny("PostToolUse hook stopped execution")),
        ("PostToolUse", own("PostToolUse", additionalContext="C"), context("C")),
        ("UserPromptSubmit", {"decision": "block", "reason": "no"}, deny("no")),
        ("UserPromptSubmit", {"continue": False, "stopReason": "S"}, halt("S")),
        ("UserPromptSubmit", own("UserPromptSubmit", additionalContext="C"), context("C")),
        ("SessionStart", own("SessionStart", additionalContext="C"), context("C")),
        ("SessionStart", {"continue": False}, halt("SessionStart hook stopped execution")),
        ("SubagentStart", own("SubagentStart", additionalContext="C"), context("C")),
        ("SubagentStart", {"continue": False, "stopReason": "S"}, PASS),
        ("Stop", {"decision": "block", "reason": "go"}, follow_up("go")),
        ("Stop", {"continue": False, "stopReason": "S", "decision": "block"}, halt("S")),
        ("SubagentStop", {"decision": "block", "reason": "go"}, follow_up("go")),
        ("SubagentStop", {"continue": False, "decision": "block", "reason": "go"}, PASS),
        ("PreCompact", {"continue": False, "stopReason": "S"}, halt("S")),
        ("PostCompact", {"continue": False, "stopReason": "S"}, halt("S")),
        ("PreModelRequest", {"anything": ["goes"]}, PASS),
        ("PostModelRequest", "{ not JSON", PASS),
        ("SessionEnd", {"decision": "block"}, PASS),
    ],
)
def test_every_documented_answer_is_understood(native: str, said: object, answer: Answer) -> None:
    assert read(native, said) == answer


@pytest.mark.parametrize(
    ("native", "said"),
    [
        *[(native, {"unheardOf": 1}) for native in sorted(client.TOP)],
        *[(native, "{") for native in sorted(client.TOP)],
        *[(native, "[]") for native in sorted(client.TOP)],
        *[(native, '{"systemMessage": 5}') for native in sorted(client.TOP)],
        ("PreToolUse", own("PreToolUse", permissionDecision="allow")),
        ("PreToolUse", own("PreToolUse", permissionDecision="ask")),
        ("PreToolUse", own("PreToolUse", permissionDecision="deny")),
        (
            "PreToolUse",
            own("PreToolUse", permissionDecision="deny", permissionDecisionReason=" "),
        ),
        ("PreToolUse", own("PreToolUse", permissionDecisionReason="why")),
        ("PreToolUse", own("PreToolUse", updatedInput={"command": "ls"})),
        ("PreToolUse", own("PreToolUse", permissionDecision="allow", updatedInput="ls")),
        ("PreToolUse", own("PreToolUse", unheardOf=1)),
        ("PreToolUse", {"hookSpecificOutput": {"permissionDecision": "deny"}}),
        ("PreToolUse", {"decision": "approve"}),
        ("PreToolUse", {"decision": "block"}),
        ("PreToolUse", {"reason": "why"}),
        ("PreToolUse", {"continue": False, "decision": "block", "reason": "no"}),
        ("PreToolUse", {"stopReason": "S"}),
        ("PreToolUse", {"suppressOutput": True}),
        ("PermissionRequest", {"continue": False}),
        ("PermissionRequest", {"decision": "block", "reason": "no"}),
        (
            "PermissionRequest",
            own("PermissionRequest", decision={"behavior": "allow", "updatedInput": {}}),
        ),
        (
            "PermissionRequest",
            own("PermissionRequest", decision={"behavior": "deny", "interrupt": True}),
        ),
        ("PostToolUse", {"decision": "block"}),
        ("PostToolUse", {"reason": "why"}),
        ("PostToolUse", {"suppressOutput": True}),
        ("PostToolUse", own("PostToolUse", updatedMCPToolOutput="x")),
        ("PostToolUse", own("PostToolUse", updatedToolOutput="x")),
        ("UserPromptSubmit", {"decision": "block", "reason": ""}),
        ("Stop", {"decision": "block", "reason": "\n"}),
        ("Stop", own("Stop", additionalContext="C")),
        ("SubagentStop", {"decision": "block"}),
        ("PreCompact", {"decision": "block", "reason": "no"}),
        ("Interrupt", {"continue": True}),
        ("Interrupt", "plain text"),
        ("Stop", "plain text"),
        ("SubagentStop", "plain text"),
    ],
)
def test_what_the_client_would_void_is_a_failure(native: str, said: object) -> None:
    with pytest.raises(HandlerAnswerError):
        read(native, said)


def test_a_reason_beside_no_decision_harms_no_prompt() -> None:
    assert read("UserPromptSubmit", {"reason": "why"}) == PASS


def test_an_answer_nested_too_deep_is_a_failure() -> None:
    with pytest.raises(HandlerAnswerError):
        read("PreToolUse", '{"systemMessage":' + "[" * 100_000)


@pytest.mark.parametrize("native", NATIVE)
def test_plain_text_is_context_where_the_client_takes_it_so(native: str) -> None:
    if native in {"Stop", "SubagentStop", "Interrupt"}:
        return
    takes = native in {"SessionStart", "SubagentStart", "UserPromptSubmit"}
    assert read(native, "hello\n") == (context("hello") if takes else PASS)


@pytest.mark.parametrize("native", NATIVE)
def test_exit_2_means_what_it_means_to_the_client(native: str) -> None:
    if native in {"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit"}:
        assert read(native, "{}", stderr=b"no\n", exit_code=2) == deny("no")
    elif native in {"Stop", "SubagentStop"}:
        assert read(native, stderr=b"go\n", exit_code=2) == follow_up("go")
    else:
        with pytest.raises(HandlerCrashed):
            read(native, stderr=b"no", exit_code=2)


@pytest.mark.parametrize("native", NATIVE)
@pytest.mark.parametrize(("stderr", "exit_code"), [(b" \n", 2), (b"no", 1), (b"", 127), (b"", -9)])
def test_every_other_exit_is_a_failure(native: str, stderr: bytes, exit_code: int) -> None:
    said = own("PreToolUse", permissionDecision="deny", permissionDecisionReason="no")
    with pytest.raises(HandlerCrashed, match=f"exit code {exit_code}"):
        read(native, said, stderr=stderr, exit_code=exit_code)


def test_an_event_nobody_knows_takes_no_answer() -> None:
    event = decode({"hook_event_name": "PreTeleport"})
    assert DIALECT.read_answer(event, stdout=b'{"a": 1}', stderr=b"", exit_code=0) == PASS


# Rewrites across platforms


def rewritten_by(event: Event, **input: Any) -> Answer:
    said = own("PreToolUse", permissionDecision="allow", updatedInput=input)
    return DIALECT.read_answer(event, stdout=json.dumps(said).encode(), stderr=b"", exit_code=0)


def test_a_rewrite_replaces_all_that_the_hook_was_shown() -> None:
    event = sent("PreToolUse", tool_input={"command": "rm x", "workdir": "/"})
    assert rewritten_by(event, command="ls").rewrite.input == {"command": "ls", "workdir": None}


def test_a_rewrite_leaves_alone_what_the_hook_was_not_shown() -> None:
    event = foreign("pre_tool_use", tool=tool("Bash", command="rm x", timeout=5))
    assert rewritten_by(event, command="ls") == rewrite(command="ls")


def test_a_rewritten_patch_of_another_platforms_edit_is_a_deny() -> None:
    event = foreign("pre_tool_use", tool=tool("Write", file_path="a", content="x"))
    answer = rewritten_by(event, command=PATCH)
    assert answer.verdict is Verdict.DENY
    assert "new.txt" in answer.reason
    assert not answer.rewrite


def test_an_mcp_input_is_rewritten_as_it_is() -> None:
    call = CANONICAL_TOOLS.read("mcp__git__push", {"a": 1, "b": 2})
    answer = rewritten_by(foreign("pre_tool_use", tool=call), a=2)
    assert answer.rewrite.input == {"a": 2, "b": None}


# Anything at all

_KEYS = st.sampled_from(
    [
        "tool_name",
        "tool_input",
        "tool_response",
        "tool_use_id",
        "agent_id",
        "agent_type",
        "session_id",
        "cwd",
        "prompt",
        "source",
        "reason",
        "trigger",
        "token_usage",
        "model",
        "stop_hook_active",
        "last_assistant_message",
        "duration_ms",
        "mcp_server",
        "command",
    ]
)
_SAID = st.sampled_from(
    [
        "continue",
        "stopReason",
        "suppressOutput",
        "systemMessage",
        "decision",
        "reason",
        "hookSpecificOutput",
        "unheardOf",
    ]
)
_OWN = st.sampled_from(
    [
        "hookEventName",
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
        "additionalContext",
        "decision",
        "updatedMCPToolOutput",
    ]
)
_WORDS = st.sampled_from(("allow", "deny", "ask", "block", "approve", "", " ", "why", None, False))


@given(payload=st.binary(), event=st.sampled_from([None, "", "PreTeleport", *NATIVE]))
def test_any_bytes_are_an_event_or_a_decode_error(payload: bytes, event: str | None) -> None:
    with suppress(DecodeError):
        assert isinstance(DIALECT.decode(payload, event), Event)


@given(native=st.sampled_from(NATIVE), fields=st.dictionaries(_KEYS, json_values, max_size=6))
def test_any_object_is_an_event_or_a_decode_error(native: str, fields: dict[str, Any]) -> None:
    try:
        event = decode({**fields, "hook_event_name": native})
    except DecodeError:
        return
    reply = reply_to(event, deny("no"))
    gate = native in {"PreToolUse", "PermissionRequest", "UserPromptSubmit", "PreCompact"}
    effect = client.obey(native, reply, {})
    assert not effect.failed
    assert effect.does >= Does.BLOCKS or not gate


@given(
    native=st.sampled_from(NATIVE),
    said=st.dictionaries(
        _SAID, _WORDS | st.dictionaries(_OWN, _WORDS | st.just({"command": "ls"})), max_size=4
    ),
)
def test_any_answer_is_read_as_the_client_reads_it(native: str, said: dict[str, Any]) -> None:
    text = json.dumps(said)
    effect = client.obey(native, Reply(stdout=text.encode()), client.payload(native))
    try:
        answer = read(native, text)
    except HandlerError:
        assert effect.does not in {Does.BLOCKS, Does.ENDS_THE_RUN}, effect
        return
    assert not effect.failed
    assert (answer.verdict >= Verdict.DENY) == (effect.does >= Does.BLOCKS or bool(effect.output))


@given(stdout=st.binary(), stderr=st.binary(), exit_code=st.sampled_from((0, 0, 1, 2)))
def test_any_output_is_an_answer_or_a_handler_error(
    stdout: bytes, stderr: bytes, exit_code: int
) -> None:
    for native in NATIVE:
        with suppress(HandlerError):
            DIALECT.read_answer(sent(native), stdout=stdout, stderr=stderr, exit_code=exit_code)


def test_the_registry_knows_it_by_its_id() -> None:
    assert registry.dialect("codex").id == DIALECT.id == "codex"
    assert DIALECT.support.stop_cap is None
