"""Bad input never crashes the command line, never hangs it, and never weakens a verdict.

Every project here denies all tools, so a ``pass`` on a tool is a hole.
"""

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.model.events import EVENTS
from support.cli import Done, Machine

DENY_ALL = """\
version: 1
hooks:
  - {name: nothing goes, on: [pre_tool_use, permission_request], deny: Nothing goes.}
"""
GOOD = {
    "hookline": 1,
    "event": "pre_tool_use",
    "id": "e1",
    "session_id": "s1",
    "cwd": "/",
    "time": "2026-11-15T18:42:31Z",
    "agent": {"name": "root", "depth": 0, "id": None, "parent": None},
    "dialect": "canonical",
    "native_event": "PreToolUse",
    "tool": {"kind": "shell", "name": "Bash", "input": {"command": "ls"}, "command": "ls"},
    "budget": {"used_tokens": 1},
    "raw": {"a": [1, 2, {"b": None}]},
}
STRANGE: tuple[object, ...] = (
    None,
    True,
    -1,
    10**400,
    1.5,
    "",
    "\x00",
    "\x1b[2J",
    "\u202e",
    "x" * 100_000,
    [],
    [[[[]]]],
    {},
    {"kind": "shell"},
)


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


@pytest.fixture
def strict(machine: Machine) -> Machine:
    """A machine whose user lets no tool run."""
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text(DENY_ALL, encoding="utf-8")
    return machine


def quiet(done: Done) -> Done:
    """The same, after a look for what people must never see."""
    for text in (done.out, done.err):
        assert "Traceback" not in text
        assert "\x1b" not in text
        assert "should not have" not in text
    return done


def streamed(machine: Machine, lines: list[bytes]) -> list[dict[str, object]]:
    done = machine.run("fire", "--jsonl", stdin=b"".join(line + b"\n" for line in lines))
    assert done.err == ""
    assert len(done.lines) == len(lines)
    return done.lines


def test_a_field_of_a_strange_type_is_denied_or_judged(strict: Machine) -> None:
    lines = [
        json.dumps({**GOOD, key: value}).encode()
        for key in GOOD
        for value in STRANGE
        if key != "event"
    ]
    for line, shown in zip(lines, streamed(strict, lines), strict=True):
        assert shown["verdict"] == "deny", line[:200]


def test_a_tool_field_of_a_strange_type_is_denied_or_judged(strict: Machine) -> None:
    names = ("kind", "name", "input", "command", "path", "paths", "url", "mcp", "ok", "output")
    lines = [
        json.dumps({"event": event, "tool": {"name": "shell", key: value}}).encode()
        for event in ("pre_tool_use", "permission_request")
        for key in names
        for value in STRANGE
    ]
    for line, shown in zip(lines, streamed(strict, lines), strict=True):
        assert shown["verdict"] == "deny", line[:200]


def test_an_event_that_is_none_is_denied(strict: Machine) -> None:
    lines = [json.dumps({**GOOD, "event": value}).encode() for value in STRANGE]
    for shown in streamed(strict, lines):
        assert (shown["verdict"], "error" in shown) == ("deny", True)


def test_damaged_bytes_are_denied_or_judged(strict: Machine) -> None:
    """A thousand payloads with bytes changed, cut, doubled and dropped."""
    dice = random.Random(20)
    good = json.dumps(GOOD).encode()
    lines: list[bytes] = []
    while len(lines) < 1_000:
        bad = bytearray(good)
        for _ in range(dice.randint(1, 4)):
            at = dice.randrange(len(bad))
            change = dice.choice(("set", "cut", "double", "drop"))
            if change == "set":
                bad[at] = dice.randrange(256)
            elif change == "cut":
                del bad[at + 1 :]
            elif change == "double":
                bad[at:at] = bad[max(0, at - 20) : at]
            else:
                del bad[at : at + dice.randint(1, 20)]
            bad = bad or bytearray(b"{")
        lines.append(bytes(bad).replace(b"\n", b" "))
    for line, shown in zip(lines, streamed(strict, lines), strict=True):
        assert shown["verdict"] == "deny", line


def test_shapes_that_hurt_parsers_are_denied(strict: Machine) -> None:
    deep = b"[" * 50_000 + b"]" * 50_000
    lines = [
        deep,
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b'{"event":"pre_tool_use","raw":' + deep + b"}",
        b'{"event":"pre_tool_use","tool":{"input":{"x":' + deep + b"}}}",
        b'{"event":"pre_tool_use","budget":{"used_tokens":' + b"9" * 100_000 + b"}}",
        b'{"event":"pre_tool_use","budget":{"used_usd":1e999}}',
        b'{"event":"pre_tool_use","budget":{"used_usd":NaN}}',
        b'{"event":"pre_tool_use",' + b'"a":1,' * 100_000 + b'"b":2}',
        b'{"event":"pre_tool_use","tool":{"command":"' + b"a" * 5_000_000 + b'"}}',
        b'{"event":"pre_tool_use","tool":{"command":"' + b"(" * 20_000 + b'"}}',
        b'{"event":"pre_tool_use","tool":{"command":"' + b"$(" * 20_000 + b'"}}',
        b'{"event":"pre_tool_use","tool":{"command":"' + b"a;" * 20_000 + b'"}}',
        b'{"event":"pre_tool_use","tool":{"path":"' + b"../" * 20_000 + b'"}}',
        b'{"event":"pre_tool_use","tool":{"paths":[' + b'"a",' * 20_000 + b'"b"]}}',
        b"\xef\xbb\xbf" + json.dumps(GOOD).encode(),
        json.dumps(GOOD).encode("utf-16"),
        json.dumps(GOOD).encode() * 2,
        b'{"event":"pre_tool_use","event":"session_start"}',
        b'{"event":"session_start","event":"pre_tool_use"}',
    ]
    lines = [line.replace(b"\n", b"") for line in lines]
    for line, shown in zip(lines, streamed(strict, lines), strict=True):
        assert shown["verdict"] == "deny", line[:80]


@pytest.mark.parametrize("event", sorted(EVENTS))
def test_every_event_survives_an_empty_and_a_broken_payload(machine: Machine, event: str) -> None:
    cls = EVENTS[event]
    closes = cls.gate and not cls.continues
    empty = quiet(machine.hook(b"{}", event))
    assert json.loads(empty.out)["verdict"] == "pass"
    broken = quiet(machine.hook(b"{", event))
    assert json.loads(broken.out)["verdict"] == ("deny" if closes else "pass")
    assert broken.err


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def loop(path: Path) -> None:
    path.symlink_to(path)


def directory(path: Path) -> None:
    path.mkdir()


def binary(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 100)


def large(path: Path) -> None:
    path.write_bytes(b"version: 1\n" + b"# " + b"x" * 2_000_000)


def deep(path: Path) -> None:
    path.write_bytes(b"version: 1\nhooks: " + b"[" * 10_000 + b"]" * 10_000)


def bomb(path: Path) -> None:
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    path.write_text("\n".join(lines), encoding="utf-8")


def hostile_names(path: Path) -> None:
    path.write_text(
        'version: 1\nhooks:\n  - {name: "\\e[2Jx", on: "\\e[31mstop", run: "\\0"}\n'
        '"\\u202ekey": 1\n',
        encoding="utf-8",
    )


HOSTILE = (fifo, endless, loop, directory, binary, large, deep, bomb, hostile_names)


@pytest.mark.parametrize("make", HOSTILE, ids=lambda each: each.__name__)
def test_a_hostile_project_file_is_harmless_before_it_is_trusted(
    machine: Machine, make: Callable[[Path], None]
) -> None:
    make(machine.config)
    said = quiet(machine.hook({"event": "pre_tool_use", "tool": {"command": "ls"}}))
    assert json.loads(said.out)["verdict"] == "pass"
    assert "is not trusted" in json.loads(said.out)["notice"][0]
    assert quiet(machine.call("check")).code == 1
    assert quiet(machine.call("list")).code == 0
    assert quiet(machine.call("fire", "stop")).code == 0
    assert quiet(machine.call("fire", "stop", "--edited")).code == 1
    assert quiet(machine.call("list", "--edited")).code == 1
    assert quiet(machine.call("init")).code == 1


@pytest.mark.parametrize("make", HOSTILE, ids=lambda each: each.__name__)
def test_a_hostile_user_file_closes_gates_and_says_why(
    machine: Machine, make: Callable[[Path], None]
) -> None:
    machine.user_file.parent.mkdir(parents=True)
    make(machine.user_file)
    said = quiet(machine.hook({"event": "pre_tool_use", "tool": {"command": "ls"}}))
    assert json.loads(said.out)["verdict"] == "deny"
    assert str(machine.user_file) in json.loads(said.out)["reason"]
    assert quiet(machine.call("check")).code == 1
    assert quiet(machine.call("list")).code == 1


@pytest.mark.parametrize("make", HOSTILE, ids=lambda each: each.__name__)
def test_a_trusted_file_that_turns_hostile_stays_in_force(
    machine: Machine, make: Callable[[Path], None]
) -> None:
    machine.trust(DENY_ALL)
    machine.config.unlink()
    make(machine.config)
    said = quiet(machine.hook({"event": "pre_tool_use", "tool": {"command": "ls"}}))
    assert json.loads(said.out)["reason"].startswith("Nothing goes.")
    assert quiet(machine.call("list")).code == 0


@pytest.mark.parametrize(
    "args",
    [
        ("\x1b[2J",),
        ("fire", "\x1b[2J"),
        ("fire", "pre_tool_use", "--tool", "\x1b[2J", "--command", "\x1b[31mls\u202e"),
        ("fire", "stop", "--config", "\x1b[2J.yaml"),
        ("fire", "stop", "--as", "\x1b[2J"),
        ("fire", "stop", "--session", "\x1b[2J" * 1_000),
        ("fire", "pre_tool_use", "--command", "x" * 100_000),
        ("fire", "pre_tool_use", "--cwd", "/no/such/place"),
        ("fire", "pre_tool_use", "--cwd", "x" * 5_000),
        ("check", "\x1b[2J.yaml"),
        ("check", "/"),
        ("check", "/dev/zero"),
        ("list", "--config", "/"),
        ("list", "--event", "\x1b[2J"),
    ],
    ids=lambda args: " ".join(args)[:40].encode("unicode_escape").decode(),
)
def test_strange_words_end_in_an_answer_or_one_paragraph(
    machine: Machine, args: tuple[str, ...]
) -> None:
    done = quiet(machine.call(*args))
    assert done.code in {0, 1, 2}
    if done.code:
        assert "rror: " in done.out + done.err


def test_strange_environments_end_in_an_answer_or_one_paragraph(strict: Machine) -> None:
    for env in (
        {"HOOKLINE_CONFIG": "/nowhere.yaml"},
        {"HOOKLINE_HOME": "/dev/null"},
        {"HOOKLINE_DEPTH": "x"},
        {"PATH": "", "HOME": "relative"},
        {"COLUMNS": "0"},
    ):
        done = quiet(strict.call("fire", "pre_tool_use", "--command", "ls", "--json", **env))
        assert done.code in {0, 1}
        assert done.json["verdict"] == "deny"
    refused = quiet(strict.call("fire", "pre_tool_use", HOOKLINE_TRUST="\x1b[2J"))
    assert (refused.code, refused.out) == (1, "")
    assert "HOOKLINE_TRUST" in refused.err
