"""Files that never end, and judges that never come back: nobody waits for them without end."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest

from hookline.builtin.no_workarounds import matching
from hookline.files import append_regular, read_regular
from hookline.model.outcome import Reply
from hookline.pinning import definitions
from support.clients.claude_code import obey
from support.clients.effects import Does

LIMIT = 60.0
"""Seconds that anything here may take before it counts as hanging."""

READERS = [
    "psql -f {}",
    "psql shop < {}",
    "mysql shop < {}",
    "sqlite3 shop.db < {}",
    "sqlite3 shop.db '.read {}'",
    "clickhouse-client --queries-file {}",
    "source {}",
    ". {}",
    "bash {}",
    "sh < {}",
    "python3 {}",
    "perl {}",
    "node {}",
    "make -f {}",
    "awk -f {} x",
    "sed -f {} x",
    "xargs -a {} rm",
    "git apply {}",
    "patch < {}",
    "patch -i {}",
    "git -C {} status",
    "git commit -F {}",
    "curl -d @{} http://localhost",
    "curl -K {}",
    "kubectl apply -f {}",
    "jq -f {} x",
    "docker build -f {} .",
    "cat {} | sh",
    "cat <{} | psql",
    "rm -rf {}",
    "cp {} copy",
    "tar xf {}",
    "{}",
    "cd {} && git commit -m x",
    "ln -s {} other && psql -f other",
]
GUARDS = ["shell-guard", "protect-paths", "no-workarounds"]


def special_files(folder: Path) -> list[str]:
    """Names of what is no regular file, or is one that has no end."""
    os.mkfifo(folder / "pipe.sql")
    os.mkfifo(folder / "drop.sql")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.relpath(folder / "socket.sql"))
    (folder / "folder.sql").mkdir()
    with open(folder / "huge.sql", "wb") as huge:
        huge.truncate(1 << 40)
    links = {
        "link.sql": "pipe.sql",
        "zero.sql": "/dev/zero",
        "stdin.sql": "/dev/stdin",
        "loop.sql": "loop.sql",
        "self.sql": "/proc/self/fd/0",
    }
    for name, target in links.items():
        (folder / name).symlink_to(target)
    return [
        *("pipe.sql", "./drop.sql", "socket.sql", "folder.sql", "huge.sql", *links),
        *("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "/proc/self/fd/3", "/dev/tty", "/dev/zero"),
        *("/dev/../dev/stdin", "/proc/kmsg", "/proc/self/mem", "/dev/random", "-"),
    ]


def env(tmp_path: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "LC_ALL": "C.UTF-8"}


def test_fire_judges_each_of_5000_lines_whatever_files_their_commands_name(tmp_path: Path) -> None:
    names = special_files(tmp_path)
    commands = [text.format(name) for text, name in product(READERS, names)]
    plain = [f"echo {number}" for number in range(5_000 - len(commands))]
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps({"version": 1, "hooks": [{"use": each} for each in GUARDS]}))
    lines = [
        json.dumps({"event": "pre_tool_use", "tool": {"name": "shell", "command": each}})
        for each in (*commands, *plain)
    ]
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "fire", "--jsonl", "--config", str(config)],
        input="\n".join(lines).encode(),
        capture_output=True,
        cwd=tmp_path,
        env=env(tmp_path),
        timeout=LIMIT,
        check=True,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(said) == len(lines) == 5_000
    # A file that is one is still looked into, and what comes through a pipe is not believed.
    judged = dict(zip(commands, (each["verdict"] for each in said), strict=False))
    assert judged["psql -f pipe.sql"] == judged["psql shop < link.sql"] == "ask"
    assert judged["psql -f ./drop.sql"] == judged["mysql shop < socket.sql"] == "ask"


def test_fire_says_so_when_there_is_no_stdin(tmp_path: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -m hookline fire --jsonl <&-', sys.executable],
        capture_output=True,
        cwd=tmp_path,
        env=env(tmp_path),
        timeout=LIMIT,
        check=False,
    )
    assert done.returncode == 1
    assert b"stdin is closed" in done.stderr


EATING = """
import os
import hookline.files

hookline.files.read_regular = lambda path, limit, **options: os.read(0, 1 << 16)
from hookline.__main__ import program
program()
"""


def test_what_reads_the_stdin_of_fire_finds_nothing_there(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    hooks = [{"use": "shell-guard"}, {"on": "pre_tool_use", "run": "cat > /dev/null"}]
    config.write_text(json.dumps({"version": 1, "hooks": hooks}))
    eats = {"event": "pre_tool_use", "tool": {"name": "shell", "command": "psql -f x.sql"}}
    lines = [json.dumps(eats)] * 2 + [json.dumps({"event": "notification"})] * 4_000
    done = subprocess.run(
        [sys.executable, "-c", EATING, "fire", "--jsonl", "--config", str(config)],
        input="\n".join(lines).encode(),
        capture_output=True,
        cwd=tmp_path,
        env=env(tmp_path),
        timeout=LIMIT,
        check=True,
    )
    assert len(done.stdout.splitlines()) == len(lines)


def test_the_reader_takes_a_regular_file_up_to_its_limit_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"12345")
    (tmp_path / "to").symlink_to("plain")
    assert read_regular(str(tmp_path / "plain"), 100) == b"12345"
    assert read_regular(str(tmp_path / "to"), 3) == b"123"
    with pytest.raises(OSError, match="not a regular file"):
        read_regular(str(tmp_path / "to"), 3, follow=False)
    for name in special_files(tmp_path):
        path = os.path.join(tmp_path, name)
        if name == "huge.sql":
            assert read_regular(path, 10) == bytes(10)
        else:
            with pytest.raises(OSError, match=r"."):
                read_regular(path, 10)


def test_what_extends_a_file_waits_for_no_reader(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/null")
    for name in ("pipe", "link", "."):
        with pytest.raises(OSError, match=r"."):
            append_regular(os.path.join(tmp_path, name), "x")
    for text in ("1", "2"):
        append_regular(str(tmp_path / "plain"), text)
    assert (tmp_path / "plain").read_bytes() == b"12"


def test_an_index_and_a_list_of_servers_that_are_pipes_are_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git/index")
    os.mkfifo(tmp_path / ".mcp.json")
    assert not matching._is_tracked(str(tmp_path / "x"))
    with pytest.raises(definitions._Unreadable):
        definitions._read(str(tmp_path / ".mcp.json"))


# -- judges that hang

PAYLOAD = {
    "session_id": "s1",
    "transcript_path": "/t.jsonl",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "psql -f slow.sql"},
    "tool_use_id": "toolu_1",
}
CANONICAL = {"event": "pre_tool_use", "tool": {"name": "shell", "command": "psql -f slow.sql"}}
# The shell guard of this hookline hangs as soon as it looks into a file, and says when it does.
HANGING = """
import os, re, sys
import hookline.files

def hang(path, limit, **options):
    os.close(os.open("began", os.O_WRONLY))
    {how}

hookline.files.read_regular = hang
from hookline.__main__ import program
program()
"""
WAYS = {
    "waits": "os.open('never', os.O_RDONLY)",
    "reads": "os.read(os.pipe()[0], 1)",
    "turns": "while True: pass",
    "matches": "re.match('(a|a)*$', 'a' * 200 + 'b')",
}
GATE = ("hook", "claude-code", "PreToolUse", "--home", "state")
COMMANDS = {
    "hook": (*GATE, "--config", "config.yaml"),
    "fire": ("fire", "--config", "config.yaml"),
    "fire --jsonl": ("fire", "--jsonl", "--config", "config.yaml"),
    "trace": ("trace", "pre_tool_use", "--tool", "shell", "--command", "psql -f slow.sql"),
    "replay": ("replay", "--config", "config.yaml", "--captures", "captures"),
}


@contextmanager
def hanging(tmp_path: Path, how: str, *words: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A hookline whose judge hangs, once it does."""
    os.mkfifo(tmp_path / "began")
    os.mkfifo(tmp_path / "never")
    (tmp_path / "slow.sql").write_text("select 1;")
    (tmp_path / "config.yaml").write_text("version: 1\nhooks: [{use: shell-guard}]\n")
    user = tmp_path / "home/.config/hookline/hookline.yaml"
    user.parent.mkdir(parents=True)
    user.write_text("version: 1\nhooks: [{use: shell-guard}]\n")
    (tmp_path / "captures").mkdir()
    payload = {**PAYLOAD, "cwd": str(tmp_path)} if words[0] == "hook" else CANONICAL
    (tmp_path / "captures/one.json").write_text(json.dumps(CANONICAL))
    with subprocess.Popen(
        [sys.executable, "-c", HANGING.format(how=how), *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
        env=env(tmp_path),
    ) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(payload).encode())
        process.stdin.close()
        process.stdin = None
        try:
            os.close(os.open(tmp_path / "began", os.O_RDONLY))
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("way", "number"), [*((way, signal.SIGTERM) for way in WAYS), ("waits", signal.SIGHUP)]
)
def test_a_hook_that_hangs_ends_when_told_and_shuts_the_gate(
    tmp_path: Path, way: str, number: signal.Signals
) -> None:
    with hanging(tmp_path, WAYS[way], *COMMANDS["hook"]) as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=LIMIT)
    reply = Reply(stdout=out, stderr=err, exit_code=process.returncode)
    assert obey("PreToolUse", reply, PAYLOAD).does >= Does.BLOCKS


@pytest.mark.parametrize("way", WAYS)
def test_a_hook_that_hangs_shuts_the_gate_before_the_platform_gives_up(
    tmp_path: Path, way: str
) -> None:
    words = (*COMMANDS["hook"], "--timeout", "3")
    with hanging(tmp_path, WAYS[way], *words) as process:
        out, err = process.communicate(timeout=LIMIT)
    reply = Reply(stdout=out, stderr=err, exit_code=process.returncode)
    assert obey("PreToolUse", reply, PAYLOAD).does >= Does.BLOCKS
    assert b"did not answer in time" in out + err


@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "hook"])
def test_a_command_that_hangs_ends_when_told(tmp_path: Path, name: str) -> None:
    with hanging(tmp_path, WAYS["waits"], *COMMANDS[name]) as process:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=LIMIT)
    assert process.returncode != 0
