"""Every installer, on every file that people have: in, twice, out, and with an edit between."""

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from hookline import registry
from hookline.dialects._install import JsonSettings, settings
from hookline.installing.changes import apply, plan_install, plan_uninstall
from hookline.installing.records import Records
from hookline.model.installing import Call, Installer, Machine, Scope
from support.installing import CALL, machine_at, starts_for

CASES = [
    pytest.param(name, scope, content, id=f"{name}-{scope.value}-{what}")
    for name in registry.installer_names()
    for scope in registry.installer(name).scopes
    for what, content in starts_for(name).items()
    # The files of other scopes differ in their place only.
    if scope is registry.installer(name).scopes[0] or what in {"absent", "hooks of others"}
]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(str(tmp_path / "state"))


def prepare(
    installer: Installer, machine: Machine, scope: Scope, content: bytes | None
) -> list[Path]:
    """The platform's files with this content, before hookline."""
    files = [Path(each.file) for each in installer.targets(machine, scope, shared=False)]
    for file in files:
        if content is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
    return files


def install(
    installer: Installer, machine: Machine, scope: Scope, records: Records, call: Call = CALL
) -> None:
    for change in plan_install(installer, machine, scope, call, records):
        apply(change, records)


def uninstall(installer: Installer, machine: Machine, records: Records) -> None:
    for change in plan_uninstall(installer, machine, None, records):
        apply(change, records)


def tree(base: str) -> set[str]:
    return {
        os.path.join(top, name) for top, *rest in os.walk(base) for each in rest for name in each
    }


@pytest.mark.parametrize(("name", "scope", "content"), CASES)
def test_what_was_there_comes_back_byte_for_byte(
    name: str, scope: Scope, content: bytes | None, machine: Machine, records: Records
) -> None:
    installer = registry.installer(name)
    files = prepare(installer, machine, scope, content)
    before = tree(machine.home) | tree(machine.project)
    install(installer, machine, scope, records)
    targets = installer.targets(machine, scope, shared=False)
    found = [
        entry
        for target, file in zip(targets, files, strict=True)
        for entry in installer.inspect(target, file.read_bytes())
    ]
    assert sorted(entry.event for entry in found) == sorted(installer.events())
    assert all(entry.words[:3] == (*CALL.program, "hook", name) for entry in found)
    installed = [file.read_bytes() for file in files]
    install(installer, machine, scope, records)
    assert [file.read_bytes() for file in files] == installed, "a second time changes nothing"
    uninstall(installer, machine, records)
    assert tree(machine.home) | tree(machine.project) == before
    assert all(file.read_bytes() == content for file in files if content is not None)
    assert list(records.all()) == []


@pytest.mark.parametrize(("name", "scope", "content"), CASES)
def test_after_an_edit_exactly_our_entries_go(
    name: str, scope: Scope, content: bytes | None, machine: Machine, records: Records
) -> None:
    installer = registry.installer(name)
    if not isinstance(installer, JsonSettings):
        pytest.skip("an edit is made to JSON here; the platform's own tests have theirs")
    (file,) = prepare(installer, machine, scope, content)
    install(installer, machine, scope, records)
    file.write_bytes(file.read_bytes().replace(b"{", b'{ "edited": true,', 1))
    uninstall(installer, machine, records)
    expected = dict(settings(content)) if content else {}
    left = dict(settings(file.read_bytes()))
    for key, value in installer.frame.items():
        expected.setdefault(key, value)
    assert left == {**expected, "edited": True}


@pytest.mark.parametrize(("name", "scope", "content"), CASES)
def test_another_program_path_replaces_the_entries_in_place(
    name: str, scope: Scope, content: bytes | None, machine: Machine, records: Records
) -> None:
    installer = registry.installer(name)
    files = prepare(installer, machine, scope, content)
    before = tree(machine.home) | tree(machine.project)
    install(installer, machine, scope, records)
    moved = Call(program=("/new/bin/hookline",), home="/h/state", timeout=42)
    install(installer, machine, scope, records, moved)
    for target, file in zip(installer.targets(machine, scope, shared=False), files, strict=True):
        entries = installer.inspect(target, file.read_bytes())
        assert {entry.program for entry in entries} == {"/new/bin/hookline"}
        assert len(entries) == len(target.events or installer.events())
    uninstall(installer, machine, records)
    assert tree(machine.home) | tree(machine.project) == before
    assert all(file.read_bytes() == content for file in files if content is not None)


@pytest.mark.parametrize("name", registry.installer_names())
@pytest.mark.parametrize("start", ["absent", "hooks of others"])
def test_the_platforms_own_reader_sees_every_entry_and_its_limit(
    name: str, start: str, machine: Machine, records: Records
) -> None:
    installer = registry.installer(name)
    reader = registry.native_files().get(name)
    if reader is None or start not in starts_for(name):
        pytest.skip("nothing to read it with, or to start from")
    scope = installer.scopes[0]
    files = prepare(installer, machine, scope, starts_for(name)[start])
    install(installer, machine, scope, records, replace(CALL, timeout=42))
    seen = [
        entry
        for file in files
        for entry in reader.read(str(file), file.read_bytes()).entries
        if "/opt/hookline/bin/hookline" in str(entry.command)
    ]
    assert {entry.event for entry in seen} >= set(installer.events())
    assert {entry.flaw for entry in seen} == {""}
    assert all(entry.timeout is None or entry.timeout <= 42 for entry in seen)
    assert any(entry.timeout == 42 for entry in seen) or {entry.timeout for entry in seen} == {None}


def test_links_are_written_through_and_stay_links(machine: Machine, records: Records) -> None:
    installer = registry.installer("claude-code")
    (file,) = prepare(installer, machine, Scope.USER, None)
    real = Path(machine.project) / "dotfiles.json"
    real.write_bytes(b'{"a": 1}')
    file.parent.mkdir(parents=True)
    file.symlink_to(real)
    install(installer, machine, Scope.USER, records)
    assert file.is_symlink()
    assert b"hookline" in real.read_bytes()
    uninstall(installer, machine, records)
    assert file.is_symlink()
    assert real.read_bytes() == b'{"a": 1}'


# Their hook files have no place for a limit: the client ends every hook after so many seconds.
FIXED = {"kodelet": 30.0}


@pytest.mark.parametrize("name", registry.installer_names())
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("timeout", [None, 20, 3600])
def test_every_entry_has_a_limit_and_the_line_in_it_knows_that_one(
    name: str, shared: bool, timeout: int | None, machine: Machine, records: Records
) -> None:
    installer = registry.installer(name)
    reader = registry.native_files()[name]
    scope = Scope.PROJECT if shared and Scope.PROJECT in installer.scopes else installer.scopes[0]
    call = replace(CALL, timeout=timeout, shared=shared)
    start = starts_for(name).get("hooks of others")
    for target in installer.targets(machine, scope, shared=shared):
        written = installer.add(target, None if name in FIXED else start, call)
        entries = reader.read(target.file, written).entries
        ours = [
            entry for entry in entries if name in FIXED or f"hook {name} " in str(entry.command)
        ]
        assert {entry.event for entry in ours} >= set(target.events or installer.events())
        for entry in ours:
            limit = FIXED.get(name) or entry.timeout
            assert limit is not None, f"{entry.event} has no limit of its own"
            line = written.decode() if name in FIXED else str(entry.command)
            (told,) = re.findall(rf"hook {name} .*?--timeout (\d+)", line)
            assert float(told) == (min(limit, timeout or limit) if name in FIXED else limit)
