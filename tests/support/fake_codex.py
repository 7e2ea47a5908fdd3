"""A stand-in for ``codex app-server``: lists the hooks of its home, hashed, and what is trusted."""

import hashlib
import json
import os
import re
import sys
import tomllib
from pathlib import Path

__all__ = ["put_codex"]


def put_codex(directory: Path) -> Path:
    """A program called ``codex`` in a directory for PATH."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "codex"
    path.write_text(
        f"#!{sys.executable}\nimport runpy\nrunpy.run_path({__file__!r}, run_name='codex')\n"
    )
    path.chmod(0o755)
    return path


def _listed() -> list[dict[str, object]]:
    home = Path(os.environ.get("CODEX_HOME") or Path(os.environ["HOME"], ".codex"))
    config = home / "config.toml"
    state = tomllib.loads(config.read_text() if config.exists() else "")
    rows = state.get("hooks", {}).get("state", {})
    file = home / "hooks.json"
    hooks = json.loads(file.read_text())["hooks"] if file.exists() else {}
    found: list[dict[str, object]] = []
    for event, groups in hooks.items():
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
        for number, group in enumerate(groups):
            for index, handler in enumerate(group["hooks"]):
                key = f"{file}:{name}:{number}:{index}"
                digest = hashlib.sha256(json.dumps([event, handler]).encode()).hexdigest()
                trusted = rows.get(key, {}).get("trusted_hash")
                status = {None: "untrusted", f"sha256:{digest}": "trusted"}.get(trusted, "modified")
                found.append(
                    {
                        "key": key,
                        "eventName": event,
                        "sourcePath": str(file),
                        "command": handler["command"],
                        "currentHash": f"sha256:{digest}",
                        "trustStatus": status,
                        "enabled": rows.get(key, {}).get("enabled", True),
                    }
                )
    return found


def _serve() -> None:
    assert sys.argv[1:] == ["app-server"]
    ready = False
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "initialized":
            ready = True
            continue
        print(json.dumps({"method": "something/happened", "params": {}}))
        if message["method"] == "initialize":
            result: dict[str, object] = {"userAgent": "codex"}
        else:
            assert ready
            (cwd,) = message["params"]["cwds"]
            result = {"data": [{"cwd": cwd, "hooks": _listed(), "warnings": [], "errors": []}]}
        print(json.dumps({"id": message["id"], "result": result}), flush=True)


if __name__ == "codex":
    _serve()
