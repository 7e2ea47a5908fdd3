"""Law 5: whatever is rewritten by whomever at whatever priority, no guard is passed by."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.engine.plan import Bound
from hookline.model.answers import PASS, Answer, Rewrite, ask, deny, halt, rewrite
from hookline.model.events import PreToolUse
from hookline.model.hook import Mode
from hookline.model.rewriting import overlay
from hookline.model.tools import tool
from hookline.model.verdicts import Verdict
from support.engines import bound, command_of, fire, shell
from support.strategies import inputs, priorities

commands = st.sampled_from("abcde")
flags = st.booleans()
players: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "priority": priorities,
        "matches": st.sets(commands, min_size=2),
        "halts": st.sets(commands, max_size=1),
        "denies": st.sets(commands, max_size=2),
        "asks": st.sets(commands, max_size=1),
        "turns": st.dictionaries(commands, commands, max_size=3),
        "guard": flags,
        "waits": flags,
        "mode": st.sampled_from((Mode.ENFORCE, Mode.ENFORCE, Mode.OBSERVE)),
    }
)


# Somebody who changes the first command, at any place among any others: without a rewrite there
# is nothing to judge again.
rewriters = st.tuples(players, st.sampled_from("bcde")).map(
    lambda drawn: (
        drawn[0]
        | {"matches": set("abcde"), "halts": set(), "denies": set(), "mode": Mode.ENFORCE}
        | {"turns": {**drawn[0]["turns"], "a": drawn[1]}}
    )
)
tables = st.tuples(st.lists(players, max_size=4), rewriters, st.integers(0, 4)).map(
    lambda drawn: [*drawn[0][: drawn[2]], drawn[1], *drawn[0][drawn[2] :]]
)


def verdict_of(player: dict[str, Any], command: str) -> Answer:
    if command in player["halts"]:
        return halt(f"{command} is the end")
    if command in player["denies"]:
        return deny(f"{command} is forbidden")
    if command in player["asks"]:
        return ask(f"{command}?")
    return rewrite(command=player["turns"][command]) if command in player["turns"] else PASS


def seat(number: int, player: dict[str, Any]) -> Bound:
    return bound(
        f"h{number}",
        lambda event: verdict_of(player, command_of(event)),
        when=lambda event: command_of(event) in player["matches"],
        **{key: player[key] for key in ("priority", "guard", "waits", "mode")},
    )


@settings(max_examples=300)
@given(tables)
def test_no_rewrite_passes_a_guard(table: list[dict[str, Any]]) -> None:
    outcome = fire([seat(*entry) for entry in enumerate(table)], shell("a"))

    final = command_of(outcome.final or outcome.event)
    for player in table:
        if player["guard"] and player["mode"] is Mode.ENFORCE and final in player["matches"]:
            judged = verdict_of(player, final)
            would_change_it = judged.rewrite and player["turns"][final] != final
            assert outcome.verdict >= min(judged.verdict, Verdict.DENY)
            assert outcome.verdict >= Verdict.DENY or not would_change_it


@settings(max_examples=300)
@given(tables)
def test_the_guards_that_judge_again_are_those_that_match_the_final_input_and_have_not_seen_it(
    table: list[dict[str, Any]],
) -> None:
    outcome = fire([seat(*entry) for entry in enumerate(table)], shell("a"))
    final = outcome.final or outcome.event
    settled = outcome.final is None or any(
        run.counts and not run.rejudged and run.answer.verdict >= Verdict.DENY
        for run in outcome.runs
    )
    judged = {run.hook.name for run in outcome.runs if run.seen is final and not run.rejudged}
    guards = {
        f"h{number}"
        for number, player in enumerate(table)
        if player["guard"]
        and player["mode"] is Mode.ENFORCE
        and command_of(final) in player["matches"]
    }

    again = {run.hook.name for run in outcome.runs if run.rejudged}

    assert again == (set() if settled else guards - judged)


@given(
    inputs,
    st.lists(st.tuples(priorities, inputs), max_size=4),
)
def test_the_merged_rewrite_turns_the_original_input_into_the_final_one(
    before: dict[str, Any], patches: list[tuple[int, dict[str, Any]]]
) -> None:
    event = PreToolUse(tool=tool("unheard_of", **before))
    hooks = [
        bound(f"h{number}", Answer(rewrite=Rewrite(input=patch)), priority=priority)
        for number, (priority, patch) in enumerate(patches)
    ]

    outcome = fire(hooks, event)

    final = outcome.final or event
    assert isinstance(final, PreToolUse)
    assert overlay(before, outcome.answer.rewrite.input or {}) == final.tool.input
