"""Limits that came with whoever started a process: lifted, or a reason not to stay."""

import subprocess
import sys
from pathlib import Path

import pytest

LOOK = (
    "import resource, sys\n"
    "from hookline.daemon.process import find_limit, lift_limits\n"
    "lift_limits()\n"
    "print(find_limit(sys.argv[1]) or resource.getrlimit(resource.RLIMIT_FSIZE))\n"
)
USUAL = (
    "Limit                     Soft Limit           Hard Limit           Units     \n"
    "Max cpu time              unlimited            unlimited            seconds   \n"
    "Max file size             unlimited            512000               bytes     \n"
)


def seen(shell: str, usual: str = "/nowhere") -> str:
    """What a process finds that a shell has started after these words."""
    done = subprocess.run(
        ["/bin/sh", "-c", f'{shell}; exec "$@"', "sh", sys.executable, "-c", LOOK, usual],
        capture_output=True,
        timeout=60,
        check=True,
    )
    return done.stdout.decode().strip()


def test_what_can_be_lifted_is() -> None:
    assert seen("ulimit -S -f 1000") == seen(":")


@pytest.mark.parametrize(
    ("shell", "why"),
    [
        ("ulimit -f 1000", "the size of its files is limited to 512000"),
        ("ulimit -t 1000", "the time that it may compute is limited to 1000"),
        ("ulimit -v 4000000", "its memory is limited to 4096000000"),
        ("ulimit -d 4000000", "its memory is limited to 4096000000"),
    ],
)
def test_what_cannot_be_lifted_is_said(shell: str, why: str) -> None:
    assert seen(shell).startswith(why)


def test_a_lowered_priority_is_said() -> None:
    done = subprocess.run(
        ["nice", "-n", "5", sys.executable, "-c", LOOK, "/nowhere"],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert done.stdout == b"its priority is lowered\n"


def test_what_every_process_of_the_system_has_is_no_burden(tmp_path: Path) -> None:
    usual = tmp_path / "limits"
    usual.write_text(USUAL)
    assert seen("ulimit -f 1000", str(usual)) == "(512000, 512000)"
    assert seen("ulimit -f 999", str(usual)).startswith("the size of its files is limited")
    assert seen("ulimit -t 1000", str(usual)).startswith("the time that it may compute")
