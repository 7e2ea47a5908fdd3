"""What is done to a file, what is remembered of it, and how it is undone."""

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from hookline import registry
from hookline.dialects._install import JsonSettings
from hookline.installing.changes import apply, plan_install, plan_uninstall
from hookline.installing.records import Record, Records, digest
from hookline.model.installing import (
    Call,
    Inactive,
    Installed,
    Installer,
    InstallError,
    Machine,
    Scope,
    Target,
)
from support.installing import CALL, machine_at

OTHER = replace(CALL, program=("/other/bin/hookline",))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(str(tmp_path / "state"))


class Neighbour(JsonSettings):
    """A platform that shares Claude Code's file."""

    id = "gemini"
    support = registry.dialect("gemini").support
    grouped = False
    frame: ClassVar[Mapping[str, object]] = {"version": 1}

    def targets(self, machine: Machine, scope: Scope, *, shared: bool) -> Sequence[Target]:
        return registry.installer("claude-code").targets(machine, scope, shared=shared)

    def places(self, machine: Machine) -> Sequence[Target]:
        return registry.installer("claude-code").places(machine)

    def handler(self, event: str, call: Call) -> Mapping[str, object]:
        return {"command": self.line(event, call)}

    def inactive(self, machine: Machine, installed: Sequence[Installed]) -> Sequence[Inactive]:
        return ()


CLAUDE = registry.installer("claude-code")
NEIGHBOUR = Neighbour()


def settings_file(machine: Machine, content: bytes | None = None) -> Path:
    file = Path(machine.home) / ".claude/settings.json"
    if content is not None:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
    return file


def install(installer: Installer, machine: Machine, records: Records, call: Call = CALL) -> None:
    for change in plan_install(installer, machine, Scope.USER, call, records):
        apply(change, records)


def uninstall(installer: Installer, machine: Machine, records: Records) -> list[bool]:
    changes = plan_uninstall(installer, machine, None, records)
    for change in changes:
        apply(change, records)
    return [change.exact for change in changes]


def test_the_record_holds_what_was_there_and_is_private(machine: Machine, records: Records) -> None:
    file = settings_file(machine, b'{"a": 1}')
    install(CLAUDE, machine, records)
    (record,) = records.all()
    assert record.before == b'{"a": 1}'
    assert record.after == digest(file.read_bytes())
    (path,) = Path(records.home).rglob("*.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_an_edit_between_two_installations_survives_and_only_we_go(
    machine: Machine, records: Records
) -> None:
    file = settings_file(machine, b'{\n  "a": 1\n}\n')
    install(CLAUDE, machine, records)
    file.write_bytes(file.read_bytes().replace(b'"a": 1', b'"a": 2'))
    install(CLAUDE, machine, records, OTHER)
    assert uninstall(CLAUDE, machine, records) == [True]
    assert file.read_bytes() == b'{\n  "a": 2\n}\n'


def test_a_file_that_we_made_and_others_use_now_stays(machine: Machine, records: Records) -> None:
    file = settings_file(machine)
    install(CLAUDE, machine, records)
    file.write_bytes(file.read_bytes().replace(b"{", b'{\n  "theirs": true,', 1))
    assert uninstall(CLAUDE, machine, records) == [False]
    assert file.read_bytes() == b'{\n  "theirs": true\n}\n'


def test_a_file_that_we_made_goes_even_when_it_was_formatted_anew(
    machine: Machine, records: Records
) -> None:
    file = settings_file(machine)
    install(CLAUDE, machine, records)
    file.write_bytes(file.read_bytes() + b"\n\n")
    install(CLAUDE, machine, records, OTHER)
    file.write_bytes(file.read_bytes() + b"\n")
    uninstall(CLAUDE, machine, records)
    assert not file.parent.exists()


def test_without_a_record_exactly_our_entries_go(machine: Machine, records: Records) -> None:
    file = settings_file(machine, b'{"a": 1}\n')
    install(CLAUDE, machine, records)
    for record in list(records.all()):
        records.forget(record)
    assert uninstall(CLAUDE, machine, records) == [False]
    assert file.read_bytes() == b'{"a": 1}\n'


def test_entries_that_a_person_wrote_before_us_are_taken_over(
    machine: Machine, records: Records
) -> None:
    own = b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "hookline hook claude-code Stop"}]}]}}'
    file = settings_file(machine, own)
    (change,) = plan_install(CLAUDE, machine, Scope.USER, CALL, records)
    assert [entry.event for entry in change.replaced] == ["Stop"]
    apply(change, records)
    uninstall(CLAUDE, machine, records)
    assert b"hookline" not in file.read_bytes()


def test_nothing_is_planned_where_nothing_of_ours_is(machine: Machine, records: Records) -> None:
    settings_file(machine, b'{"a": 1}')
    assert plan_uninstall(CLAUDE, machine, None, records) == []


def test_only_the_scope_that_was_asked_for_is_undone(machine: Machine, records: Records) -> None:
    for scope in Scope:
        for change in plan_install(CLAUDE, machine, scope, CALL, records):
            apply(change, records)
    (change,) = plan_uninstall(CLAUDE, machine, Scope.PROJECT, records)
    assert change.target.scope is Scope.PROJECT


def test_a_write_that_fails_leaves_no_record(machine: Machine, records: Records) -> None:
    file = settings_file(machine, b"{}")
    (change,) = plan_install(CLAUDE, machine, Scope.USER, CALL, records)
    file.write_bytes(b'{"theirs": 1}')
    with pytest.raises(InstallError, match="changed by another program"):
        apply(change, records)
    assert list(records.all()) == []
    assert file.read_bytes() == b'{"theirs": 1}'


def test_a_second_write_that_fails_keeps_the_record_of_the_first(
    machine: Machine, records: Records
) -> None:
    file = settings_file(machine, b"{}")
    install(CLAUDE, machine, records)
    before = list(records.all())
    (change,) = plan_install(CLAUDE, machine, Scope.USER, OTHER, records)
    file.chmod(0o444)
    with pytest.raises(InstallError, match="read-only"):
        apply(change, records)
    assert list(records.all()) == before


def test_without_a_place_for_the_record_nothing_is_written(
    machine: Machine, tmp_path: Path
) -> None:
    (tmp_path / "state").write_text("a file is in the way")
    records = Records(str(tmp_path / "state"))
    file = settings_file(machine, b"{}")
    with pytest.raises(InstallError, match="install record"):
        install(CLAUDE, machine, records)
    with pytest.raises(InstallError, match="install record"), records.locked():
        pass
    assert file.read_bytes() == b"{}"


@pytest.mark.parametrize("content", [b"", b"{", b'{"dialect": 3}', b"\xff"])
def test_a_damaged_record_counts_as_none(
    machine: Machine, records: Records, content: bytes
) -> None:
    file = settings_file(machine, b'{"a": 1}\n')
    install(CLAUDE, machine, records)
    (path,) = Path(records.home).rglob("*.json")
    path.write_bytes(content)
    assert list(records.all()) == []
    uninstall(CLAUDE, machine, records)
    assert file.read_bytes() == b'{"a": 1}\n'


@pytest.mark.parametrize("first", [CLAUDE, NEIGHBOUR])
@pytest.mark.parametrize("start", [None, b'{\n  "a": 1\n}\n', b'{"hooks": {"Stop": []}}'])
def test_two_platforms_in_one_file_leave_it_in_any_order(
    machine: Machine, records: Records, first: Installer, start: bytes | None
) -> None:
    file = settings_file(machine, start)
    install(CLAUDE, machine, records)
    install(NEIGHBOUR, machine, records)
    second = NEIGHBOUR if first is CLAUDE else CLAUDE
    uninstall(first, machine, records)
    assert second.inspect(Target(file=str(file), scope=Scope.USER), file.read_bytes())
    uninstall(second, machine, records)
    if start is None:
        assert not file.parent.exists()
    else:
        assert file.read_bytes() == start
    assert list(records.all()) == []


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", r"line 1, column 2: expected a key"),
        (b"[]", "the file must be an object"),
        (b'{"hooks": []}', "hooks must be an object"),
        (b'{"hooks": {"Stop": {}}}', r"hooks\.Stop must be an array"),
        (b'{"hooks": {}, "hooks": {}}', "a second time"),
        (b"{\xff}", "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_edited_is_named_and_left(
    machine: Machine, records: Records, content: bytes, said: str
) -> None:
    file = settings_file(machine, content)
    with pytest.raises(InstallError, match=said) as raised:
        plan_install(CLAUDE, machine, Scope.USER, CALL, records)
    assert str(file) in str(raised.value)
    assert file.read_bytes() == content


def test_the_difference_is_shown_line_by_line(machine: Machine, records: Records) -> None:
    settings_file(machine, b'{\n  "a": 1\n}\n')
    (change,) = plan_install(CLAUDE, machine, Scope.USER, CALL, records)
    assert '\n-  "a": 1\n+  "a": 1,\n+  "hooks": {\n' in change.diff()
    assert not change.is_none


def test_a_record_of_a_file_that_is_gone_is_forgotten(machine: Machine, records: Records) -> None:
    file = settings_file(machine)
    install(CLAUDE, machine, records)
    file.unlink()
    (change,) = plan_uninstall(CLAUDE, machine, None, records)
    assert change.is_none
    apply(change, records)
    assert os.listdir(Path(records.home) / "installs") == []


def test_a_record_of_entries_that_somebody_took_out_is_forgotten(
    machine: Machine, records: Records
) -> None:
    file = settings_file(machine)
    install(CLAUDE, machine, records)
    file.write_text("{}")
    assert uninstall(CLAUDE, machine, records) == [True]
    assert file.read_text() == "{}"
    assert list(records.all()) == []


def test_another_platform_that_came_between_two_edits_is_kept(
    machine: Machine, records: Records
) -> None:
    file = settings_file(machine, b'{\n  "a": 1\n}\n')
    install(CLAUDE, machine, records)
    file.write_bytes(file.read_bytes().replace(b'"a": 1', b'"a": 2'))
    install(NEIGHBOUR, machine, records)
    uninstall(CLAUDE, machine, records)
    uninstall(NEIGHBOUR, machine, records)
    assert file.read_bytes() == b'{\n  "a": 2\n}\n'


def test_forgetting_twice_is_forgetting(records: Records) -> None:
    record = Record(dialect="x", scope=Scope.USER, file="/f", before=None, after="")
    records.save(record)
    records.forget(record)
    records.forget(record)
    assert list(records.all()) == []
