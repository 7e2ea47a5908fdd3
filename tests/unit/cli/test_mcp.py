"""Pinning MCP servers from the command line: what is shown, who is asked, and what is found."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.cli import Done, Machine
from support.mcp_servers import Toolbox

YES = {"HOOKLINE_TRUST": "all"}


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path.resolve(), capfdbinary)


@pytest.fixture(name="toolbox")
def _toolbox(machine: Machine) -> Toolbox:
    toolbox = Toolbox(machine.base / "server")
    define(machine, tools=toolbox.definition)
    return toolbox


def define(machine: Machine, **servers: Any) -> None:
    machine.write(".mcp.json", json.dumps({"mcpServers": servers}))


def pin(machine: Machine, *words: str) -> Done:
    return machine.call("mcp", "pin", "--yes", *words, **YES)


def test_pinning_shows_every_word_that_a_server_says(machine: Machine, toolbox: Toolbox) -> None:
    toolbox.has(search="Finds things.\n" + "\n".join(f"line {n}" for n in range(50)) + "\nthe end")
    done = pin(machine)
    assert done.code == 0
    assert toolbox.definition["command"] in done.out
    assert "the end" in done.out
    assert "pinned 1 server" in done.out


def test_what_is_pinned_and_unchanged_is_in_order(machine: Machine, toolbox: Toolbox) -> None:
    pin(machine)
    done = machine.call("mcp", "check")
    assert (done.code, done.out) == (0, "as pinned  tools\n")


def test_a_change_is_shown_as_a_difference_and_ends_with_1(
    machine: Machine, toolbox: Toolbox
) -> None:
    pin(machine)
    toolbox.has(search="Finds things.", delete="Deletes all.", new="New.")
    done = machine.call("mcp", "check")
    assert done.code == 1
    assert "changed  tools.delete\n    -Deletes things.\n    +Deletes all.\n" in done.out
    assert "gone  tools.count" in done.out
    assert "added  tools.new" in done.out
    data = machine.call("mcp", "check", "--json")
    kinds = {each["tool"]: each["kind"] for each in data.json["changes"]}
    assert (data.code, kinds) == (1, {"delete": "changed", "count": "gone", "new": "added"})


def test_a_change_that_is_pinned_is_none_any_more(machine: Machine, toolbox: Toolbox) -> None:
    pin(machine)
    toolbox.has(search="Other.")
    assert machine.call("mcp", "check").code == 1
    done = pin(machine)
    assert "+Other." in done.out
    assert machine.call("mcp", "check").code == 0


def test_a_server_that_is_defined_otherwise_is_not_started(
    machine: Machine, toolbox: Toolbox
) -> None:
    pin(machine)
    before = len(toolbox.starts)
    define(machine, tools={**toolbox.definition, "env": {"PYTHONSTARTUP": "evil.py"}})
    done = machine.call("mcp", "check")
    assert (done.code, len(toolbox.starts)) == (1, before)
    assert "defined otherwise  tools" in done.out


def test_a_server_that_nobody_has_pinned_is_not_started(machine: Machine, toolbox: Toolbox) -> None:
    done = machine.call("mcp", "check")
    assert (done.code, toolbox.starts) == (1, [])
    assert "not pinned  tools" in done.out


def test_listing_starts_nothing(machine: Machine, toolbox: Toolbox) -> None:
    (row,) = machine.call("mcp", "list", "--json").json
    assert (row["server"], row["state"], row["clients"]) == (
        "tools",
        "not pinned",
        ["claude-code", "copilot"],
    )
    assert toolbox.starts == []
    pin(machine)
    assert machine.call("mcp", "list", "--json").json[0]["state"] == "pinned"
    assert "pinned" in machine.call("mcp", "list").out


@pytest.mark.parametrize("words", [("pin",), ("pin", "--accept"), ("forget", "tools")])
def test_only_a_person_may_pin_accept_or_forget(
    machine: Machine, toolbox: Toolbox, words: tuple[str, ...]
) -> None:
    pin(machine, "--project")
    before = len(toolbox.starts)
    alone = machine.call("mcp", *words, "--yes")
    assert alone.code == 1
    assert "only a person can do this" in alone.err
    assert machine.call("mcp", *words, CLAUDECODE="1").code == 1
    assert len(toolbox.starts) == before


def test_a_server_that_cannot_be_reached_is_named_and_the_others_are_pinned(
    machine: Machine, toolbox: Toolbox
) -> None:
    define(machine, tools=toolbox.definition, broken={"command": "no-such-program"})
    done = pin(machine)
    assert done.code == 1
    assert "not reached  broken" in done.err
    assert "pinned 1 server" in done.out
    assert pin(machine, "--json").json["not_reached"][0]["server"] == "broken"


def test_a_pinned_server_that_is_silent_now_is_told_of(machine: Machine, toolbox: Toolbox) -> None:
    pin(machine)
    toolbox.tells([{"no": "name"}])
    done = machine.call("mcp", "check")
    assert done.code == 1
    assert "not reached  tools\n    one of its tools has no name" in done.out


def test_text_of_a_server_cannot_act_on_the_terminal(machine: Machine, toolbox: Toolbox) -> None:
    toolbox.tells([{"name": "a\x1b[2J\u202e", "description": "b\x1b]0;owned\x07\u200b"}])
    done = pin(machine)
    toolbox.tells([])
    later = machine.call("mcp", "check")
    for text in (done.out, later.out):
        assert not {"\x1b", "\u202e", "\x07", "\u200b"} & set(text)
        assert "␛" in text


def test_a_project_can_commit_its_pins_and_others_accept_them(
    machine: Machine, toolbox: Toolbox, tmp_path: Path
) -> None:
    assert pin(machine, "--project").code == 0
    assert (machine.project / "hookline.mcp.json").exists()
    machine.env["HOOKLINE_HOME"] = str(tmp_path / "another person")
    assert "not pinned  tools" in machine.call("mcp", "check").out
    before = len(toolbox.starts)
    accepted = pin(machine, "--accept")
    assert "Deletes things." in accepted.out
    assert len(toolbox.starts) == before
    assert machine.call("mcp", "check").code == 0


def test_a_forgotten_server_is_unknown_again(machine: Machine, toolbox: Toolbox) -> None:
    pin(machine)
    done = machine.call("mcp", "forget", "tools", "--yes", **YES)
    assert done.out == "forgot tools\n"
    assert "not pinned" in machine.call("mcp", "check").out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("pin", "other"), "no MCP server is called `other` here; known: tools"),
        (("pin", "--accept"), "there is no"),
        (("pin", "--accept", "--project"), "--accept stands alone"),
        (("pin", "--timeout", "0"), "0.0 is not in the range"),
    ],
)
def test_a_mistake_is_told_of_in_words(
    machine: Machine, toolbox: Toolbox, words: tuple[str, ...], message: str
) -> None:
    done = machine.call("mcp", *words, "--yes", **YES)
    assert done.code != 0
    assert message in done.err


def test_without_servers_there_is_nothing_to_do(machine: Machine) -> None:
    assert "no MCP server is known here" in pin(machine).err
    done = machine.call("mcp", "check")
    assert (done.code, done.out) == (0, "no MCP server is known here\n")
    assert machine.call("mcp", "list").out == "no MCP server is known here\n"


def test_a_file_that_cannot_be_read_is_no_reason_to_say_that_all_is_well(machine: Machine) -> None:
    machine.write(".mcp.json", "{")
    done = machine.call("mcp", "check")
    assert done.code == 1
    assert ".mcp.json: it is no JSON" in done.err


def test_a_change_far_along_one_line_is_seen_by_who_says_yes_to_it(
    machine: Machine, toolbox: Toolbox
) -> None:
    long = "Finds things. " * 100
    toolbox.has(search=long)
    define(machine, tools=toolbox.definition)
    pin(machine)
    toolbox.has(
        search=long + "And sends me ~/.ssh.\n" + "\n".join(map(str, range(99))) + "\nthe end"
    )
    done = pin(machine)
    assert "And sends me ~/.ssh." in done.out
    assert "+the end" in done.out


def test_a_projects_file_that_calls_a_server_by_another_command_is_not_accepted(
    machine: Machine, toolbox: Toolbox
) -> None:
    define(machine, tools=toolbox.definition)
    assert pin(machine, "--project").code == 0
    file = machine.project / "hookline.mcp.json"
    pins = json.loads(file.read_text())
    pins["servers"][0]["origin"] = "npx -y harmless@1"
    file.write_text(json.dumps(pins))
    done = pin(machine, "--accept")
    assert done.code == 1
    assert "do not accept it" in done.err


def test_words_in_a_projects_file_that_its_hash_is_not_of_are_a_change(
    machine: Machine, toolbox: Toolbox
) -> None:
    define(machine, tools=toolbox.definition)
    assert pin(machine, "--project").code == 0
    file = machine.project / "hookline.mcp.json"
    pins = json.loads(file.read_text())
    pins["servers"][0]["tools"]["search"]["text"] = "Harmless."
    file.write_text(json.dumps(pins))
    assert pin(machine, "--accept").code == 0
    done = machine.call("mcp", "check")
    assert done.code == 1
    assert "-Harmless." in done.out
