"""A condition that does not hold says which of its keys does not, and what it found instead."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.exceptions import Except, compile_exception
from hookline.config.matchers import Conditions
from hookline.config.schema import ExceptEntry
from hookline.model.events import Event, PostToolBatch, PreToolUse, SessionStart
from hookline.model.ports import NOBODY, Matcher
from hookline.model.tools import CANONICAL_TOOLS, Tool


def conditions(*, every: bool = False, **given: str | tuple[str, ...]) -> Conditions:
    texts = {key: (each,) if isinstance(each, str) else each for key, each in given.items()}
    return Conditions(texts, every=every, project_dir="/project")


def tool(name: str, **fields: str) -> Tool:
    return CANONICAL_TOOLS.read(name, fields)


def call(name: str, **fields: str) -> PreToolUse:
    return PreToolUse(tool=tool(name, **fields), cwd="/project")


SHELL = call("shell", command="git status && ls")


@pytest.mark.parametrize(
    ("match", "event", "why"),
    [
        (conditions(tool="read"), SHELL, "`tool` is shell (`shell`), not `read`"),
        (
            conditions(command=("rm *", "git push *")),
            SHELL,
            "`command` is `git status && ls`, not `git push *` or `rm *`",
        ),
        (
            conditions(command="git status", every=True),
            SHELL,
            "`command` is `git status && ls`, and not every part of it is plainly `git status`",
        ),
        (conditions(path="*.py"), SHELL, "the event has no `path`, and `*.py` is asked for"),
        (
            conditions(path="*.py"),
            call("read", path="a.rs"),
            "`path` is `a.rs`, not `*.py`",
        ),
        (conditions(dialect="codex"), SHELL, "`dialect` is `canonical`, not `codex`"),
        (
            conditions(agent="helper", native="PreToolUse"),
            SHELL,
            "the event has no `native`, and `PreToolUse` is asked for; "
            "`agent` is `root`, not `helper`",
        ),
        (
            conditions(source="resume"),
            SessionStart(source="startup"),
            "`source` is `startup`, not `resume`",
        ),
        (
            conditions(url="https://a/*"),
            call("fetch", url="https://b/"),
            "`url` is `https://b/`, not `https://a/*`",
        ),
        (
            conditions(mcp="files"),
            SHELL,
            "the event has no `mcp`, and `files` is asked for",
        ),
        (
            conditions(tool="shell", command="rm *"),
            SHELL,
            "`command` is `git status && ls`, not `rm *`",
        ),
        (
            conditions(tool="shell", command="rm *"),
            SessionStart(),
            "the event has no `tool`, and `shell` is asked for",
        ),
    ],
)
def test_the_key_that_fails_is_named_with_what_was_there(
    match: Conditions, event: Event, why: str
) -> None:
    assert match.find(event, NOBODY) is None
    assert match.why_not(event, NOBODY) == why


def test_of_a_batch_the_calls_that_fail_are_counted() -> None:
    batch = PostToolBatch(calls=(tool("shell", command="ls"), tool("read", path="a")))
    assert conditions(tool="edit").why_not(batch, NOBODY) == (
        "of 2 of 2 calls: `tool` is shell (`shell`), not `edit`"
    )
    assert conditions(tool="read").why_not(batch, NOBODY) == ""
    assert conditions(tool="read", every=True).why_not(batch, NOBODY) == (
        "of 1 of 2 calls: `tool` is shell (`shell`), not `read`"
    )


def test_a_long_command_is_cut_in_the_message() -> None:
    event = call("shell", command="echo " + "x" * 500)
    assert len(conditions(command="rm *").why_not(event, NOBODY)) < 200


def exception(entry: ExceptEntry | str, now: str = "2026-01-01") -> Matcher:
    return compile_exception(
        entry,
        about=("command", "path"),
        project_dir="/project",
        clock=lambda: datetime.fromisoformat(now).replace(tzinfo=UTC),
    )


def test_an_exception_that_holds_is_shown_as_written() -> None:
    match = Except(conditions(tool="shell"), [exception("git *")])
    event = call("shell", command="git push")
    assert match.why_not(event, NOBODY) == "an exception holds: `git *`"


def test_an_exception_with_an_end_says_when() -> None:
    entry = ExceptEntry(command=["git *", "ls"], until="2026-12-01")
    match = Except(None, [exception(entry)])
    assert match.why_not(SHELL, NOBODY) == (
        "an exception holds: command `git *` or `ls`, until 2026-12-01 00:00 UTC"
    )
    over = Except(None, [exception(entry, now="2027-01-01")])
    assert over.find(SHELL, NOBODY) is not None
    assert over.why_not(SHELL, NOBODY) == ""


def test_a_condition_inside_an_exception_speaks_for_itself() -> None:
    inner = Except(conditions(tool="read"), [exception("git *")])
    assert Except(inner, [exception("ls")]).why_not(SHELL, NOBODY) == (
        "`tool` is shell (`shell`), not `read`"
    )


KEYS = st.fixed_dictionaries(
    {},
    optional={
        "tool": st.sampled_from(["shell", "read", "edit"]),
        "command": st.sampled_from(["git *", "ls", "rm *"]),
        "path": st.sampled_from(["*.py", "src/**"]),
        "agent": st.sampled_from(["root", "helper"]),
    },
)
EVENTS = st.sampled_from(
    [SHELL, call("read", path="src/a.py"), call("shell", command="ls"), SessionStart()]
)


@given(keys=KEYS, every=st.booleans(), event=EVENTS)
def test_there_is_a_reason_exactly_when_there_is_no_match(
    keys: dict[str, str], every: bool, event: Event
) -> None:
    match = conditions(every=every, **keys)
    assert bool(match.why_not(event, NOBODY)) == (match.find(event, NOBODY) is None)
