"""Which client `install` writes: the compiled one if it runs and is ours, else the one in Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hookline import __version__, client

PYTHON = "/opt/venv/bin/python"
IN_PYTHON = (PYTHON, "-I", "-S", "-E", client.SCRIPT, PYTHON)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the compiled client is looked for."""
    place = tmp_path / "hookline-client"
    monkeypatch.setattr(client, "PROGRAM", str(place))
    return place


def write(program: Path, script: str, mode: int = 0o755) -> None:
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(mode)


def test_the_compiled_client_is_the_fastest(program: Path) -> None:
    write(program, f'test "$1" = --version && echo {__version__}')

    assert client.fastest(PYTHON) == (str(program), PYTHON)


def test_without_a_compiled_client_the_one_in_python_is_called(program: Path) -> None:
    assert client.fastest(PYTHON) == IN_PYTHON


@pytest.mark.parametrize(
    ("script", "mode"),
    [
        ("echo 0.0.1", 0o755),
        (f"echo {__version__}; exit 1", 0o755),
        (f"echo {__version__}x", 0o755),
        ("kill -9 $$", 0o755),
        (f"echo {__version__}", 0o644),
    ],
    ids=["other version", "fails", "longer version", "crashes", "not executable"],
)
def test_a_compiled_client_that_does_not_run_or_is_not_ours_is_not_called(
    program: Path, script: str, mode: int
) -> None:
    write(program, script, mode)

    assert client.fastest(PYTHON) == IN_PYTHON


def test_a_compiled_client_for_another_machine_is_not_called(program: Path) -> None:
    program.write_bytes(b"\x7fELF" + bytes(60))
    program.chmod(0o755)

    assert client.fastest(PYTHON) == IN_PYTHON


def test_the_client_in_python_needs_nothing_but_its_own_folder() -> None:
    listing = (
        "import sys; sys.argv = ['thin.py', '/nowhere', 'fire']; folder = sys.orig_argv[-1]; "
        "sys.path.insert(0, folder); import thin_ask; "
        "print(*sorted(set(sys.modules) - set(sys.builtin_module_names)))"
    )
    argv = [sys.executable, "-I", "-S", "-E", "-c", listing, os.path.dirname(client.SCRIPT)]
    loaded = set(subprocess.check_output(argv, text=True, timeout=60).split())

    heavy = {"os", "socket", "struct", "signal", "enum", "re", "typing", "subprocess", "hookline"}
    assert not loaded & heavy
    assert {"thin_ask", "thin_io"} <= loaded
