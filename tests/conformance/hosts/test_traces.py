"""Recorded sessions of real docker-agent and Kodelet: their hooks do the same in host mode.

Every difference stands in ``traces/differences.toml`` with its reason. One that is not listed is a
failure, and so is one that no longer occurs.
"""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from hookline import registry
from hookline.cli import matrix
from hookline.cli.matrix import Recording
from hookline.dialects.docker_agent.files import FILES as DOCKER_AGENT
from hookline.dialects.kodelet.files import FILES as KODELET
from hookline.dialects.kodelet.files import KodeletFiles
from hookline.model.answers import Verdict
from hookline.model.events import (
    BeforeCompaction,
    BeforeLlmCall,
    Event,
    PermissionRequest,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    Stop,
    ToolEvent,
    ToolResponseTransform,
    TurnEnd,
    UserPromptSubmit,
)
from hookline.model.native import NativeFile
from hookline.model.outcome import Outcome
from support.traces import (
    Call,
    Machine,
    Played,
    canonical,
    compare_calls,
    discover,
    plain,
    write_recorder,
)

TRACES = Path(__file__).parent / "traces"
NAMES = {
    platform: sorted(path.stem for path in (TRACES / platform).glob("*.json"))
    for platform in ("docker_agent", "kodelet")
}


class Difference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One way in which host mode differs, where, and why."""

    differs: str
    sessions: tuple[str, ...]
    reason: str


class Listed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of them, by platform."""

    docker_agent: tuple[Difference, ...]
    kodelet: tuple[Difference, ...]


@cache
def listed() -> Listed:
    """The file of differences, read strictly."""
    return msgspec.toml.decode((TRACES / "differences.toml").read_bytes(), type=Listed)


def load(platform: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((TRACES / platform / f"{name}.json").read_text("utf-8"))
    return found


@cache
def recorded(platform: str) -> Mapping[str, Recording]:
    """What the matrix says that recorded sessions show, by version."""
    path = Path(matrix.__file__).parents[1] / "dialects" / platform / "recorded.toml"
    return msgspec.toml.decode(path.read_bytes(), type=dict[str, Recording])


def version_of(platform: str, name: str) -> str:
    """The version that a session was recorded with."""
    if platform == "docker_agent":
        return "1.93"
    return {"a": "0.1.24", "b": "0.4.22"}[re.search(r"-([ab])(-|$)", name)[1]]  # type: ignore[index]


def is_by_the_adr(name: str) -> bool:
    """Whether it was recorded with a Kodelet that was never released, which kept to ADR 021."""
    return name.endswith("-0")


def check(platform: str, name: str, differences: Iterator[str], seen: set[str]) -> None:
    """Exactly what is listed for a session, in whatever order, and what the matrix says of it."""
    found = set(differences)
    known = getattr(listed(), platform)
    wanted = {each.differs for each in known if name in each.sessions}
    assert sorted(found - wanted) == [], "differs, and is not listed"
    assert sorted(wanted - found) == [], "is listed, and no longer differs"
    if is_by_the_adr(name):
        return  # the matrix tells of releases
    support = registry.dialect(platform.replace("_", "-")).support
    cells = [each.rpartition(".") for each in seen]
    can = sorted(
        f"{native}.{cell}" for native, _, cell in cells if support.events[native].can(cell)
    )
    # An effect that came about otherwise than here shows nothing.
    shown = tuple(each for each in can if not any(each.partition(".")[0] in d for d in found))
    assert recorded(platform)[version_of(platform, name)].sessions.get(name, ()) == shown


# ── Kodelet ─────────────────────────────────────────────────────────────────────────────────


class Hasty(KodeletFiles):
    """With half a second for a hook in place of thirty."""

    default_timeout = 0.5


ADR = KodeletFiles("adr")


_BLOCKED = re.compile(r"<error>\nTool execution was blocked by security hook: (.*)\n</error>", re.S)


@pytest.mark.parametrize("name", NAMES["kodelet"])
def test_a_session_of_kodelet_goes_the_same_way(name: str, tmp_path: Path) -> None:
    machine, seen = Machine(tmp_path), set[str]()
    check("kodelet", name, kodelet_differences(load("kodelet", name), machine, seen), seen)


def kodelet_differences(
    trace: Mapping[str, Any], machine: Machine, seen: set[str]
) -> Iterator[str]:
    """How host mode differs on one session; ``seen`` gets what hooks said and the client did."""
    put_kodelet_files(trace, machine)
    slow = any("sleep" in hook.get("script", "") for hook in trace["hooks"])
    files = ADR if is_by_the_adr(trace["name"]) else Hasty() if slow else KODELET
    played = Played(files, machine, discover(files, machine))
    follow_ups: list[str] = []
    for calls in dispatches(trace["calls"]):
        payload = calls[0]["payload"]
        event = from_kodelet(machine.here(payload))
        outcome = played.fire(event)
        heard = [Call(who, told) for who, told in machine.heard()]
        yield from compare_calls([Call(each["hook"], each["payload"]) for each in calls], heard)
        yield from kodelet_effects(event, outcome, trace, payload, seen)
        follow_ups += outcome.answer.follow_up
    inner = {str(each["payload"].get("tool_input", {}).get("question")) for each in trace["calls"]
        if isinstance(each["payload"].get("tool_input"), dict)}  # fmt: skip
    said = [text for text in trace["said"][1:] if text not in inner]
    if said and follow_ups[: len(said)] == said:
        seen.add("agent_stop.follow_up")
    if follow_ups[: len(said)] != said:
        yield "agent_stop says another follow-up"


def put_kodelet_files(trace: Mapping[str, Any], machine: Machine) -> None:
    for hook in trace["hooks"]:
        file = hook["file"]
        path = machine.home / file[2:] if file.startswith("~/") else machine.app / file
        mode, who = int(hook["mode"], 8), label(file)
        if "script" in hook:
            machine.write(path, hook["script"], mode)
            continue
        answers = [each["answer"] for each in trace["calls"] if each["hook"] == who]
        query = {"stdout": f"{hook['type']}\n", **hook.get("query", {})}
        write_recorder(machine, path, who, query, answers, mode)
    if "setup" in trace:
        subprocess.run(["sh", "-c", trace["setup"]], cwd=machine.app, check=True)


def label(file: str) -> str:
    """As traces name a hook: whose it is, of which plugin, and its file."""
    whose = "user" if file.startswith("~/") else "project"
    plugin = re.search(r"plugins/([^/]+)/", file)
    return f"{whose}{f':{plugin[1]}' if plugin else ''}/{Path(file).name}"


def dispatches(calls: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The calls by event: all hooks of one are told the same, and each is asked once."""
    found: list[list[dict[str, Any]]] = []
    for call in calls:
        mine = [each for each in found if each[0]["payload"] == call["payload"]]
        last = mine[-1] if mine else None
        again = any(each["hook"] == call["hook"] for each in last or ())
        if last is None or (again and "tool_user_id" not in call["payload"]):
            found.append([call])
        else:
            last.append(call)
    return found


def from_kodelet(payload: Mapping[str, Any]) -> Event:
    event = KODELET.codec.decode(json.dumps(payload).encode())
    if isinstance(event, TurnEnd):
        spoken = {"role": "assistant", "content": payload["response"]}
        return canonical(event, messages=(spoken,))
    if isinstance(event, PostToolUse) and not event.tool.ok:
        result = payload["tool_output"]
        printed = result.get("metadata", {}).get("output")
        fields = {name: getattr(event, name) for name in event.__struct_fields__}
        tool = replace(event.tool, output=printed, ok=None)
        return canonical(PostToolUseFailure(**{**fields, "tool": tool}, error=result["error"]))
    return canonical(event)


def kodelet_effects(
    event: Event,
    outcome: Outcome,
    trace: Mapping[str, Any],
    payload: Mapping[str, Any],
    seen: set[str],
) -> Iterator[str]:
    """Where something else follows from the hooks' answers than it did there."""
    native = payload["event"]
    denied, reason = outcome.verdict is Verdict.DENY, first_line(outcome.reason)
    if isinstance(event, PreToolUse):
        result = trace["results"].get(payload["tool_user_id"], "")
        blocked = _BLOCKED.match(result)
        if blocked and denied:
            seen.add(f"{native}.deny")
        if result and bool(blocked) is not denied:
            yield f"{native} {'is' if denied else 'is not'} blocked"
        if blocked and denied and blocked[1].strip() and blocked[1].strip() != reason:
            yield f"{native} is blocked for another reason"
        final = outcome.final.tool.input if isinstance(outcome.final, ToolEvent) else None
        ran = next((each["payload"]["tool_input"] for each in trace["calls"]
            if each["payload"]["event"] == "after_tool_call"
            and each["payload"]["tool_user_id"] == payload["tool_user_id"]), None)  # fmt: skip
        if ran is not None and final not in (None, payload["tool_input"]) and ran == final:
            seen.add(f"{native}.input")
        if (
            ran is not None
            and not denied
            and ran != (payload["tool_input"] if final is None else final)
        ):
            yield f"{native} runs with another input"
    elif isinstance(event, UserPromptSubmit):
        blocked = re.search(r"message blocked by hook: ([^\"\n]*)", trace["stderr"])
        if blocked and denied:
            seen.add(f"{native}.deny")
        if bool(blocked) is not denied:
            yield f"{native} {'is' if denied else 'is not'} blocked"
        if blocked and denied and blocked[1] != reason:
            yield f"{native} is blocked for another reason"
    elif isinstance(event, PostToolUse) and outcome.answer.rewrite.output is not None:
        yield "after_tool_call replaces what the model reads"
    elif (
        not isinstance(event, Stop | PostToolUse | PostToolUseFailure)
        and outcome.answer.verdict is not Verdict.PASS
    ):
        yield f"{native} says {outcome.verdict.value}"


def first_line(reason: str) -> str:
    return reason.split("\n", 1)[0]


# ── docker-agent ────────────────────────────────────────────────────────────────────────────

_REFUSED = re.compile(
    r"(?:Tool call blocked by hook: |The tool call was rejected by a \w+ hook\.(?: Reason: )?)(.*)",
    re.S,
)
_TO_MODEL = {
    *("session_start", "user_prompt_submit", "user_steering_messages_submit"),
    *("user_followup_submit", "turn_start", "post_tool_use", "stop"),
}


@pytest.mark.parametrize("name", NAMES["docker_agent"])
def test_a_session_of_docker_agent_goes_the_same_way(name: str, tmp_path: Path) -> None:
    machine, seen = Machine(tmp_path), set[str]()
    trace = load("docker_agent", name)
    check("docker_agent", name, docker_differences(trace, machine, seen), seen)


def docker_differences(trace: Mapping[str, Any], machine: Machine, seen: set[str]) -> Iterator[str]:
    """How host mode differs on one session; ``seen`` gets what hooks said and the program did."""
    played = Played(DOCKER_AGENT, machine, put_docker_files(trace, machine))
    known = trace["events"]
    for place, rows in moments(known):
        payload = rows[0]["payload"]
        event = from_docker_agent(machine.here(payload))
        outcome = played.fire(event)
        there = [Call(row["hooks_of"], row["payload"], row.get("lane", "")) for row in rows]
        heard = (Call(who.removesuffix("!preempt"), told, "preempt_yolo" if "!" in who else "")
            for who, told in machine.heard())  # fmt: skip
        here = [Call(call.hook, without_messages(call.payload), call.lane) for call in heard]
        yield from compare_calls(there, here, ordered=False)
        rest = [row["payload"] for row in known[place + len(rows) :]]
        native = payload["hook_event_name"]
        effects = list(docker_effects(event, outcome, payload, rest, trace["model_reads"]))
        yield from (f"{native} {what}" for what in effects)
        if not effects:
            lanes = {row.get("lane") for row in rows}
            asked = f"{native}+preempt" if lanes == {"preempt_yolo"} else native
            seen |= {f"{asked}.{cell}" for cell in docker_cells(event, outcome, payload, rest)}


def put_docker_files(trace: Mapping[str, Any], machine: Machine) -> list[NativeFile]:
    driver = trace["driver"]
    for name, text in driver.get("files", {}).items():
        machine.write(machine.app / name, text)
    if driver.get("git_repo"):
        subprocess.run(["git", "init", "-q"], cwd=machine.app, check=True)
    texts = {"agent.yaml": trace["agent_yaml"]}
    if "user_config" in driver:
        texts["config.yaml"] = json.dumps(driver["user_config"])
    found = []
    for name, text in texts.items():
        machine.write(machine.home / name, text)
        found.append(DOCKER_AGENT.read(str(machine.home / name), text.encode()))
    return [*found, DOCKER_AGENT.flags(driver.get("flags", ()))]


def moments(rows: list[dict[str, Any]]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
    """The calls by event, and where each begins: both lanes of a tool call are one event."""
    begin = 0
    for place in range(1, len(rows) + 1):
        last = rows[place] if place < len(rows) else {}
        again = any(row["hooks_of"] == last.get("hooks_of") and row.get("lane") == last.get("lane")
            for row in rows[begin:place])  # fmt: skip
        if last.get("payload") != rows[begin]["payload"] or again:
            yield begin, rows[begin:place]
            begin = place


def from_docker_agent(payload: Mapping[str, Any]) -> Event:
    event = DOCKER_AGENT.codec.decode(json.dumps(payload).encode())
    if isinstance(event, PostToolUse) and payload.get("tool_error"):
        fields = {name: getattr(event, name) for name in event.__struct_fields__}
        return canonical(PostToolUseFailure(**fields, error=payload["tool_response"]))
    return canonical(event)


def without_messages(payload: Mapping[str, Any]) -> dict[str, Any]:
    """What a model was sent is not kept in the traces."""
    return {key: value for key, value in payload.items() if key != "messages"}


def docker_effects(
    event: Event,
    outcome: Outcome,
    payload: Mapping[str, Any],
    rest: list[dict[str, Any]],
    model_reads: list[str],
) -> Iterator[str]:
    """Where something else follows from the hooks' answers than it did there."""
    after = [each["hook_event_name"] for each in rest]
    is_blocked = outcome.verdict >= Verdict.DENY
    if isinstance(event, PreToolUse | PermissionRequest):
        yield from docker_decision(outcome, payload, rest)
    elif isinstance(event, ToolResponseTransform):
        mine = [each for each in rest if each.get("tool_use_id") == payload["tool_use_id"]]
        if mine and mine[0]["hook_event_name"] == "post_tool_use":
            text = outcome.answer.rewrite.output
            if plain(payload["tool_response"] if text is None else text) != plain(
                mine[0]["tool_response"]
            ):
                yield "ends in another response"
    elif isinstance(event, PreCompact | BeforeCompaction):
        following = "before_compaction" if isinstance(event, PreCompact) else "after_compaction"
        if (after[:1] != [following]) is not is_blocked:
            yield "is blocked" if is_blocked else "is not blocked"
        summary = outcome.answer.rewrite.summary
        if summary is not None and rest[0].get("summary") != summary:
            yield "ends in another summary"
    elif event.gate and not event.continues:
        ended = next((each for each in rest if each["hook_event_name"] == "turn_end"), {})
        was = "notification" in after[:1] if not isinstance(event, BeforeLlmCall) else (
            ended.get("reason") == "hook_blocked" and after[:1] != ["after_llm_call"])  # fmt: skip
        if was is not is_blocked and rest:
            yield "is blocked" if is_blocked else "is not blocked"
    elif isinstance(event, PostToolUse | PostToolUseFailure):
        ended = next((each for each in rest if each["hook_event_name"] == "turn_end"), {})
        if (ended.get("reason") == "hook_blocked") is not is_blocked:
            yield "ends the run" if is_blocked else "does not end the run"
    elif is_blocked:
        yield "is blocked"
    told = outcome.answer.context if payload["hook_event_name"] in _TO_MODEL else ()
    if not is_blocked and any(not any(line in read for read in model_reads) for line in told):
        yield "gives the model what it did not read there"


def docker_cells(
    event: Event, outcome: Outcome, payload: Mapping[str, Any], rest: list[dict[str, Any]]
) -> Iterator[str]:
    """What hooks said that had an effect there, given that nothing differs."""
    after = [each["hook_event_name"] for each in rest]
    if isinstance(event, PreToolUse | PermissionRequest):
        mine = [each for each in rest if each.get("tool_use_id") == payload["tool_use_id"]]
        decided = next((each for each in mine if "approval_source" in each), None)
        if decided is None:
            return
        own = f"{payload['hook_event_name']}_hook_"
        if decided["approval_source"].startswith(own):
            yield decided["approval_source"].removeprefix(own)
        elif outcome.verdict is Verdict.ASK and decided["approval_source"].startswith("user_"):
            yield "ask"
        allowed = decided["approval_decision"] == "allow"
        if allowed and decided.get("tool_input") != payload.get("tool_input"):
            yield "input"
        return
    rewrite = outcome.answer.rewrite
    if isinstance(event, ToolResponseTransform) and rewrite.output is not None:
        if "post_tool_use" in after:
            yield "output"
    elif outcome.verdict >= Verdict.DENY and rest:
        yield "halt" if isinstance(event, PostToolUse | BeforeLlmCall) else outcome.verdict.value
    elif isinstance(event, BeforeCompaction) and rewrite.summary is not None:
        yield "summary"
    elif outcome.answer.context and payload["hook_event_name"] in _TO_MODEL:
        yield "context"


def docker_decision(
    outcome: Outcome, payload: Mapping[str, Any], rest: list[dict[str, Any]]
) -> Iterator[str]:
    """Where a call is approved otherwise, for another reason, or with another input."""
    mine = [each for each in rest if each.get("tool_use_id") == payload["tool_use_id"]]
    decided = next((each for each in mine if "approval_source" in each), None)
    if decided is None:
        return
    source, said = decided["approval_source"], outcome.verdict.value
    own = f"{payload['hook_event_name']}_hook_"
    there = source.removeprefix(own) if source.startswith(own) else "pass"
    here = said if said in {"allow", "deny"} else "pass"
    if there != here:
        yield f"says {said} where {there} followed"
    elif there == "deny":
        text = next((each["tool_response"] for each in mine if "tool_response" in each), "")
        found = _REFUSED.match(text)
        reason = found[1].strip() if found else ""
        if reason and not outcome.reason.startswith(reason):
            yield "is denied for another reason"
    if decided["approval_decision"] == "allow" and here != "deny":
        final = outcome.final.tool.input if isinstance(outcome.final, ToolEvent) else None
        if decided.get("tool_input") != (payload.get("tool_input") if final is None else final):
            yield "runs with another input"


@pytest.mark.parametrize("platform", NAMES)
def test_the_matrix_names_the_events_of_recorded_sessions_and_no_others(platform: str) -> None:
    found: dict[str, set[str]] = {}
    for name in NAMES[platform]:
        if is_by_the_adr(name):
            continue
        trace = load(platform, name)
        rows = trace["events"] if platform == "docker_agent" else trace["calls"]
        for row in rows:
            payload = row["payload"]
            native = payload.get("hook_event_name") or payload["event"]
            lane = "+preempt" if row.get("lane") else ""
            found.setdefault(version_of(platform, name), set()).add(f"{native}{lane}")
    known = recorded(platform)
    assert {version: sorted(events) for version, events in found.items()} == {
        version: sorted(each.fires) for version, each in known.items()
    }
    named = {name for each in known.values() for name in each.sessions}
    assert named <= set(NAMES[platform])


@pytest.mark.parametrize("platform", NAMES)
def test_a_listed_difference_names_recorded_sessions_and_a_reason(platform: str) -> None:
    for each in getattr(listed(), platform):
        assert each.sessions
        assert set(each.sessions) <= set(NAMES[platform]), each.differs
        assert len(each.reason) > 20, each.differs
