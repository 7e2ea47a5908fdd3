"""A value of ours in a few words, for somebody who watches it pass by.

Only nouns of the model are shown, and texts: an environment or a secret in other hands is not.
"""

from hookline.model.answers import Answer
from hookline.model.events import Event, ToolEvent
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome, Reply, Run, Translated
from hookline.model.ports import Call
from hookline.model.text import visible
from hookline.model.verdicts import Verdict

__all__ = ["glance"]

_LONGEST = 70


def glance(value: object) -> str:
    """The value in a line; empty for what would tell nobody anything."""
    match value:
        case Outcome():
            return f"Outcome {_verdict(value.answer)} of {len(value.runs)} runs"
        case Answer():
            return f"Answer {_verdict(value)}"
        case Run():
            return f"Run of `{value.hook.name}`: {_verdict(value.answer)}"
        case Reply():
            said = value.stdout or value.stderr
            return (
                f"Reply exit {value.exit_code} {_brief(said.decode('utf-8', 'replace'))}".rstrip()
            )
        case Translated():
            return f"Translated {_verdict(value.answer)}"
        case Call():
            return f"Call of `{value.hook.name}`"
        case Hook():
            return f"Hook `{value.name}`"
        case Event():
            return _event(value)
        case Verdict():
            return value.value
        case bytes():
            return f"{len(value)} bytes {_brief(value.decode('utf-8', 'replace'))}".rstrip()
        case list() | tuple() if value and all(map(glance, value)):
            return _several([glance(each) for each in value])
        case _:
            return ""


def _event(event: Event) -> str:
    about = ""
    if isinstance(event, ToolEvent):
        tool = event.tool
        about = f"{tool.name} {tool.command or tool.path or tool.url or ''}".rstrip()
    return f"{type(event).__name__} {_brief(about)}".rstrip()


def _verdict(answer: Answer) -> str:
    words = [answer.verdict.value]
    words += (name for name in ("context", "notice", "follow_up") if getattr(answer, name))
    words += (f"rewrite.{part}" for part in answer.rewrite.parts())
    return " + ".join(words)


def _several(shown: list[str]) -> str:
    return shown[0] if len(shown) == 1 else f"{shown[0]} and {len(shown) - 1} more"


def _brief(text: str) -> str:
    line = " ".join(visible(text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
