"""What is going to be played: twins before what leans on them, words that hooks know apart."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline import registry
from hookline.app import open_loader
from hookline.lab.naming import client, client_names
from hookline.lab.ports import ToolCall
from hookline.lab.script import Act, Agent, Mcp
from hookline.model.errors import HooklineError, UnknownNameError
from hookline.verifying.lines import State
from hookline.verifying.planning import Plan, chosen, make_plan, probes, promise

DRIVEN = [name for name in client_names() if client(name).dialect in registry.installer_names()]


def plan_for(name: str, *only: str) -> Plan:
    driver = client(name)
    support = registry.dialect(driver.dialect).support
    events = registry.installer(driver.dialect).events()
    return make_plan(chosen(only), driver, support, events)


def test_every_probe_has_a_name_of_its_own_and_a_twin_that_is_unguarded_and_played_before() -> None:
    found = {probe.id: index for index, probe in enumerate(probes())}
    assert len(found) == len(probes())
    names = plan_for("claude-code").played[0].names
    for probe in probes():
        if probe.twin:
            twin = probes()[found[probe.twin]]
            assert found[twin.id] < found[probe.id], probe.id
            assert twin.part(names).hooks == (), twin.id


def test_every_probe_that_something_does_not_happen_in_has_a_twin() -> None:
    alone = {probe.id for probe in probes() if probe.claim and not probe.twin}
    # What these look for is a text of ours that turns up: it cannot be there by itself.
    assert alone == {"context-start", "context-prompt", "context-before", "context-after", "stop"}


@pytest.mark.parametrize("name", DRIVEN)
def test_hookline_takes_every_canary_hook(name: str, tmp_path: Path) -> None:
    plan = plan_for(name)
    path = tmp_path / "hookline.yaml"
    path.write_bytes(plan.config)
    draft = open_loader(os.environ, str(tmp_path)).draft(str(path))
    assert len(draft.file.hooks) == sum(len(each.part.hooks) for each in plan.played)


@pytest.mark.parametrize("name", DRIVEN)
def test_no_word_is_part_of_another(name: str) -> None:
    words = [text for each in plan_for(name).played for text in (each.names.word, each.names.mark)]
    for word in words:
        assert [other for other in words if word in other] == [word]


def test_two_plans_have_no_word_in_common() -> None:
    first, second = ({e.names.word for e in plan_for("codex").played} for _ in range(2))
    assert first.isdisjoint(second)


def test_what_a_client_cannot_do_is_named_and_what_protects_instead_is_played() -> None:
    plan = plan_for("codex")
    played = {each.probe.id: each.promised for each in plan.played}
    assert played["ask"].how == "deny"
    assert "Codex cannot ask the person: it is denied instead" in played["ask"].cannot
    limits = {line.id: line for line in plan.limits}
    assert limits["compaction"].state is State.CANNOT
    assert "permission" not in limits


def test_context_that_never_reaches_the_model_is_not_played() -> None:
    plan = plan_for("gemini")
    assert plan.known["context-before"].state is State.CANNOT
    assert "the person is told instead" in plan.known["context-before"].detail
    assert "context-before" not in {each.probe.id for each in plan.played}


def test_an_event_that_a_platform_does_not_have_is_a_limit() -> None:
    said = promise(("subagent_stop", "follow_up"), registry.dialect("gemini").support, ())
    assert "has no event for it" in said.cannot


def test_one_line_brings_the_twin_it_leans_on() -> None:
    assert [probe.id for probe in chosen(("redact",))] == ["control-output", "redact"]


def test_one_guard_brings_the_control_that_the_person_can_be_asked() -> None:
    ids = [probe.id for probe in chosen(("deny",))]
    assert ids == ["control-shell", "deny", "control-asked"]
    plan = plan_for("claude-code", "deny")
    assert [scene.id for scene in plan.scenes] == ["work", "person"]
    before = [each.probe.id for each in plan.of(plan.scenes[1])]
    assert before == ["control-asked", "deny"], "the control comes first"


def test_an_unknown_line_is_named_with_the_nearest_known() -> None:
    with pytest.raises(UnknownNameError, match="deny"):
        chosen(("denny",))


def test_an_act_that_a_client_has_no_call_for_is_skipped_with_the_reason() -> None:
    known = client("claude-code")

    class Plain:
        """Claude Code without MCP and agents."""

        id, dialect, wire, package = known.id, known.dialect, known.wire, known.package
        furnish, launch = known.furnish, known.launch

        def call(self, act: Act) -> ToolCall:
            if isinstance(act, Mcp | Agent):
                raise HooklineError(f"there is no {type(act).__name__} here")
            return known.call(act)

    support = registry.dialect("claude-code").support
    plan = make_plan(probes(), Plain(), support, ())
    assert plan.known["mcp"].state is State.SKIPPED
    assert plan.known["mcp"].detail == "there is no Mcp here"
    assert plan.known["sub-agent"].state is State.SKIPPED
    assert "deny" in {each.probe.id for each in plan.played}


def test_a_claim_counts_for_the_events_that_are_installed() -> None:
    support = registry.dialect("copilot").support
    less = replace(support.events["PreToolUse"], cells={"deny": "none"})
    both = replace(support, events={**support.events, "PreToolUse": less})
    assert promise(("pre_tool_use", "deny"), both, ("preToolUse",)).how == "yes"
    assert promise(("pre_tool_use", "deny"), both, ("preToolUse", "PreToolUse")).how == "none"
