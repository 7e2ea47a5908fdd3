"""What was hashed is what runs, also while somebody swaps files, directories or links.

A guard that denies is swapped for one that passes. Every run then denies, because the trusted
bytes ran, or fails closed; none passes.
"""

import asyncio
import ctypes
import json
import mmap
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import hookline.processes
from hookline.app import App
from hookline.config import path_watch
from hookline.config.path_watch import PathWatch
from hookline.handlers import _workers
from hookline.model.answers import Verdict
from hookline.model.outcome import Outcome
from hookline.pipeline.judge import judge
from hookline.testing import shell

GOOD = '#!/bin/sh\n. "$(dirname "$0")/neighbour"\nexit 2\n'
EVIL = "#!/bin/sh\nexit 0\n"
PYTHON = "from hookline import deny\ndef check(event): return deny('python says no')\n"
# What is swapped, from the project's directory, for what lies beside it as `evil-…`.
PLACES = ["a/b/guard.sh", "a/b", "a", "../project", "link"]
RUNS: list[dict[str, Any]] = [
    {"run": "a/b/guard.sh"},
    {"run": "./link/guard.sh"},
    {"run": "sh -c 'cd link && exec ./guard.sh'"},
    {"run": ["sh", "link/guard.sh"]},
    {"run": '"$HOOKLINE_PROJECT_DIR/link/guard.sh"'},
    {"python": "link/guard.py:check"},
]
SWAPPED = [
    (place, hook) for place in PLACES for hook in RUNS if place != "link" or "link" in str(hook)
]
libc = ctypes.CDLL(None, use_errno=True)


def exchange(one: Path, other: Path) -> None:
    """Let each have the other's name, in one step."""
    if libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), 2) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def move_away_and_back(one: Path, other: Path) -> None:
    """The same in three steps."""
    aside = one.with_name("aside")
    os.rename(one, aside)
    os.rename(other, one)
    os.rename(aside, other)


class Project:
    """A project with good and evil files in the same layout, and one trusted hook."""

    def __init__(self, base: Path, hook: dict[str, Any]) -> None:
        self.base = base
        self.root = base / "project"
        self.hook = {"name": "h", "on": "pre_tool_use", **hook}
        for root in (self.root, base / "evil-project"):
            self._fill(root, evil=root != self.root)
        self.app().loader.trust(str(self.root / "hookline.yaml"))

    def _fill(self, root: Path, *, evil: bool) -> None:
        good = {"a/b": evil, "a/evil-b": True, "evil-a/b": True, "evil-a/evil-b": True}
        for name, weak in good.items():
            directory = root / name
            directory.mkdir(parents=True)
            for file, content in (
                ("guard.sh", EVIL if weak else GOOD),
                ("evil-guard.sh", EVIL),
                ("guard.py", "def check(event): pass\n" if weak else PYTHON),
                ("evil-guard.py", "def check(event): pass\n"),
                ("neighbour", "echo 'found its neighbour' >&2\n"),
            ):
                (directory / file).write_text(content)
                (directory / file).chmod(0o755)
        (root / ".git").mkdir()
        (root / "link").symlink_to("a/b")
        (root / "evil-link").symlink_to("evil-a/b")
        (root / "hookline.yaml").write_text(json.dumps({"version": 1, "hooks": [self.hook]}))

    def pair(self, place: str) -> tuple[Path, Path]:
        """What is swapped, and for what."""
        if "python" in self.hook:
            place = place.replace(".sh", ".py")
        path = self.root / place if not place.startswith("..") else self.root
        return path, path.with_name(f"evil-{path.name}")

    def app(self, trust: str | None = None) -> App:
        return App(
            env={"PATH": os.defpath, "HOME": str(self.base)},
            trust=trust,
            cwd=str(self.root),
            home=str(self.base / "home"),
            managed=str(self.base / "no/managed.yaml"),
        )

    def fire(self, app: App | None = None) -> Outcome:
        event = replace(shell("ls"), cwd=str(self.root))
        return asyncio.run(self._fire(app or self.app(), event))

    async def _fire(self, app: App, event: Any) -> Outcome:
        try:
            return await judge(event, app)
        finally:
            await app.aclose()


@pytest.fixture
def make(tmp_path: Path) -> Callable[[dict[str, Any]], Project]:
    return lambda hook: Project(tmp_path.resolve(), hook)


def act_around_runs(
    monkeypatch: pytest.MonkeyPatch, before: Callable[[], None], after: Callable[[], None]
) -> None:
    """Do something when all is checked and nothing runs yet, and when nothing runs any more."""
    run, ask = hookline.processes.run, _workers.Worker.ask

    async def run_between(*args: Any, **named: Any) -> Any:
        before()
        try:
            return await run(*args, **named)
        finally:
            after()

    async def ask_between(*args: Any) -> Any:
        before()
        try:
            return await ask(*args)
        finally:
            after()

    monkeypatch.setattr(hookline.processes, "run", run_between)
    monkeypatch.setattr(_workers.Worker, "ask", ask_between)


@pytest.mark.parametrize("hook", RUNS, ids=str)
def test_unswapped_it_runs_in_place_and_finds_its_neighbours(
    make: Callable[[dict[str, Any]], Project], hook: dict[str, Any]
) -> None:
    project = make(hook)
    (project.root / "a/b/neighbour").write_text("echo 'found the new one' >&2\n")
    outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert ("python says no" if "python" in hook else "found the new one") in outcome.reason


@pytest.mark.parametrize("swap", [exchange, move_away_and_back])
@pytest.mark.parametrize(("place", "hook"), SWAPPED, ids=str)
def test_a_swap_for_the_length_of_a_run_closes_the_gate(
    make: Callable[[dict[str, Any]], Project],
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    hook: dict[str, Any],
    swap: Callable[[Path, Path], None],
) -> None:
    project = make(hook)
    pair = project.pair(place)
    act_around_runs(monkeypatch, lambda: swap(*pair), lambda: swap(*pair))
    outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert "was changed meanwhile" in outcome.reason


@pytest.mark.parametrize("hook", [RUNS[0], RUNS[3], RUNS[5]], ids=str)
def test_so_does_one_who_writes_and_writes_back_with_the_old_times(
    make: Callable[[dict[str, Any]], Project],
    monkeypatch: pytest.MonkeyPatch,
    hook: dict[str, Any],
) -> None:
    project = make(hook)
    file, _ = project.pair("a/b/guard.sh")
    good, was = file.read_bytes(), file.stat()

    def write(content: bytes) -> None:
        file.write_bytes(content.ljust(len(good)))
        os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))

    evil = b"def check(event): pass\n" if "python" in hook else EVIL.encode()
    act_around_runs(monkeypatch, lambda: write(evil), lambda: write(good))
    outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert "was changed meanwhile" in outcome.reason


def test_so_does_one_who_puts_the_same_file_back_by_another_of_its_names(
    make: Callable[[dict[str, Any]], Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make(RUNS[0])
    file, evil = project.pair("a/b/guard.sh")
    other = file.with_name("other-name")
    os.link(file, other)
    act_around_runs(monkeypatch, lambda: os.replace(evil, file), lambda: os.replace(other, file))
    assert "was changed meanwhile" in project.fire().reason


@contextmanager
def mapped(file: Path, size: int) -> Iterator[mmap.mmap]:
    """Its bytes, shared with whoever reads it, and nobody is told of a store to them."""
    handle = os.open(file, os.O_RDWR)
    memory = mmap.mmap(handle, size)
    os.close(handle)
    try:
        yield memory
    finally:
        memory.close()


@pytest.mark.parametrize("hook", [RUNS[0], RUNS[3], RUNS[5]], ids=str)
def test_stores_to_mapped_memory_change_nothing_that_runs(
    make: Callable[[dict[str, Any]], Project],
    monkeypatch: pytest.MonkeyPatch,
    hook: dict[str, Any],
) -> None:
    project = make(hook)
    file, other = project.pair("a/b/guard.sh")
    good = file.read_bytes()
    evil = other.read_bytes().ljust(len(good))
    with mapped(file, len(good)) as memory:

        def store(content: bytes) -> None:
            memory[:] = content

        store(good)  # what comes after the first one changes no time of the file either
        act_around_runs(monkeypatch, lambda: store(evil), lambda: store(good))
        outcome = project.fire()  # by the stored copy, since somebody could change the file
    assert outcome.verdict is Verdict.DENY
    assert "changed meanwhile" not in outcome.reason


@pytest.mark.parametrize("hook", [RUNS[0], RUNS[3], RUNS[5]], ids=str)
@pytest.mark.parametrize("closes", [False, True])
def test_a_mapping_made_during_the_run_closes_the_gate(
    make: Callable[[dict[str, Any]], Project],
    monkeypatch: pytest.MonkeyPatch,
    hook: dict[str, Any],
    closes: bool,
) -> None:
    project = make(hook)
    file, other = project.pair("a/b/guard.sh")
    good = file.read_bytes()
    with ExitStack() as stack:

        def change() -> None:
            memory = stack.enter_context(mapped(file, len(good)))
            memory[:] = other.read_bytes().ljust(len(good))
            stack.callback(memory.__setitem__, slice(None), good)

        act_around_runs(monkeypatch, change, stack.close if closes else lambda: None)
        outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert "was changed meanwhile" in outcome.reason


@pytest.mark.parametrize("hook", [RUNS[0], RUNS[3], RUNS[5]], ids=str)
@pytest.mark.parametrize("up", [0, 1, 2])
def test_stored_copies_are_no_easier_to_swap(
    make: Callable[[dict[str, Any]], Project],
    monkeypatch: pytest.MonkeyPatch,
    hook: dict[str, Any],
    up: int,
) -> None:
    project = make(hook)
    file, evil = project.pair("a/b/guard.sh")
    file.write_bytes(evil.read_bytes())
    assert project.fire().verdict is Verdict.DENY
    (copy,) = (project.base / "home").rglob(f"b/{file.name}")
    place = [copy, *copy.parents][up]
    twin = project.base / "twin"
    if up:
        inner = twin / copy.relative_to(place)
        inner.parent.mkdir(parents=True)
        inner.write_bytes(evil.read_bytes())
        inner.chmod(0o755)
    else:
        twin.write_bytes(evil.read_bytes())
        twin.chmod(0o755)
    act_around_runs(monkeypatch, lambda: exchange(place, twin), lambda: exchange(place, twin))
    outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert "was changed meanwhile" in outcome.reason


@pytest.mark.parametrize("place", PLACES)
def test_files_that_were_vouched_for_by_hash_neither(
    make: Callable[[dict[str, Any]], Project], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    project = make(RUNS[1])
    names = [project.root / "hookline.yaml", project.root / "a/b/guard.sh"]
    digests = ",".join(sha256(name.read_bytes()).hexdigest() for name in names)
    project.app().loader.store.revoke(str(names[0]))
    assert "found its neighbour" in project.fire(project.app(digests)).reason
    pair = project.pair(place)
    act_around_runs(monkeypatch, lambda: exchange(*pair), lambda: exchange(*pair))
    assert "was changed meanwhile" in project.fire(project.app(digests)).reason


@contextmanager
def swapping(pair: tuple[Path, Path], at_least: int) -> Iterator[Callable[[], bool]]:
    """Swap back and forth all the time; tells whether it was often enough."""
    swaps, over = 0, threading.Event()

    def swap() -> None:
        nonlocal swaps
        while not over.is_set():
            exchange(*pair)
            swaps += 1
        if swaps % 2:
            exchange(*pair)

    thread = threading.Thread(target=swap)
    thread.start()
    try:
        yield lambda: swaps >= at_least
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize("place", PLACES[:3] + PLACES[4:])
@pytest.mark.parametrize("hook", [RUNS[1], RUNS[3]], ids=str)
def test_whoever_swaps_without_end_never_opens_a_gate(
    make: Callable[[dict[str, Any]], Project], hook: dict[str, Any], place: str
) -> None:
    project = make(hook)
    with swapping(project.pair(place), at_least=100) as enough:
        fired = 0
        while fired < 6 or not enough():
            assert project.fire().verdict is Verdict.DENY
            fired += 1
    assert project.fire().verdict is Verdict.DENY


@pytest.mark.parametrize("place", PLACES)
def test_where_the_kernel_tells_nothing_the_state_before_and_after_counts(
    make: Callable[[dict[str, Any]], Project], monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setattr(path_watch, "_share_inotify", lambda pid: None)
    project = make(RUNS[1])
    pair = project.pair(place)
    act_around_runs(monkeypatch, lambda: exchange(*pair), lambda: None)
    outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert "was changed meanwhile" in outcome.reason


def test_work_in_the_directories_on_the_way_is_no_change(tmp_path: Path) -> None:
    base = tmp_path.resolve()
    (base / "a/b").mkdir(parents=True)
    (base / "a/b/file").write_text("x")
    watch = PathWatch()
    watch.add(str(base / "a/b/../b/file"))
    for name in ("new", "a/new", "a/b/new"):
        (base / name).write_text("x")
        (base / name).rename(base / f"{name}er")
        (base / f"{name}er").unlink()
    (base / "a/b/file").read_text()
    assert watch.is_quiet()
    (base / "a").rename(base / "c")
    (base / "c").rename(base / "a")
    assert not watch.is_quiet()


def test_runs_that_watch_the_same_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    file = tmp_path.resolve() / "file"
    file.write_text("x")
    first, second = PathWatch(), PathWatch()
    first.add(str(file))
    file.write_text("y")
    second.add(str(file))
    assert not first.is_quiet()
    assert second.is_quiet()
    file.chmod(0o700)
    assert not second.is_quiet()


def test_what_is_watched_is_begun_anew_before_it_is_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(path_watch, "_MOST_WATCHES", 3)
    file = tmp_path.resolve() / "file"
    file.write_text("x")
    first, second = PathWatch(), PathWatch()
    assert first.add(str(file)) == second.add(str(file)) == str(file)
    assert first._inotify is not second._inotify
    assert first.is_quiet()
    file.write_text("y")
    assert not first.is_quiet()
    assert not second.is_quiet()


def test_links_without_end_cannot_be_watched(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert not PathWatch().add(str(tmp_path.resolve() / "loop"))


def test_where_no_more_can_be_watched_the_gate_closes(
    make: Callable[[dict[str, Any]], Project], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_pid: int) -> None:
        raise OSError(24, "inotify: Too many open files")

    project = make(RUNS[0])
    monkeypatch.setattr(path_watch, "_share_inotify", fail)
    outcome = project.fire()
    assert outcome.verdict is Verdict.DENY
    assert "files cannot be watched" in outcome.reason
