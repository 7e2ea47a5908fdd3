"""A daemon in a process of its own that answers as the payloads say: a stand-in for real hooks."""

import asyncio
import json
import os
import re
import resource
import sys
from time import monotonic
from typing import Any

from hookline.daemon import lifecycle
from hookline.daemon.frames import ClientRequest
from hookline.daemon.lifecycle import Daemon
from hookline.daemon.log import Log
from hookline.daemon.process import start_clean
from hookline.daemon.server import ServerLimits
from hookline.model.outcome import Reply
from hookline.processes import run


async def respond(request: ClientRequest) -> Reply:
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


def main() -> int:
    """Serves as the command line's JSON says."""
    options = json.loads(sys.argv[1])
    if "package" in options:
        lifecycle._version_file = options["package"]
    client = start_clean(client=options.get("fd"))
    daemon = Daemon(
        respond,
        home=options.get("home"),
        client=client,
        idle=options.get("idle", 60.0),
        grace=options.get("grace", 30.0),
        stuck=options.get("stuck", 30.0),
        stays=options.get("stays", True),
        limits=ServerLimits(**options.get("limits", {})),
        log=Log(),
    )
    with asyncio.Runner() as runner:
        return 0 if runner.run(daemon.run()) else 1


if __name__ == "__main__":
    sys.exit(main())
