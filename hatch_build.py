"""Compiles the thin client while a wheel or an editable install is built, if there is a compiler.

Without one, or when anything goes wrong, the build goes on: the thin client in Python takes its
place. `HOOKLINE_CC` or `CC` names the compiler; an empty `HOOKLINE_CC` means none.
"""

import os
import platform
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = Path("src", "hookline")
PROGRAM = "hookline-client"

# Without a C library first, which takes longer to begin than all that the client does; see bare.c.
# Then static: a program that needs no loader starts in half the time. Not every system has what
# that takes (macOS, or a Linux without the static C library).
BARE = "bare.flags"
HARDENED = ["-fPIE", "-fstack-protector-strong", "-Wl,-z,relro,-z,now"]
LINKINGS: tuple[list[str], ...] = (
    ["-static-pie", "-s", *HARDENED],
    ["-static", "-s"],
    ["-pie", *HARDENED],
    [],
)


class ClientBuildHook(BuildHookInterface):  # type: ignore[type-arg]  # generic in newer versions only
    """What hatchling calls for every wheel, the editable one too."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the client into the package, and say so to the wheel. Never fails the build."""
        root = Path(self.root)
        wanted = self.metadata.version
        program = root / PACKAGE / "_bin" / PROGRAM
        try:
            why = compiled(root / PACKAGE / "client", program, wanted)
        except (OSError, ValueError, subprocess.SubprocessError) as exc:
            why = str(exc)
        if why:
            self.app.display_warning(f"the thin client was not compiled: {why}")
        # One that was there before is as good, if it is of this version.
        if version == "editable" or not runs(program, wanted):
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform_tag()}"
        build_data["force_include"][str(program)] = f"hookline/_bin/{PROGRAM}"


def compiled(sources: Path, program: Path, version: str) -> str:
    """Compile the client; returns why not, or an empty string."""
    compiler = compiler_here()
    if not compiler:
        return "there is no C compiler here"
    program.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=program.parent) as scratch:
        made = Path(scratch) / PROGRAM
        said = ""
        for argv in commands(compiler, sources, made, version):
            done = _run(argv)
            if done.returncode == 0 and runs(made, version):
                # In one step: an agent may be starting the old one at this moment.
                os.replace(made, program)
                return ""
            said = (
                done.stderr.decode(errors="replace").strip()
                or f"what `{compiler[0]}` makes does not run"
            )
        return said


def compiler_here() -> list[str]:
    """The words that call the compiler; empty when there is none."""
    for variable in ("HOOKLINE_CC", "CC"):
        if variable in os.environ:
            return shlex.split(os.environ[variable])
    found = [path for path in map(shutil.which, ("cc", "gcc", "clang")) if path]
    return found[:1] if os.name == "posix" else []


def commands(compiler: list[str], sources: Path, made: Path, version: str) -> Iterator[list[str]]:
    """What to try, in turn."""
    files = sorted(map(str, sources.glob("*.c")))
    for linking in ((sources / BARE).read_text(encoding="ascii").split(), *LINKINGS):
        flags = ["-std=c11", "-O2", *linking, f'-DHOOKLINE_VERSION="{version}"']
        yield [*compiler, *flags, "-o", str(made), *files]


def runs(program: Path, version: str) -> bool:
    """Whether this is a client of this version that can be run here."""
    try:
        done = _run([str(program), "--version"])
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0 and done.stdout == f"{version}\n".encode()


def _run(argv: list[str]) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(  # noqa: S603 - the compiler that the person named, on our own sources
        argv, capture_output=True, check=False, timeout=300
    )


def platform_tag() -> str:
    """The tag of wheels for this machine alone."""
    if sys.platform == "darwin":
        release, _, machine = platform.mac_ver()
        return f"macosx_{release.split('.')[0]}_0_{machine}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
