"""What coverage claims is what happens: every event of every platform, by its recorded payloads."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import hookline
from hookline import registry
from hookline.app import App
from hookline.functions import bound_hooks, hook
from hookline.model.answers import Answer, context
from hookline.model.coverage import cover_hook
from hookline.model.derivation import find_coverage
from hookline.model.events import EVENTS, Event
from hookline.model.hook import HandlerSpec, Hook
from hookline.pipeline.judge import judge

DIALECTS = Path(hookline.__file__).parent / "dialects"
PLATFORMS = [name for name in registry.dialect_names() if name != "canonical"]
# What was never recorded.
UNSEEN = {"workspaceOpen", "worktree_create"}
FAILED = {"tool_name": "bash", "tool_input": {"command": "false"}}
MADE: dict[str, list[tuple[str, dict[str, Any]]]] = {
    "basecoat": [("SessionStart", {"timestamp": "x", "source": "resume"})],
    "kodelet": [("after_tool_call", {**FAILED, "tool_output": {"success": False, "error": "e"}})],
}


@cache
def payloads(platform: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    """Every recorded payload that hookline hears of; the cloud agent's are those of Copilot CLI."""
    folder = {"copilot-cloud": "copilot"}.get(platform, platform).replace("-", "_")
    found = [
        json.loads(path.read_text(encoding="utf-8"))
        for path in sorted((DIALECTS / folder / "captures").rglob("*.json"))
    ]
    known = registry.dialect(platform).support.events.keys() - registry.unheard(platform).keys()
    # As in a session, prompts come first.
    found.sort(key=lambda each: "user" not in each["event"].lower())
    told = [(each["event"], each["payload"]) for each in found] + MADE.get(platform, [])
    return tuple((event, payload) for event, payload in told if event in known)


def play(platform: str, functions: list[Any], home: Path) -> Iterator[tuple[str, bytes]]:
    """Two rounds of all payloads in one session; of each the event and what was replied."""
    dialect = registry.dialect(platform)
    app = App(
        env={"PATH": "/bin", "HOME": str(home)},
        cwd=str(home),
        home=str(home / "state"),
        functions=bound_hooks(functions),
        managed=str(home / "none"),
    )
    with asyncio.Runner() as runner:
        for native, payload in payloads(platform) * 2:
            event = dialect.decode(json.dumps(payload).encode(), native)
            outcome = runner.run(judge(replace(event, session_id="s", cwd=str(home)), app))
            reply = dialect.encode(outcome)
            yield native, reply.stdout + reply.stderr


@pytest.mark.parametrize("platform", PLATFORMS)
def test_a_hook_fires_on_a_platform_if_and_only_if_coverage_says_so(
    platform: str, tmp_path: Path
) -> None:
    ran: dict[str, set[str]] = defaultdict(set)

    def listen(name: str) -> Any:
        def note(event: Event) -> None:
            ran[name].add("derived" if event.derived_from else "native")

        return hook(name, guard=False)(note)

    list(play(platform, [listen(name) for name in EVENTS], tmp_path))
    support, left_out = registry.dialect(platform).support, registry.unheard(platform)
    for name in EVENTS:
        claim = find_coverage(name, support, left_out)
        if not claim.by and claim.fires:
            continue  # of silence, of a hook that failed, of what a builtin counts
        if claim.how == "native" and UNSEEN.issuperset(claim.by):
            continue
        seen = "native" if "native" in ran[name] else next(iter(ran[name]), "none")
        assert (name, seen) == (name, claim.how)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_text_reaches_the_model_on_a_platform_if_and_only_if_coverage_says_so(
    platform: str, tmp_path: Path
) -> None:
    support, left_out = registry.dialect(platform).support, registry.unheard(platform)
    for name in (name for name, each in EVENTS.items() if each.takes_context):

        def tell(event: Event) -> Answer:
            return context("MARK")

        said = play(platform, [hook(name, guard=False)(tell)], tmp_path / name)
        with_mark = {native for native, reply in said if b"MARK" in reply}
        rule = Hook(name="tell", events=(name,), handler=HandlerSpec("rule", {"context": "MARK"}))
        claim = cover_hook(rule, support, left_out, effect="context")
        if any(each.fires and not each.by for each in claim.events.values()):
            continue
        carriers = {native for native in with_mark if support.events[native].can("context")}
        assert (name, bool(carriers)) == (name, claim.effect in {"yes", "later"})
