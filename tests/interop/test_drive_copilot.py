"""Copilot CLI itself does what a script says, and obeys hooks that know nothing of hookline.

What fails here is the lab or the client, and no fault of hookline's hooks.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hookline.lab.clients._copilot_talk import Talk, approve, refuse
from hookline.lab.clients.copilot import CLIENT, Copilot
from hookline.lab.playing import Stage, play, stage
from hookline.lab.ports import Client, Program, Room, Session, Wish
from hookline.lab.rooms import furnished_room
from hookline.lab.script import Agent, Edit, Mcp, Read, Script, Shell, Turn, Write

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

EVENTS = (
    "sessionStart",
    "userPromptSubmitted",
    "userPromptTransformed",
    "preToolUse",
    "permissionRequest",
    "notification",
    "postToolUse",
    "postToolUseFailure",
    "subagentStart",
    "subagentStop",
    "preCompact",
    "agentStop",
    "errorOccurred",
    "sessionEnd",
)

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


def all_events(room: Room) -> Hooks:
    """Hooks that write down every payload, each in one go, and say nothing."""
    return {
        event: [{"bash": f'printf "%s\\n" "{event} $(cat)" >> {room.root}/payloads'}]
        for event in EVENTS
    }


def answering(event: str, output: Mapping[str, object]) -> Hooks:
    return {event: [{"bash": f"printf '%s' '{json.dumps(output)}'"}]}


DENY = answering(
    "preToolUse", {"permissionDecision": "deny", "permissionDecisionReason": "MK_DENIED"}
)


def add(room: Room, hooks: Hooks) -> None:
    folder = Path(room.project, ".github", "hooks")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test.json").write_text(json.dumps({"version": 1, "hooks": hooks}))


def payloads(room: Room) -> list[tuple[str, dict[str, Any]]]:
    lines = Path(room.root, "payloads").read_text().splitlines()
    return [(event, json.loads(text)) for event, _, text in (each.partition(" ") for each in lines)]


def fired(room: Room) -> list[str]:
    return [event for event, _ in payloads(room)]


def results(session: Session) -> list[str]:
    """What came back from the tools of the main conversation, in order."""
    last = next(each for each in reversed(session.asked) if not each.side and not each.lane)
    return [str(each["content"]) for each in last.body["messages"] if each["role"] == "tool"]


@pytest.fixture(scope="module")
def copilot(program: Callable[[Client], Program]) -> Program:
    return program(CLIENT)


@pytest.fixture(scope="module")
def played(copilot: Program) -> tuple[Session, list[tuple[str, dict[str, Any]]]]:
    with furnished_room(ACTS.files) as room:
        session = play(
            CLIENT,
            ACTS,
            room=room,
            program=copilot,
            prepare=lambda room: add(room, all_events(room)),
        )
        return session, payloads(room)


@pytest.fixture(scope="module")
def denied(copilot: Program) -> Session:
    with furnished_room(ACTS.files) as room:
        return play(CLIENT, ACTS, room=room, program=copilot, prepare=lambda room: add(room, DENY))


@pytest.fixture
def place(copilot: Program) -> Iterator[Stage]:
    with furnished_room() as room, stage(CLIENT, room=room, program=copilot) as made:
        yield made


Played = tuple[Session, list[tuple[str, dict[str, Any]]]]


def test_commands_edits_and_sub_agents_change_the_project(played: Played) -> None:
    session, _ = played
    assert session.exit_code == 0, session.stderr.decode()
    assert session.changed == {
        "ran": "added",
        "written": "added",
        "edited": "changed",
        "helped": "added",
    }


def test_the_results_of_reading_and_of_mcp_tools_reach_the_model(played: Played) -> None:
    session, _ = played
    shell, written, edited, read, echo, helped = results(session)
    assert "exit code 0" in shell
    assert "Created file" in written
    assert "updated" in edited
    assert "MK_READ" in read
    assert "MK_ECHO" in echo
    assert "MK_REPORT" in helped


def test_a_sub_agent_takes_its_own_turns(played: Played) -> None:
    session, _ = played
    lanes = [each.lane for each in session.asked if not each.side]
    assert lanes.count(HELPER.prompt) == 2
    assert lanes[-1] == ""


def test_the_events_of_a_session_come_in_this_order(played: Played) -> None:
    _, seen = played
    events = [event for event, _ in seen]
    # The session and its prompt are told at once, and either may be first.
    assert sorted(events[:3]) == ["sessionStart", "userPromptSubmitted", "userPromptTransformed"]
    used = ["preToolUse", "permissionRequest", "postToolUse"]
    assert events[3:] == [
        *used * 3,
        *["preToolUse", "postToolUse"],
        *used,
        "preToolUse",
        "subagentStart",
        "userPromptSubmitted",
        "userPromptTransformed",
        *used,
        "agentStop",
        "subagentStop",
        "postToolUse",
        "agentStop",
        "sessionEnd",
    ]


def test_hooks_see_the_names_of_tools_and_which_are_a_sub_agents(played: Played) -> None:
    _, seen = played
    tools = [
        (it["toolName"], it.get("agentType", "")) for event, it in seen if event == "preToolUse"
    ]
    assert tools == [
        ("bash", ""),
        ("create", ""),
        ("edit", ""),
        ("view", ""),
        ("lab-echo_text", ""),
        ("task", ""),
        ("bash", "general-purpose"),
    ]


def test_a_deny_stops_every_act_and_its_reason_reaches_the_model(denied: Session) -> None:
    assert denied.exit_code == 0, denied.stderr.decode()
    assert denied.changed == {}
    assert len(results(denied)) == len(ACTS.turns)
    for result in results(denied):
        assert "MK_DENIED" in result
    assert "MK_READ" not in denied.sent
    assert {each.lane for each in denied.asked} == {""}


def test_the_hooks_of_a_project_that_is_not_trusted_do_not_run(copilot: Program) -> None:
    wary = Copilot(trusted=False)
    with furnished_room() as room, stage(wary, room=room, program=copilot) as made:
        add(room, DENY)
        assert made.play(ONE).changed == {"ran": "added"}


def test_a_session_is_gone_on_with(place: Stage) -> None:
    place.play(ONE)
    add(place.room, all_events(place.room))
    session = place.play(Script(prompt="MK_AGAIN"), wish=Wish(resume=True))
    assert dict(payloads(place.room))["sessionStart"]["source"] == "resume"
    assert "MK_PROMPT" in session.sent
    assert "MK_AGAIN" in session.sent


def test_a_compaction_can_be_asked_for(copilot: Program) -> None:
    """In a conversation: as a prompt on the command line, it often takes a minute to end."""

    def talk(talk: Talk, script: Script) -> None:
        talk.begin()
        talk.say(script.prompt)
        assert talk.say("/compact") == "end_turn"
        talk.say("MK_AGAIN")

    with furnished_room() as room, stage(Copilot(talk=talk), room=room, program=copilot) as made:
        add(room, all_events(room))
        session = made.play(ONE)
        seen = dict(payloads(room))
    assert seen["preCompact"]["trigger"] == "manual"
    assert [each.side for each in session.asked] == [False, False, True, False]


def test_a_full_context_is_compacted(place: Stage) -> None:
    add(place.room, all_events(place.room))
    talkative = Turn("", (Shell("seq -s' ' 1 6000"),))
    # Just above what its own words and tools take up: a few results of tools fill the rest.
    small = Wish(env={"COPILOT_PROVIDER_MAX_PROMPT_TOKENS": "16000"})
    session = place.play(Script(prompt="MK_PROMPT", turns=(talkative,) * 8), wish=small)
    assert session.exit_code == 0, session.stderr.decode()
    seen = [payload["trigger"] for event, payload in payloads(place.room) if event == "preCompact"]
    assert set(seen) == {"auto"}
    assert any(each.side for each in session.asked)


def test_with_nobody_to_ask_a_question_is_a_refusal(place: Stage) -> None:
    add(place.room, all_events(place.room))
    session = place.play(ONE, wish=Wish(permission="ask"))
    assert session.changed == {}
    assert fired(place.room)[-5:] == [
        "preToolUse",
        "permissionRequest",
        "notification",
        "agentStop",
        "sessionEnd",
    ]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        pytest.param(approve, {"ran": "added"}, id="approved"),
        pytest.param(refuse, {}, id="refused"),
    ],
)
def test_a_person_is_asked_and_their_answer_counts(
    copilot: Program,
    answer: Callable[[Mapping[str, Any]], Mapping[str, Any]],
    expected: Mapping[str, str],
) -> None:
    talks: list[Talk] = []

    def talk(talk: Talk, script: Script) -> None:
        talks.append(talk)
        talk.begin()
        talk.say(script.prompt)

    client = Copilot(answer=answer, talk=talk)
    with furnished_room() as room, stage(client, room=room, program=copilot) as made:
        session = made.play(ONE, wish=Wish(permission="ask"))
    assert [each["method"] for each in talks[0].questions] == ["session/request_permission"]
    assert session.changed == expected


def test_a_hook_that_asks_is_a_refusal_even_where_a_person_could_be_asked(
    copilot: Program,
) -> None:
    """The client's own questions go through the protocol; those of hooks never get that far."""
    talks: list[Talk] = []

    def talk(talk: Talk, script: Script) -> None:
        talks.append(talk)
        talk.begin()
        talk.say(script.prompt)

    ask = {"permissionDecision": "ask", "permissionDecisionReason": "MK_WHY"}
    client = Copilot(answer=approve, talk=talk)
    with furnished_room() as room, stage(client, room=room, program=copilot) as made:
        add(room, answering("preToolUse", ask))
        session = made.play(ONE)
    assert talks[0].questions == []
    assert session.changed == {}
    assert "MK_WHY" in results(session)[0]


@pytest.mark.parametrize(
    ("behavior", "permission", "expected"),
    [
        pytest.param("allow", "ask", {"ran": "added"}, id="allow"),
        pytest.param("deny", "all", {}, id="deny"),
    ],
)
def test_a_permission_request_hook_answers_in_the_place_of_the_person(
    place: Stage, behavior: str, permission: Any, expected: Mapping[str, str]
) -> None:
    answer = {"behavior": behavior, "message": "MK_DENIED"}
    add(place.room, answering("permissionRequest", answer))
    session = place.play(ONE, wish=Wish(permission=permission))
    assert session.changed == expected
    assert ("MK_DENIED" in session.sent) is (behavior == "deny")


def test_a_running_tool_is_cancelled(copilot: Program) -> None:
    def talk(talk: Talk, script: Script) -> None:
        talk.begin()
        prompt = talk.start(script.prompt)
        talk.until_tool_call()
        talk.cancel()
        assert talk.finish(prompt) == "cancelled"

    slow = Script(prompt="MK_PROMPT", turns=(Turn("", (Shell("exec sleep 300"),)),))
    with furnished_room() as room, stage(Copilot(talk=talk), room=room, program=copilot) as made:
        session = made.play(slow)
        assert session.exit_code == 0, session.stderr.decode()
        assert len(session.asked) == 1
