"""``hookline list``: which hooks hold here, in which order, from where."""

import json
from pathlib import Path

import pytest

from hookline import registry
from support.cli import Machine


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def names(machine: Machine, *args: str) -> list[str]:
    return [hook["name"] for hook in machine.call("list", "--json", *args).json["hooks"]]


def hooks(*entries: str) -> str:
    return "version: 1\nhooks:\n" + "".join(f"  - {{{entry}}}\n" for entry in entries)


def test_hooks_stand_in_the_order_in_which_they_run(machine: Machine) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(
        hooks(
            "name: user late, on: stop, run: 'true', priority: 90", "name: user, on: stop, run: a"
        ),
        encoding="utf-8",
    )
    machine.trust(
        hooks(
            "name: late, on: stop, run: b, priority: 90",
            "name: first, on: stop, run: c, priority: 10",
            "name: second, on: stop, run: d",
        )
    )
    assert names(machine) == ["first", "user", "second", "user late", "late"]


def test_a_person_reads_priority_name_events_handler_flags_and_source(machine: Machine) -> None:
    machine.trust(
        hooks(
            "name: no, on: [pre_tool_use, stop], deny: no, always: true",
            "name: try, on: session_start, run: make, mode: observe",
        ).replace("deny: no", "run: ./x.sh")
    )
    lines = machine.call("list").out.splitlines()
    assert lines[0] == " 50  no  pre_tool_use, stop  command enforcing guard always"
    assert lines[1] == f"     {machine.config}:3, project"
    assert " 50  try  session_start  command advisory observe" in lines
    assert "     not pinned: program `make` on PATH" in lines


def test_json_has_all_of_a_hook(machine: Machine) -> None:
    machine.write("guard.sh", "#!/bin/sh\n", 0o755)
    machine.trust(hooks("name: g, on: pre_tool_use, run: ./guard.sh, timeout: 5s"))
    shown = machine.call("list", "--json").json
    assert shown["notes"] == []
    assert shown["hooks"] == [
        {
            "name": "g",
            "on": ["pre_tool_use"],
            "handler": "command",
            "priority": 50,
            "timeout": 5.0,
            "on_error": "block",
            "enforcing": True,
            "guard": True,
            "always": False,
            "mode": "enforce",
            "layer": "project",
            "source": f"{machine.config}:3",
            "native": None,
            "not_run_for": [],
            "agents": {},
            "pinned": [str(machine.project / "guard.sh")],
            "not_pinned": ["what `./guard.sh` sources, imports or starts"],
            "problems": [],
        }
    ]


def test_each_hook_is_marked_as_enforcing_or_advisory(machine: Machine) -> None:
    machine.trust(
        hooks(
            "use: add-date",
            "use: protect-paths, guard: false",
            "use: loop-guard",
            "name: tell, on: pre_tool_use, context: careful",
            "name: refuse, on: pre_tool_use, deny: no",
        )
    )
    shown = machine.call("list", "--json").json["hooks"]
    marks = {hook["name"]: hook["enforcing"] for hook in shown}
    assert marks == {
        "add-date": False,
        "protect-paths": True,
        "loop-guard": True,
        "tell": False,
        "refuse": True,
    }
    for line in machine.call("list").out.splitlines():
        for name, enforcing in marks.items():
            if f"  {name}  " in line:
                assert ("enforcing" in line, "advisory" in line) == (enforcing, not enforcing)


def test_a_hook_on_what_a_builtin_finds_fires_where_that_builtin_is_active(
    machine: Machine,
) -> None:
    told = "name: told, on: loop_detected, run: 'true'"
    machine.trust(hooks(told))
    shown = machine.call("list", "--agent", "codex").out
    assert "`use: loop-guard`, which finds it, is not active here" in shown
    machine.trust(hooks(told, "use: loop-guard"))
    shown = machine.call("list", "--agent", "codex").out
    assert "loop_detected derived, when loop-guard finds it" in shown
    assert machine.call("check").code == 0


def test_another_platforms_hook_enforces_where_that_platform_lets_it_block(
    machine: Machine,
) -> None:
    line = {"type": "command", "command": "true"}
    events = ("PreToolUse", "Stop", "PreCompact", "SubagentStart")
    machine.write(".github/hooks/a.json", json.dumps({"hooks": {each: [line] for each in events}}))
    shown = machine.call("list", "--host", "vscode", "--json").json["hooks"]
    assert {hook["native"]: hook["enforcing"] for hook in shown} == {
        "PreToolUse": True,
        "Stop": True,
        "PreCompact": False,
        "SubagentStart": False,
    }


def test_pins_of_two_hooks_on_one_line_are_not_mixed_up(machine: Machine) -> None:
    machine.write("a.sh", "")
    machine.write("b.sh", "")
    machine.trust(
        "version: 1\nhooks: [{name: a, on: stop, run: ./a.sh}, {name: b, on: stop, run: ./b.sh}]\n"
    )
    found = machine.call("list", "--json").json["hooks"]
    assert [hook["pinned"] for hook in found] == [
        [str(machine.project / "a.sh")],
        [str(machine.project / "b.sh")],
    ]


def test_hooks_of_included_files_are_listed_with_their_own_source(machine: Machine) -> None:
    more = machine.write("more.yaml", hooks("name: inner, on: stop, run: x"))
    machine.trust("version: 1\ninclude: [more.yaml]\n")
    (hook,) = machine.call("list", "--json").json["hooks"]
    assert (hook["name"], hook["layer"]) == ("inner", "include")
    assert hook["source"] == f"{more}:3"


def test_an_untrusted_file_is_a_note_and_contributes_nothing(machine: Machine) -> None:
    machine.write(machine.config, hooks("name: x, on: stop, run: y"))
    done = machine.call("list")
    assert done.code == 0
    assert done.out == (
        f"note: `{machine.config}` is not trusted, so nothing in it is active; "
        "`hookline trust` shows it and asks.\nNo hook is active here.\n"
    )
    (note,) = machine.call("list", "--json").json["notes"]
    assert (note["file"], note["kind"]) == (str(machine.config), "untrusted")


def test_an_edited_file_is_listed_as_trusted_with_a_note(machine: Machine) -> None:
    machine.trust(hooks("name: old, on: stop, run: y"))
    machine.write(machine.config, hooks("name: new, on: stop, run: y"))
    assert names(machine) == ["old"]
    assert names(machine, "--edited") == ["new"]
    assert "changed since you trusted it" in machine.call("list").out


def test_a_file_may_stand_in_for_the_projects(machine: Machine) -> None:
    machine.trust(hooks("name: old, on: stop, run: y"))
    machine.write("other.yaml", hooks("name: other, on: stop, run: y"))
    assert names(machine, "--config", "other.yaml") == ["other"]


def test_one_event_may_be_asked_for(machine: Machine) -> None:
    machine.trust(hooks("name: a, on: stop, run: y", "name: b, on: [stop, setup], run: z"))
    assert names(machine, "--event", "stop") == ["a", "b"]
    assert names(machine, "--event", "setup") == ["b"]
    assert machine.call("list", "--event", "error").out == "No hook is active here.\n"


def test_an_event_that_is_none_names_the_nearest(machine: Machine) -> None:
    done = machine.call("list", "--event", "pre_tool_us")
    assert done.code == 2
    assert "did you mean `pre_tool_use`?" in done.err


def test_nothing_in_force_says_what_to_do(machine: Machine) -> None:
    done = machine.call("list")
    assert done.out == "No hook is active here. `hookline init` writes a starter config.\n"
    assert machine.call("list", "--json").json == {"hooks": [], "notes": []}


def test_a_subdirectorys_own_config_counts_there(machine: Machine) -> None:
    machine.trust(hooks("name: outer, on: stop, run: y"))
    sub = machine.project / "sub"
    machine.write("sub/hookline.yaml", hooks("name: inner, on: stop, run: y"))
    machine.call("trust", "sub/hookline.yaml", says="yes")
    assert names(machine) == ["outer"]
    shown = machine.call("list", "--json", cwd=sub).json
    assert [hook["name"] for hook in shown["hooks"]] == ["outer", "inner"]


def test_a_broken_user_file_is_an_error(machine: Machine) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text("version: 1\nhoks: []\n", encoding="utf-8")
    done = machine.call("list")
    assert done.code == 1
    assert f"{machine.user_file}:2" in done.err


def test_names_cannot_paint_the_terminal(machine: Machine) -> None:
    odd = machine.base / "a\x1b[2Jb"
    odd.mkdir()
    (odd / "hookline.yaml").write_text(hooks("name: x, on: stop, run: y"), encoding="utf-8")
    assert "\x1b" not in machine.call("list", cwd=odd).out


def test_builtins_are_listed_with_what_they_do(machine: Machine) -> None:
    done = machine.call("list", "--builtins")
    assert done.code == 0
    for name in registry.builtin_names():
        (line,) = [line for line in done.out.splitlines() if line.split()[0] == name]
        assert len(line.split(maxsplit=1)[1]) > 10
    shown = machine.call("list", "--builtins", "--json").json
    assert [each["name"] for each in shown] == list(registry.builtin_names())
    assert all(each["about"] and each["on"] for each in shown)


def test_a_platforms_name_of_an_event_is_explained(machine: Machine) -> None:
    machine.trust(hooks("name: no, on: before_tool_call, deny: no"))
    assert "     before_tool_call is pre_tool_use" in machine.call("list").out.splitlines()
    (hook,) = machine.call("list", "--json").json["hooks"]
    assert (hook["on"], hook["native_names"]) == (
        ["pre_tool_use"],
        {"before_tool_call": "pre_tool_use"},
    )
