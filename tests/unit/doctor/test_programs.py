"""What a command starts, and why that will not work; what cannot be told is passed over."""

import os
import shutil
from pathlib import Path

import pytest

from hookline.dialects._programs import Program, Trouble, program_of, troubles

VARIABLES = {"HOME": "/home/me", "PROJECT": "/srv/app"}


def started(command: str | tuple[str, ...]) -> Program | None:
    return program_of(command, cwd="/srv/app", variables=VARIABLES)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("./a.sh", "/srv/app/a.sh"),
        ("/opt/a --flag", "/opt/a"),
        ("$PROJECT/a.sh && ./b.sh", "/srv/app/a.sh"),
        ('"${PROJECT}"/"my hooks"/a.sh', "/srv/app/my hooks/a.sh"),
        ("~/a.sh", "/home/me/a.sh"),
        ("A=1 B='2 3' exec ./a.sh", "/srv/app/a.sh"),
        ("env A=1 ./a.sh", "/srv/app/a.sh"),
        ("hooks/a.sh|tee log", "/srv/app/hooks/a.sh"),
        ("./a.sh\n./b.sh", "/srv/app/a.sh"),
        ("./a.sh # why", "/srv/app/a.sh"),
    ],
)
def test_a_file_that_is_run_is_found(command: str, path: str) -> None:
    assert started(command) == Program(path=path, is_run=True)


@pytest.mark.parametrize(
    ("command", "name", "path", "by_shell"),
    [
        ("bash a.sh", "bash", "/srv/app/a.sh", True),
        ("python3 -u hooks/a.py x", "python3", "/srv/app/hooks/a.py", False),
        ("/usr/bin/node ./a.mjs", "", "/srv/app/a.mjs", False),
        ("/usr/bin/env bash a.sh", "bash", "/srv/app/a.sh", True),
    ],
)
def test_a_file_that_an_interpreter_reads_is_found(
    command: str, name: str, path: str, by_shell: bool
) -> None:
    assert started(command) == Program(name=name, path=path, by_shell=by_shell)


@pytest.mark.parametrize("command", ["jq .", "bash", "python3 -c 'import a.b'", "python -m a/b"])
def test_a_program_by_name_is_found(command: str) -> None:
    assert started(command) == Program(name=command.split(maxsplit=1)[0])


def test_words_without_a_shell_are_taken_as_they_are() -> None:
    assert started(("./a b", "x;y")) == Program(path="/srv/app/a b", is_run=True, is_direct=True)
    assert started(("test", "-f", "x")) == Program(name="test")


@pytest.mark.parametrize(
    "command",
    [
        "",
        "A=1",
        "if true; then ./a.sh; fi",
        "[ -f x ] && ./a.sh",
        "cd sub && ./a.sh",
        "echo hi",
        "$UNKNOWN/a.sh",
        "`which a`",
        "./*.sh",
        "'unclosed",
        "(./a.sh)",
        "{{project_dir}}/a.sh",
        "env -i a",
    ],
)
def test_what_only_a_shell_could_tell_is_passed_over(command: str) -> None:
    assert started(command) is None


@pytest.mark.parametrize("command", ["bash $UNKNOWN/a.sh", "bash notes", "deno run x"])
def test_what_an_interpreter_reads_is_passed_over_when_it_is_not_clear(command: str) -> None:
    assert started(command) == Program(name=command.split(maxsplit=1)[0])


# ── why it will not start ──


def which(name: str) -> str | None:
    return shutil.which(name, path="/usr/bin:/bin")


def put(path: Path, content: bytes, mode: int = 0o755) -> Program:
    path.write_bytes(content)
    path.chmod(mode)
    return Program(path=str(path), is_run=True, is_direct=True)


def ids(program: Program) -> list[str]:
    return [each.id for each in troubles(program, which)]


def test_a_program_that_is_not_on_the_path_is_told() -> None:
    (found,) = troubles(Program(name="no-such-guard"), which)
    assert found == Trouble(
        "program-missing",
        "there is no program `no-such-guard` on your PATH",
        "install `no-such-guard`, or write its absolute path",
    )
    assert ids(Program(name="sh")) == []


def test_a_script_in_order_is_nothing_to_tell(tmp_path: Path) -> None:
    assert ids(put(tmp_path / "a", b"#!/bin/sh\nexit 0\n")) == []
    assert ids(put(tmp_path / "b", b"#!/usr/bin/env -S sh -e\n")) == []
    assert ids(put(tmp_path / "c", b"\x7fELF\x02\x01")) == []
    assert ids(put(tmp_path / "d", b"#!\n")) == []


def test_a_missing_file_and_a_folder_in_its_place_are_told(tmp_path: Path) -> None:
    assert ids(Program(path=str(tmp_path / "a"))) == ["script-missing"]
    assert ids(Program(path=str(tmp_path))) == ["script-missing"]
    assert ids(Program(path="/a\0b")) == ["script-missing"]


def test_windows_line_ends_are_told_with_the_command_that_takes_them_out(tmp_path: Path) -> None:
    program = put(tmp_path / "a b", b"#!/bin/sh\r\nexit 0\r\n")
    (found,) = troubles(program, which)
    assert found.id == "script-crlf"
    assert found.fix == f"sed -i 's/\\r$//' '{tmp_path}/a b'"
    read = Program(name="bash", path=program.path, by_shell=True)
    assert ids(read) == ["script-crlf"]
    # Python, Node and others do not mind.
    assert ids(Program(name="sh", path=program.path)) == []


def test_an_interpreter_that_is_not_there_is_told(tmp_path: Path) -> None:
    (found,) = troubles(put(tmp_path / "a", b"#!/opt/none/python\n"), which)
    assert (found.id, "`/opt/none/python`" in found.what) == ("interpreter-missing", True)
    assert ids(put(tmp_path / "b", b"#!/usr/bin/env no-such-python\n")) == ["interpreter-missing"]


def test_a_script_without_a_first_line_needs_a_shell_to_start_it(tmp_path: Path) -> None:
    direct = put(tmp_path / "a", b"exit 0\n")
    assert ids(direct) == ["script-without-interpreter"]
    assert ids(Program(path=direct.path, is_run=True)) == []


def test_a_script_that_may_not_be_read_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = put(tmp_path / "a", b"#!/bin/sh\n")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    found = list(troubles(program, which))
    monkeypatch.undo()
    assert [each.id for each in found] == ["script-unreadable"]
    assert found[0].fix == f"chmod u+r {program.path}"


def test_the_text_of_a_script_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    assert put(tmp_path / "a", b"#!/bin/sh\n\xff").text() == "#!/bin/sh\n�"
    assert Program(path=os.fspath(tmp_path / "none")).text() == ""
    assert Program(path="/a\0b").text() == ""
