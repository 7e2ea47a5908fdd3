"""Codex itself does what a script says, and obeys hooks that know nothing of hookline.

What fails here is the lab or the client, and no fault of hookline's hooks.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from hookline.lab.clients._codex_talk import Talk, approve
from hookline.lab.clients.codex import CLIENT, Codex
from hookline.lab.playing import Stage, play, stage
from hookline.lab.ports import Client, Program, Room, Session, Wish
from hookline.lab.rooms import furnished_room
from hookline.lab.script import Agent, Edit, Mcp, Read, Script, Shell, Turn, Write

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

EVENTS = [
    "SessionStart",
    "UserPromptSubmit",
    "PreModelRequest",
    "PostModelRequest",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SubagentStart",
    "SubagentStop",
    "Stop",
    "Interrupt",
    "SessionEnd",
]

HELPER = Agent("MK_TASK look around", (Turn("", (Shell("touch helped"),)), Turn("MK_REPORT")))
ACTS = Script(
    prompt="MK_PROMPT do all of it",
    files={"edited": "old\nkept\n", "read": "MK_READ\n"},
    turns=(
        Turn("", (Shell("touch ran"),)),
        Turn("", (Write("written", "new\n"),)),
        Turn("", (Edit("edited", "old", "MK_NEW"),)),
        Turn("", (Read("read"),)),
        Turn("", (Mcp("echo_text", {"text": "MK_ECHO"}),)),
        Turn("", (HELPER,)),
    ),
)
ONE = Script(prompt="MK_PROMPT", turns=(Turn("", (Shell("touch ran"),)),))

Hooks = Mapping[str, Sequence[Mapping[str, object]]]


def command(text: str) -> Mapping[str, object]:
    return {"type": "command", "command": text}


def all_events(room: Room) -> Hooks:
    """Hooks that write down every payload, each in one go, and say nothing."""
    group = {"hooks": [command(f'printf "%s\\n" "$(cat)" >> {room.root}/payloads')]}
    return {event: [group] for event in EVENTS}


def answering(event: str, text: str, matcher: str = "") -> Hooks:
    group = {"hooks": [command(text)]}
    return {event: [group | {"matcher": matcher} if matcher else group]}


DENY = answering("PreToolUse", "echo MK_DENIED >&2; exit 2")


def add(room: Room, hooks: Hooks) -> None:
    Path(room.home, ".codex", "hooks.json").write_text(json.dumps({"hooks": hooks}))


def payloads(room: Room) -> list[dict[str, Any]]:
    lines = Path(room.root, "payloads").read_text().splitlines()
    return [json.loads(line) for line in lines]


def fired(room: Room) -> list[str]:
    return [each["hook_event_name"] for each in payloads(room)]


def results(session: Session) -> list[str]:
    """What came back from the tools of the main conversation, in order."""
    last = next(each for each in reversed(session.asked) if not each.side and not each.lane)
    outputs = [each for each in last.body["input"] if each["type"].endswith("_output")]
    return [json.dumps(each["output"]) for each in outputs]


@pytest.fixture(scope="module")
def codex(program: Callable[[Client], Program]) -> Program:
    return program(CLIENT)


@pytest.fixture(scope="module", params=[Codex(), Codex(code_mode=True)], ids=["calls", "code"])
def played(request: pytest.FixtureRequest, codex: Program) -> Session:
    with furnished_room(ACTS.files) as room:
        return play(request.param, ACTS, room=room, program=codex)


@pytest.fixture(scope="module", params=[Codex(), Codex(code_mode=True)], ids=["calls", "code"])
def denied(request: pytest.FixtureRequest, codex: Program) -> Session:
    with furnished_room(ACTS.files) as room:
        return play(
            request.param, ACTS, room=room, program=codex, prepare=lambda room: add(room, DENY)
        )


@pytest.fixture
def place(codex: Program) -> Iterator[Stage]:
    with furnished_room() as room, stage(CLIENT, room=room, program=codex) as made:
        yield made


def test_commands_patches_and_sub_agents_change_the_project(played: Session) -> None:
    assert played.exit_code == 0, played.stderr.decode()
    assert played.changed == {
        "ran": "added",
        "written": "added",
        "edited": "changed",
        "helped": "added",
    }


def test_the_results_of_reading_and_of_mcp_tools_reach_the_model(played: Session) -> None:
    *_, read, echo = results(played)[:5]
    assert "MK_READ" in read
    assert "MK_ECHO" in echo


def test_a_sub_agent_takes_its_own_turns_and_its_report_is_waited_for(played: Session) -> None:
    lanes = [each.lane for each in played.asked if not each.side]
    assert lanes.count(HELPER.prompt) == 2
    assert lanes[-1] == ""
    assert "MK_REPORT" in json.dumps(played.asked[-1].body)


def test_a_deny_stops_every_act_and_its_reason_reaches_the_model(denied: Session) -> None:
    assert denied.exit_code == 0, denied.stderr.decode()
    assert denied.changed == {}
    assert len(results(denied)) == len(ACTS.turns)
    for result in results(denied):
        assert "MK_DENIED" in result
    assert "MK_READ" not in denied.sent
    assert {each.lane for each in denied.asked} == {""}


def test_the_events_of_a_plain_session_come_in_this_order(place: Stage) -> None:
    add(place.room, all_events(place.room))
    place.play(ONE)
    assert fired(place.room) == [
        "SessionStart",
        "UserPromptSubmit",
        "PreModelRequest",
        "PostModelRequest",
        "PreToolUse",
        "PostToolUse",
        "PreModelRequest",
        "PostModelRequest",
        "Stop",
        "SessionEnd",
    ]


def test_hooks_see_mcp_tools_patches_and_the_tools_of_sub_agents(codex: Program) -> None:
    with furnished_room(ACTS.files) as room:
        play(
            CLIENT, ACTS, room=room, program=codex, prepare=lambda room: add(room, all_events(room))
        )
        seen = [each for each in payloads(room) if each["hook_event_name"] == "PreToolUse"]
        children = [each for each in fired(room) if each.startswith("Subagent")]
    # The sub-agent's tools and the main conversation's waiting for it have no order.
    assert [each["tool_name"] for each in seen if "agent_id" not in each] == [
        "Bash",
        "apply_patch",
        "apply_patch",
        "Bash",
        "mcp__lab__echo_text",
        "spawn_agent",
        "multi_agent_v1wait_agent",
    ]
    assert [each["tool_name"] for each in seen if "agent_id" in each] == ["Bash"]
    assert children == ["SubagentStart", "SubagentStop"]


def test_the_newer_agent_tools_slip_past_a_matcher_for_spawn_agent(codex: Program) -> None:
    """Their namespace is part of the name that hooks see, and the old name is no alias of it."""
    newer = Codex(code_mode=True)
    script = Script(prompt="MK_PROMPT", turns=(Turn("", (HELPER,)),))
    ran = {}
    for matcher in ("spawn_agent", "Agent", "collaborationspawn_agent"):
        hooks = answering("PreToolUse", "echo MK_DENIED >&2; exit 2", matcher)
        with furnished_room() as room:
            session = play(
                newer,
                script,
                room=room,
                program=codex,
                prepare=lambda room, it=hooks: add(room, it),
            )
        ran[matcher] = "helped" in session.changed
    assert ran == {"spawn_agent": True, "Agent": True, "collaborationspawn_agent": False}


def test_a_session_is_gone_on_with(place: Stage) -> None:
    place.play(ONE)
    add(place.room, all_events(place.room))
    session = place.play(Script(prompt="MK_AGAIN"), wish=Wish(resume=True))
    assert payloads(place.room)[0]["source"] == "resume"
    assert "MK_PROMPT" in session.sent
    assert "MK_AGAIN" in session.sent


def test_a_full_context_is_compacted(place: Stage) -> None:
    add(place.room, all_events(place.room))
    session = place.play(ONE, wish=Wish(extra=("-c", "model_auto_compact_token_limit=1000")))
    assert session.exit_code == 0, session.stderr.decode()
    compacted = [each for each in payloads(place.room) if "Compact" in each["hook_event_name"]]
    assert [(each["hook_event_name"], each["trigger"]) for each in compacted[:2]] == [
        ("PreCompact", "auto"),
        ("PostCompact", "auto"),
    ]
    assert "compact" in [each.get("source") for each in payloads(place.room)]


def test_a_refused_question_stops_the_command_and_an_approved_one_lets_it_run(
    codex: Program,
) -> None:
    for client, expected in ((CLIENT, {}), (Codex(answer=approve), {"ran": "added"})):
        with furnished_room() as room, stage(client, room=room, program=codex) as made:
            add(room, all_events(room))
            session = made.play(ONE, wish=Wish(permission="ask"))
            assert session.changed == expected
            assert "PermissionRequest" in fired(room)


@pytest.mark.parametrize(
    ("behavior", "expected"),
    [pytest.param("allow", {"ran": "added"}, id="allow"), pytest.param("deny", {}, id="deny")],
)
def test_a_permission_request_hook_answers_in_the_place_of_the_person(
    codex: Program, behavior: str, expected: Mapping[str, str]
) -> None:
    decision = {"behavior": behavior} | ({"message": "MK_DENIED"} if behavior == "deny" else {})
    output = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
    hooks = answering("PermissionRequest", f"printf '%s' '{json.dumps(output)}'")
    talks: list[Talk] = []

    def talk(talk: Talk, script: Script) -> None:
        talks.append(talk)
        talk.begin()
        assert talk.say(script.prompt) == "completed"

    with furnished_room() as room, stage(Codex(talk=talk), room=room, program=codex) as made:
        add(room, hooks)
        session = made.play(ONE, wish=Wish(permission="ask"))
    assert talks[0].questions == []
    assert session.changed == expected
    assert ("MK_DENIED" in session.sent) is (behavior == "deny")


def test_an_interruption_fires_its_event(codex: Program) -> None:
    def talk(talk: Talk, script: Script) -> None:
        talk.begin()
        turn = talk.start(script.prompt)
        talk.until("item/started", lambda told: told["item"]["type"] == "commandExecution")
        talk.interrupt(turn)
        assert talk.finish() == "interrupted"

    slow = replace(ONE, turns=(Turn("", (Shell("exec sleep 300"),)),))
    with furnished_room() as room, stage(Codex(talk=talk), room=room, program=codex) as made:
        add(room, all_events(room))
        session = made.play(slow)
        assert session.exit_code == 0, session.stderr.decode()
        assert fired(room)[-2:] == ["Interrupt", "SessionEnd"]


def test_a_compaction_can_be_asked_for(codex: Program) -> None:
    def talk(talk: Talk, script: Script) -> None:
        talk.begin()
        talk.say(script.prompt)
        assert talk.compact() == "completed"
        talk.say("MK_AGAIN")

    with furnished_room() as room, stage(Codex(talk=talk), room=room, program=codex) as made:
        add(room, all_events(room))
        made.play(ONE)
        seen = [
            (each["hook_event_name"], each.get("trigger") or each.get("source"))
            for each in payloads(room)
        ]
    at = seen.index(("PreCompact", "manual"))
    assert seen[at + 1 : at + 4] == [
        ("PostCompact", "manual"),
        ("SessionStart", "compact"),
        ("UserPromptSubmit", None),
    ]


def test_the_client_tells_how_each_hook_ended(codex: Program) -> None:
    talks: list[Talk] = []

    def talk(talk: Talk, script: Script) -> None:
        talks.append(talk)
        talk.begin()
        talk.say(script.prompt)

    hooks = {**DENY, **answering("Stop", "exit 1"), **answering("UserPromptSubmit", "true")}
    with furnished_room() as room, stage(Codex(talk=talk), room=room, program=codex) as made:
        add(room, hooks)
        made.play(ONE)
    ended = {run.event: run.status for run in talks[0].hook_runs}
    assert ended == {"userPromptSubmit": "completed", "preToolUse": "blocked", "stop": "failed"}


def test_hooks_that_nobody_trusted_do_not_run(codex: Program) -> None:
    wary = Codex(bypass_trust=False)
    with furnished_room() as room, stage(wary, room=room, program=codex) as made:
        add(room, DENY)
        assert made.play(ONE).changed == {"ran": "added"}
