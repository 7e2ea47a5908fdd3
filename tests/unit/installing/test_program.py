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


def test_it_is_our_module_in_our_interpreter() -> None:
    words = own_program()
    assert os.path.isabs(words[0])
    done = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert __version__ in done.stdout


@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME"])
def test_no_variable_of_a_repository_chooses_what_it_runs(tmp_path: Path, variable: str) -> None:
    for name in ("hookline", "msgspec", "sitecustomize"):
        (tmp_path / f"{name}.py").write_text("print('not the guard')")
    env = {**os.environ, variable: str(tmp_path)}

    done = subprocess.run(
        [*own_program(), "--version"], capture_output=True, text=True, check=True, env=env
    )

    assert "not the guard" not in done.stdout
    assert __version__ in done.stdout


@pytest.mark.parametrize(("version", "found"), [("0.0.0", False), (__version__, True)])
def test_where_the_module_is_out_of_reach_it_is_a_script_of_this_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, found: bool
) -> None:
    script = tmp_path / "hookline"
    script.write_text(f"#!/bin/sh\necho hookline, version {version}\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(program, "_folders", lambda: (str(tmp_path), str(tmp_path / "none")))
    if found:
        assert own_program() == (str(script),)
    else:
        with pytest.raises(InstallError):
            own_program()


def test_when_nothing_answers_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    with pytest.raises(InstallError, match="can be started from"):
        own_program()


def test_a_program_that_hangs_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "_PATIENCE", 0.2)
    assert not program._is_ours(("/bin/sh", "-c", "sleep 30"))
