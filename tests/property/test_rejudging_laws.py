"""Law 5: whatever is rewritten by whomever at whatever priority, no guard is passed by."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from hookline.engine.plan import Bound
from hookline.model.answers import PASS, Answer, Rewrite, Verdict, ask, deny, halt, rewrite
from hookline.model.events import PreToolUse
from hookline.model.hook import Mode
from hookline.model.outcome import Outcome
from hookline.model.rewriting import overlay
from hookline.model.tools import tool
from support.engines import bound, command_of, fire, shell
from support.strategies import inputs, priorities

COMMANDS = "abcde"
REWRITES = [rewrite(command=command) for command in COMMANDS]
# What a hook does about one command; None is a hook whose condition does not hold.
ACTIONS = [None, PASS, PASS, ask("sure?"), deny("no"), halt("over"), *REWRITES]
flags = st.booleans()


class Player(Struct, frozen=True):
    """A hook that knows what to do about each command there is."""

    plays: dict[str, Answer | None]
    priority: int
    guard: bool
    waits: bool
    mode: Mode

    def seat(self, name: str) -> Bound:
        return bound(
            name,
            lambda event: self.plays[command_of(event)],
            when=lambda event: self.plays[command_of(event)] is not None,
            priority=self.priority,
            guard=self.guard,
            waits=self.waits,
            mode=self.mode,
        )

    def judges(self, command: str) -> bool:
        return self.guard and self.mode is Mode.ENFORCE and self.plays[command] is not None


players = st.builds(
    Player,
    plays=st.tuples(*[st.sampled_from(ACTIONS) for _ in COMMANDS]).map(
        lambda actions: dict(zip(COMMANDS, actions, strict=True))
    ),
    priority=priorities,
    guard=flags,
    waits=flags,
    mode=st.sampled_from((Mode.ENFORCE, Mode.ENFORCE, Mode.OBSERVE)),
)
# Somebody who changes the first command, at any place among any others: without a rewrite there
# is nothing to judge again.
rewriters = st.builds(
    lambda player, first: replace(player, plays=player.plays | {"a": first}, mode=Mode.ENFORCE),
    players,
    st.sampled_from(REWRITES[1:]),
)
tables = st.builds(
    lambda others, rewriter, place: [*others[:place], rewriter, *others[place:]],
    st.lists(players, max_size=4),
    rewriters,
    st.integers(0, 4),
)


def play(table: list[Player]) -> Outcome:
    return fire([player.seat(f"h{number}") for number, player in enumerate(table)], shell("a"))


@settings(max_examples=300)
@given(tables)
def test_no_rewrite_passes_a_guard(table: list[Player]) -> None:
    outcome = play(table)

    final = command_of(outcome.final or outcome.event)
    for player in table:
        judged = player.plays[final]
        if judged is not None and player.judges(final):
            wanted = judged.rewrite.input or {"command": final}
            assert outcome.verdict >= min(judged.verdict, Verdict.DENY)
            assert outcome.verdict >= Verdict.DENY or wanted == {"command": final}


@settings(max_examples=300)
@given(tables)
def test_the_guards_that_judge_again_are_those_that_match_the_final_input_and_have_not_seen_it(
    table: list[Player],
) -> None:
    outcome = play(table)
    final = outcome.final or outcome.event
    settled = outcome.final is None or any(
        run.counts and not run.rejudged and run.answer.verdict >= Verdict.DENY
        for run in outcome.runs
    )
    judged = {run.hook.name for run in outcome.runs if run.seen is final and not run.rejudged}
    guards = {
        f"h{number}" for number, player in enumerate(table) if player.judges(command_of(final))
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
