"""What is installed where, what it covers, and what keeps it from being in force."""

from dataclasses import replace
from pathlib import Path

import pytest

from hookline import registry
from hookline.installing.changes import apply, plan_install
from hookline.installing.records import Records
from hookline.installing.status import standing
from hookline.installing.trusting import trust
from hookline.model.installing import Call, InstallError, Machine, Scope
from support.installing import CALL, machine_at

CLAUDE = registry.installer("claude-code")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_at(tmp_path)


@pytest.fixture
def records(tmp_path: Path) -> Records:
    return Records(str(tmp_path / "state"))


@pytest.fixture
def call(tmp_path: Path) -> Call:
    program = tmp_path / "bin/hookline"
    program.parent.mkdir()
    program.touch(0o755)
    return replace(CALL, program=(str(program),))


def install(machine: Machine, records: Records, call: Call) -> Path:
    (change,) = plan_install(CLAUDE, machine, Scope.USER, call, records)
    apply(change, records)
    return Path(change.file.path)


def test_nothing_is_installed_on_a_new_machine(machine: Machine, records: Records) -> None:
    stands = standing(CLAUDE, machine, records)
    assert (stands.installed, stands.inactive, stands.active) == ((), (), False)


def test_what_is_installed_and_in_order_is_active(
    machine: Machine, records: Records, call: Call
) -> None:
    file = install(machine, records, call)
    stands = standing(CLAUDE, machine, records)
    assert stands.active
    assert [each.target.file for each in stands.installed] == [str(file)]
    assert stands.covered == tuple(CLAUDE.events())
    assert stands.missing == ()


def test_an_event_that_is_gone_or_narrowed_is_not_covered(
    machine: Machine, records: Records, call: Call
) -> None:
    file = install(machine, records, call)
    text = file.read_text().replace('"Stop": [', '"Moved": [')
    file.write_text(
        text.replace('"PreToolUse": [\n      {', '"PreToolUse": [\n      {"matcher": "Bash",')
    )
    stands = standing(CLAUDE, machine, records)
    assert stands.missing == ("PreToolUse", "Stop")


def test_entries_that_somebody_took_out_are_missed(
    machine: Machine, records: Records, call: Call
) -> None:
    file = install(machine, records, call)
    file.write_text("{}")
    (flaw,) = standing(CLAUDE, machine, records).inactive
    assert f"was written into {file}, and is not there any more" in flaw.why
    assert flaw.step == "hookline install claude-code --scope user"


def test_a_file_that_cannot_be_read_any_more_is_told(
    machine: Machine, records: Records, call: Call
) -> None:
    file = install(machine, records, call)
    file.write_text("{")
    (flaw,) = standing(CLAUDE, machine, records).inactive
    assert str(file) in flaw.why


def test_a_broken_file_that_is_none_of_ours_is_not_told(machine: Machine, records: Records) -> None:
    file = Path(machine.home) / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text("{")
    assert standing(CLAUDE, machine, records).inactive == ()


def test_a_program_that_is_gone_is_told(machine: Machine, records: Records, call: Call) -> None:
    install(machine, records, call)
    Path(call.program[0]).unlink()
    (flaw,) = standing(CLAUDE, machine, records).inactive
    assert call.program[0] in flaw.why


def test_a_shared_entry_needs_hookline_on_the_path(
    machine: Machine, records: Records, call: Call
) -> None:
    install(machine, records, Call(program=("hookline",), shared=True))
    assert not standing(CLAUDE, machine, records).active
    found = replace(machine, which={"hookline": call.program[0]}.get)
    assert standing(CLAUDE, found, records).active


def test_what_a_platform_delivers_comes_from_its_support_table() -> None:
    heard = registry.delivered("claude-code")
    assert not {"worktree_create", "before_llm_call"} & heard
    assert {"pre_tool_use", "stop"} < heard


def test_trust_is_only_given_where_a_platform_knows_it(machine: Machine, records: Records) -> None:
    with pytest.raises(InstallError, match="Claude Code has no trust"):
        trust(CLAUDE, machine, records)
