"""A hostile repository starts no program, whoever asks git about it, trusted or not."""

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hookline.builtin
from hookline.builtin import (
    add_git_diff,
    add_git_status,
    add_recent_commits,
    no_secrets_in,
    snapshot,
)
from hookline.cli.install import travels
from hookline.git import find_repository
from hookline.model.answers import PASS
from hookline.model.events import (
    Event,
    PreToolUse,
    SessionEnd,
    SessionStart,
    Stop,
    TurnEnd,
    TurnStart,
)
from hookline.model.ports import Caller
from hookline.model.tools import tool
from hookline.snapshots import Page, Shadow, make_plan, undo
from support.cli import Machine
from support.hostile_git import PATH, SHAPES, Traps, git

Shape = Callable[[Traps], Path]
COMMITS = ("git commit -am x", "git add -A && git commit -m x")


@pytest.fixture(name="traps")
def _traps(tmp_path: Path) -> Traps:
    (tmp_path / "traps").mkdir()
    return Traps(tmp_path.resolve() / "traps")


def caller(traps: Traps) -> Caller:
    env = {"HOME": str(traps.base / "home"), **traps.variables(), "PATH": PATH}
    return Caller(env=env, home=str(traps.base / "state"))


def events(work: Path) -> list[Event]:
    keys: dict[str, Any] = {"cwd": str(work), "session_id": "s1"}
    call = tool("shell", command=f"{COMMITS[1]}; git push")
    return [
        *(SessionStart(**keys), TurnStart(**keys), PreToolUse(tool=call, **keys)),
        PreToolUse(tool=tool("write", path=f"{work}/x", content="x"), **keys),
        *(Stop(**keys), TurnEnd(**keys), SessionEnd(**keys)),
    ]


def test_plain_git_springs_the_traps(traps: Traps) -> None:
    work = traps.at_the_top()
    traps.sprung()
    for words in (("status",), ("diff",), ("add", "-A"), ("log", "-1"), ("commit", "-qm", "x")):
        git(work, *words, fails=True)
    assert traps.sprung() >= {
        *("filter.trap.clean", "filter.process.process", "filter.included.clean"),
        *("filter.worktree.clean", "filter.condition.clean", "core.fsmonitor", "diff.external"),
        *("gpg.program", "hook-path-post-index-change", "hook-path-pre-commit"),
    }
    git(work, "config", "--unset", "diff.external")
    git(work, "config", "--unset", "core.hooksPath")
    git(work, "diff", "HEAD~0", fails=True)
    for name in "ef":
        (work / f"{name}.txt").write_text("again\n")
    git(work, "diff", fails=True)
    git(work, "add", ".", fails=True)
    assert traps.sprung() >= {
        *("diff.trap.textconv", "diff.command.command", "hook-own-post-index-change")
    }


# What plain git does in each shape that springs a trap: without that, no test below means anything.
SPRINGING = {
    Traps.as_a_submodule: (("status",), ("diff",), ("add", "-A")),
    Traps.missing_what_a_remote_promises: (("diff", "--cached"),),
    Traps.nested_and_unknown: (),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_nobody_who_asks_git_springs_one(traps: Traps, shape: Shape) -> None:
    work = shape(traps)
    traps.sprung()
    who = caller(traps)
    _ask_all(work, who)
    assert traps.sprung() == set()
    _keep_and_undo(work, who)
    assert traps.sprung() == set()

    variables = who.env if shape is Traps.named_by_variables else {}
    variables = {name: each for name, each in variables.items() if name != "GIT_EXEC_PATH"}
    for words in SPRINGING.get(shape, (("status",),)):
        git(work, *words, fails=True, **variables)
        elsewhere = shape is Traps.with_another_work_tree
        expected = {"core.fsmonitor"} if elsewhere else {"filter.trap.clean", "remote.evil.url"}
        assert traps.sprung() & expected


def _ask_all(work: Path, who: Caller) -> None:
    """Asks whatever asks git, and finds the answers true."""
    turn = TurnStart(cwd=str(work))
    full = add_git_diff.Options(full=True)
    status = "".join(add_git_status.make(add_git_status.Options())(turn, who).context)
    diff = "".join(add_git_diff.make(full)(turn, who).context)
    log = add_recent_commits.make(add_recent_commits.Options())(turn, who).context
    assert "a.txt" in status
    assert "+A" in diff
    assert "secret" not in status + diff
    assert ("signed" in "".join(log)) is (work.name != "outer")
    guard = no_secrets_in.make(no_secrets_in.Options())
    for command in COMMITS:
        answer = guard(PreToolUse(cwd=str(work), tool=tool("shell", command=command)), who)
        # What a remote promised and we do not fetch cannot be looked through.
        unread = (work / ".git/config").is_file() and "promisor" in (
            work / ".git/config"
        ).read_text()
        assert answer.metadata.get("families") == (["unread"] if unread else None)
    repository = find_repository(str(work))
    assert repository is not None
    assert travels(f"{repository.root}/a.txt", who.env) == "tracked"
    assert travels(f"{work}/none.txt", who.env) == "untracked"


def _keep_and_undo(work: Path, who: Caller) -> None:
    keys: dict[str, Any] = {"cwd": str(work), "session_id": "s1"}
    answering = snapshot.make(snapshot.Options())
    assert answering(TurnStart(**keys), who) == PASS
    repository = find_repository(str(work))
    assert repository is not None
    before = (work / "a.txt").read_bytes()
    (work / "a.txt").write_text("changed")
    (work / "mine.txt").write_text("new")
    assert answering(TurnEnd(**keys), who) == PASS
    shadow = Shadow(f"{who.home}/snapshot", repository, env=who.env)
    page = Page(shadow.directory, "s1")
    points = page.read().checkpoints
    undo(shadow, page, points, make_plan(shadow, points), again=False)
    assert (work / "a.txt").read_bytes() == before
    assert not (work / "mine.txt").exists()


def test_no_builtin_springs_one(traps: Traps) -> None:
    work = traps.at_the_top()
    traps.sprung()
    asked = 0
    for info in pkgutil.iter_modules(hookline.builtin.__path__):
        module: Any = importlib.import_module(f"hookline.builtin.{info.name}")
        if info.name.startswith("_"):
            continue
        try:
            answering = module.make(module.Options())
        except (TypeError, ValueError):
            continue  # it has no use without options, and none of those is about git
        for event in events(work):
            if event.event_id() in (*module.EVENTS, *getattr(module, "ALSO", ())):
                answering(event, caller(traps))
                asked += 1
        assert traps.sprung() == set(), info.name
    assert asked > 20


def test_a_repository_that_a_snapshot_took_for_a_submodule_is_not_entered(traps: Traps) -> None:
    """As when it is put there between two questions of one snapshot."""
    work = traps.nested_and_unknown()
    who = caller(traps)
    turn = TurnStart(cwd=str(work), session_id="s1")
    answering = snapshot.make(snapshot.Options())
    assert answering(turn, who) == PASS
    repository = find_repository(str(work))
    assert repository is not None
    shadow = Shadow(f"{who.home}/snapshot", repository, env=who.env)
    commit = git(work / "sub", "-c", "core.hooksPath=/dev/null", "rev-parse", "HEAD").strip()
    words = ("update-index", "--add", "--cacheinfo", f"160000,{commit},sub")
    git(work, *words, GIT_DIR=f"{shadow.directory}/git", GIT_WORK_TREE=str(work))
    traps.sprung()
    git(work, "add", "-A", GIT_DIR=f"{shadow.directory}/git", GIT_WORK_TREE=str(work))
    assert "filter.trap.clean" in traps.sprung()
    assert answering(turn, who) == PASS
    assert traps.sprung() == set()


USES = """\
version: 1
hooks:
  - {use: add-git-status, on: [user_prompt_submit]}
  - {use: add-git-diff, on: [user_prompt_submit]}
  - {use: add-recent-commits, on: [session_start]}
  - {use: snapshot, on: [user_prompt_submit, stop]}
  - {use: no-secrets-in}
  - {use: protect-branches}
  - {use: no-workarounds}
"""


def test_no_command_springs_one_before_trust_or_after(
    traps: Traps, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    machine = Machine(tmp_path.resolve() / "machine", capfdbinary)
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(USES)
    machine.project = traps.at_the_top()
    machine.config = machine.project / "hookline.yaml"
    machine.config.write_text(USES)
    traps.sprung()

    def use() -> None:
        common = {"session_id": "s1", "cwd": str(machine.project)}
        bash = {"kind": "shell", "name": "Bash", "input": {"command": COMMITS[1]}}
        assert "a.txt" in machine.hook({"event": "user_prompt_submit", "prompt": "x", **common}).out
        machine.hook({"event": "session_start", **common})
        machine.hook({"event": "pre_tool_use", "tool": bash, **common})
        (machine.project / "a.txt").write_text("else")
        machine.hook({"event": "stop", **common})
        assert "put back   a.txt" in machine.call("undo", "--yes", HOOKLINE_TRUST="all").out
        for words in (
            "status",
            "doctor",
            "check",
            "list",
            "init",
            "install claude --scope project",
        ):
            machine.call(*words.split())
            assert traps.sprung() == set(), words

    use()
    machine.trust(USES)
    use()
