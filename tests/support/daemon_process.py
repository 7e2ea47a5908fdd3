"""A daemon in a process of its own that answers as the payloads say: a stand-in for real hooks."""

import asyncio
import json
import os
import re
import resource
import socket
import sys
from functools import partial
from subprocess import Popen
from time import monotonic
from typing import Any

from hookline.daemon import crew, lifecycle, mates, server
from hookline.daemon.beside import Beside
from hookline.daemon.clean import start_clean
from hookline.daemon.frames import Request
from hookline.daemon.lifecycle import Daemon, new_loop
from hookline.daemon.log import Log
from hookline.daemon.server import Limits
from hookline.model.outcome import Reply
from hookline.processes import run


async def respond(request: Request) -> Reply:
    """Does what the payload asks for."""
    told: dict[str, Any] = json.loads(request.stdin[:100_000].split(b"\n", 1)[0] or b"{}")
    what = told.get("do", "echo")
    if what == "wait":
        while not os.path.exists(told["for"]):  # noqa: ASYNC110, ASYNC240 - the test's own word
            await asyncio.sleep(0.005)
    elif what == "run":
        await run(told["argv"], stdin=b"", cwd="/", env={"PATH": os.defpath}, timeout=60)
    elif what == "block":
        re.match(r"(a+)+b", "a" * 64)  # for longer than anybody lives, and nothing else runs
    elif what == "print":
        os.write(1, told["text"].encode())
        os.write(2, told["text"].encode())
    elif what == "age":
        return Reply(stdout=str(monotonic() - request.arrived).encode())
    elif what == "fail":
        raise RuntimeError("this is how it fails")
    elif what == "say":
        return Reply(stdout=b"x" * told["bytes"], stderr=b"e", exit_code=2)
    elif what == "self":
        return Reply(stdout=json.dumps(_self()).encode())
    elif what == "size":
        return Reply(stdout=str(len(request.stdin)).encode())
    return Reply(stdout=b"%d " % os.getpid() + request.stdin[:1000])


def _self() -> dict[str, Any]:
    umask = os.umask(0o077)
    os.umask(umask)
    return {
        "env": dict(os.environ),
        "cwd": os.getcwd(),
        "umask": umask,
        "leads": os.getsid(0) == os.getpid(),
        "standard": [os.readlink(f"/proc/self/fd/{number}") for number in range(3)],
        "limit": resource.getrlimit(resource.RLIMIT_NOFILE),
    }


def _share(eagerly: dict[str, float]) -> None:
    """Processes come beside the daemon without a load that nobody could wait for in a test."""
    crew._BUSY = eagerly.get("busy", -1e9)
    crew._CALM_FOR = eagerly.get("calm_for", 600.0)
    crew._AFTER_FAILURE = eagerly.get("after_failure", 600.0)
    mates._SILENCE = eagerly.get("silence", 600.0)
    server._HEARD_OF, crew._GROWS_EVERY = 0.0, 0.0
    lifecycle._OF_LATE, lifecycle._LOOK = 60.0, 0.1
    lifecycle.LAST, crew._LOOK = 0.1, 0.05


def _start_beside(options: dict[str, Any], home: str, theirs: socket.socket) -> Popen[bytes]:
    if options["beside"].get("missing"):
        raise FileNotFoundError("there is no such program")
    told = {**options, "home": home, "channel": 0}
    return Popen(
        [sys.executable, __file__, json.dumps(told)], stdin=theirs.fileno(), start_new_session=True
    )


def _beside(options: dict[str, Any]) -> int:
    if options["beside"].get("broken"):
        return 1
    channel = start_clean(client=options["channel"])
    assert channel is not None
    life = Beside(
        respond,
        home=options["home"],
        channel=channel,
        grace=options.get("grace", 30.0),
        stuck=options.get("stuck", 30.0),
        log=Log(),
    )
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(life.run())
    return 0


def main() -> int:
    """Serves as the command line's JSON says."""
    options = json.loads(sys.argv[1])
    if "package" in options:
        lifecycle._version_file = options["package"]
    if "beside" in options:
        _share(options["beside"])
    if "channel" in options:
        return _beside(options)
    client = start_clean(client=options.get("fd"))
    daemon = Daemon(
        respond,
        home=options.get("home"),
        client=client,
        idle=options.get("idle", 60.0),
        grace=options.get("grace", 30.0),
        stuck=options.get("stuck", 30.0),
        stays=options.get("stays", True),
        limits=Limits(**options.get("limits", {})),
        log=Log(),
        start=partial(_start_beside, options) if "beside" in options else None,
    )
    with asyncio.Runner(loop_factory=new_loop) as runner:
        return 0 if runner.run(daemon.run()) else 1


if __name__ == "__main__":
    sys.exit(main())
