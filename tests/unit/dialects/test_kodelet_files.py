"""Kodelet's hook files: which count, and in which order."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.dialects.kodelet.files import FILES
from hookline.model.errors import IllegalValueError
from hookline.model.events import Stop
from hookline.model.hook import Hook, Lane, Layer, OnError
from hookline.model.native import Where

PATH = "/p/.kodelet/hooks/guard"
SCRIPT = b"#!/bin/sh\n"


def hooks(*paths: str, content: bytes = SCRIPT) -> tuple[Hook, ...]:
    read = [FILES.read(path, content) for path in paths]
    return FILES.hooks(read, layer=Layer.PROJECT, project_dir="/p")


def test_an_executable_could_be_for_any_event_and_is_asked_for_which() -> None:
    types = ["before_tool_call", "after_tool_call", "user_message_send", "agent_stop"]
    assert [hook.native for hook in hooks(PATH)] == [*types, "turn_end"]
    hook = hooks(PATH)[0]
    assert hook.start is not None
    assert hook.start.answers_to == (PATH, "hook")
    assert hook.start.in_cwd
    assert hook.handler.values == {"run": [PATH, "run"]}
    assert (hook.timeout, hook.on_error, hook.name) == (30, OnError.WARN, "guard before_tool_call")


def test_it_hears_of_failed_tools_and_of_all_that_a_person_says() -> None:
    heard = {hook.native: hook.events for hook in hooks(PATH)}
    assert heard["after_tool_call"] == ("post_tool_use", "post_tool_use_failure")
    assert heard["user_message_send"] == (
        "user_prompt_submit",
        "steering_submit",
        "follow_up_submit",
    )
    assert heard["agent_stop"] == ("stop",)
    assert FILES.matches(FILES.read(PATH, SCRIPT).entries[0], Stop())


def test_a_block_ends_the_row_and_else_the_last_counts() -> None:
    lanes = {hook.native: hook.lane for hook in hooks(PATH)}
    fast = Lane(name="kodelet", deny_ends=True, last_counts=True, silence_counts=False)
    assert lanes["before_tool_call"] == fast
    assert lanes["user_message_send"] == fast
    assert lanes["after_tool_call"] == Lane(name="kodelet", last_counts=True)
    assert lanes["agent_stop"] == Lane(name="kodelet")


@pytest.mark.parametrize(
    "content", [SCRIPT, b"\x7fELF\x02", b"\xcf\xfa\xed\xfe", b"#! /usr/bin/env python3"]
)
def test_scripts_and_binaries_are_programs(content: bytes) -> None:
    assert FILES.read(PATH, content).off == ""


@pytest.mark.parametrize("content", [b"", b"# Notes\n", b"echo hi\n"])
def test_what_nobody_could_start_is_off_and_says_so(content: bytes) -> None:
    file = FILES.read(PATH, content)
    assert "no program" in file.off
    assert (file.entries, hooks(PATH, content=content)) == ((), ())


def test_a_name_switches_a_hook_off() -> None:
    path = PATH + ".disable"
    assert "`.disable`" in FILES.read(path, SCRIPT).off
    names = ["b", "a.disable", "a"]
    assert FILES.members("/p/.kodelet/hooks", names) == ["a", "b"]


def test_by_the_adr_no_name_switches_off_and_there_are_neither_turns_nor_plugins(
    tmp_path: Path,
) -> None:
    adr = FILES.in_mode("adr")
    assert adr.members("/p/.kodelet/hooks", ["b.disable", "a"]) == ["a", "b.disable"]
    read = adr.read(PATH + ".disable", SCRIPT)
    assert (read.off, [entry.event for entry in read.entries]) == (
        "",
        ["before_tool_call", "after_tool_call", "user_message_send", "agent_stop"],
    )
    (tmp_path / ".kodelet/plugins/a@x").mkdir(parents=True)
    where = Where(project=str(tmp_path), home="/h", root=str(tmp_path))
    assert [place.scope for place in adr.places(where)] == ["project", "user"]


def test_the_mode_is_an_option_and_current_by_default() -> None:
    assert FILES.in_mode("current") is FILES
    assert FILES.in_mode("adr") is FILES.in_mode("adr") is not FILES
    with pytest.raises(IllegalValueError, match="`mode` is current or adr, not `ADR`"):
        FILES.in_mode("ADR")


def test_only_kodelets_directories_are_looked_into() -> None:
    assert FILES.members("/p/hooks", ["a"]) is None
    assert FILES.members(".kodelet/hooks", ["a"]) == ["a"]
    assert FILES.members("/h/.kodelet/plugins/org@repo/hooks/", ["a"]) == ["a"]
    assert FILES.owns(PATH, b"")
    assert not FILES.owns("/p/.kodelet/hooks/deep/guard", b"")
    assert not FILES.owns("/p/kodelet/guard", b"")


def test_places_are_the_projects_before_the_persons_and_plugins_after_each(tmp_path: Path) -> None:
    project, home = tmp_path / "p", tmp_path / "h"
    for name in ("b@x", "a@x"):
        (project / ".kodelet/plugins" / name).mkdir(parents=True)
    (home / ".kodelet/plugins/c@x").mkdir(parents=True)
    where = Where(project=str(project), home=str(home), root=str(tmp_path))
    found = [(Path(p.path).relative_to(tmp_path), p.scope, p.layer) for p in FILES.places(where)]
    assert [(str(path), scope) for path, scope, _ in found] == [
        ("p/.kodelet/hooks", "project"),
        ("p/.kodelet/plugins/a@x/hooks", "plugin"),
        ("p/.kodelet/plugins/b@x/hooks", "plugin"),
        ("h/.kodelet/hooks", "user"),
        ("h/.kodelet/plugins/c@x/hooks", "plugin"),
    ]
    assert [layer for _, _, layer in found] == [Layer.PROJECT] * 3 + [Layer.USER] * 2


def test_the_first_of_a_name_stands_and_plugins_have_names_of_their_own() -> None:
    paths = (PATH, "/h/.kodelet/hooks/guard", "/h/.kodelet/plugins/org@repo/hooks/guard")
    files = {hook.source.file for hook in hooks(*paths)}
    assert files == {paths[0], paths[2]}
    assert "org/repo/guard before_tool_call" in {hook.name for hook in hooks(*paths)}


def test_a_script_that_calls_hookline_makes_no_hook_but_one_that_mentions_it_does() -> None:
    calls = b'#!/bin/sh\n[ "$1" = hook ] && echo agent_stop\nexec /opt/bin/hookline hook kodelet\n'
    assert hooks(PATH, content=calls) == ()
    assert hooks(PATH, content=b"#!/bin/sh\n# unlike hookline hook kodelet\n") != ()


@given(st.binary(max_size=200), st.text(max_size=20))
def test_reading_never_raises(content: bytes, name: str) -> None:
    path = f"/p/.kodelet/hooks/{name}"
    FILES.owns(path, content)
    assert FILES.read(path, content).dialect == "kodelet"
    assert len(hooks(PATH, content=content)) in {0, 5}
