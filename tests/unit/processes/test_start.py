"""A program that cannot be started says so in words a person can act on."""

import asyncio
import errno
import os
import re
import resource
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from hookline.processes import CannotStart, run

ENV = {"PATH": os.defpath}


def finish(argv: list[str], cwd: Path | str = "/", env: Mapping[str, str] = ENV) -> bytes:
    result = asyncio.run(run(argv, stdin=b"", cwd=str(cwd), env=env, timeout=60))
    assert result.exit_code == 0
    return result.stdout


def refusal(argv: list[str], cwd: Path | str = "/", env: Mapping[str, str] = ENV) -> str:
    with pytest.raises(CannotStart) as caught:
        finish(argv, cwd, env)
    return str(caught.value)


def program(path: Path, text: str, mode: int = 0o755) -> str:
    path.write_text(text)
    path.chmod(mode)
    return str(path)


class TestTheProgramIsFound:
    def test_on_the_path_of_the_given_environment_not_on_ours(self, tmp_path: Path) -> None:
        program(tmp_path / "only-here", "#!/bin/sh\necho found\n")

        assert finish(["only-here"], env={"PATH": f"/nowhere:{tmp_path}"}) == b"found\n"

    def test_relative_to_the_working_directory(self, tmp_path: Path) -> None:
        program(tmp_path / "script", "#!/bin/sh\necho found\n")

        assert finish(["./script"], cwd=tmp_path) == b"found\n"


class TestTheReason:
    def test_keeps_what_the_system_said_as_its_cause(self) -> None:
        with pytest.raises(CannotStart) as caught:
            finish(["no-such-program"])

        assert isinstance(caught.value.__cause__, FileNotFoundError)

    @pytest.mark.parametrize("argv", [[], [""], ["", "argument"]])
    def test_for_an_empty_command(self, argv: list[str]) -> None:
        assert refusal(argv) == "cannot start an empty command"

    def test_for_a_name_that_is_nowhere_on_the_path(self) -> None:
        expected = "cannot start 'no-such-program': there is no program `no-such-program` on"
        assert refusal(["no-such-program"]).startswith(expected)

    @pytest.mark.parametrize("path", ["/no/such/file", "/dev/null/below"])
    def test_for_a_path_where_there_is_nothing(self, path: str) -> None:
        assert f"there is no file `{path}`" in refusal([path])

    def test_for_a_working_directory_that_does_not_exist(self) -> None:
        assert "working directory '/no/such' does not exist" in refusal(["true"], cwd="/no/such")

    def test_for_a_working_directory_that_is_a_file(self, tmp_path: Path) -> None:
        file = program(tmp_path / "file", "")

        assert f"working directory {file!r} is not a directory" in refusal(["true"], cwd=file)

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may enter every folder")
    def test_for_a_working_directory_that_may_not_be_entered(self, tmp_path: Path) -> None:
        tmp_path.chmod(0o600)

        assert "may not be entered" in refusal(["true"], cwd=tmp_path)

    def test_for_a_file_that_is_not_executable(self, tmp_path: Path) -> None:
        file = program(tmp_path / "plain", "#!/bin/sh\n", mode=0o644)

        assert f"`{file}` is not executable (chmod +x {file})" in refusal([file])

    def test_for_a_directory(self, tmp_path: Path) -> None:
        assert f"`{tmp_path}` is a directory" in refusal([str(tmp_path)])

    def test_for_a_script_whose_interpreter_does_not_exist(self, tmp_path: Path) -> None:
        file = program(tmp_path / "script", "#! /no/such/shell -x\n")

        message = refusal([file])

        assert f"`{file}` is to be run by `/no/such/shell`, which is not there" in message

    def test_for_a_script_saved_with_windows_line_ends(self, tmp_path: Path) -> None:
        file = program(tmp_path / "script", "#!/bin/sh\r\necho hello\r\n")

        assert "has Windows line ends" in refusal([file])

    def test_for_a_script_whose_interpreter_may_not_be_run(self, tmp_path: Path) -> None:
        shell = program(tmp_path / "shell", "", mode=0o644)
        file = program(tmp_path / "script", f"#!{shell}\n")

        message = refusal([file])

        assert f"`{file}` is to be run by `{shell}`" in message

    def test_for_a_binary_whose_loader_does_not_exist(self, tmp_path: Path) -> None:
        binary = Path(shutil.which("true") or "/bin/true").read_bytes()
        foreign, changed = re.subn(rb"\0/lib(64)?/ld-", lambda m: m[0].swapcase(), binary, count=1)
        if not changed:
            pytest.skip("true is not dynamically linked in the usual way here")
        file = tmp_path / "foreign"
        file.write_bytes(foreign)
        file.chmod(0o755)

        assert "not the loader it needs" in refusal([str(file)])

    def test_for_a_script_without_a_first_line_that_names_its_interpreter(
        self, tmp_path: Path
    ) -> None:
        file = program(tmp_path / "script", "echo hello\n")

        assert "has no `#!` line" in refusal([file])

    def test_for_an_environment_variable_larger_than_the_system_takes(self) -> None:
        message = refusal(["true"], env={**ENV, "BIG": "ü" * 5_000_000})

        assert "the largest is the environment variable 'BIG' with 10000004 bytes" in message

    def test_for_an_argument_larger_than_the_system_takes(self) -> None:
        message = refusal(["true", "x" * 10_000_000])

        assert "the largest is argument 1 with 10000000 bytes" in message

    def test_for_strings_no_system_call_can_carry(self) -> None:
        nul = "contains a NUL character"
        assert refusal(["true", "a\0b"]).endswith(f"argument 1 {nul}")
        assert refusal(["true"], cwd="/\0").endswith(f"the working directory {nul}")
        assert refusal(["true"], env={"A": "\0"}).endswith(f"the environment variable 'A' {nul}")
        assert refusal(["true"], env={"A=B": ""}).endswith("name 'A=B' contains `=`")
        assert refusal(["true", "\ud800"]).endswith("is not valid Unicode text")

    def test_for_running_out_of_descriptors_which_costs_none(self) -> None:
        async def starved() -> tuple[int, int]:
            before = len(os.listdir("/dev/fd"))
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            spare = os.dup(0)
            os.close(spare)
            resource.setrlimit(resource.RLIMIT_NOFILE, (spare + 3, hard))
            try:
                with pytest.raises(CannotStart, match="too many files are open"):
                    await run(["true"], stdin=b"", cwd="/", env=ENV, timeout=60)
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            return before, len(os.listdir("/dev/fd"))

        before, after = asyncio.run(starved())

        assert after == before

    @pytest.mark.parametrize(
        ("number", "words"),
        [
            (errno.ENOMEM, "out of memory"),
            (errno.EAGAIN, "limit of processes"),
            (errno.EACCES, "Permission denied"),
            (errno.ELOOP, os.strerror(errno.ELOOP)),
        ],
    )
    def test_for_troubles_of_the_system_that_a_test_cannot_bring_about(
        self, number: int, words: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object, **__: object) -> None:
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr("hookline.processes.start.Popen", fail)

        assert words in refusal(["/bin/sh"])


class TestAProgramThatIsStillBeingWritten:
    def test_is_started_as_soon_as_the_writer_is_done(self, tmp_path: Path) -> None:
        file = program(tmp_path / "fresh", "#!/bin/sh\necho ran\n")

        async def race() -> bytes:
            writer = open(file, "ab")  # noqa: SIM115, ASYNC230 - closed by the loop, on purpose
            asyncio.get_running_loop().call_later(0.01, writer.close)
            return (await run([file], stdin=b"", cwd="/", env=ENV, timeout=60)).stdout

        assert asyncio.run(race()) == b"ran\n"

    def test_is_given_up_when_the_writer_never_is(self, tmp_path: Path) -> None:
        file = program(tmp_path / "fresh", "#!/bin/sh\necho ran\n")
        with open(file, "ab"):
            try:
                subprocess.run([file], check=True)
            except OSError:
                assert "still being written by another process" in refusal([file])
            else:
                pytest.skip("this kernel runs files that are open for writing")
