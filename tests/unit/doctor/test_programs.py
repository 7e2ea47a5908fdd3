"""What a command starts, and why that will not work; what cannot be told is passed over."""

import os
import shutil
import subprocess
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

from hookline.shell.programs import Program, Trouble, find_programs, find_troubles

VARIABLES = {"HOME": "/home/me", "PROJECT": "/srv/app"}


def started(command: str | tuple[str, ...]) -> list[Program]:
    return list(find_programs(command, cwd="/srv/app", variables=VARIABLES))


def run(path: str) -> Program:
    return Program(path=path, is_run=True)


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("./a.sh", "/srv/app/a.sh"),
        ("/opt/a --flag", "/opt/a"),
        ("$PROJECT/a.sh && ./b.sh", "/srv/app/a.sh"),
        ('"${PROJECT}"/"my hooks"/a.sh', "/srv/app/my hooks/a.sh"),
        ("~/a.sh", "/home/me/a.sh"),
        ("A=1 B='2 3' exec ./a.sh", "/srv/app/a.sh"),
        ("./a.sh # why", "/srv/app/a.sh"),
        ("./a.sh || exit 2", "/srv/app/a.sh"),
        ("set -e\n# why\n./a.sh", "/srv/app/a.sh"),
        ("echo hi && ./a.sh > log 2>&1", "/srv/app/a.sh"),
        ("PATH=/x ./a.sh; gone", "/srv/app/a.sh"),
        ("f() { true; }; ./a.sh", None),
        ("exec ./a.sh; ./b.sh", "/srv/app/a.sh"),
        ("(./a.sh)", "/srv/app/a.sh"),
        ("! ./a.sh", "/srv/app/a.sh"),
    ],
)
def test_a_file_that_is_run_is_found(command: str, path: str | None) -> None:
    assert started(command) == ([run(path)] if path else [])


def test_a_command_is_followed_to_where_it_goes() -> None:
    usr, bin = (Program(path=path, is_directory=True) for path in ("/usr", "/usr/bin"))
    assert started("cd /usr && ./a.sh") == [usr, run("/usr/a.sh")]
    assert started("cd /usr; cd bin; ./a.sh") == [usr, bin, run("/usr/bin/a.sh")]
    (gone,) = started("cd none && ./a.sh")
    assert [each.what for each in find_troubles(gone, which)] == [
        "there is no directory `/srv/app/none`"
    ]


def test_what_runs_beside_or_after_it_is_found_where_nothing_may_prevent_it() -> None:
    assert started("env A=1 ./a.sh") == [Program(name="env"), run("/srv/app/a.sh")]
    assert started("hooks/a.sh|tee log") == [run("/srv/app/hooks/a.sh"), Program(name="tee")]
    assert started("./a.sh\n./b.sh") == [run("/srv/app/a.sh"), run("/srv/app/b.sh")]
    assert started("./a.sh; jq .") == [run("/srv/app/a.sh"), Program(name="jq")]
    assert started("timeout 5 jq .") == [Program(name="timeout"), Program(name="jq")]
    assert started('x=$(cat); y="$(echo $x | jq .)"; gone') == [
        Program(name=name) for name in ("cat", "jq", "gone")
    ]


@pytest.mark.parametrize(
    "command",
    [
        "./a.sh && gone",
        "./a.sh || gone",
        "if ./a.sh; then gone; fi",
        "[ -f x ] && gone",
        "test -x gone || true; [ 1 ] || gone",
        "command -v gone >/dev/null || exit 0; gone",
        "type gone && gone",
        "while read x; do gone; done",
        "case $1 in a) gone;; esac",
        "gone() { true; }; gone",
        "function gone { true; }; gone",
        "export PATH=/opt/x:$PATH; gone",
        ". ./env; gone",
        "exit 0; gone",
        "eval x; gone",
        "xargs gone",
        "sudo gone",
        "uv run gone",
        "bash -lc gone",
        "bash -c 'gone || true'",
        "bash -c 'gone; true'",
        "gone || true",
        "gone | cat || :",
        "gone 2>/dev/null || exit 0",
        "env -i gone",
        "echo gone; # gone",
        "cat <<E\ngone\nE\n",
        "cat <<E; true\ngone\nE\n",
    ],
)
def test_what_may_not_run_is_passed_over(command: str) -> None:
    assert "gone" not in [each.name for each in started(command)]


@pytest.mark.parametrize(
    ("command", "path", "by_shell"),
    [
        ("bash ./a.sh", "/srv/app/a.sh", True),
        ("sh -e ./a", "/srv/app/a", True),
        ("bash -o pipefail ./a", "/srv/app/a", True),
        ("python3 -u hooks/a.py x", "/srv/app/hooks/a.py", False),
        ("python3 -W ignore a", "/srv/app/a", False),
        ("perl a", "/srv/app/a", False),
        ("node a.js", "/srv/app/a.js", False),
        ("awk -f a.awk b", "/srv/app/a.awk", False),
        (". ./env", "/srv/app/env", True),
    ],
)
def test_a_file_that_an_interpreter_reads_is_found(command: str, path: str, by_shell: bool) -> None:
    by = [] if command[0] == "." else [Program(name=command.split(maxsplit=1)[0])]
    assert started(command) == [*by, Program(path=path, by_shell=by_shell)]


def test_an_interpreter_that_is_named_by_its_path_must_be_there_too() -> None:
    assert started("/usr/bin/node ./a.mjs") == [
        run("/usr/bin/node"),
        Program(path="/srv/app/a.mjs"),
    ]
    script = Program(path="/srv/app/a.sh", by_shell=True)
    assert started("/usr/bin/env bash ./a.sh")[-1] == script


@pytest.mark.parametrize(
    "command", ["jq .", "bash", "python3 -c 'import a.b'", "python -m a/b", "python3 - <<E\nx\nE"]
)
def test_a_program_by_name_is_found(command: str) -> None:
    assert started(command) == [Program(name=command.split(maxsplit=1)[0])]


def test_words_without_a_shell_are_taken_as_they_are() -> None:
    assert started(("./a b", "x;y")) == [Program(path="/srv/app/a b", is_run=True, is_direct=True)]
    assert started(("test", "-f", "x")) == [Program(name="test")]
    assert started(("cd", "x")) == [Program(name="cd")]
    assert started(("~/a", "$PROJECT/a")) == [
        Program(path="/srv/app/~/a", is_run=True, is_direct=True)
    ]


def test_the_code_that_a_shell_is_given_is_read() -> None:
    shell, code = Program(name="sh"), Program(name="gone")
    assert started("sh -c 'gone | cat'") == [shell, code, Program(name="cat")]
    assert started(("sh", "-ec", "$PROJECT/a.sh")) == [shell, run("/srv/app/a.sh")]


def test_what_a_command_reads_has_to_be_there() -> None:
    read = [Program(path=f"/srv/app/{name}", is_data=True) for name in "ab"]
    assert started("gone <a 3<b >c") == [Program(name="gone"), *read]


def test_a_subshell_that_goes_elsewhere_takes_nobody_along() -> None:
    for command in ("(cd /usr && ./a.sh) && ./b.sh", "x=$(cd /usr && echo x); ./b.sh"):
        assert run("/usr/b.sh") not in started(command)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "A=1",
        "if true; then ./a.sh; fi",
        "[ -f x ] && ./a.sh",
        "cd $UNKNOWN && ./a.sh",
        "cd - ; ./a.sh",
        "echo hi",
        "$UNKNOWN/a.sh",
        "`which a`",
        "./*.sh",
        "'unclosed",
        "{{project_dir}}/a.sh",
    ],
)
def test_what_only_a_shell_could_tell_is_passed_over(command: str) -> None:
    assert started(command) == []


@pytest.mark.parametrize("command", ["bash $UNKNOWN/a.sh", "bash notes", "deno run x", "node ./x"])
def test_what_an_interpreter_reads_is_passed_over_when_it_is_not_clear(command: str) -> None:
    assert started(command) == [Program(name=command.split(maxsplit=1)[0])]


# ── why it will not start ──


def which(name: str) -> str | None:
    return shutil.which(name, path="/usr/bin:/bin")


def put(path: Path, content: bytes, mode: int = 0o755) -> Program:
    path.write_bytes(content)
    path.chmod(mode)
    return Program(path=str(path), is_run=True, is_direct=True)


def ids(program: Program) -> list[str]:
    return [each.id for each in find_troubles(program, which)]


def test_a_program_that_is_not_on_the_path_is_told() -> None:
    (found,) = find_troubles(Program(name="no-such-guard"), which)
    assert found == Trouble(
        "program-missing",
        "there is no program `no-such-guard` on your PATH",
        "install no-such-guard, or write its absolute path",
    )
    assert ids(Program(name="sh")) == []


def test_a_script_in_order_is_nothing_to_tell(tmp_path: Path) -> None:
    assert ids(put(tmp_path / "a", b"#!/bin/sh\nexit 0\n")) == []
    assert ids(put(tmp_path / "b", b"#!/usr/bin/env -S sh -e\n")) == []
    assert ids(put(tmp_path / "c", Path("/bin/true").read_bytes())) == []


def test_a_script_where_no_program_may_run_is_not_to_be_made_executable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = put(tmp_path / "a", b"#!/bin/sh\n")
    flags = os.statvfs(tmp_path).f_flag | os.ST_NOEXEC
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.X_OK)
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=flags))
    (found,) = [each for each in find_troubles(script, which) if each.id == "script-not-executable"]
    assert "noexec" in found.what
    assert "chmod" not in found.fix


def test_a_missing_file_and_a_folder_in_its_place_are_told(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("a", "a/b", "link", "a\0b"):
        assert ids(Program(path=f"{tmp_path}/{name}")) == ["script-missing"]
    assert ids(run(str(tmp_path))) == ["script-missing"]
    assert ids(Program(name="sh", path=str(tmp_path), by_shell=True)) == ["script-missing"]
    assert ids(Program(path=str(tmp_path))) == []  # Python runs the `__main__.py` in it
    assert ids(Program(name="sh", path="/dev/stdin", by_shell=True)) == []


def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o755)
    assert ids(run(str(tmp_path / "pipe"))) == []
    assert run(str(tmp_path / "pipe")).text() == ""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "script-empty"),
        (b"\xef\xbb\xbf#!/bin/sh\n", "script-bom"),
        (b"#!/bin/sh -e\r\n", "script-crlf"),
        (b"#!/usr/bin/env sh\r\n", "script-crlf"),
        (b"exit 0\r\nexit 0\r\n", "script-crlf"),
        (b"#!\n", "interpreter-missing"),
        (b"#!sh\n", "interpreter-missing"),
        (b"#!/usr/bin\n", "interpreter-missing"),
        (b"#!/usr/bin/env python3 -u\n", "interpreter-missing"),
        (b"#! /usr/bin/env -S no-such-program -u\n", "interpreter-missing"),
        (b"#!/usr/bin/env -S A=1 no-such-program\n", "interpreter-missing"),
        (b"#!/no/such/env sh\n", "interpreter-missing"),
        (b"#!/bin/sh " + b"x" * 300 + b"\n", "script-without-interpreter"),
    ],
)
def test_a_first_line_that_starts_nothing_is_told_with_a_shell_or_without(
    content: bytes, told: str, tmp_path: Path
) -> None:
    program = put(tmp_path / "a", content)
    assert ids(program) == ids(run(program.path)) == [told]


def test_windows_line_ends_are_told_with_the_command_that_takes_them_out(tmp_path: Path) -> None:
    program = put(tmp_path / "a b", b"#!/bin/sh\r\nexit 0\r\n")
    (found,) = find_troubles(program, which)
    assert found.id == "script-crlf"
    assert found.fix == f"convert to LF: sed -i 's/\\r$//' '{tmp_path}/a b'"
    read = Program(name="bash", path=program.path, by_shell=True)
    assert ids(read) == ["script-crlf"]
    # Python, Node and others do not mind.
    assert ids(Program(name="sh", path=program.path)) == []


def test_only_what_is_run_by_itself_must_be_executable(tmp_path: Path) -> None:
    program = put(tmp_path / "a b", b"#!/bin/sh\n", mode=0o644)
    (found,) = find_troubles(program, which)
    assert (found.id, found.fix) == ("script-not-executable", f"chmod +x '{tmp_path}/a b'")
    assert ids(Program(name="sh", path=program.path, by_shell=True)) == []


def test_an_interpreter_that_is_not_there_is_told(tmp_path: Path) -> None:
    (found,) = find_troubles(put(tmp_path / "a", b"#!/opt/none/python\n"), which)
    assert (found.id, "`/opt/none/python`" in found.what) == ("interpreter-missing", True)
    assert ids(put(tmp_path / "b", b"#!/usr/bin/env no-such-python\n")) == ["interpreter-missing"]


def test_a_script_without_a_first_line_needs_a_shell_to_start_it(tmp_path: Path) -> None:
    direct = put(tmp_path / "a", b"exit 0\n")
    assert ids(direct) == ["script-without-interpreter"]
    assert ids(Program(path=direct.path, is_run=True)) == []


def test_a_script_that_may_not_be_read_is_told_where_somebody_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = put(tmp_path / "a", b"#!/bin/sh\n")
    monkeypatch.setattr("os.access", lambda path, mode: mode == os.X_OK)
    monkeypatch.setattr("hookline.shell.programs._read_head", lambda path, size: b"")
    assert ids(program) == []  # a program that only may be run is in order
    (found,) = find_troubles(Program(path=program.path), which)
    assert (found.id, found.fix) == ("script-unreadable", f"chmod u+r {program.path}")


def test_the_text_of_a_script_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    assert put(tmp_path / "a", b"#!/bin/sh\n\xff").text() == "#!/bin/sh\n�"
    assert Program(path=os.fspath(tmp_path / "none")).text() == ""
    assert Program(path="/a\0b").text() == ""


# ── it is certain ──

_PARTS = """
gone|gone -x|true|false|echo a|cd /|cd /no/such|exit 0|exit 3|set -e|test -f /x|[ -d / ]|:|export A=1
PATH=/x|PATH=/x true|A=1|A=1 gone|x=$(gone)|x=$(cat)|x="$(gone)"|exec true|exec gone|return|eval true
command -v gone|command gone|env gone|env A=1 gone|env -i gone|timeout 5 gone|nohup gone|(gone)
(exit 1)|{ gone; }|{ true; }|gone() { true; }|f() { gone; }|f|read z|trap gone EXIT|trap - EXIT
sh -c gone|echo $(gone)|echo `gone`|if gone; then true; fi|if true; then gone; fi|gone 2>/dev/null
while false; do gone; done|for i in; do gone; done|for i in a; do gone; done|xargs gone </dev/null
find /no/such -exec gone {} +|alias gone=true|unset PATH|gone >/dev/null|wait
gone 'a;b'|"gone"|go\\ne|$gone|. /no/such|printf a|cat </dev/null|sleep 0
"""
_JOINS = ["; ", " && ", " || ", " | ", "\n", "\n\n", ";\n", " |\n", " &&\n", " # gone\n"]


def test_what_is_said_to_be_started_is_started(tmp_path: Path) -> None:
    seed = 20261118
    print(f"seed {seed}")
    random = Random(seed)
    parts = [part for line in _PARTS.strip().splitlines() for part in line.split("|") if part]
    mark, program = tmp_path / "mark", tmp_path / "gone"
    program.write_text(f"#!/bin/sh\necho > {mark}\n")
    program.chmod(0o755)
    env = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    for _ in range(400):
        script = random.choice(parts)
        for _ in range(random.randrange(4)):
            script += random.choice(_JOINS) + random.choice(parts)
        if any(each.name == "gone" for each in started(script)):
            mark.unlink(missing_ok=True)
            argv, nothing = ["/bin/sh", "-c", script], subprocess.DEVNULL
            subprocess.run(argv, env=env, cwd="/", stdin=nothing, capture_output=True)
            assert mark.exists(), script
