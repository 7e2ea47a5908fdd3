"""Codex's hooks.json: the entries, what voids them, and the trust that each of them needs."""

import json
import os
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from hookline.dialects.codex import trust
from hookline.dialects.codex.install import INSTALLER
from hookline.installing.asking import converse
from hookline.model.installing import Installed, InstallError, Machine, Scope, Target
from support.fake_codex import put_codex
from support.installing import CALL, machine_at, target_of

HERE = Target(file="/x/hooks.json", scope=Scope.USER)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


def with_client(machine: Machine, tmp_path: Path) -> Machine:
    """The same machine with a codex on its PATH."""
    program = put_codex(tmp_path / "bin")
    return replace(
        machine,
        which={"codex": str(program)}.get,
        converse=partial(converse, env={**machine.env}, cwd="/"),
    )


def installed(
    machine: Machine, content: bytes | None = None, scope: Scope = Scope.USER
) -> Installed:
    target = target_of(INSTALLER, machine, scope)
    content = INSTALLER.add(target, None, CALL) if content is None else content
    file = Path(target.file)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return Installed(target, tuple(INSTALLER.inspect(target, content)), content)


def config(machine: Machine, text: str) -> None:
    file = Path(INSTALLER.trust_file(machine))
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def told(machine: Machine, *each: Installed) -> list[str]:
    return [flaw.why for flaw in INSTALLER.inactive(machine, each)]


def trust_all(machine: Machine, each: Installed, extra: str = "") -> None:
    rows = "".join(f'[hooks.state."{key}"]\ntrusted_hash = "x"\n' for key in INSTALLER.keys(each))
    config(machine, extra + rows)


def test_there_is_one_file_for_each_scope(machine: Machine) -> None:
    user, project = INSTALLER.places(machine)
    assert user.file == f"{machine.home}/.codex/hooks.json"
    assert project.file == f"{machine.project}/.codex/hooks.json"
    assert not project.personal
    moved = replace(machine, env={"CODEX_HOME": "/elsewhere"})
    assert target_of(INSTALLER, moved).file == "/elsewhere/hooks.json"


def test_entries_have_only_keys_that_codex_knows_and_whole_seconds() -> None:
    hooks = json.loads(INSTALLER.add(HERE, None, CALL))["hooks"]
    assert len(hooks) == 14
    entries = {event: group["hooks"][0] for event, (group,) in hooks.items()}
    assert {tuple(entry) for entry in entries.values()} == {("type", "command", "timeout")}
    assert entries["PreToolUse"]["timeout"] == 600
    assert entries["SessionEnd"]["timeout"] == 3
    assert entries["Interrupt"]["timeout"] == 3
    assert "--timeout 3" in entries["SessionEnd"]["command"]


def test_without_trust_every_hook_is_told_to_be_skipped(machine: Machine) -> None:
    (flaw,) = INSTALLER.inactive(machine, [installed(machine)])
    assert "skips 14 of hookline's 14 hooks" in flaw.why
    assert "/hooks" in flaw.step
    assert "hookline install codex --trust" in flaw.step


def test_with_a_hash_for_each_nothing_keeps_it_from_running(machine: Machine) -> None:
    each = installed(machine)
    trust_all(machine, each)
    assert told(machine, each) == []


def test_a_hook_that_was_switched_off_is_told(machine: Machine) -> None:
    each = installed(machine)
    trust_all(machine, each)
    file = Path(INSTALLER.trust_file(machine))
    file.write_text(file.read_text() + "enabled = false\n")
    assert ["skips 1 of hookline's 14" in why for why in told(machine, each)] == [True]


def test_the_keys_are_file_event_group_and_handler(machine: Machine) -> None:
    content = b"""{"hooks": {"PreToolUse": [
      {"hooks": [{"type": "command", "command": "true"}]},
      {"hooks": [{"type": "command", "command": "true"},
                 {"type": "command", "command": "hookline hook codex PreToolUse"}]}, 3, {"hooks": [4]}
    ]}}"""
    each = installed(machine, content)
    assert list(INSTALLER.keys(each)) == [f"{each.target.file}:pre_tool_use:1:1"]


@pytest.mark.parametrize("key", ["hooks", "codex_hooks"])
def test_the_feature_switched_off_is_told(machine: Machine, key: str) -> None:
    each = installed(machine)
    trust_all(machine, each, f"[features]\n{key} = false\n")
    assert [f"features.{key}" in why for why in told(machine, each)] == [True]


def test_a_managed_machine_may_forbid_hooks(machine: Machine) -> None:
    each = installed(machine)
    trust_all(machine, each)
    files = {"/etc/codex/requirements.toml": b"allow_managed_hooks_only = true"}
    managed = replace(machine, read=lambda path: files.get(path) or machine.read(path))
    assert ["allow_managed_hooks_only" in why for why in told(managed, each)] == [True]


def test_a_project_file_needs_a_trusted_project(machine: Machine) -> None:
    each = installed(machine, scope=Scope.PROJECT)
    trust_all(machine, each)
    assert ["no trusted project" in why for why in told(machine, each)] == [True]
    trust_all(machine, each, f'[projects."{machine.project}"]\ntrust_level = "trusted"\n')
    assert told(machine, each) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"hooks": {}} // why', "no plain JSON"),
        (b'\xef\xbb\xbf{"hooks": {}}', "no plain JSON"),
        (b'{"hooks": {}, "theme": 1}', "`theme`"),
        (b'{"hooks": {"Stop": [{"hooks": [{"type": "http", "url": "x"}]}]}}', "type `http`"),
    ],
)
def test_what_voids_the_whole_file_is_told(machine: Machine, content: bytes, said: str) -> None:
    (why,) = told(machine, installed(machine, content))
    assert said in why


@pytest.mark.parametrize(
    "hooks", [b"3", b'{"Stop": 3}', b'{"Stop": [3]}', b'{"Stop": [{"hooks": 3}]}']
)
def test_nonsense_beside_us_is_no_reason_to_fail(machine: Machine, hooks: bytes) -> None:
    assert told(machine, installed(machine, b'{"hooks": %s}' % hooks)) == []


def test_a_config_that_is_no_toml_says_nothing(machine: Machine) -> None:
    each = installed(machine)
    config(machine, "[features")
    assert ["skips 14" in why for why in told(machine, each)] == [True]


# ── trust ──


def test_the_client_is_asked_and_what_it_says_is_written(machine: Machine, tmp_path: Path) -> None:
    machine = with_client(machine, tmp_path)
    each = installed(machine)
    before = '# mine\nmodel = "x"  # why\n\n[features]\nhooks = true'
    config(machine, before)
    assert ["14 of hookline's 14" in why for why in told(machine, each)] == [True]
    content = INSTALLER.trusted(machine, [each], before.encode())
    assert content.decode().startswith(before + "\n\n[hooks.state.")
    assert len(tomllib.loads(content.decode())["hooks"]["state"]) == 14
    config(machine, content.decode())
    assert told(machine, each) == []
    assert INSTALLER.trusted(machine, [each], content) == content


def test_a_changed_entry_is_trusted_anew_in_its_place(machine: Machine, tmp_path: Path) -> None:
    machine = with_client(machine, tmp_path)
    each = installed(machine)
    content = INSTALLER.trusted(machine, [each], b"")
    config(machine, content.decode())
    target = each.target
    later = installed(machine, INSTALLER.add(target, each.content, replace(CALL, timeout=50)))
    # Two of them have three seconds either way.
    assert ["skips 12 of" in why for why in told(machine, later)] == [True]
    again = INSTALLER.trusted(machine, [later], content)
    assert len(again) == len(content)
    assert len(tomllib.loads(again.decode())["hooks"]["state"]) == 14
    config(machine, again.decode())
    assert told(machine, later) == []


def test_without_a_client_the_next_step_is_said(machine: Machine) -> None:
    with pytest.raises(InstallError, match=r"no `codex` is on your PATH.*/hooks"):
        INSTALLER.trusted(machine, [installed(machine)], b"")


@pytest.mark.parametrize(
    "script", ["exit 1", "cat >/dev/null", "echo nonsense", 'echo \'{"id": 0, "error": {}}\'']
)
def test_a_client_that_does_not_answer_is_no_proof(
    machine: Machine, tmp_path: Path, script: str
) -> None:
    broken = tmp_path / "codex"
    broken.write_text(f"#!/bin/sh\n{script}\n")
    broken.chmod(0o755)
    machine = replace(
        machine,
        which={"codex": str(broken)}.get,
        converse=partial(converse, env={**machine.env}, cwd="/", patience=2.0),
    )
    each = installed(machine)
    assert ["14 of hookline's 14" in why for why in told(machine, each)] == [True]
    with pytest.raises(InstallError, match="does not list hookline's hooks"):
        INSTALLER.trusted(machine, [each], b"")


def test_an_answer_that_is_not_understood_is_said() -> None:
    with pytest.raises(InstallError, match="in a way that hookline does not know"):
        list(trust.listed({1: {"hooks": []}}))


KEY = '/h "q"/hooks.json:stop:0:0'


@pytest.mark.parametrize(
    "before",
    [
        "",
        "\n",
        'model = "x"',
        "# only a comment\n",
        'model = "x"\r\n',
        "[hooks.state.other]\ntrusted_hash = 'y'\n",
        "text = '''\n[no header]\n'''\n",
        "[hooks.state.'/h \"q\"/hooks.json:stop:0:0']\nenabled = true\n",
        '[hooks.state."/h \\"q\\"/hooks.json:stop:0:0"] # why\ntrusted_hash = "old" # kept\n[z]\n',
        "[hooks.state.'/h \"q\"/hooks.json:stop:0:0']\n  trusted_hash = 'old'\nenabled = true",
    ],
)
def test_a_hash_is_added_and_every_other_byte_stays(before: str) -> None:
    after = trust.with_hashes(before.encode(), {KEY: "sha256:1"}).decode()
    expected = tomllib.loads(before)
    row = expected.setdefault("hooks", {}).setdefault("state", {}).setdefault(KEY, {})
    row["trusted_hash"] = "sha256:1"
    assert tomllib.loads(after) == expected
    rest = iter(after.splitlines())
    for line in before.splitlines():
        kept = line.replace('"old"', '"sha256:1"').replace("'old'", '"sha256:1"')
        assert kept in rest, "and in the same order"
    assert after.count("\r\n") == (after.count("\n") if "\r\n" in before else 0)
    assert trust.with_hashes(after.encode(), {KEY: "sha256:1"}) == after.encode()


@pytest.mark.parametrize(
    ("before", "said"),
    [
        ("hooks = {state = {}}\n", "cannot add to"),
        ("[hooks]\nstate = 3\n", "`state` must be a table"),
        ("[hooks", "no TOML"),
        (
            "text = '''\n[hooks.state.\"k\"]\n'''\n[hooks]\nstate.k = {trusted_hash = 'o'}\n",
            "cannot add",
        ),
    ],
)
def test_a_config_that_cannot_be_added_to_is_left(before: str, said: str) -> None:
    with pytest.raises(InstallError, match=said):
        trust.with_hashes(before.encode(), {"k": "sha256:1"})


def test_a_home_reached_through_a_link_is_still_ours(machine: Machine, tmp_path: Path) -> None:
    machine = with_client(machine, tmp_path)
    each = installed(machine)
    link = tmp_path / "link"
    link.symlink_to(os.path.dirname(each.target.file))
    through = replace(each, target=replace(each.target, file=str(link / "hooks.json")))
    assert b"trusted_hash" in INSTALLER.trusted(machine, [through], b"")


@pytest.mark.parametrize(
    "before", ["", "a = 1\n", "a = 1\r\n", "[t]\na = 1\n", "# c\n[hooks.state.x]\nenabled = true\n"]
)
def test_what_was_trusted_is_taken_back_byte_for_byte(before: str) -> None:
    new = {"/f:stop:0:0": "sha256:1", "/f:stop:0:1": "sha256:2", KEY: "sha256:3"}
    after = trust.with_hashes(before.encode(), new)
    assert trust.without_hashes(after, list(new)) == before.encode()


def test_what_a_person_says_of_a_hook_stays() -> None:
    before = b'[hooks.state.k]\nenabled = false # no\ntrusted_hash = "x"\n\n[z]\ntrusted_hash = 1\n'
    after = trust.without_hashes(before, ["k", "other"])
    assert after == b"[hooks.state.k]\nenabled = false # no\n\n[z]\ntrusted_hash = 1\n"


def test_only_what_is_trusted_of_our_entries_goes(machine: Machine) -> None:
    each = installed(machine)
    trust_all(machine, each, "[hooks.state.'/other/hooks.json:stop:0:0']\ntrusted_hash = 'o'\n")
    content = Path(INSTALLER.trust_file(machine)).read_bytes()
    left = tomllib.loads(INSTALLER.distrusted([each], content).decode())
    assert list(left["hooks"]["state"]) == ["/other/hooks.json:stop:0:0"]
