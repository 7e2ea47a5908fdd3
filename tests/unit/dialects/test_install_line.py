"""The line that platforms run: what it does in a real shell, and where it is recognised."""

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from hookline.dialects._call import call_words, line, words_of
from hookline.model.installing import Call

SHELLS = [
    name for name in ("sh", "bash", "dash", "zsh", "fish", "ksh", "tcsh") if shutil.which(name)
]


def program(directory: Path, script: str) -> Call:
    """A stand-in for hookline that does as the script says."""
    path = directory / "hookline"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return Call(program=(str(path),))


def run(command: str, shell: str = "sh", **env: str) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": "/usr/bin:/bin", **env}
    return subprocess.run(
        [shell, "-c", command],
        input="payload",
        capture_output=True,
        text=True,
        env=environment,
        timeout=30,
        check=False,
    )


def written(call: Call, *, closes: bool) -> str:
    return line(call, "codex", "PreToolUse", closes=closes, timeout=60)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("closes", [True, False])
def test_an_answer_passes_through_in_every_shell(tmp_path: Path, shell: str, closes: bool) -> None:
    call = program(tmp_path, 'cat; echo " $*"; echo note >&2')
    done = run(written(call, closes=closes), shell)
    assert done.returncode == 0
    assert done.stdout == "payload hook codex PreToolUse --timeout 60\n"
    assert done.stderr == "note\n"


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    "script", ["exit 1", "exit 3", "exit 127", "kill -9 $$", "kill -TERM $$", "exit 255"]
)
def test_a_gate_closes_on_any_failure_and_says_why(tmp_path: Path, shell: str, script: str) -> None:
    done = run(written(program(tmp_path, script), closes=True), shell)
    assert done.returncode == 2
    assert "ended with exit code" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_a_gate_closes_when_the_program_is_gone(shell: str) -> None:
    done = run(written(Call(program=("/nowhere/hookline",)), closes=True), shell)
    assert done.returncode == 2
    assert "hookline is gone: /nowhere/hookline is missing" in done.stderr
    assert "delete every entry with that path from these settings" in done.stderr


def test_a_block_never_comes_without_a_word(tmp_path: Path) -> None:
    done = run(written(program(tmp_path, "exit 2"), closes=True))
    assert (done.returncode, done.stderr) == (2, "hookline: this was blocked\n")


def test_the_reason_of_a_block_comes_first(tmp_path: Path) -> None:
    done = run(written(program(tmp_path, "echo because >&2; exit 2"), closes=True))
    assert done.returncode == 2
    assert done.stderr.startswith("because\n")


@pytest.mark.parametrize("script", ["exit 1", "exit 3", "exit 127", "kill -9 $$"])
def test_elsewhere_a_failure_is_a_mere_failure(tmp_path: Path, script: str) -> None:
    assert run(written(program(tmp_path, script), closes=False)).returncode == 1
    gone = run(written(Call(program=("/nowhere/hookline",)), closes=False))
    assert gone.returncode == 1


def test_elsewhere_a_2_of_ours_stays_a_2(tmp_path: Path) -> None:
    done = run(written(program(tmp_path, "echo go on >&2; exit 2"), closes=False))
    assert (done.returncode, done.stderr) == (2, "go on\n")


def test_a_gate_closes_even_when_stderr_is_closed(tmp_path: Path) -> None:
    command = written(program(tmp_path, "exit 1"), closes=True)
    done = subprocess.run(["sh", "-c", f"exec 2>&-; {command}"], timeout=30, check=False)
    assert done.returncode == 2


@pytest.mark.parametrize("closes", [True, False])
def test_a_shared_line_finds_hookline_by_its_name(tmp_path: Path, closes: bool) -> None:
    program(tmp_path, 'echo "$*"')
    command = written(Call(program=("hookline",), shared=True), closes=closes)
    assert "/" not in command.replace("/bin/sh", "").replace("/dev/null", "").replace("/*", "")
    done = run(command, PATH=f"{tmp_path}:/usr/bin:/bin")
    assert (done.returncode, done.stdout) == (0, "hook codex PreToolUse --timeout 60\n")


def test_a_shared_line_blocks_a_gate_where_hookline_is_not_installed() -> None:
    done = run(written(Call(program=("hookline",), shared=True), closes=True))
    assert done.returncode == 2
    assert "hookline guards this project and is not installed on this machine" in done.stderr


def test_a_shared_line_is_silent_elsewhere_when_hookline_is_not_installed() -> None:
    done = run(written(Call(program=("hookline",), shared=True), closes=False))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("name", ["with space", "it's", 'dou"ble', "$HOME", "a;b", "naïve", "-x"])
def test_any_path_survives_the_shells(tmp_path: Path, shell: str, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    call = replace(program(folder, 'echo "$5"'), home=str(folder))
    done = run(written(call, closes=True), shell)
    assert done.stdout == f"{folder}\n"


def test_the_call_says_where_everything_is() -> None:
    call = Call(program=("/p/hookline",), home="/h", user_config="/c", trust_env=True)
    assert call_words(call, "gemini", "BeforeTool", 30) == (
        *("/p/hookline", "hook", "gemini", "BeforeTool"),
        *("--home", "/h", "--user-config", "/c", "--timeout", "30", "--trust-env"),
    )


OURS = ("/p/hookline", "hook", "codex", "Stop")


@pytest.mark.parametrize(
    "command",
    [
        "/p/hookline hook codex Stop",
        "'/p/hookline' hook codex Stop",
        "FOO=1 BAR='x y' /p/hookline hook codex Stop",
        "exec /p/hookline hook codex Stop",
        "env /p/hookline hook codex Stop",
        "cd /x && /p/hookline hook codex Stop",
        "cd /x; /p/hookline hook codex Stop",
        "/bin/sh -c '/p/hookline hook codex Stop'",
        "bash -c 'exec \"$@\"' name /p/hookline hook codex Stop",
    ],
)
def test_our_call_is_recognised_however_a_person_wrapped_it(command: str) -> None:
    assert words_of(command, "codex") == OURS


@pytest.mark.parametrize(
    "command",
    [
        "",
        "echo hookline hook codex",
        "hookline check codex",
        "hookline hook gemini Stop",
        "hookline hook",
        "my-hookline hook codex Stop",
        "grep 'hookline hook codex' notes",
        "hookline 'hook codex",
        "bash -c",
        "bash -c 'echo hookline hook codex'",
        "python -m pytest hookline hook codex",
    ],
)
def test_what_only_mentions_us_is_not_ours(command: str) -> None:
    assert words_of(command, "codex") == ()


def test_a_program_with_arguments_is_recognised_without_a_shell() -> None:
    assert words_of("/p/hookline", "codex", args=["hook", "codex", "Stop"]) == OURS
    module = ("-P", "-m", "hookline", "hook", "codex", "Stop")
    assert words_of("/p/python3", "codex", args=module) == ("/p/python3", *module)
    assert words_of("/p/python3", "codex", args=["-m", "other"]) == ()


def test_what_install_writes_is_recognised() -> None:
    call = Call(program=("/usr/bin/python3", "-P", "-m", "hookline"), home="/h o me")
    command = line(call, "codex", "Stop", closes=True, timeout=5)
    assert words_of(command, "codex") == call_words(call, "codex", "Stop", 5)
