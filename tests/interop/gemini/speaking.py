"""Gemini CLI before a person at a terminal, who is asked and answers with keys."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from hookline.lab.clients.gemini import Gemini
from hookline.lab.ports import Dialogue, Launch, Room, Wish
from hookline.lab.script import Script

__all__ = ["NO", "YES", "Seated", "answering"]

YES = b"\r"
"""The key that says yes to a question: its first answer is chosen already."""
NO = b"\x1b"
"""The key that says no to a question, and ends the turn with it."""

# Ctrl-C twice: it ends from wherever it is, and no command has to be typed.
_LEAVE = b"\x03\x03"


class Seated(Gemini):
    """The client as people use it, with one of them in front of it."""

    def __init__(self, talk: Callable[[Dialogue], None]) -> None:
        self._talk = talk

    def launch(
        self, room: Room, url: str, program: Sequence[str], script: Script, wish: Wish
    ) -> Launch:
        """As ever, but it stays after the first prompt."""
        made = super().launch(room, url, program, script, wish)
        *options, prompt = made.argv
        return replace(
            made,
            argv=(*options, prompt.replace("--prompt=", "--prompt-interactive=", 1)),
            env={**made.env, "TERM": "xterm-256color"},
            terminal=True,
            talk=self._talk,
        )


def answering(
    key: bytes, then: bytes, *, after: bytes = b"", leaving: Callable[[], object] = lambda: None
) -> Callable[[Dialogue], None]:
    """A person who answers one question about a tool with a key, and leaves when they see ``then``.

    They wait for ``after`` before they read the question, and for ``leaving`` before they leave.
    What they see are single words: between words the client may move the cursor instead of drawing.
    """

    def talk(client: Dialogue) -> None:
        if after:
            client.read_until(after)
        client.read_until(b"suggest")  # in the last of the answers: from here on keys count
        client.write(key)
        client.read_until(then)
        leaving()
        client.write(_LEAVE)

    return talk
