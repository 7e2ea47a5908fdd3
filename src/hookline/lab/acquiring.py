"""Brings a pinned client onto this machine with npm, into a cache of its own.

A directory in the cache is complete or not there: npm works in another beside it, which takes its
name at the end. Must not know clients, only packages.
"""

import asyncio
import fcntl
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from time import monotonic, sleep

from hookline.lab.ports import Package, Program
from hookline.model.errors import HooklineError
from hookline.processes import CannotStart, Finished
from hookline.processes import run as run_process

__all__ = ["acquire", "cache_directory", "installed", "node_version", "platform_name"]

_NPM_TIMEOUT = 900.0
_NODE_TIMEOUT = 30.0
_LOOK = 0.2

_TRIPLES = {
    "linux-x64": "x86_64-unknown-linux-musl",
    "linux-arm64": "aarch64-unknown-linux-musl",
    "darwin-x64": "x86_64-apple-darwin",
    "darwin-arm64": "aarch64-apple-darwin",
}


def cache_directory(env: Mapping[str, str]) -> str:
    """Where clients are kept: HOOKLINE_LAB_CACHE, or below the person's cache directory."""
    if chosen := env.get("HOOKLINE_LAB_CACHE"):
        return os.path.abspath(chosen)
    home = env.get("HOME") or os.path.expanduser("~")
    return os.path.join(env.get("XDG_CACHE_HOME") or f"{home}/.cache", "hookline", "clients")


def platform_name() -> str:
    """This machine as npm names it in packages of binaries."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    return f"{sys.platform}-{machine}"


def installed(package: Package, cache: str) -> Program | None:
    """The client if the cache has it, without looking anywhere else."""
    if not package.packages:
        return None
    program = os.path.join(_directory(package, cache), _program(package))
    if not os.path.isfile(program):
        return None
    return Program(argv=(program,), version=package.version)


def acquire(
    package: Package, cache: str | None = None, *, env: Mapping[str, str] | None = None
) -> Program:
    """The client at its pinned version, installed if the cache does not have it yet.

    ``env`` is the person's: npm finds their settings and their registry by it.
    """
    if not package.packages:
        raise HooklineError(
            f"`{package.command}` is in no registry: install it as its makers say, "
            "and name it with --client"
        )
    person = os.environ if env is None else env
    cache = cache or cache_directory(person)
    if package.node:
        _check_node(package, person)
    found = installed(package, cache)
    if found is None:
        npm = shutil.which("npm", path=person.get("PATH"))
        if npm is None:
            raise HooklineError(
                f"{package.packages[0]} comes from npm, and npm is not on the PATH: "
                "install Node.js 20 or newer, which brings npm"
            )
        with _in_cache(cache), _locked(_directory(package, cache)):
            # Another may have brought it while we waited.
            found = installed(package, cache) or _bring(package, cache, npm, person)
    return found


def _bring(package: Package, cache: str, npm: str, env: Mapping[str, str]) -> Program:
    target = _directory(package, cache)
    _sweep(target)
    scratch = tempfile.mkdtemp(prefix=f"{os.path.basename(target)}.part-", dir=cache)
    try:
        Path(scratch, "package.json").write_text(json.dumps({"private": True}), encoding="utf-8")
        _install(npm, package.packages, scratch, env)
        if not os.path.isfile(os.path.join(scratch, _program(package))):
            raise HooklineError(
                f"{package.packages[0]} was installed, but has no {_program(package)}: "
                f"there may be no build for {platform_name()}"
            )
        shutil.rmtree(target, ignore_errors=True)
        os.rename(scratch, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return Program(argv=(os.path.join(target, _program(package)),), version=package.version)


def _install(npm: str, packages: Sequence[str], into: str, env: Mapping[str, str]) -> None:
    # A project of its own, and not `--prefix`: that would also hide the settings that npm has for
    # the whole machine, such as whom to trust.
    Path(into, "package.json").write_text("{}\n", encoding="ascii")
    words = ("install", "--ignore-scripts", "--no-audit", "--no-fund")
    argv = (npm, *words, "--omit=dev", "--save-exact", "--loglevel=error", *packages)
    ran = _run(argv, env, into, _NPM_TIMEOUT)
    if ran.timed_out:
        raise HooklineError(
            f"npm did not install {packages[0]} within {_NPM_TIMEOUT:g} seconds: "
            "is the network up? Run it again to go on"
        )
    if ran.exit_code:
        said = (ran.stderr or ran.stdout).decode(errors="replace")
        raise HooklineError(f"npm could not install {packages[0]}: {_reason(said, into)}")


def _reason(said: str, into: str) -> str:
    lines = [line.removeprefix("npm error").strip() for line in said.splitlines()]
    tail = "; ".join(line for line in lines if line)
    tail = tail.replace(into, "…")[-1000:]
    if "ENOSPC" in said:
        return f"the disk is full: free some space, or set HOOKLINE_LAB_CACHE elsewhere ({tail})"
    return tail or "it did not say why"


def _check_node(package: Package, env: Mapping[str, str]) -> None:
    found = node_version(env)
    name = package.packages[0]
    if not found:
        raise HooklineError(
            f"{name} runs on Node.js {package.node} or newer, and there is no node on the PATH: "
            "install it"
        )
    if _numbers(found) < _numbers(package.node):
        raise HooklineError(
            f"{name} runs on Node.js {package.node} or newer, and the node on the PATH is "
            f"{found}: put a newer one first on the PATH"
        )


def node_version(env: Mapping[str, str]) -> str:
    """The version of the node on the PATH; empty when there is none that answers."""
    node = shutil.which("node", path=env.get("PATH"))
    if node is None:
        return ""
    try:
        ran = _run((node, "--version"), env, "/", _NODE_TIMEOUT)
    except HooklineError:
        return ""
    return ran.stdout.decode(errors="replace").strip().removeprefix("v")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version.partition("-")[0]))


def _run(argv: Sequence[str], env: Mapping[str, str], cwd: str, timeout: float) -> Finished:
    try:
        return asyncio.run(run_process(argv, stdin=b"", cwd=cwd, env=env, timeout=timeout))
    except CannotStart as error:
        raise HooklineError(str(error)) from error


def _program(package: Package) -> str:
    name = platform_name()
    return package.program.format(platform=name, triple=_TRIPLES.get(name, name))


def _directory(package: Package, cache: str) -> str:
    first = package.packages[0].lstrip("@").replace("/", "-")
    name, _, version = first.rpartition("@")
    with_others = ""
    if len(package.packages) > 1:
        # Another version of what comes with it makes another client of it.
        with_others = "-" + blake2b(" ".join(package.packages).encode(), digest_size=4).hexdigest()
    return os.path.join(cache, f"{name}-{version}{with_others}")


@contextmanager
def _in_cache(cache: str) -> Iterator[None]:
    try:
        os.makedirs(cache, mode=0o700, exist_ok=True)
        yield
    except OSError as error:
        raise HooklineError(
            f"clients cannot be kept in {cache}: {error.strerror or error}; "
            "set HOOKLINE_LAB_CACHE to a directory that you can write to and that has room"
        ) from error


@contextmanager
def _locked(target: str) -> Iterator[None]:
    """One at a time brings a client; another waits for it, but not for ever."""
    deadline = monotonic() + _NPM_TIMEOUT
    descriptor = os.open(f"{target}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _try_lock(descriptor):
            if monotonic() > deadline:
                raise HooklineError(f"another process holds {target}.lock and does not end")
            sleep(_LOOK)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _sweep(target: str) -> None:
    """What somebody began and was killed in; we hold the lock, so nobody is at it now."""
    for left in Path(target).parent.glob(f"{os.path.basename(target)}.part-*"):
        shutil.rmtree(left, ignore_errors=True)
