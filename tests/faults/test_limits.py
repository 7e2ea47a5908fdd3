"""No descriptors left, much to remember: gates stay closed, and memory comes back."""

import json
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import unpack

import pytest

from hookline._version import __version__
from hookline.daemon.frames import encode_request
from hookline.daemon.instance import connect
from support.faults import World
from support.serving import eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these look into /proc")

MB = 1 << 20


# Descriptors


@contextmanager
def descriptors(pid: int, most: int) -> Iterator[None]:
    """A running process may have so many of them for a while."""
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)


def open_in(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


@pytest.mark.parametrize("spare", [0, 1, 2, 3, 4, 6, 10])
def test_a_daemon_without_descriptors_opens_no_gate_and_goes_on_when_it_has_some(
    place: World, spare: int
) -> None:
    daemon = place.daemon()
    place.ask()
    with descriptors(daemon.pid, open_in(daemon.pid) + spare):
        for _ in range(4):
            assert place.ask("rm -rf build").blocks
    said = place.ask("rm -rf build")
    assert "Nothing is removed here." in said.effect.reason
    assert not place.ask("ls").blocks
    assert eventually(place.status).pid == daemon.pid


@pytest.mark.parametrize("spare", [0, 2, 4, 6, 8, 12])
def test_a_daemon_that_cannot_start_a_hook_for_want_of_descriptors_closes_the_gate(
    place: World, spare: int
) -> None:
    place.user_file.write_text(
        "version: 1\nhooks:\n"
        "  - {name: asks a program, on: pre_tool_use, match: {command: 'rm *'}, "
        "run: 'echo No. >&2; exit 2'}\n"
    )
    daemon = place.daemon()
    assert "No." in place.ask().effect.reason
    with descriptors(daemon.pid, open_in(daemon.pid) + spare):
        for _ in range(4):
            assert place.ask("rm -rf build").blocks
    assert "No." in place.ask().effect.reason
    assert eventually(place.status).pid == daemon.pid


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("most", [3, 4, 5, 6, 7, 8, 10])
def test_a_client_without_descriptors_closes_the_gate(place: World, most: int, warm: bool) -> None:
    if warm:
        place.daemon()
    limited = ("/bin/sh", "-c", f'ulimit -n {most}; exec "$@"', "sh")
    said = place.ask("rm -rf build", through=limited)
    assert said.blocks, said
    if said.is_last:
        assert b"hookline-client: " in said.reply.stderr


def test_what_a_client_may_open_is_no_limit_for_the_daemon_that_it_starts(place: World) -> None:
    limited = ("/bin/sh", "-c", 'ulimit -S -n 32; exec "$@"', "sh")
    assert place.ask("rm -rf build", through=limited).blocks
    soft, hard = resource.prlimit(place.daemon().pid, resource.RLIMIT_NOFILE)
    assert soft == min(hard, 65_536)


# Memory


def tell(place: World, payload: bytes) -> bytes:
    """An event straight over the socket, as many as there are; its answer."""
    own = ("--home", str(place.state), "--user-config", str(place.user_dir))
    request = encode_request(
        ("hook", "claude-code", "PreToolUse", *own),
        version=__version__,
        event=os.urandom(16).hex(),
        cwd=str(place.project),
        env={"PATH": "/usr/bin:/bin"},
        stdin=payload,
    )
    with connect(str(place.state), __version__, 60) as sock:
        sock.sendall(request)
        with sock.makefile("rb") as heard:
            while (kind := heard.read(1)) in {b"A", b"K"}:
                pass
            assert kind == b"R", kind
            _, out, _ = unpack(">BII", heard.read(9))
            return heard.read(out)


def event(place: World, number: int, size: int) -> bytes:
    padding = "x" * size
    payload = place.payload("PreToolUse", f"{place.mark}-{number % 40}", f"rm -rf {number}")
    return json.dumps({**payload, "padding": padding}).encode()


@pytest.mark.slow
def test_memory_comes_back_after_many_events_and_after_large_ones(place: World) -> None:
    place.daemon()
    for number in range(1000):
        assert b'"deny"' in tell(place, event(place, number, 2000))
    before = place.daemon().memory
    for number in range(4000):
        assert b'"deny"' in tell(place, event(place, number, 2000))
    assert place.daemon().memory < before * 1.3
    for number in range(10):
        assert b'"deny"' in tell(place, event(place, number, 20 * MB))
    # It gives back what it does not need at its next look around.
    eventually(lambda: place.daemon().memory < before * 1.3)
    found = place.daemon()
    assert found.held < MB
    assert found.descriptors < 40
    assert Path(place.journal).stat().st_size < 200 * MB
