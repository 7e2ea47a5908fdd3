"""Building hookline compiles the thin client where it can, and never fails where it cannot.

Calls the build backend as installers do, on a copy of the sources.
"""

import os
import platform
import shutil
import stat
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from hookline import __version__

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = "hookline/_bin/hookline-client"

BUILD = "import sys; from hatchling import build; print(getattr(build, sys.argv[1])(sys.argv[2]))"


class Sources:
    """A copy of what is built from, as it comes out of the repository."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.program = root / "src" / PROGRAM
        shutil.copytree(
            ROOT / "src", root / "src", ignore=shutil.ignore_patterns("__pycache__", "_bin")
        )
        for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, root)

    def build(self, what: str, **env: str) -> Path:
        """A wheel, by the hook of the backend that makes it."""
        done = subprocess.run(
            [sys.executable, "-c", BUILD, what, str(self.root)],
            cwd=self.root,
            env={**os.environ, **env},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return self.root / done.stdout.splitlines()[-1]


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    return Sources(tmp_path)


def version_of(program: Path) -> bytes:
    return subprocess.check_output([program, "--version"], timeout=60)


def members(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as opened:
        return opened.namelist()


def test_a_wheel_holds_the_compiled_client_and_is_for_this_platform(
    sources: Sources, tmp_path: Path
) -> None:
    wheel = sources.build("build_wheel")

    assert not wheel.name.endswith("-any.whl")
    assert wheel.name.startswith(f"hookline-{__version__}-py3-none-")
    with zipfile.ZipFile(wheel) as opened:
        mode = opened.getinfo(PROGRAM).external_attr >> 16
        program = Path(opened.extract(PROGRAM, tmp_path / "unpacked"))
    assert mode & stat.S_IXUSR
    program.chmod(0o755)
    assert version_of(program) == f"{__version__}\n".encode()


def test_a_wheel_holds_all_that_the_client_in_python_reads(sources: Sources) -> None:
    held = members(sources.build("build_wheel"))

    for name in ("thin.py", "thin_ask.py", "thin_io.py", "last_answers.txt"):
        assert f"hookline/client/{name}" in held


def test_an_editable_install_has_the_compiled_client_in_its_sources(sources: Sources) -> None:
    sources.build("build_editable")

    assert version_of(sources.program) == f"{__version__}\n".encode()
    assert [path.name for path in sources.program.parent.iterdir()] == ["hookline-client"]


@pytest.mark.parametrize(
    "compiler",
    ["", "/bin/false", "/bin/true", "/nowhere/cc", "'unbalanced"],
    ids=["none", "fails", "makes nothing", "missing", "unreadable"],
)
def test_without_a_compiler_that_works_the_wheel_is_for_every_platform(
    sources: Sources, compiler: str
) -> None:
    wheel = sources.build("build_wheel", HOOKLINE_CC=compiler)

    assert wheel.name == f"hookline-{__version__}-py3-none-any.whl"
    assert PROGRAM not in members(wheel)
    assert "hookline/client/thin.py" in members(wheel)


def test_without_a_compiler_an_earlier_client_is_kept_and_packed(sources: Sources) -> None:
    sources.build("build_editable")
    before = sources.program.stat().st_ino

    wheel = sources.build("build_wheel", HOOKLINE_CC="")

    assert sources.program.stat().st_ino == before
    assert PROGRAM in members(wheel)


def test_an_earlier_client_of_another_version_is_not_packed(sources: Sources) -> None:
    sources.program.parent.mkdir()
    sources.program.write_text("#!/bin/sh\necho 0.0.1\n")
    sources.program.chmod(0o755)

    assert PROGRAM not in members(sources.build("build_wheel", HOOKLINE_CC=""))


def test_a_new_client_takes_the_place_of_one_that_is_running(sources: Sources) -> None:
    sources.build("build_editable")
    argv = [sources.program, sys.executable, "hook", "canonical", "--timeout", "100"]
    with subprocess.Popen(argv, stdin=subprocess.PIPE) as running:
        try:
            sources.build("build_editable")
            assert version_of(sources.program) == f"{__version__}\n".encode()
        finally:
            running.kill()


@pytest.mark.parametrize(
    "refused",
    [" -nostdlib ", " -static", " -static-pie ", " -nostdlib | -static-pie ", " -static| -pie "],
)
def test_a_system_that_lacks_something_gets_a_client_that_is_linked_without_it(
    sources: Sources, tmp_path: Path, refused: str
) -> None:
    cases = "|".join(f'*"{each}"*' for each in refused.split("|"))
    compiler = tmp_path / "cc"
    compiler.write_text(f'#!/bin/sh\ncase " $* " in {cases}) exit 1;; esac\nexec cc "$@"\n')
    compiler.chmod(0o755)

    sources.build("build_editable", CC=str(compiler))

    assert version_of(sources.program) == f"{__version__}\n".encode()


@pytest.mark.skipif(sys.platform != "linux", reason="of a program for Linux")
@pytest.mark.parametrize("refused", ["", " -nostdlib ", " -static"])
def test_the_client_lies_anywhere_and_its_constants_stay_constant(
    sources: Sources, tmp_path: Path, refused: str
) -> None:
    compiler = tmp_path / "cc"
    case = f'case " $* " in *"{refused}"*) exit 1;; esac\n' if refused else ""
    compiler.write_text(f'#!/bin/sh\n{case}exec cc "$@"\n')
    compiler.chmod(0o755)
    sources.build("build_editable", CC=str(compiler))

    content = sources.program.read_bytes()
    size, count = struct.unpack_from("<HH", content, 54)
    (start,) = struct.unpack_from("<Q", content, 32)
    kinds = [struct.unpack_from("<I", content, start + size * each)[0] for each in range(count)]
    assert struct.unpack_from("<H", content, 16) == (3,)  # ET_DYN
    assert 0x6474E552 in kinds  # PT_GNU_RELRO


@pytest.mark.parametrize("compiler", ["cc", "gcc", "clang", "musl-gcc"])
@pytest.mark.parametrize("flags_file", ["", "bare.flags"])
def test_the_sources_of_the_client_compile_without_a_warning(
    tmp_path: Path, flags_file: str, compiler: str
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler} here")
    if flags_file and (sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"}):
        pytest.skip("the kernel's calls of this system are not known")
    client = ROOT / "src/hookline/client"
    own = (client / flags_file).read_text(encoding="ascii").split() if flags_file else []
    files = sorted(map(str, client.glob("*.c")))
    flags = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", *own]
    version = f'-DHOOKLINE_VERSION="{__version__}"'

    made = tmp_path / "out"
    subprocess.run([compiler, *flags, version, "-o", made, *files], check=True, timeout=100)

    assert version_of(made) == f"{__version__}\n".encode()


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in {"x86_64", "aarch64"},
    reason="the kernel's calls of this system are not known",
)
def test_where_it_can_the_client_does_without_a_c_library(sources: Sources) -> None:
    sources.build("build_editable")

    assert b"GLIBC" not in sources.program.read_bytes()
    assert sources.program.stat().st_size < 100_000
