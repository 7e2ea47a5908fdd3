"""Programs in C that drive a measurement: a parent in Python costs more than what is measured."""

import os
import shlex
import subprocess
import sysconfig
from pathlib import Path

__all__ = ["BUILD", "compiled"]

BUILD = Path(__file__).parent.parent / "build" / "bench"
"""Where what the bench compiles and installs for itself is kept between runs."""


def compiled(name: str) -> str:
    """The program made from ``name.c``, compiled anew when its source is younger."""
    source, program = Path(__file__).with_name(f"{name}.c"), BUILD / name
    BUILD.mkdir(parents=True, exist_ok=True)
    if not program.exists() or program.stat().st_mtime <= source.stat().st_mtime:
        compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")[:1]
        new = f"{program}.{os.getpid()}"  # another process may be about to do the same
        subprocess.run([*compiler, "-std=c11", "-O2", "-o", new, str(source)], check=True)
        os.replace(new, program)
    return str(program)
