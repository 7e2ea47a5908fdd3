"""Claude Code before a person at a terminal: what only they see, and what they are asked."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

from hookline.lab.clients.claude_code import NO, YES, ClaudeCode, answering
from hookline.lab.ports import Dialogue, Program, Session
from hookline.lab.script import Script, Shell, Turn
from interop.arena import Arena, arena, config, conversation, rule, witness

pytestmark = [pytest.mark.interop, pytest.mark.timeout(300)]

LEAVE = b"\x03\x03"
DOWN = b"\x1b[B"
POINTER = "❯".encode()
PATIENCE = 60.0


def saying(answer: str) -> str:
    return f"echo '{answer}'"


HOOKS = config(
    witness("session_start", "permission_request", "notification", "cwd_changed", "directory_added"),
    rule("ask", "pre_tool_use", match={"tool": "shell", "command": "touch asked*"}, ask="MK_ASKED"),
    rule("welcome", "session_start", run=saying('{"notice": ["MK_WELCOME"]}')),
    rule("moved", "cwd_changed", run=saying('{"notice": ["MK_MOVED"]}')),
)  # fmt: skip
PROJECT = config(rule("theirs", "pre_tool_use", match={"command": "x"}, deny="MK_THEIRS"))


@contextmanager
def seated(
    claude: Program, talk: Callable[[Arena, Dialogue], None], hooks: str = HOOKS
) -> Iterator[Arena]:
    """A person at the client's terminal, who can see what hooks saw."""
    made: list[Arena] = []
    client = ClaudeCode(talk=lambda dialogue: talk(made[0], dialogue))
    with arena(client, claude, config=hooks) as place:
        made.append(place)
        yield place


def until(place: Arena, native: str) -> None:
    """Waits until hooks were shown an event."""
    deadline = monotonic() + PATIENCE
    while native not in place.natives():
        assert monotonic() < deadline, f"no {native} came: {place.natives()}"
        sleep(0.05)


def read(dialogue: Dialogue, *words: bytes) -> None:
    """Sits at the terminal until each of these was on the screen, in whatever order."""
    said = b""
    for word in words:
        if word not in said:
            said += dialogue.read_until(word)


def script(*commands: str) -> Script:
    turns = tuple(Turn(do=(Shell(each),)) for each in commands)
    return Script(prompt="MK_PROMPT", turns=(*turns, Turn("MK_END")))


# ── a question ──


@pytest.fixture(scope="module")
def agreed(claude: Program) -> Iterator[tuple[Arena, Session]]:
    with arena(ClaudeCode(talk=answering(YES, b"MK_END")), claude, config=HOOKS) as place:
        yield place, place.play(script("touch plain", "touch asked-and-agreed"))


@pytest.mark.proves("claude-code", "PreToolUse.ask")
def test_the_person_is_asked_why_and_what_they_agree_to_runs(
    agreed: tuple[Arena, Session],
) -> None:
    place, played = agreed
    assert place.ran("plain")
    assert b"MK_ASKED" in played.stdout
    assert place.ran("asked-and-agreed")
    assert "PermissionRequest" in place.natives()


@pytest.mark.proves("claude-code", "PreToolUse.ask", "Notification.fires")
def test_what_the_person_does_not_agree_to_does_not_run(claude: Program) -> None:
    def talk(place: Arena, dialogue: Dialogue) -> None:
        dialogue.read_until(b"proceed?")
        dialogue.read_until(b"cancel")
        until(place, "Notification")  # which the client sends to a person who takes their time
        dialogue.write(NO)
        dialogue.read_until(b"nterrupted")
        dialogue.write(LEAVE)

    with seated(claude, talk) as place:
        played = place.play(script("touch plain", "touch asked-and-refused"))
        assert place.ran("plain")
        assert b"MK_ASKED" in played.stdout
        assert not place.ran("asked-and-refused")
        told = [each for each in place.witnessed() if each["native_event"] == "Notification"]
        assert told[0]["kind"] == "permission_prompt"


# ── notices, while nobody is asked anything: under a question a notice may never be drawn ──


@pytest.fixture(scope="module")
def told(claude: Program) -> Iterator[Session]:
    def talk(place: Arena, dialogue: Dialogue) -> None:
        # Drawn when the hook has answered, which is no sooner than the model has.
        read(dialogue, b"MK_WELCOME", b"MK_MOVED", b"MK_END")
        dialogue.write(LEAVE)

    with seated(claude, talk) as place:
        yield place.play(script("mkdir inner && cd inner"))


@pytest.mark.proves("claude-code", "SessionStart.notice")
def test_a_notice_at_the_start_is_on_the_screen(told: Session) -> None:
    assert b"MK_WELCOME" in told.stdout
    assert "MK_WELCOME" not in told.sent


@pytest.mark.proves("claude-code", "CwdChanged.notice")
def test_a_notice_at_another_directory_is_on_the_screen(told: Session) -> None:
    assert b"MK_MOVED" in told.stdout
    assert "MK_MOVED" not in told.sent


@pytest.mark.proves("claude-code", "untrusted.notice")
def test_that_a_projects_hooks_are_not_trusted_is_on_the_screen(claude: Program) -> None:
    def talk(place: Arena, dialogue: Dialogue) -> None:
        read(dialogue, b"hookline.yaml", b"trusted", b"MK_END")
        dialogue.write(LEAVE)

    with seated(claude, talk) as place:
        place.write_project_config(PROJECT)
        played = place.play(script("touch plain"))
        assert place.ran("plain")
        assert b"hookline.yaml" in played.stdout
        assert b"trusted" in played.stdout


# ── directories and trust ──


@pytest.mark.proves("claude-code", "DirectoryAdded.fires")
def test_a_directory_that_the_person_adds_is_seen(claude: Program) -> None:
    def talk(place: Arena, dialogue: Dialogue) -> None:
        dialogue.read_until(b"MK_END")
        dialogue.write(f"/add-dir {place.room.home}".encode())
        dialogue.write(b"\r")
        # Whether it is trusted: no is the first answer, and chosen as soon as there is a pointer.
        for text in (b"trust", b"cancel", POINTER):
            dialogue.read_until(text)
        dialogue.write(DOWN)
        dialogue.read_until(POINTER)
        dialogue.write(YES)
        # For how long it is added: yes is the first answer.
        for text in (b"workspace", b"cancel"):
            dialogue.read_until(text)
        dialogue.write(YES)
        until(place, "DirectoryAdded")
        dialogue.write(LEAVE)

    with seated(claude, talk) as place:
        place.play(script("touch plain"))
        (added,) = [each for each in place.witnessed() if each["native_event"] == "DirectoryAdded"]
        assert added["path"] == place.room.home


@pytest.mark.proves("claude-code", "untrusted.client")
def test_in_a_project_that_the_client_does_not_trust_nothing_happens_before_the_person_agrees(
    claude: Program,
) -> None:
    def talk(place: Arena, dialogue: Dialogue) -> None:
        dialogue.read_until(b"trust")
        dialogue.read_until(b"cancel")
        dialogue.write(LEAVE)

    with seated(claude, talk) as place:
        known = Path(place.room.home, ".claude.json")
        settings = json.loads(known.read_text())
        known.write_text(json.dumps({**settings, "projects": {}}))
        played = place.play(script("touch plain"))
        assert place.natives() == []
        assert conversation(played) == []
        assert not place.ran("plain")
