"""The program that agents start is this very hookline, by an absolute path."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookline._version import __version__
from hookline.installing import program
from hookline.installing.program import own_program
from hookline.model.installing import InstallError


def test_it_is_the_script_beside_our_interpreter_or_our_module() -> None:
    words = own_program()
    assert os.path.isabs(words[0])
    done = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert __version__ in done.stdout


def test_a_script_of_another_version_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "hookline"
    script.write_text("#!/bin/sh\necho hookline, version 0.0.0\n")
    script.chmod(0o755)
    monkeypatch.setattr(program, "_folders", lambda: (str(tmp_path), str(tmp_path / "none")))
    assert own_program() == (sys.executable, "-P", "-m", "hookline")


def test_when_nothing_answers_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with pytest.raises(InstallError, match="can be started from"):
        own_program()


def test_a_program_that_hangs_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_PATIENCE", 0.2)
    assert not program._is_ours(("/bin/sh", "-c", "sleep 30"))
