"""Bringing a client with npm: complete or not at all, once at a time, with reasons for people.

npm is a program here that does what npm does to a directory, so that no network is needed; the
real one is met by the interop suite.
"""

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookline.lab.acquiring import acquire, cache_directory, installed, platform_name
from hookline.lab.ports import Package
from hookline.model.errors import HooklineError

PACKAGE = Package(packages=("@maker/tool@1.2.3",), program="node_modules/tool-{platform}/tool")

WORKS = """
mkdir -p "$into/node_modules/tool-{platform}"
printf '#!/bin/sh\\n' > "$into/node_modules/tool-{platform}/tool"
chmod +x "$into/node_modules/tool-{platform}/tool"
"""


class Bench:
    """A machine with a cache and programs of the test's own on its PATH."""

    def __init__(self, directory: Path) -> None:
        self.bin = directory / "bin"
        self.bin.mkdir()
        self.cache = str(directory / "cache")
        self.log = directory / "log"
        self.log.touch()
        self.env = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(directory)}

    def put(self, name: str, body: str) -> None:
        """A program on the PATH."""
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def put_npm(self, body: str) -> None:
        """An npm that does this in the directory ``$into``, and writes down how it was called."""
        self.put(
            "npm", f'echo "$@" >> {self.log}\ninto=$PWD\n{body.format(platform=platform_name())}'
        )

    def acquired(self, package: Package = PACKAGE) -> Sequence[str]:
        """The client's command line."""
        return acquire(package, self.cache, env=self.env).argv

    def calls(self) -> list[str]:
        """How npm was called so far."""
        return self.log.read_text(encoding="utf-8").splitlines()

    def kept(self) -> list[str]:
        """What is in the cache, locks left out."""
        return sorted(name for name in os.listdir(self.cache) if not name.endswith(".lock"))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_a_client_is_installed_at_its_pinned_version_without_running_scripts(bench: Bench) -> None:
    bench.put_npm(WORKS)
    (program,) = bench.acquired()
    assert os.access(program, os.X_OK)
    assert program.startswith(f"{bench.cache}/maker-tool-1.2.3/node_modules/")
    (call,) = bench.calls()
    for word in ("install", "--ignore-scripts", "--no-audit", "--omit=dev", "@maker/tool@1.2.3"):
        assert word in call.split()


def test_a_client_that_is_there_is_not_installed_again_and_needs_no_npm(bench: Bench) -> None:
    bench.put_npm(WORKS)
    first = bench.acquired()
    (bench.bin / "npm").unlink()
    bench.env["PATH"] = str(bench.bin)
    assert bench.acquired() == first
    found = installed(PACKAGE, bench.cache)
    assert found is not None
    assert found.version == "1.2.3"


def test_an_install_that_breaks_off_leaves_nothing_that_looks_like_a_client(bench: Bench) -> None:
    bench.put_npm(
        WORKS + "\necho 'npm error code E404' >&2; echo 'npm error not there' >&2; exit 1"
    )
    with pytest.raises(
        HooklineError, match=r"npm could not install @maker/tool@1.2.3: .*not there"
    ):
        bench.acquired()
    assert bench.kept() == []
    assert installed(PACKAGE, bench.cache) is None


def test_what_somebody_began_and_was_killed_in_is_swept_away(bench: Bench) -> None:
    left = Path(bench.cache, "maker-tool-1.2.3.part-dead")
    left.mkdir(parents=True)
    bench.put_npm(WORKS)
    bench.acquired()
    assert bench.kept() == ["maker-tool-1.2.3"]


def test_two_at_once_install_once(bench: Bench) -> None:
    bench.put_npm(WORKS)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: bench.acquired(), range(4)))
    assert len(set(found)) == 1
    assert len(bench.calls()) == 1


def test_without_npm_it_says_where_npm_comes_from(bench: Bench) -> None:
    bench.env["PATH"] = str(bench.bin)
    with pytest.raises(HooklineError, match=r"install Node.js 20 or newer, which brings npm"):
        bench.acquired()


def test_a_full_disk_is_named_with_the_way_out(bench: Bench) -> None:
    bench.put_npm("echo 'npm error code ENOSPC' >&2; exit 1")
    with pytest.raises(HooklineError, match=r"the disk is full: .*HOOKLINE_LAB_CACHE"):
        bench.acquired()


def test_a_cache_that_cannot_be_written_is_named_with_the_way_out(bench: Bench) -> None:
    bench.put_npm(WORKS)
    bench.cache = "/proc/cache"
    with pytest.raises(HooklineError, match=r"cannot be kept in /proc/cache: .*HOOKLINE_LAB_CACHE"):
        bench.acquired()


def test_a_package_without_a_build_for_this_machine_is_told_apart_from_a_client(
    bench: Bench,
) -> None:
    bench.put_npm("exit 0")
    with pytest.raises(HooklineError, match=f"there may be no build for {platform_name()}"):
        bench.acquired()
    assert bench.kept() == []


NEEDS_NODE = Package(packages=("tool@1.2.3",), program="node_modules/.bin/tool", node="22.19")


def test_a_client_that_needs_a_newer_node_says_which_and_installs_nothing(bench: Bench) -> None:
    bench.put_npm(WORKS)
    bench.put("node", "echo v20.20.2")
    with pytest.raises(HooklineError, match=r"Node\.js 22\.19 or newer, .* is 20\.20\.2"):
        bench.acquired(NEEDS_NODE)
    assert bench.calls() == []


@pytest.mark.parametrize("version", ["v22.19.0", "v24.1.0", "v100.0.0"])
def test_a_node_that_is_new_enough_is_taken(bench: Bench, version: str) -> None:
    bench.put_npm('mkdir -p "$into/node_modules/.bin"; : > "$into/node_modules/.bin/tool"')
    bench.put("node", f"echo {version}")
    assert bench.acquired(NEEDS_NODE)


def test_without_node_a_client_that_needs_it_says_so(bench: Bench) -> None:
    bench.env["PATH"] = str(bench.bin)
    with pytest.raises(HooklineError, match="there is no node on the PATH"):
        bench.acquired(NEEDS_NODE)


def test_another_version_of_what_comes_with_a_client_is_another_client(bench: Bench) -> None:
    bench.put_npm(WORKS)
    one, other = (
        Package(packages=("@maker/tool@1.2.3", f"extra@{n}"), program=PACKAGE.program)
        for n in (1, 2)
    )
    assert bench.acquired(one) != bench.acquired(other)
    assert len(bench.calls()) == 2


def test_the_cache_is_where_the_person_says_or_below_their_own() -> None:
    assert cache_directory({"HOOKLINE_LAB_CACHE": "/x/y", "HOME": "/h"}) == "/x/y"
    assert cache_directory({"XDG_CACHE_HOME": "/c", "HOME": "/h"}) == "/c/hookline/clients"
    assert cache_directory({"HOME": "/h"}) == "/h/.cache/hookline/clients"


def test_a_platform_is_named_as_npm_names_it() -> None:
    system, _, machine = platform_name().partition("-")
    assert system == sys.platform
    assert machine not in {"", "x86_64", "aarch64"}


def test_npm_is_called_so_that_it_reads_the_settings_of_the_whole_machine(bench: Bench) -> None:
    bench.put_npm('test -f package.json || exit 1\ncase "$*" in *--prefix*) exit 1 ;; esac' + WORKS)
    assert bench.acquired()
