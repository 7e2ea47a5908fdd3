"""``hookline check``: every mistake at once, and an honest last line."""

import os
from pathlib import Path

import pytest

from hookline import registry
from hookline.cli import check, trust
from support.cli import Machine

MISTAKES = """\
version: 1
hooks:
  - name: one
    on: pre_tool_us
    deny: no
  - name: two
    on: stop
    match: {tool: shell}
    run: "true"
  - name: three
    on: pre_tool_use
    match: {command: "/(/"}
    denny: no
  - on: session_start
    ask: why
extra: 1
"""
RIGHT = "version: 1\nhooks:\n  - {name: all, on: pre_tool_use, deny: no}\n"


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def test_all_mistakes_are_found_at_once_with_file_and_line(machine: Machine) -> None:
    machine.write(machine.config, MISTAKES)
    done = machine.run("check")
    assert done.code == 1
    errors = [line for line in done.out.splitlines() if line.startswith("error: ")]
    prefix = f"error: {machine.config}:"
    assert all(line.startswith(prefix) for line in errors)
    lines = [int(line.removeprefix(prefix).partition(":")[0]) for line in errors]
    assert lines == sorted(lines)
    assert {4, 8, 12, 13, 15, 16} <= set(lines)
    text = "\n".join(errors)
    for word in ("`pre_tool_use`", "`deny`", "never has a `tool`", "`extra` is not a key"):
        assert word in text
    assert "no mistakes" not in done.out


def said_of(machine: Machine, *words: str) -> str:
    """The last line about the project's config itself."""
    lines = machine.call("check", *words).out.splitlines()
    mark = f"{machine.config}: "
    return [line.removeprefix(mark) for line in lines if line.startswith(mark)][-1]


def test_a_line_says_how_the_file_stands(machine: Machine) -> None:
    def last() -> str:
        return said_of(machine)

    machine.write(machine.config, RIGHT)
    assert last() == "NOT active: it was never trusted; run `hookline trust`"
    machine.trust(RIGHT)
    assert last() == "trusted as it is"
    machine.write(machine.config, RIGHT + "# edited\n")
    assert last().startswith("NOT active: it changed since it was trusted")
    machine.write(machine.config, MISTAKES)
    assert last().startswith("NOT active: it changed since it was trusted")
    machine.config.unlink()
    assert last() == "trusted, and the trusted version is active: the file itself is gone"


def test_a_right_file_exits_0_whether_or_not_it_is_trusted(machine: Machine) -> None:
    machine.write(machine.config, RIGHT)
    done = machine.call("check")
    assert done.code == 0
    assert f"{machine.config}: 1 hook, no mistakes" in done.out


def test_nothing_to_check_says_what_to_do(machine: Machine) -> None:
    done = machine.call("check")
    assert done.code == 0
    assert done.out.startswith("0 hooks are active here: nothing is protected\n")
    assert "next: hookline install AGENT\n" in done.out
    assert "next: hookline init" in done.out


def test_json_has_every_file_with_its_state_hooks_problems_and_pins(machine: Machine) -> None:
    machine.write("guard.sh", "#!/bin/sh\n", 0o755)
    machine.trust("version: 1\nhooks:\n  - {name: g, on: pre_tool_use, run: ./guard.sh x}\n")
    (shown,) = machine.call("check", "--json").json
    assert shown == {
        "file": str(machine.config),
        "state": "trusted",
        "hooks": 1,
        "problems": [],
        "warnings": [],
        "coverage": [],
        "changed": [],
        "new": [],
        "pins": [
            {
                "hook": "g",
                "pinned": [str(machine.project / "guard.sh")],
                "not_pinned": ["what `./guard.sh` sources, imports or starts"],
            }
        ],
    }


def test_json_has_problems_with_file_line_message_and_hint(machine: Machine) -> None:
    machine.write(machine.config, "version: 1\nhoks: []\n")
    done = machine.call("check", "--json")
    assert done.code == 1
    (shown,) = done.json
    assert shown["problems"] == [
        {
            "file": str(machine.config),
            "line": 2,
            "message": "`hoks` is not a key",
            "hint": "did you mean `hooks`?",
        }
    ]


def test_a_trusted_copy_without_its_file_counts_its_hooks(machine: Machine) -> None:
    machine.write("more.yaml", "version: 1\nhooks:\n  - {name: b, on: stop, run: 'true'}\n")
    machine.trust(RIGHT + "include: [more.yaml]\n")
    machine.config.unlink()
    (shown,) = machine.call("check", "--json").json
    assert (shown["state"], shown["hooks"]) == ("missing", 2)


def test_files_may_be_named(machine: Machine) -> None:
    machine.write("a.yaml", RIGHT)
    machine.write("b.yaml", "version: 2\n")
    done = machine.call("check", "a.yaml", "b.yaml", "nowhere.yaml")
    assert done.code == 1
    assert "a.yaml: 1 hook, no mistakes" in done.out
    assert f"error: {machine.project}/b.yaml:1: " in done.out
    assert f"error: {machine.project}/nowhere.yaml: cannot be read" in done.out


def test_what_is_not_pinned_is_said(machine: Machine) -> None:
    machine.write(machine.config, "version: 1\nhooks:\n  - {name: f, on: stop, run: make test}\n")
    assert "not pinned: program `make` on PATH (f)" in machine.call("check").out


class TestOwnFiles:
    def user(self, machine: Machine, text: str) -> None:
        machine.user_file.parent.mkdir(parents=True, exist_ok=True)
        machine.user_file.write_text(text, encoding="utf-8")

    def test_the_users_own_file_needs_no_trust(self, machine: Machine) -> None:
        self.user(machine, RIGHT + "project_allow: true\n")
        for args in ((), (str(machine.user_file),)):
            done = machine.call("check", *args)
            assert done.code == 0
            assert done.out.splitlines()[:2] == [
                f"{machine.user_file}: 1 hook, no mistakes",
                f"{machine.user_file}: needs no trust",
            ]

    def test_a_broken_one_is_said_to_close_gates(self, machine: Machine) -> None:
        self.user(machine, MISTAKES)
        done = machine.call("check")
        assert done.code == 1
        assert f"error: {machine.user_file}:4: " in done.out
        assert (
            f"{machine.user_file}: NOT usable: whatever can be blocked is denied until it is fixed"
        ) in done.out.splitlines()

    def test_mistakes_of_several_files_are_found_in_one_go(self, machine: Machine) -> None:
        self.user(machine, "version: 1\nhoks: []\n")
        machine.write(machine.config, "version: 1\nhoooks: []\n")
        done = machine.call("check")
        assert f"{machine.user_file}:2" in done.out
        assert f"{machine.config}:2" in done.out

    @pytest.mark.skipif(os.getuid() != 0, reason="only root can own a managed file")
    def test_a_managed_file_that_others_can_write_is_not_in_force(
        self, machine: Machine, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        managed = machine.base / "etc/hookline.yaml"
        managed.parent.mkdir()
        managed.write_text(RIGHT, encoding="utf-8")
        monkeypatch.setattr(check, "MANAGED_FILE", str(managed))
        machine.base.chmod(0o755)
        managed.chmod(0o666)
        done = machine.call("check")
        assert done.code == 1
        assert "can be written by others than its owner" in done.out
        assert "NOT active: a managed file must be owned by root" in done.out
        managed.chmod(0o644)
        done = machine.call("check")
        assert done.code == 0
        assert f"{managed}: needs no trust\n" in done.out


class TestDamage:
    def test_an_altered_trusted_copy_is_found(self, machine: Machine) -> None:
        machine.trust(RIGHT)
        for blob in (machine.state / "trust/blobs").iterdir():
            blob.chmod(0o600)
            blob.write_bytes(b"version: 1\n")
        done = machine.call("check")
        assert done.code == 1
        assert "was altered" in done.out
        machine.config.unlink()
        done = machine.call("check")
        assert done.code == 1
        assert "was altered" in done.out

    def test_an_altered_index_is_found(self, machine: Machine) -> None:
        machine.trust(RIGHT)
        for index in (machine.state / "trust").rglob("*"):
            if index.is_file() and "blobs" not in index.parts:
                index.chmod(0o600)
                index.write_bytes(b"{}")
        done = machine.call("check")
        assert done.code == 1
        assert "NOT usable: its trusted copy is damaged" in done.out


class TestOffer:
    """On a terminal, an edited file without mistakes may be trusted right away."""

    @pytest.fixture
    def offered(self, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
        calls: list[list[str]] = []
        monkeypatch.setattr(check, "_can_ask", lambda app: True)
        monkeypatch.setattr(trust.command, "main", lambda args, **_: calls.append(args))
        return calls

    def test_an_edit_is_offered(self, machine: Machine, offered: list[list[str]]) -> None:
        machine.write(machine.config, RIGHT)
        assert machine.call("check").code == 0
        assert offered == [[str(machine.config)]]

    def test_mistakes_are_not(self, machine: Machine, offered: list[list[str]]) -> None:
        machine.write(machine.config, MISTAKES)
        assert machine.call("check").code == 1
        assert offered == []

    def test_what_is_in_force_is_not(self, machine: Machine, offered: list[list[str]]) -> None:
        machine.trust(RIGHT)
        assert machine.call("check").code == 0
        assert offered == []

    def test_nobody_is_asked_in_a_pipe(self, machine: Machine) -> None:
        machine.write(machine.config, RIGHT)
        assert machine.run("check").code == 0
        assert not machine.state.exists()


GUARD = "version: 1\nhooks:\n  - {name: g, on: pre_tool_use, run: ./guard.sh}\n"


def test_a_script_that_changed_is_named_and_the_config_is_not_blamed(machine: Machine) -> None:
    machine.write("guard.sh", "#!/bin/sh\n", 0o755)
    machine.trust(GUARD)
    machine.write("guard.sh", "#!/bin/sh\nexit 0\n", 0o755)
    assert f"changed: {machine.project / 'guard.sh'}" in machine.call("check").out
    assert said_of(machine).startswith("trusted, but files that it runs changed")


def test_what_is_pinned_is_told_as_well_as_what_is_not(machine: Machine) -> None:
    machine.write("guard.sh", "#!/bin/sh\n", 0o755)
    machine.trust("version: 1\nhooks:\n  - {name: g, on: stop, run: 'A=1 jq . | ./guard.sh'}\n")
    said = machine.call("check").out
    assert f"  pinned: {machine.project / 'guard.sh'} (g)" in said
    assert "  not pinned: program `jq` on PATH (g)" in said


def test_a_config_that_a_person_named_is_checked(machine: Machine) -> None:
    machine.write("mine.yaml", "version: 1\nhooks: []\n")
    path = str(machine.project / "mine.yaml")
    assert "needs no trust: a person names it" in machine.call("check", HOOKLINE_CONFIG=path).out


def test_a_file_whose_name_is_no_configs_is_not_sent_to_trust(machine: Machine) -> None:
    machine.write("mine.yaml", "version: 1\nhooks: []\n")
    said = machine.call("check", "mine.yaml").out
    assert "use it with --config" in said
    assert "hookline trust" not in said


def test_a_name_that_nobody_has_is_noted(machine: Machine) -> None:
    machine.trust("version: 1\nhooks: []\ndisable: [nobody]\n")
    assert "no hook is called so" in machine.call("check").out


class TestDirectoriesThatAreIncluded:
    NATIVE = '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}'

    @pytest.fixture
    def grown(self, machine: Machine) -> Machine:
        """A trusted project into whose directories a file came since."""
        machine.write("hd/a.yaml", RIGHT)
        machine.write("natd/one.json", self.NATIVE)
        machine.trust("version: 1\ninclude: [hd, {file: natd, speaks: claude-code}]\n")
        machine.write("hd/b.yaml", RIGHT.replace("all", "some"))
        machine.write("natd/two.json", self.NATIVE.replace("true", "true 2"))
        return machine

    def test_a_file_that_came_later_is_new_and_not_in_force(self, grown: Machine) -> None:
        said = grown.call("check").out
        assert f"  new: {grown.project / 'hd/b.yaml'}" in said
        assert f"  new: {grown.project / 'natd/two.json'}" in said
        assert said_of(grown).startswith("trusted, but files that came into its directories")

    def test_programs_are_told_too(self, grown: Machine) -> None:
        (shown,) = grown.call("check", "--json").json
        assert (shown["state"], shown["changed"]) == ("grown", [])
        assert shown["new"] == [
            str(grown.project / name) for name in ("hd/b.yaml", "natd/two.json")
        ]

    def test_what_is_trusted_names_it(self, grown: Machine) -> None:
        said = grown.call("trust", "--list").out
        assert "natd/two.json was not there when it was trusted" in said

    def test_a_note_names_a_file_of_another_platform_as_well(self, grown: Machine) -> None:
        said = grown.call("list").out
        assert "natd/two.json` was not there when the config was trusted" in said

    def test_after_trusting_it_again_all_are_in_force(self, grown: Machine) -> None:
        grown.trust(grown.config.read_text())
        assert said_of(grown) == "trusted as it is"
        assert len(grown.call("list", "--json").json["hooks"]) == 4

    def test_a_changed_file_beside_a_new_one_is_told_apart(self, grown: Machine) -> None:
        grown.write("hd/a.yaml", RIGHT + "# changed\n")
        (shown,) = grown.call("check", "--json").json
        assert shown["state"] == "scripts"
        assert shown["changed"] == [str(grown.project / "hd/a.yaml")]
        assert len(shown["new"]) == 2

    def test_a_directory_that_is_gone_has_no_new_files(self, grown: Machine) -> None:
        (grown.project / "natd").rename(grown.project / "gone")
        (shown,) = grown.call("check", "--json").json
        assert shown["new"] == [str(grown.project / "hd/b.yaml")]


IDLE = "version: 1\ndisable: [zzz]\nhooks:\n  - {name: all, on: pre_tool_use, deny: no}\n"


@pytest.mark.parametrize("words", [(), ("hookline.yaml",)])
def test_a_name_to_disable_that_no_hook_has_is_noted_before_it_is_trusted(
    machine: Machine, words: tuple[str, ...]
) -> None:
    machine.write(machine.config, IDLE)
    done = machine.call("check", *words)
    assert done.code == 0
    assert "wants to disable `zzz`, and no hook is called so" in done.out


def test_it_is_noted_once(machine: Machine) -> None:
    machine.trust(IDLE)
    assert machine.call("check").out.count("wants to disable `zzz`") == 1


def test_a_person_may_disable_what_only_some_projects_have(machine: Machine) -> None:
    machine.write(machine.user_file, "version: 1\ndisable: [zzz]\n")
    assert "zzz" not in machine.call("check").out


def test_a_state_directory_that_cannot_be_is_found(machine: Machine) -> None:
    done = machine.call("check", HOOKLINE_HOME="/dev/null/below")
    assert done.code == 1
    assert "error: /dev/null/below: `/dev/null` is no directory" in done.out
    assert "/dev/null/below: NOT usable: hookline keeps its state here" in done.out


def test_a_file_that_is_not_there_is_only_that(machine: Machine) -> None:
    done = machine.call("check", "/nonexistent")
    assert done.code == 1
    assert done.out == "error: /nonexistent: cannot be read: No such file or directory\n"


def test_a_platforms_name_of_an_event_is_explained(machine: Machine) -> None:
    machine.trust(RIGHT.replace("pre_tool_use", "[PreToolUse, Stop]").replace("deny: no", "run: x"))
    assert "  PreToolUse is pre_tool_use\n  Stop is stop\n" in machine.call("check").out
    (file,) = machine.call("check", "--json").json
    names = {"PreToolUse": "pre_tool_use", "Stop": "stop"}
    assert [each["native_names"] for each in file["pins"]] == [names]


@pytest.mark.parametrize("name", ["opencode", "pi", "mcp"])
def test_a_dialect_that_does_not_ship_is_a_mistake(name: str, machine: Machine) -> None:
    rule = f"{{on: pre_tool_use, match: {{dialect: {name}}}, deny: no}}"
    machine.write(machine.config, f"version: 1\nhooks:\n  - {rule}\n")
    done = machine.call("check")
    assert (done.code, f"no dialect is called `{name}`" in done.out) == (1, True)


def test_every_dialect_that_ships_can_be_matched(machine: Machine) -> None:
    names = ", ".join(registry.dialect_names())
    rule = f"{{on: pre_tool_use, match: {{dialect: [{names}]}}, deny: no}}"
    machine.write(machine.config, f"version: 1\nhooks:\n  - {rule}\n")
    assert machine.call("check").code == 0
