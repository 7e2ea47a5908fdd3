"""Scripts and hooks as the tests of this folder write them."""

import json
from typing import Any

from hookline.lab.script import Act, Native, Script, Shell, Turn

__all__ = ["command", "commands", "halting", "if_seen", "in_background", "one_by_one", "saying"]


def one_by_one(*acts: Act, prompt: str = "MK_PROMPT") -> Script:
    """A script in which each act has a turn of its own."""
    return Script(prompt=prompt, turns=tuple(Turn(do=(act,)) for act in acts))


def commands(*each: str, prompt: str = "MK_PROMPT") -> Script:
    """The same of shell commands."""
    return one_by_one(*map(Shell, each), prompt=prompt)


def in_background(title: str) -> Script:
    """A command in the background, whose end hooks note in a file, and ``touch last`` after that.

    The client notifies between two tool calls only, so the model makes some before it waits.
    """
    wait = "timeout 20 sh -c 'until test -e {0}; do sleep 0.05; done'; rm -f {0}"
    ends = {"command": "touch ended", "description": title, "mode": "async"}
    some = [Shell("true")] * 4
    waits = (Shell(wait.format("ended")), *some, Shell(wait.format("noted")))
    return one_by_one(Native("bash", ends), *waits, *some[:2], Shell("touch last"))


def command(text: str) -> dict[str, str]:
    """Matches one shell command."""
    return {"tool": "shell", "command": text}


def saying(**answer: Any) -> str:
    """A program that gives this answer."""
    return f"echo '{json.dumps(answer)}'"


def if_seen(word: str, then: str) -> str:
    """A program that does something only when a word is in the event."""
    return f"if grep -q '{word}'; then {then}; fi"


def halting(reason: str) -> str:
    """A program that halts."""
    return saying(verdict="halt", reason=reason)
