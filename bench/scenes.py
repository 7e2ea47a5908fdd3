"""What agents send and people configure, made up: payloads, variables and files of rules.

No two payloads of a run have the same command, so nothing that remembers a command's text helps.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

__all__ = ["COMMANDS", "EMPTY", "FULL", "agent_env", "payload", "rules", "write_payloads"]

EMPTY = b"version: 1\n"
FULL = b"journal: {durability: full}\n"
"""Behind any file: each answer waits until its event is on the disk."""

COMMANDS = (
    "git log --oneline -n {n}",
    "cd src && grep -rn 'class Widget{n}' --include='*.py' . | head -20",
    "python -m pytest -q tests/test_module_{n}.py -x --maxfail=3 2>&1 | tail -40",
    "ls -la build/{n} && wc -l src/**/*.ts",
    'for f in $(git diff --name-only HEAD~{n}); do echo "== $f"; head -5 "$f"; done',
    "npm run build -- --mode=test --out=dist/{n} && node dist/{n}/main.js --version",
    "sed -n '{n},+40p' src/server/handlers.go | cat -A | head -60",
    "FOO={n} make -j4 check || (cat build/check.log; exit 1)",
    "docker compose ps --format json | jq -r '.[{n}].Name'",
    "git add -A && git commit -m 'Change {n}: the reader closes what it opened' && git status -sb",
    "curl -sS http://localhost:8080/items/{n} | python3 -m json.tool",
    "find . -name '*.rs' -newer Cargo.lock -maxdepth {n} -print | xargs wc -l",
)
_FILLER = "Looks at the project before the next change, as the plan says in its third point. "


def payload(
    number: int,
    cwd: str,
    *,
    size: int = 2048,
    event: str = "PreToolUse",
    session: str = "bench",
    digits: str = "",
) -> bytes:
    """Claude Code's words for a shell command, ``size`` bytes of them.

    ``digits`` stand for the number where it is shown, for who puts it in later.
    """
    digits = digits or str(number)
    command = COMMANDS[number % len(COMMANDS)].format(n=digits)
    shape: dict[str, object] = {
        "session_id": session,
        "transcript_path": f"{cwd}/transcript.jsonl",
        "cwd": cwd,
        "prompt_id": f"00000000-0000-4000-8000-{digits:0>12}",
        "permission_mode": "default",
        "hook_event_name": event,
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": ""},
        "tool_use_id": f"toolu_{digits:0>24}",
    }
    missing = size - len(msgspec.json.encode(shape))
    filler = (_FILLER * (missing // len(_FILLER) + 1))[: max(missing, 0)]
    shape["tool_input"] = {"command": command, "description": filler}
    return msgspec.json.encode(shape)


def write_payloads(
    directory: Path, numbers: Iterable[int], cwd: str, size: int = 2048, event: str = "PreToolUse"
) -> list[str]:
    """Those with these numbers, as files."""
    directory.mkdir(parents=True, exist_ok=True)
    files = []
    for number in numbers:
        file = directory / f"{number}.json"
        file.write_bytes(payload(number, cwd, size=size, event=event))
        files.append(str(file))
    return files


def agent_env(home: str, project: str) -> dict[str, str]:
    """Variables as an agent's programs have them."""
    return {
        "HOME": home,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "SHELL": "/bin/bash",
        "TERM": "xterm-256color",
        "USER": "dev",
        "LOGNAME": "dev",
        "PWD": project,
        "EDITOR": "vi",
        "TMPDIR": "/tmp",
        "COLORTERM": "truecolor",
        "AI_AGENT": "claude-code",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_ENTRYPOINT": "cli",
        "CLAUDE_CODE_SESSION_ID": "00000000-0000-4000-8000-000000000000",
        "CLAUDE_PROJECT_DIR": project,
        "GIT_EDITOR": "true",
        "NODE_ENV": "development",
    }


def rules(count: int) -> bytes:
    """A file of that many rules, none of which matches: six in ten look at commands."""
    entries = "".join(f"  - {entry}\n" for entry in _entries(count))
    return f"version: 1\nhooks:\n{entries}".encode()


def _entries(count: int) -> Iterator[str]:
    for number in range(count):
        match = _MATCHES[number % len(_MATCHES)].format(n=number)
        yield (
            f"{{name: rule {number}, on: pre_tool_use, match: {match}, "
            f"deny: Production changes go through the pipeline.}}"
        )


_MATCHES: Sequence[str] = (
    '{{tool: shell, command: "*kubectl*--context prod{n}*"}}',
    "{{tool: shell, command: '/^terraform\\s+(apply|destroy)\\s.*-target=module\\.m{n}\\b/'}}",
    '{{tool: shell, command: "aws s3 rm s3://bucket-{n}/*"}}',
    "{{tool: shell, command: '/^(\\S*\\/)?psql\\s.*(DROP|TRUNCATE)\\s+TABLE\\s+t{n}/'}}",
    '{{tool: shell, command: ["helm uninstall release{n}*", "helm rollback release{n}*"]}}',
    "{{tool: shell, command: '/\\bredis-cli\\s.*\\bFLUSH(ALL|DB)\\b.*{n}/'}}",
    '{{tool: [write, edit, delete], path: "infra/{n}/**"}}',
    '{{tool: [read, search], path: ["secrets/{n}/*.yaml", "~/.vault{n}/**"]}}',
    '{{tool: fetch, url: "https://*.internal{n}.example/*"}}',
    '{{mcp: "database{n}.*"}}',
)
