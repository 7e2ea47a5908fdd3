"""Programs for the hooks of these tests, and scripts for what they judge."""

import json
from typing import Any

from hookline.lab.script import Script, Shell, Turn

__all__ = ["command", "commands", "halt", "notice", "saying", "when"]


def command(text: str) -> dict[str, str]:
    """Matches a shell command."""
    return {"tool": "shell", "command": text}


def saying(**answer: Any) -> str:
    """A program that answers with this."""
    return f"echo '{json.dumps(answer)}'"


def notice(text: str) -> str:
    """A program that has something to say to the person."""
    return saying(notice=[text])


def halt(reason: str) -> str:
    """A program that ends the run."""
    return saying(verdict="halt", reason=reason)


def when(word: str, then: str) -> str:
    """A program that does something if the word is in the event."""
    return f"grep -q {word} && {{ {then}; }} || true"


def commands(*each: str, prompt: str = "MK_PROMPT") -> Script:
    """A model that runs these commands one after another."""
    return Script(prompt=prompt, turns=tuple(Turn(do=(Shell(one),)) for one in each))
