"""``hookline init``: protection from the first minute, and never at the cost of an older one."""

import os
import shlex
from pathlib import Path

import pytest

from hookline.cli import init
from hookline.cli.init import starter
from support.cli import Machine


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def verdict(machine: Machine, command: str = "rm -rf ~") -> str:
    shown = machine.call("fire", "pre_tool_use", "--command", command, "--json").json
    found: str = shown["verdict"]
    return found


def test_it_writes_the_starter_and_trusts_it(machine: Machine) -> None:
    assert verdict(machine) == "pass"
    done = machine.run("init")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[:4] == [
        f"wrote {machine.config}",
        "0 hooks are active here: nothing is protected",
        "  not active: hookline is installed in no agent here",
        "    next: hookline install AGENT",
    ]
    assert machine.config.read_bytes() == starter()
    assert verdict(machine) == "deny"
    assert verdict(machine, "git status") == "pass"
    assert f"{machine.config}: trusted as it is\n" in machine.call("check").out


def test_the_commands_it_suggests_work(machine: Machine) -> None:
    done = machine.call("init")
    (suggested,) = [line for line in done.out.splitlines() if line.startswith("Try: hookline ")]
    words = shlex.split(suggested.removeprefix("Try: hookline "))
    assert machine.call(*words).out.startswith("deny")


def test_a_file_that_is_there_is_not_touched(machine: Machine) -> None:
    machine.write(machine.config, "version: 1\n")
    done = machine.call("init")
    assert (done.code, done.out) == (1, "")
    assert f"{machine.config} is there already; nothing was changed" in done.err
    assert machine.config.read_text(encoding="utf-8") == "version: 1\n"


def test_a_second_time_says_that_the_file_is_there(machine: Machine) -> None:
    machine.call("init")
    done = machine.call("init")
    assert done.code == 1
    assert "is there already" in done.err


def test_a_link_that_leads_nowhere_is_not_followed(machine: Machine) -> None:
    machine.config.symlink_to(machine.base / "elsewhere.yaml")
    assert machine.call("init").code == 1
    assert not (machine.base / "elsewhere.yaml").exists()


def test_a_trusted_copy_whose_file_is_gone_is_not_replaced(machine: Machine) -> None:
    """Else an agent could delete a strict config and put the starter in its place."""
    machine.trust("version: 1\nhooks:\n  - {name: all, on: pre_tool_use, deny: no}\n")
    machine.config.unlink()
    done = machine.call("init")
    assert done.code == 1
    assert "still active although the file is gone" in done.err
    assert "hookline trust --revoke" in done.err
    assert not machine.config.exists()
    assert verdict(machine, "ls") == "deny"


def test_the_users_own_file_holds_in_every_project(machine: Machine) -> None:
    done = machine.call("init", "--user")
    assert done.code == 0
    assert machine.user_file.read_bytes() == starter()
    assert not machine.config.exists()
    assert verdict(machine) == "deny"
    elsewhere = machine.base / "elsewhere"
    elsewhere.mkdir()
    shown = machine.call("fire", "pre_tool_use", "--command", "rm -rf ~", "--json", cwd=elsewhere)
    assert shown.json["verdict"] == "deny"
    assert machine.call("init", "--user").code == 1


def test_a_project_config_beside_the_users_own_is_fine(machine: Machine) -> None:
    assert machine.call("init", "--user").code == 0
    assert machine.call("init").code == 0


@pytest.mark.parametrize("what", ["--user", "project"])
def test_a_directory_that_cannot_be_written_is_one_paragraph(machine: Machine, what: str) -> None:
    machine.user_dir.write_text("a file where a directory should be", encoding="utf-8")
    if what == "--user":
        done = machine.call("init", "--user")
        assert f"{machine.user_file} could not be written: Not a directory" in done.err
    else:
        done = machine.call("init", HOOKLINE_HOME=str(machine.user_dir))
        assert f"{machine.config} was not kept, because it cannot be trusted: " in done.err
        assert not machine.config.exists()
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: ")
    assert "Traceback" not in done.err


def test_a_directory_whose_name_is_no_utf8_is_left_alone(machine: Machine) -> None:
    odd = Path(os.fsdecode(os.fsencode(machine.base) + b"/\xff"))
    odd.mkdir()
    done = machine.run("init", cwd=odd)
    assert done.code == 1
    assert "its name is not UTF-8" in done.err
    assert list(odd.iterdir()) == []


def test_what_is_trusted_is_what_was_written_whatever_lies_there_by_then(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when another program swaps the file at once: nobody has looked at what it put there."""
    evil = b"version: 1\nhooks: [{on: pre_tool_use, run: ./evil.sh}]\n"
    written = init._write

    def swapped(path: Path) -> None:
        written(path)
        path.write_bytes(evil)

    monkeypatch.setattr(init, "_write", swapped)
    assert machine.call("init").code == 0

    names = [hook["name"] for hook in machine.call("list", "--json").json["hooks"]]
    assert {"shell-guard", "protect-paths", "redact-secrets"} <= set(names)
    assert not any("run" in name for name in names)
