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

    It ends only once the model was told that it runs: of one that ends at once nobody is notified.
    """
    wait = "timeout 100 sh -c 'until test -e {}; do sleep 0.05; done'"
    ends = {"command": wait.format("go"), "description": title, "mode": "async"}
    noted = f"touch go; {wait.format('noted')}; rm go noted"
    waits = {"command": noted, "description": "Wait", "initial_wait": 120}
    calls = (Native("bash", ends), Native("bash", waits))
    return one_by_one(*calls, Shell("true"), Shell("true"), Shell("touch last"))


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
