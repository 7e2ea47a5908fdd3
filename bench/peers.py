"""Others that guard a shell command, beside us in one run.

Each is installed in the version named here into a place of the bench's own and called as its
documents say. What cannot be installed is shown as missing, with why.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from bench import warm
from bench.compiling import BUILD
from bench.measure import Ratio
from bench.report import Report
from bench.spawning import Program, Timed
from bench.stage import Stage, stage
from hookline.cli.init import starter

__all__ = ["PEERS", "Peer", "fastest_product", "from_pypi", "run"]

ROUNDS = 45
WARM = 5
OURS = "hookline: client + daemon, starter config"

_PYTHON_PEERS = BUILD / "peers-python"
_NODE_PEERS = BUILD / "peers-node"
_LONGEST = 300.0


class Peer(Struct, frozen=True, kw_only=True):
    """One of them: how it is installed, and how it is called."""

    name: str
    product: bool = True
    """Scripts of a few lines are shown for scale only."""
    install: Callable[[], None]
    """Raises when it cannot be had."""
    argv: Callable[[Path], list[str]]
    """Given a directory to put a hook of its own into."""
    event: str = "PreToolUse"


class Missing(Exception):
    """It cannot be had here; says why."""


def run() -> Report:
    """Our p50 against the fastest product, and a table of all."""
    with stage("starter", starter()) as first:
        programs = [first.program(OURS, ROUNDS + WARM)]
        missing = []
        for peer in PEERS:
            try:
                programs.append(_program(peer, first))
            except (Missing, OSError, subprocess.SubprocessError) as exc:
                missing.append(f"{peer.name}: missing here, {exc}")
        timed = warm.turns(*programs, rounds=ROUNDS, warm=WARM)
    title = "Peers, a command that each lets pass, 2 KB"
    return Report(
        ratios=_figure(timed),
        tables=[warm.table(title, [timed], missing)],
        samples={f"peers: {name}": row.us for name, row in timed.items()},
    )


def fastest_product(timed: dict[str, Timed]) -> str | None:
    """Whose median is the lowest."""
    products = [peer.name for peer in PEERS if peer.product and peer.name in timed]
    return min(products, key=lambda name: timed[name].spread.p50, default=None)


def _figure(timed: dict[str, Timed]) -> list[Ratio]:
    name = fastest_product(timed)
    if name is None:
        return []
    ours, theirs = timed[OURS].spread, timed[name].spread
    return [
        Ratio(
            what=f"{name}, the fastest product beside us",
            against="hookline, warm, starter config",
            ours_us=theirs.p50,
            theirs_us=ours.p50,
            limit=10.0,
            ours_p95_us=theirs.p95,
            least=True,
        )
    ]


def _program(peer: Peer, like: Stage) -> Program:
    """The peer with a home of its own, where it may write its records. Raises Missing."""
    peer.install()
    home = like.root / "peers" / peer.name
    home.mkdir(parents=True)
    inputs = like.inputs(ROUNDS + WARM, event=peer.event)
    program = Program(
        name=peer.name,
        argv=peer.argv(home),
        env={**like.env, "HOME": str(home)},
        cwd=like.project,
        inputs=inputs,
    )
    # Once beforehand: one that does not work here must not end the whole run.
    _do(list(program.argv), input=Path(inputs[0]).read_bytes(), env=program.env, cwd=program.cwd)
    return program


def from_pypi() -> None:
    """All Python peers into one environment, pinned by hash."""
    lock = Path(__file__).with_name("peers.txt")
    stamp = _PYTHON_PEERS / ".ready"
    if stamp.exists() and stamp.read_bytes() == lock.read_bytes():
        return
    python = str(_PYTHON_PEERS / "bin" / "python")
    BUILD.mkdir(parents=True, exist_ok=True)
    uv = shutil.which("uv")
    if uv:
        _do([uv, "venv", "--quiet", "--clear", "--python", sys.executable, str(_PYTHON_PEERS)])
        install = [uv, "pip", "install", "--quiet", "--python", python]
    else:
        _do([sys.executable, "-m", "venv", "--clear", str(_PYTHON_PEERS)])
        install = [python, "-m", "pip", "install", "--quiet"]
    _do([*install, "--no-deps", "--require-hashes", "-r", str(lock)])
    # As an installer of wheels does: a peer must not be slow for want of compiled files.
    _do([python, "-m", "compileall", "-q", str(_PYTHON_PEERS / "lib")])
    stamp.write_bytes(lock.read_bytes())


def _from_npm(name: str, version: str) -> None:
    package = _NODE_PEERS / "node_modules" / name / "package.json"
    if package.exists() and f'"version": "{version}"' in package.read_text(encoding="utf-8"):
        return
    npm = shutil.which("npm")
    if not npm or not shutil.which("node"):
        raise Missing("there is no node and npm")
    _NODE_PEERS.mkdir(parents=True, exist_ok=True)
    flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(_NODE_PEERS)]
    _do([npm, "install", *flags, f"{name}@{version}"])


def _needs(*programs: str) -> Callable[[], None]:
    def look() -> None:
        for program in programs:
            if not shutil.which(program):
                raise Missing(f"there is no {program}")

    return look


def _do(argv: list[str], **how: Any) -> None:
    done = subprocess.run(argv, capture_output=True, check=False, timeout=_LONGEST, **how)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise Missing(f"{os.path.basename(argv[0])} says: {said[-1] if said else 'nothing'}")


def _script(home: Path, name: str, text: str) -> str:
    path = home / name
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def _found(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise Missing(f"there is no {program}")
    return found


_CCHOOKS = """\
from cchooks import PreToolUseContext, create_context

context = create_context()
assert isinstance(context, PreToolUseContext)
if "rm -rf /" in context.tool_input.get("command", ""):
    context.output.exit_block("not that")
context.output.exit_success()
"""

_AGENT_HOOKS = """\
from agent_hooks import AgentHook, PermissionRequestEvent, build_permission_response
from agent_hooks.enums import DialogButton

app = AgentHook()


@app.permission()
def judge(event: PermissionRequestEvent):
    bad = event.tool_name == "Bash" and "rm -rf /" in event.tool_input.command
    return build_permission_response(DialogButton.DENY if bad else DialogButton.ALLOW_ONCE, event)
"""

_JQ = """\
#!/bin/bash
command=$(jq -r '.tool_input.command // ""')
if [[ $command == *"rm -rf /"* ]]; then
  echo "not that" >&2
  exit 2
fi
"""

_PYTHON = """\
import json
import sys

command = json.load(sys.stdin)["tool_input"].get("command", "")
if "rm -rf /" in command:
    print("not that", file=sys.stderr)
    sys.exit(2)
"""


def _venv(program: str) -> str:
    return str(_PYTHON_PEERS / "bin" / program)


PEERS = (
    Peer(
        name="cchooks 0.1.5",
        install=from_pypi,
        argv=lambda home: [_venv("python"), _script(home, "hook.py", _CCHOOKS)],
    ),
    Peer(
        name="nah 0.11.0",
        install=from_pypi,
        argv=lambda home: [_venv("nah"), "_claude-hook"],
    ),
    Peer(
        # With Claude Code its gate is the permission request; it has none before each tool.
        name="agent-hooks 0.2.0 (PermissionRequest)",
        install=from_pypi,
        argv=lambda home: [
            *(_venv("agent-hooks"), "run", _script(home, "hooks.py", _AGENT_HOOKS)),
            *("--app-dir", str(home), "--provider", "claude-code"),
        ],
        event="PermissionRequest",
    ),
    Peer(
        name="cc-safety-net 2.4.5",
        install=lambda: _from_npm("cc-safety-net", "2.4.5"),
        argv=lambda home: [
            _found("node"),
            str(_NODE_PEERS / "node_modules" / ".bin" / "cc-safety-net"),
            *("hook", "--claude-code"),
        ],
    ),
    Peer(
        name="bash + jq script",
        product=False,
        install=_needs("bash", "jq"),
        argv=lambda home: [_found("bash"), _script(home, "hook.sh", _JQ)],
    ),
    Peer(
        name="plain Python script",
        product=False,
        install=lambda: None,
        argv=lambda home: [sys.executable, _script(home, "hook.py", _PYTHON)],
    ),
)
