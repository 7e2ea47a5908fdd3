"""Kodelet's hooks folder: one script for each type, what a person changes in one, and the switch."""

from dataclasses import replace
from pathlib import Path

import pytest

from hookline.dialects.kodelet.files import FILES
from hookline.dialects.kodelet.install import INSTALLER
from hookline.installing.changes import apply, plan_install, plan_uninstall
from hookline.installing.records import Records
from hookline.installing.status import standing
from hookline.model.installing import Call, InstallError, Machine, Scope, Target
from support.installing import CALL, machine_at

EVENTS = ("before_tool_call", "after_tool_call", "user_message_send", "agent_stop", "turn_end")
HERE = Target(file="/x/zz", scope=Scope.USER, events=("before_tool_call",), executable=True)
SHARED = Call(program=("hookline",), shared=True)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


@pytest.mark.parametrize("scope", Scope)
def test_each_type_has_a_file_of_its_own(machine: Machine, scope: Scope) -> None:
    targets = INSTALLER.targets(machine, scope, shared=False)
    assert [target.events for target in targets] == [(event,) for event in EVENTS]
    base = machine.home if scope is Scope.USER else machine.project
    assert targets[0].file == f"{base}/.kodelet/hooks/zz-hookline-before_tool_call"
    assert all(target.executable for target in targets)
    assert {target.personal for target in targets} == {scope is Scope.USER}


@pytest.mark.parametrize("scope", Scope)
def test_in_and_out_leaves_nothing(machine: Machine, scope: Scope, tmp_path: Path) -> None:
    records = Records(str(tmp_path / "state"))
    for change in plan_install(INSTALLER, machine, scope, CALL, records):
        apply(change, records)
    for target in INSTALLER.targets(machine, scope, shared=False):
        file = Path(target.file)
        assert file.stat().st_mode & 0o777 == 0o755
        native = FILES.read(str(file), file.read_bytes())
        assert {entry.options["ours"] for entry in native.entries} == {True}
    for change in plan_uninstall(INSTALLER, machine, None, records):
        apply(change, records)
    assert not (Path(machine.home) / ".kodelet").exists()
    assert not (Path(machine.project) / ".kodelet").exists()


def test_the_client_ends_a_hook_after_half_a_minute_and_so_do_we() -> None:
    def limit(call: Call) -> str:
        (entry,) = INSTALLER.inspect(HERE, INSTALLER.add(HERE, None, call))
        return entry.words[entry.words.index("--timeout") + 1]

    assert limit(CALL) == "30"
    assert limit(replace(CALL, timeout=600)) == "30"
    assert limit(replace(CALL, timeout=10)) == "10"


@pytest.mark.parametrize("call", [CALL, SHARED])
@pytest.mark.parametrize("event", EVENTS)
def test_a_script_of_ours_goes_whole_and_is_replaced_whole(call: Call, event: str) -> None:
    target = replace(HERE, events=(event,))
    script = INSTALLER.add(target, None, call)
    assert INSTALLER.remove(target, script).empty
    moved = replace(CALL, program=("/new/hookline",))
    assert INSTALLER.add(target, script, moved) == INSTALLER.add(target, None, moved)
    assert INSTALLER.add(target, script, call) == script


def test_of_a_script_that_a_person_changed_only_the_call_is_ours() -> None:
    script = INSTALLER.add(HERE, None, CALL).replace(b"run)\n", b"run)\n\t# mine\n")
    moved = INSTALLER.add(HERE, script, replace(CALL, program=("/new/hookline",)))
    assert b"# mine" in moved
    (entry,) = INSTALLER.inspect(HERE, moved)
    assert entry.program == "/new/hookline"
    remains = INSTALLER.remove(HERE, moved)
    assert b"# mine" in remains.content
    assert b"\texit 0\n" in remains.content
    assert not remains.empty
    assert list(INSTALLER.inspect(HERE, remains.content)) == []


@pytest.mark.parametrize(
    "content", [b"#!/bin/sh\necho mine\n", b"#!/bin/sh\n\tset -- ls\n", b"\xff\xfe"]
)
def test_a_file_of_somebody_elses_is_refused(content: bytes) -> None:
    with pytest.raises(InstallError, match="no script"):
        INSTALLER.add(HERE, content, CALL)


def test_an_empty_file_is_ours_to_fill() -> None:
    assert INSTALLER.add(HERE, b"\n", CALL) == INSTALLER.add(HERE, None, CALL)


@pytest.mark.parametrize("name", ["project/kodelet-config.yaml", "home/.kodelet/config.yaml"])
def test_a_switch_that_the_client_ignores_is_not_reported(
    machine: Machine, tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("model: x\nno_hooks: true # for now\n")
    assert list(INSTALLER.inactive(machine, [])) == []


@pytest.mark.parametrize(
    ("version", "runs"), [((0, 1, 24), True), ((0, 4, 22), True), ((), True), ((0, 5, 36), False)]
)
def test_a_version_without_hooks_is_not_active(
    machine: Machine, version: tuple[int, ...], runs: bool
) -> None:
    there = replace(machine, which=lambda name: f"/bin/{name}", version=lambda argv: version)
    found = list(INSTALLER.inactive(there, []))
    assert (not found) is runs
    assert all("0.5.36" in each.why for each in found)


def test_what_keeps_our_files_from_being_run_is_told(machine: Machine, tmp_path: Path) -> None:
    records = Records(str(tmp_path / "state"))
    program = tmp_path / "hookline"
    program.touch(0o755)

    def install(scope: Scope) -> None:
        call = replace(CALL, program=(str(program),))
        for change in plan_install(INSTALLER, machine, scope, call, records):
            apply(change, records)

    def told() -> list[str]:
        return [each.why for each in standing(INSTALLER, machine, records).inactive]

    install(Scope.USER)
    name = "zz-hookline-before_tool_call"
    own = Path(machine.home, ".kodelet/hooks", name)
    folder = Path(machine.project, ".kodelet/hooks")
    folder.mkdir(parents=True)
    other = folder / name
    other.write_text("#!/bin/sh\nexit 1\n")
    assert not told()
    other.chmod(0o610)
    assert told() == [f"{other} has the name of hookline's file, and Kodelet runs it in its place"]
    other.unlink()
    folder.rmdir()
    folder.write_text("")
    assert told() == [f"{folder} is no directory, and for this Kodelet runs no hooks at all here"]
    folder.unlink()
    own.chmod(0o644)
    assert told() == [f"{own} is not executable, and Kodelet passes it over"]
    own.chmod(0o755)
    install(Scope.PROJECT)
    assert not told()
