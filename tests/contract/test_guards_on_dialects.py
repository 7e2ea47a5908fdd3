"""Every builtin guard on every platform, through ``hookline hook``: the act is stopped, its twin not.

Payloads are the platforms' own, and replies are judged by what each client does with them.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from hookline import registry
from hookline.lab.script import Mcp, Shell
from hookline.model.support import EventSupport
from support.clients.effects import Does, Effect
from support.guard_cases import PROMPTED, STOPPED, TOKEN, Case
from support.guarded import Place, guarded, lanes
from support.native_acts import arrivals


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with guarded(tmp_path_factory.mktemp("guards")) as made:
        yield made


def every(cases: Mapping[str, Case]) -> list[Any]:
    return [
        pytest.param(case, lane, id=f"{name}, {lane}")
        for name, case in cases.items()
        for lane in lanes(case.act)
    ]


def use(case: Case) -> Mapping[str, Any]:
    return {"use": case.guard, "with": dict(case.options)}


def row(lane: str) -> EventSupport:
    dialect, native = lane.split()
    return registry.dialect(dialect).support.events[native]


@pytest.mark.parametrize(("case", "lane"), every(STOPPED))
def test_the_act_is_stopped_or_asked_about_and_the_guard_says_why(
    place: Place, case: Case, lane: str
) -> None:
    reply, effect = place.does(case.act, lane, use(case))
    asks = case.says == "ask" and row(lane).can("ask")
    assert effect.does == (Does.ASKS if asks else Does.BLOCKS), reply
    spoken = (reply.stdout + reply.stderr).decode()
    # Which hook it was is for the person, where there is a way to one; docker-agent's early lane
    # shows nothing beside a deny.
    assert case.guard in spoken or "+preempt" in lane or not (asks or row(lane).can("notice"))
    # The model reads the reason alone. Cursor has a message for each of the two, and its model here
    # reads both; who cannot ask just then denies with the words of the question.
    apart = not asks and not lane.startswith("cursor") and '"ask"' not in spoken
    assert not apart or case.guard not in effect.reason, reply
    assert TOKEN not in spoken


@pytest.mark.parametrize(("case", "lane"), every(STOPPED))
def test_the_twin_is_left_to_the_client(place: Place, case: Case, lane: str) -> None:
    reply, effect = place.does(case.twin, lane, use(case))
    assert effect == Effect(), reply


@pytest.mark.parametrize("lane", lanes(PROMPTED.act))
def test_a_prompt_with_a_secret_is_held_back_where_the_platform_can(
    place: Place, lane: str
) -> None:
    reply, effect = place.does(PROMPTED.act, lane, use(PROMPTED))
    assert effect.does >= Does.BLOCKS if row(lane).can("deny") else effect == Effect(), reply
    assert TOKEN.encode() not in reply.stdout + reply.stderr


@pytest.mark.parametrize("lane", lanes(PROMPTED.twin))
def test_a_prompt_without_one_goes_on(place: Place, lane: str) -> None:
    _, effect = place.does(PROMPTED.twin, lane, use(PROMPTED))
    assert effect == Effect()


@pytest.mark.parametrize(("case", "lane"), every(STOPPED))
def test_all_guards_together_stop_it_just_as_well(place: Place, case: Case, lane: str) -> None:
    """None of them, and no rewrite of one, lets through what another stops."""
    own = {each.guard: use(each) for each in (*STOPPED.values(), case)}
    others = [{"use": name} for name in ("redact-secrets", "limit-output", "compress-output")]
    _, effect = place.does(case.act, lane, *own.values(), *others)
    asks = case.says == "ask" and row(lane).can("ask")
    assert effect.does >= (Does.ASKS if asks else Does.BLOCKS)


# ── where the client is about to ask, and a guard is put there ──

PERMISSION = {
    "claude-code": "PermissionRequest",
    "codex": "PermissionRequest",
    "copilot": "permissionRequest",
    "docker-agent": "permission_request",
}
LATE = [case for case in STOPPED.values() if isinstance(case.act, Shell) and case.says == "deny"]


@pytest.mark.parametrize("dialect", PERMISSION)
def test_a_guard_on_permission_requests_answers_no_for_the_person(
    place: Place, dialect: str
) -> None:
    late = [case for case in LATE if "permission_request" in builtin_events(case.guard)]
    assert late
    for case in late:
        hook = {**use(case), "on": "permission_request"}
        assert place.permission(case.act, dialect, PERMISSION[dialect], hook) == Does.BLOCKS
        # Silence leaves the question with the person; Copilot takes it for no question.
        assert place.permission(case.twin, dialect, PERMISSION[dialect], hook) == Does.GOES_ON


def builtin_events(name: str) -> tuple[str, ...]:
    module = registry.builtin(name)
    return (*module.EVENTS, *getattr(module, "ALSO", ()))


def test_every_platform_is_in_the_table() -> None:
    told = {each.dialect for each in arrivals(Shell("ls"), "/")}
    assert told == set(registry.dialect_names())


def test_every_name_under_which_a_platform_tells_of_tool_calls_is_in_the_table() -> None:
    acts = [*(case.act for case in STOPPED.values()), Mcp("echo_text", {})]
    told = {lane for act in acts for lane in lanes(act)}
    known = {
        f"{name} {native}"
        for name in registry.dialect_names()
        for native, row in registry.dialect(name).support.events.items()
        if row.event == "pre_tool_use"
    }
    # It reads a file for completion in the editor, and has no tool that anybody could name.
    assert known - told == {"cursor beforeTabFileRead"}
