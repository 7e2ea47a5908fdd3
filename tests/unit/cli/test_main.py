"""The command line as a whole: its names, its one door for errors, completion."""

import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import click
import pytest

import hookline
from hookline.cli import _main, demo
from support.cli import Machine


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_names_every_command_with_what_it_does(machine: Machine, word: str) -> None:
    done = machine.call(word)
    assert done.code == 0
    for name in _main._names():
        assert done.out.count(f"\n  {name} ") == 1
    assert "..." not in done.out.partition("Get protected:")[2]
    assert "Start with `hookline init" in done.out
    assert "does not fire with `hookline doctor`" in " ".join(done.out.split())


@pytest.mark.parametrize("name", _main._names())
def test_every_command_has_help(machine: Machine, name: str) -> None:
    done = machine.call(name, "--help")
    assert done.code == 0
    assert done.out.startswith(f"Usage: hookline {name}")


def test_the_version_is_the_packages(machine: Machine) -> None:
    assert machine.run("--version").out == f"hookline, version {hookline.__version__}\n"


def test_an_unknown_command_names_the_nearest(machine: Machine) -> None:
    done = machine.call("chek")
    assert done.code == 2
    assert "no command is called `chek`; did you mean `check`?" in done.err


def test_an_unknown_command_that_is_like_none_says_where_the_list_is(machine: Machine) -> None:
    done = machine.call("\x1b[2Jxyzzy")
    assert done.code == 2
    assert "`hookline --help` lists them" in done.err
    assert "\x1b" not in done.err


def test_private_modules_are_no_commands(machine: Machine) -> None:
    assert machine.call("_output").code == 2


def test_an_error_is_one_paragraph_without_a_traceback(machine: Machine) -> None:
    done = machine.run("fire", "pre_tool_us")
    assert (done.code, done.out) == (1, "")
    assert done.err == ("error: no event is called `pre_tool_us`. did you mean `pre_tool_use`?\n")


@pytest.mark.parametrize("how", [{"args": ("--debug",)}, {"env": {"HOOKLINE_DEBUG": "1"}}])
def test_debug_shows_the_traceback(machine: Machine, how: dict[str, object]) -> None:
    args = how.get("args", ())
    env = how.get("env", {})
    assert isinstance(args, tuple)
    assert isinstance(env, dict)
    done = machine.run(*args, "fire", "pre_tool_us", **env)
    assert done.code == 1
    assert "Traceback" in done.err
    assert "did you mean `pre_tool_use`?" in done.err


def test_after_the_command_the_same_word_may_be_a_value(machine: Machine) -> None:
    done = machine.run("fire", "pre_tool_use", "--tool", "shell", "--command", "--debug")
    assert done.code == 0
    assert "shell --debug" in done.out


def test_what_should_never_happen_is_one_paragraph_too(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def explode(*_: object) -> None:
        raise ZeroDivisionError("by \x1b[31mzero")

    monkeypatch.setattr(demo, "_play", explode)
    done = machine.call("demo")
    assert done.code == 3
    assert "something went wrong that should not have: ZeroDivisionError: by " in done.err
    assert "please report it" in done.err
    assert "\x1b" not in done.err
    assert "Traceback" not in done.err


def test_what_should_never_happen_has_a_traceback_with_debug(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def explode(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(demo, "_play", explode)
    with pytest.raises(ZeroDivisionError):
        machine.call("--debug", "demo")


@pytest.mark.parametrize("args", [("list", "--builtins"), ("fire", "--jsonl"), ("demo",)])
def test_a_reader_that_goes_away_causes_no_traceback(
    machine: Machine, args: tuple[str, ...]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    process = machine.start(*args, stdout=writer)
    os.close(writer)
    _, said = process.communicate(b'{"event":"stop"}\n' * 500, timeout=60)
    assert (process.returncode, said) == (1, b"")


def test_a_directory_that_is_gone_is_an_error_like_any_other(machine: Machine) -> None:
    gone = machine.base / "gone"
    script = f'cd "{gone}" && rmdir "{gone}" && exec "{sys.executable}" -m hookline list'
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", script], env=machine.env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: the current directory cannot be used: ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_completion_script_for_every_shell(machine: Machine, shell: str) -> None:
    done = machine.call("completion", shell)
    assert done.code == 0
    assert "_HOOKLINE_COMPLETE" in done.out


def test_other_shells_are_refused_by_name(machine: Machine) -> None:
    done = machine.call("completion", "tcsh")
    assert done.code == 2
    assert "tcsh" in done.err


def complete(machine: Machine, typed: str) -> list[str]:
    words = typed.split(" ")
    env = {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    done = machine.run(_HOOKLINE_COMPLETE="bash_complete", **env)
    return [line.partition(",")[2] for line in done.out.splitlines()]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("hookline fi", ["fire"]),
        ("hookline fire pre_tool", ["pre_tool_use"]),
        ("hookline fire --js", ["--jsonl", "--json"]),
        ("hookline completion ", ["bash", "zsh", "fish"]),
    ],
)
def test_completion_offers_commands_options_and_events(
    machine: Machine, typed: str, offered: list[str]
) -> None:
    assert complete(machine, typed) == offered


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_completion_script_works_in_bash(machine: Machine) -> None:
    script = (
        'eval "$(hookline completion bash)"\n'
        "COMP_WORDS=(hookline fi); COMP_CWORD=1\n"
        '"$(complete -p hookline | sed "s/.*-F \\([^ ]*\\).*/\\1/")" hookline\n'
        'echo "${COMPREPLY[@]}"\n'
    )
    program = machine.base / "bin/hookline"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hookline "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    env = {**machine.env, "PATH": f"{program.parent}:{machine.env['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", script], env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "fire\n"


@pytest.mark.parametrize("how", [KeyboardInterrupt, click.Abort])
@pytest.mark.parametrize("name", sorted({*_main._names()} - {"hook"}))
def test_an_interrupt_ends_every_command_with_130_and_no_traceback(
    machine: Machine, name: str, how: type[BaseException]
) -> None:
    command = import_module(f"hookline.cli.{name}").command

    def interrupted(*args: object, **more: object) -> None:
        raise how

    with patch.object(command, "make_context", interrupted):
        done = machine.call(name)
    assert (done.code, done.out) == (130, "")
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "env", [{"TERM": "xterm"}, {"TERM": "dumb"}, {"TERM": "xterm", "NO_COLOR": "1"}]
)
@pytest.mark.parametrize("words", [["list"], ["fire", "pre_tool_us"]])
def test_colour_is_only_for_terminals_that_want_it(
    machine: Machine, env: dict[str, str], words: list[str]
) -> None:
    machine.trust("version: 1\nhooks:\n  - {name: n, on: pre_tool_use, deny: No.}\n")
    said = b""
    leader, follower = os.openpty()
    try:
        subprocess.run(
            [sys.executable, "-m", "hookline", *words],
            cwd=machine.project,
            env={**machine.env, **env},
            stdin=subprocess.DEVNULL,
            stdout=follower,
            stderr=follower,
            timeout=60,
            check=False,
        )
        said = os.read(leader, 10_000)
    finally:
        os.close(leader)
        os.close(follower)
    assert said
    assert (b"\x1b" in said) is (env == {"TERM": "xterm"})
