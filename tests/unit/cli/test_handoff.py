"""``hookline handoff``: what a person sees of what sessions left."""

from pathlib import Path

import pytest

from support.cli import Machine


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    made = Machine(tmp_path, capfdbinary)
    made.user_file.parent.mkdir(parents=True)
    made.user_file.write_text("version: 1\nhooks:\n  - use: handoff\n")
    switch(made, "feat/7-x")
    return made


def switch(machine: Machine, branch: str) -> None:
    (machine.project / ".git/HEAD").write_text(f"ref: refs/heads/{branch}\n")


def send(machine: Machine, session: str, *events: dict[str, object]) -> None:
    for event in events:
        done = machine.hook({"session_id": session, "cwd": str(machine.project), **event})
        assert done.code == 0, done.err


STOP = {"event": "stop", "last_message": "Next step: MK_NEXT\x1b[31m"}
END = {"event": "session_end"}


def test_nothing_is_said_of_where_nothing_was_done(machine: Machine) -> None:
    done = machine.call("handoff")
    assert (done.code, "`use: handoff` keeps it" in done.out) == (0, True)
    assert machine.call("handoff", "--json").json == []
    assert not (machine.state / "state.db").exists(), "to look makes no file"


def test_the_latest_of_this_branch_is_shown_also_from_below(machine: Machine) -> None:
    send(machine, "s1", STOP, END)
    below = machine.project / "src"
    below.mkdir()
    for cwd in (machine.project, below):
        done = machine.call("handoff", cwd=cwd)
        assert "ended, open  canonical:s1" in done.out
        assert "> Next step: MK_NEXT␛[31m" in done.out
    switch(machine, "main")
    assert "no session here" in machine.call("handoff").out


def test_the_list_has_every_branch_and_how_each_session_stands(machine: Machine) -> None:
    send(machine, "s1", STOP, END)
    send(machine, "s2", {"event": "session_start", "source": "startup"}, STOP)
    switch(machine, "main")
    send(machine, "s3", STOP, {"event": "budget_exceeded"})
    lines = machine.call("handoff", "--list").out.splitlines()
    assert [line.split("UTC  ")[1] for line in lines] == [
        "main  rotated  canonical:s3",
        "feat/7-x  still at work  canonical:s2",
        "feat/7-x  taken by canonical:s2  canonical:s1",
    ]


def test_programs_get_data(machine: Machine) -> None:
    todos = [{"content": "A", "status": "completed"}]
    call = {"kind": "task", "name": "TodoWrite", "input": {"todos": todos}}
    send(machine, "s1", {"event": "post_tool_use", "tool": call}, STOP, END)
    (shown,) = machine.call("handoff", "--json").json
    assert shown["todos"] == [{"text": "A", "status": "done", "id": ""}]
    assert shown["next_steps"] == ["MK_NEXT␛[31m"]
    assert (shown["branch"], shown["issue"], shown["written_by"]) == (
        "feat/7-x",
        "7",
        "session_end",
    )


def test_what_is_forgotten_is_told_to_nobody(machine: Machine) -> None:
    send(machine, "s1", STOP, END)
    switch(machine, "main")
    send(machine, "s2", STOP, END)
    assert machine.call("handoff", "--forget").out == "1 handoff removed\n"
    assert machine.call("handoff", "--json").json == []
    assert machine.call("handoff", "--list", "--forget").out == "1 handoff removed\n"
    assert machine.call("handoff", "--list", "--json").json == []
