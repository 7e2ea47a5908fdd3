"""The handoff law: nothing of one user, repository or branch is told in another."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import convert
from msgspec.structs import replace

from hookline.builtin import handoff
from hookline.model.events import BudgetExceeded, Event, SessionEnd, SessionStart, Stop, Workspace
from hookline.model.ports import Caller
from hookline.store.state import StateDatabase

NAMES = st.sampled_from(
    ["app", "app-2", "a/pp", "%", "_", "APP", "ap", "app' OR 1=1 --", "äpp", ""]
)
BRANCHES = st.sampled_from(["main", "Main", "main ", "feat/1", "feat/%", "feat_1", "*", ""])
PLACES = st.tuples(
    st.sampled_from(["one", "two", "ONE"]), NAMES, BRANCHES, st.sampled_from([0, 1000])
)
Place = tuple[str, str, str, int]


@contextmanager
def home() -> Iterator[Path]:
    with TemporaryDirectory() as base:
        yield Path(base)


def fire(base: Path, state: StateDatabase, place: Place, session: str, event: Event) -> str:
    directory, repository, branch, user = place
    project = base / directory
    (project / ".git").mkdir(parents=True, exist_ok=True)
    answer = handoff.make(convert({}, handoff.Options))
    event = replace(
        event,
        session_id=session,
        cwd=str(project),
        workspace=Workspace(repository=repository, branch=branch),
    )
    caller = Caller(project_dir=str(project), state=lambda: state, carries_text=event.takes_context)
    with patch("os.getuid", return_value=user):
        return "\n".join(answer(event, caller).context)


@settings(max_examples=150, deadline=None)
@given(
    left=st.lists(PLACES, min_size=1, max_size=4), asked=st.lists(PLACES, min_size=1, max_size=6)
)
def test_a_session_hears_only_what_was_left_at_its_own_place(
    left: Sequence[Place], asked: Sequence[Place]
) -> None:
    with home() as base:
        state = StateDatabase(str(base / "home"))
        for number, place in enumerate(left):
            stated = Stop(last_message=f"Next step: MK_{number}_{left.index(place)}_")
            for event in (stated, BudgetExceeded(), SessionEnd()):
                fire(base, state, place, f"left {number}", event)
        heard: set[int] = set()
        for number, place in enumerate([*asked, *left]):
            said = fire(base, state, place, f"asked {number}", SessionStart(source="startup"))
            for each, other in enumerate(left):
                if f"MK_{each}_" in said:
                    assert other == place
                    assert each not in heard, "told twice"
                    heard.add(each)
        # The last session of each place is heard of.
        assert heard == {max(n for n, p in enumerate(left) if p == place) for place in left}
        state.close()
