"""A machine to install on, and the files that people have before they do."""

import shutil
from pathlib import Path

from hookline import registry
from hookline.dialects._install import JsonSettings
from hookline.model.installing import Call, Installer, Machine, Scope, Target

__all__ = ["CALL", "machine_at", "starts_for", "target_of"]

CALL = Call(program=("/opt/hookline/bin/hookline",), home="/h/state", user_config="/h/config")

_FOREIGN = b"""{
  "description": "ours",
  "hooks": {
    "EVENT": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo foreign"}]}
    ],
    "Unheard": []
  }
}
"""

_JSON: dict[str, bytes | None] = {
    "absent": None,
    "empty": b"",
    "blank": b"\n",
    "object": b"{}",
    "object on lines": b"{\n}\n",
    "comments": b'// top\n{\n  // why\n  "model": "x", // behind\n  /* last */\n}\n',
    "tabs": b'{\n\t"model": "x",\n\t"env": {\n\t\t"A": "1"\n\t}\n}\n',
    "byte order mark": b'\xef\xbb\xbf{\n  "model": "x"\n}\n',
    "only a byte order mark": b"\xef\xbb\xbf",
    "carriage returns": b'{\r\n  "model": "x",\r\n  "env": {}\r\n}\r\n',
    "no final newline": b'{\n  "model": "x"\n}',
    "one line": b'{"model":"x","list":[1,2]}',
    "trailing comma": b'{\n  "model": "x",\n}\n',
    "hooks of others": _FOREIGN,
    "empty hooks": b'{\n  "hooks": {}\n}\n',
    "an empty event": b'{\n  "hooks": {\n    "EVENT": []\n  }\n}\n',
    "unicode": '{\n  "name": "naïve ✓ 𝄞"\n}\n'.encode(),
}

# A platform whose settings are no JSON names the files that people have here, by its id.
_OTHERS: dict[str, dict[str, bytes | None]] = {
    # Every file is an executable of ours: there is nothing to write into.
    "kodelet": {"no file": None},
    "docker-agent": {
        "one agent": b"agents:\n  root:\n    model: openai/gpt-4o\n    instruction: Help.\n",
        "comments": (
            b"# top\nagents: # all\n  # first\n  root: # main\n    model: x # behind\n"
            b"    # last\n\n# end\nmodels: {}\n"
        ),
        "two agents": (
            b"agents:\n  root:\n    model: x\n    sub_agents: [b]\n\n  b:\n    model: y\n"
        ),
        "text at the end": b"agents:\n  root:\n    instruction: |\n      Help.\n      # so\n\n",
        "text with all its lines": b"agents:\n  root:\n    instruction: |+\n      Help.\n\n\n",
        "hooks of others": (
            b"agents:\n  root:\n    hooks:\n      pre_tool_use:\n"
            b'      - matcher: "shell" # only this\n        hooks:\n'
            b"        - {type: command, command: ./check.sh}\n"
            b"      stop:\n        - type: command\n          command: echo done\n"
            b"    model: x\n"
        ),
        "empty hooks": b"agents:\n  root:\n    hooks:\n    model: x\n",
        "an empty event": b"agents:\n  root:\n    hooks:\n      stop:\n    model: x\n",
        "carriage returns": b"agents:\r\n  root:\r\n    model: x\r\n",
        "no final newline": b"agents:\n  root:\n    model: x",
        "byte order mark": b"\xef\xbb\xbfagents:\n  root:\n    model: x\n",
        "wide": b"agents:\n    root:\n        hooks:\n            stop:\n            - type: command\n"
        b"              command: echo\n        model: x\n",
        "unicode": "agents:\n  root:\n    model: naïve ✓ 𝄞\n".encode(),
        "anchors": b"base: &base\n  model: x\nagents:\n  root:\n    <<: *base\n    max_iterations: 5\n",
    },
}


def starts_for(name: str) -> dict[str, bytes | None]:
    """The files that an installation into this platform may find, by what is special in them."""
    installer = registry.installer(name)
    if isinstance(installer, JsonSettings):
        event = installer.events()[0].encode()
        return {what: each and each.replace(b"EVENT", event) for what, each in _JSON.items()}
    return _OTHERS.get(name, {"absent": None})


def machine_at(base: Path, **env: str) -> Machine:
    """A person with an empty home and an empty project."""
    home, project = base / "home", base / "project"
    for directory in (home, project):
        directory.mkdir(parents=True, exist_ok=True)
    return Machine(
        home=str(home),
        project=str(project),
        env={"HOME": str(home), **env},
        read=lambda path: Path(path).read_bytes() if Path(path).is_file() else None,
        which=lambda name: shutil.which(name, path=env.get("PATH", "/usr/bin:/bin")),
        named=(str(project / "agent.yaml"),),
    )


def target_of(installer: Installer, machine: Machine, scope: Scope | None = None) -> Target:
    """The first file that an installation of this scope writes."""
    return installer.targets(machine, scope or installer.scopes[0], shared=False)[0]
