"""Every platform's file on every other platform: it is read without a flaw, and a deny is a deny."""

from pathlib import Path
from typing import Any

import pytest

from conformance.convert.clients import effects
from conformance.convert.examples import EXAMPLES, place
from hookline.converting.convert import Converted, convert
from hookline.converting.platforms import platform, platform_names
from hookline.converting.portable import HOOKLINE
from hookline.model.native import Where
from support.cli import Machine
from support.clients.effects import Does

NAMES = list(EXAMPLES)
PAIRS = [pytest.param(a, b, id=f"{a}-{b}") for a in NAMES for b in NAMES if a != b]


def converted(a: str, b: str, project: Path) -> Converted:
    file = place(a, project)
    where = Where(project=str(project), home=str(project / "home"))
    only = "before_tool_call" if a == "kodelet" and a != b else None
    return convert(a, b, str(file), file.read_bytes(), where, only=only)


def test_every_platform_with_files_has_an_example() -> None:
    assert sorted(NAMES) == sorted(platform_names())


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_the_new_file_is_read_without_a_flaw(a: str, b: str, tmp_path: Path) -> None:
    done = converted(a, b, tmp_path)
    rules: Any = platform(b).rules
    read = [rules.read(str(tmp_path / name), content) for name, content in done.files.items()]
    assert [flaw for file in read for flaw in file.flaws] == []
    assert not any(entry.flaw for file in read for entry in file.entries)
    assert not any(file.off for file in read)
    events = {event for entry in done.report.entries for event in entry.becomes}
    wanted = {event.partition("+")[0] for event in events}  # docker-agent's lanes are no events
    assert wanted
    if b != "kodelet":
        assert {entry.event for file in read for entry in file.entries} == wanted


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_what_the_program_denies_is_denied_by_the_new_client(
    a: str, b: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    machine = Machine(tmp_path / "machine", capfdbinary)
    done = converted(a, b, machine.project)
    denied = effects(b, dict(done.files), "rm MK_BAD", machine.project, machine)
    assert denied
    for effect in denied:
        assert not effect.failed, effect.failed
        assert effect.does >= Does.BLOCKS
        assert "MK_DENY" in effect.reason + effect.context


def another(name: str) -> str:
    return "codex" if name == "claude-code" else "claude-code"


@pytest.mark.parametrize("b", NAMES)
def test_the_line_in_the_new_file_denies_when_the_client_starts_it(b: str, tmp_path: Path) -> None:
    done = converted(another(b), b, tmp_path)
    for effect in effects(b, dict(done.files), "rm MK_BAD", tmp_path):
        assert effect.does >= Does.BLOCKS
        assert "MK_DENY" in effect.reason + effect.context


@pytest.mark.parametrize("b", NAMES)
def test_what_the_program_lets_pass_is_left_to_the_new_client(
    b: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    machine = Machine(tmp_path / "machine", capfdbinary)
    done = converted(another(b), b, machine.project)
    for effect in effects(b, dict(done.files), "ls", machine.project, machine):
        assert not effect.failed
        assert effect.does == Does.GOES_ON


@pytest.mark.parametrize("b", NAMES)
def test_without_hookline_on_the_machine_the_gate_stays_closed(b: str, tmp_path: Path) -> None:
    done = converted(another(b), b, tmp_path)
    gone = {
        name: text.replace(b" hookline adapt", b" gone-hookline adapt")
        for name, text in done.files.items()
    }
    for effect in effects(b, gone, "ls", tmp_path):
        assert not effect.failed
        assert effect.does >= Does.BLOCKS
        assert "not installed" in effect.reason + effect.context


@pytest.mark.parametrize("name", NAMES)
def test_a_file_for_its_own_platform_stays_as_it_is(name: str, tmp_path: Path) -> None:
    done = converted(name, name, tmp_path)
    assert list(done.files.values()) == [(tmp_path / EXAMPLES[name].file).read_bytes()]
    assert {each.status for entry in done.report.entries for each in entry.findings} == {"kept"}


@pytest.mark.parametrize("a", NAMES)
def test_a_portable_config_denies_what_the_program_denied(
    a: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    machine = Machine(tmp_path / "machine", capfdbinary)
    done = converted(a, HOOKLINE, machine.project)
    (content,) = done.files.values()
    config = machine.write("portable.yaml", content.decode())
    said = machine.call(
        *("fire", "pre_tool_use", "--tool", "shell", "--command", "rm MK_BAD"),
        *("--config", str(config), "--json"),
    )
    assert said.code == 0, said.err
    assert said.json["verdict"] == "deny"
    assert "MK_DENY" in said.json["reason"]


@pytest.mark.parametrize("b", NAMES)
def test_a_hook_file_of_ours_denies_through_every_client(
    b: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    machine = Machine(tmp_path / "machine", capfdbinary)
    config = machine.write(
        "portable.yaml",
        "version: 1\nhooks:\n  - name: no\n    on: pre_tool_use\n"
        "    match: {tool: shell, command: '*MK_BAD*'}\n    deny: MK_DENY\n",
    )
    output = machine.project / "out"
    done = machine.call(
        *("convert", "--from", "hookline", "--to", b, str(config), "--output", str(output))
    )
    assert done.code == 0, done.err
    path = platform(b).writer.path
    if output.is_dir():
        files = {f"{path}/{each.name}": each.read_bytes() for each in output.iterdir()}
    else:
        files = {path: output.read_bytes()}
    denied = effects(b, files, "rm MK_BAD", machine.project)
    assert denied
    assert all(each.does >= Does.BLOCKS and "MK_DENY" in each.reason for each in denied)
