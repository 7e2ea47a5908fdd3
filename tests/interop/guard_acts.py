"""Every guard in one config, acts that each has to stop, and a harmless twin for each of them.

The acts are portable, so that every real client plays the same; what is asserted are effects:
files, branches of a remote, and what the model was sent.
"""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hookline.lab.script import Act, Edit, Mcp, Read, Script, Shell, Turn, Write
from interop.arena import Arena, config, rule

__all__ = [
    "ASKED",
    "FILES",
    "HOOKS",
    "NAMES",
    "PROMPT",
    "SHOWN",
    "furnish",
    "git",
    "played",
    "token",
]

SHOWN = "[redacted:github]"
NAMES = ("shell", "read", "mixed", "failed", "commit", "file", "mcp", "given", "prompt", "said")
"""Of every token that is about."""


def token(name: str) -> str:
    """A token of GitHub's form that nobody was ever given, another one for each name."""
    return "ghp" + "_" + (name.replace("_", "") + "A1b2C3d4E5" * 4)[:36]


FILES = {
    "open.txt": "MK_OPEN\n",
    "build/out.txt": "MK_BUILT\n",
    "dist/safer/note.txt": "MK_SAFER\n",
    "safer.txt": "MK_SAFE\n",
    ".env": "MK_ENV=1\nMK_HIDDEN=1\n",
    "plain.txt": "before\n",
    "locked/old.txt": "before\n",
    "open/old.txt": "before\n",
    "token.txt": f"MK_BESIDE {token('shell')}\n",
    "token-read.txt": f"MK_BESIDE {token('read')}\n",
    "held.txt": "MK_HELD\n",
    "free.txt": "MK_FREE\n",
    "mixed.py": f"KEY = '{token('mixed')}'\nOTHER = 1\n",
    "token-failed.txt": f"MK_BESIDE {token('failed')}\n",
}


def _use(name: str, **keys: Any) -> Mapping[str, Any]:
    return {"use": name, **keys}


def _command(glob: str) -> Mapping[str, Any]:
    return {"match": {"tool": "shell", "command": glob}}


# Nothing listens there.
_JUDGE = {"model": "openai/none", "endpoint": "http://127.0.0.1:9/v1", "prompt": "Fine?"}

HOOKS = config(
    _use("shell-guard"),
    # It asks about all it does not know, which is nearly everything else here.
    _use("safer_shell", **_command("*safer*")),
    _use("protect-paths", **{"with": {"deny": {"write": ["locked/"]}}}),
    _use("protect-branches"),
    _use("no-secrets-in"),
    _use("mcp-guard", **{"with": {"allow": ["lab.echo_text"], "deny": ["lab.fail_text"]}}),
    _use("redact-secrets"),
    _use("limit-output", on="post_tool_use", **_command("seq 1 *")),
    _use("limit_large_tool_results", on="post_tool_use", **_command("seq 4001 *")),
    _use("compress-output"),
    _use("no-workarounds"),
    rule("unheard judge", "pre_tool_use", match={"command": "touch judged"}, judge=_JUDGE),
    rule("held", "pre_tool_use", match={"command": "rm held.txt"}, deny="MK_HELD"),
)

_DELETE = "import os, shutil; shutil.rmtree(os.path.expanduser('~/coded'))"

ACTS: tuple[Act, ...] = (
    # shell-guard; not with `-f`, which Codex refuses by itself
    Shell("rm -r ~/kept"),
    Shell("bash -c 'rm -r ~/wrapped'"),
    Shell(f'python3 -c "{_DELETE}"'),
    Shell("rm -r build"),
    # safer_shell
    Shell("cat safer.txt"),
    # protect-paths
    Write("locked/new.txt", "MK_NEW\n"),
    Write("open/new.txt", "MK_NEW\n"),
    Shell("echo MK_MORE=1 >> .env"),
    Shell("echo MK_MORE=1 >> plain.txt"),
    Shell("echo 'version: 1' > ~/.config/hookline/hookline.yaml"),
    # protect-branches; what is checked out is `feature`
    Shell("git push --quiet origin HEAD:main"),
    Shell("git push --quiet origin feature"),
    Shell("git checkout -q main && git commit -q --allow-empty -m on-main"),
    # no-secrets-in
    Shell(f"git commit -q --allow-empty -m 'use {token('commit')}'"),
    Shell("git commit -q --allow-empty -m plain"),
    Write("fine.py", "KEY = None\n"),
    Mcp("echo_text", {"text": f"MK_SENT {token('mcp')}"}),
    # mcp-guard
    Mcp("echo_text", {"text": "MK_MCP_GOOD"}),
    Mcp("fail_text", {"text": "MK_MCP_BAD"}),
    # redact-secrets
    Shell(f"printf %s {token('given')} > given.txt"),
    Shell("cat token.txt"),
    Shell("cat open.txt"),
    Read("token-read.txt"),
    Read("mixed.py"),
    Edit("mixed.py", "OTHER = 1", "OTHER = 2"),
    # limit-output, limit_large_tool_results, compress-output
    Shell("seq 1 3000"),
    Shell("seq 4001 7000"),
    Shell("seq 9001 9003"),
    Shell("yes MK_SAME | head -n 50"),
    # judge
    Shell("touch judged"),
    Shell("touch unjudged"),
    # no-workarounds
    Shell("rm held.txt"),
    Shell("python3 -c \"import os; os.remove('held.txt')\""),
    Shell("python3 -c \"import os; os.remove('free.txt')\""),
)

ASKED: tuple[Act, ...] = (
    Shell("rm -r dist/safer"),
    Shell("cat .env"),
    Write("leak.py", f"KEY = '{token('file')}'\n"),
)
"""What a person has to be asked about, and nobody is there."""

PROMPT = Script(prompt=f"MK_PROMPT {token('prompt')}")
"""A session that must end before the model is asked anything."""


def played(*more: Act) -> Script:
    """The acts one by one, and those that only one client has."""
    return Script(prompt="MK_PROMPT", turns=tuple(Turn(do=(act,)) for act in (*ACTS, *more)))


def furnish(place: Arena) -> None:
    """Things to lose in the home directory, and a remote whose `main` is not to be pushed to."""
    for name in ("kept", "wrapped", "coded"):
        folder = Path(place.room.home, name)
        folder.mkdir()
        folder.joinpath("note.txt").write_text("MK_NOTE\n", encoding="utf-8")
    remote = os.path.join(place.room.root, "remote.git")
    git(place, "init", "--quiet", "--bare", "--initial-branch=main", remote)
    git(place, "remote", "add", "origin", remote)
    git(place, "push", "--quiet", "origin", "main")
    git(place, "checkout", "--quiet", "-b", "feature")
    git(place, "commit", "--quiet", "--allow-empty", "--message=Work")


def git(place: Arena, *words: str) -> str:
    """What git says in the project, to a person."""
    done = subprocess.run(
        ["git", *words],
        cwd=place.room.project,
        env=dict(place.room.env),
        capture_output=True,
        check=True,
        text=True,
    )
    return done.stdout.strip()
