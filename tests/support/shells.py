"""The shells that people log in with, installed where that is possible."""

import os
import shutil
import subprocess
from functools import cache

import pytest

__all__ = ["LOGIN_SHELLS", "find_shell"]

LOGIN_SHELLS = ("dash", "bash", "zsh", "fish", "tcsh")


@cache
def find_shell(name: str) -> str:
    """The path of a shell. Fails the test where there is none and none can be installed."""
    if shutil.which(name) is None and not os.geteuid() and (apt := shutil.which("apt-get")):
        env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        # Workers of one run wait for each other at the package manager's lock.
        wait = ["-o", "DPkg::Lock::Timeout=300"]
        for words in (["update"], ["install", "--yes", "--no-install-recommends", name]):
            subprocess.run(
                [apt, *wait, *words], env=env, capture_output=True, timeout=600, check=False
            )
    found = shutil.which(name)
    if found is None:
        pytest.fail(f"these tests run lines under {name}: install it (apt-get install {name})")
    return found
