"""Stops an agent after a number of model calls.

docker-agent numbers its model calls. On other platforms those since the person's last prompt are
counted, and where a platform tells of no model calls, the tool calls.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Annotated

from msgspec import Meta, Struct

from hookline.builtin._docker_agent import positive
from hookline.files import append_regular, text_of
from hookline.model.answers import PASS, Answer, deny, halt
from hookline.model.events import BeforeLlmCall, Event, PreToolUse, SessionEnd
from hookline.model.memory import is_persons_prompt
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("before_llm_call", "pre_tool_use", "user_prompt_submit", "session_end")
PRIORITY: int = 20
GUARD: bool = True
ACTS: tuple[str, ...] = EVENTS
_LARGEST = 8 << 20


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How many model calls."""

    limit: Annotated[int, Meta(ge=1)] | None = None
    args: tuple[str, ...] | None = None
    """docker-agent's spelling; there, a missing or senseless number means no limit."""

    def __post_init__(self) -> None:
        if self.limit is None and self.args is None:
            raise ValueError("`limit` is missing: after how many model calls to stop")


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    limit = options.limit or positive(options.args or ())

    def answer(event: Event, caller: Caller) -> Answer:
        counted = _count(event, caller) if limit is not None else 0
        number = getattr(event, "iteration", None)
        if limit is None or (counted if number is None else number) <= limit:
            return PASS
        what = "tool" if isinstance(event, PreToolUse) else "model"
        reason = f"terminated by max_iterations: the limit of {limit} {what} calls is reached"
        return halt(reason) if number is None else deny(reason)

    return answer


def _count(event: Event, caller: Caller) -> int:
    """How many calls of this agent there were since the prompt, with this one; 0 for no call.

    Each is a line of a file, so that no two processes count one call twice.
    """
    if not (event.session_id and caller.home):
        return 0
    name = sha256(event.session_id.encode("utf-8", "surrogatepass")).hexdigest()
    path = os.path.join(caller.home, "model-calls", name)
    if is_persons_prompt(event) or isinstance(event, SessionEnd):
        with suppress(OSError):
            os.unlink(path)
    if not isinstance(event, BeforeLlmCall | PreToolUse):
        return 0
    is_tool = isinstance(event, PreToolUse)
    # Platforms that tell of model calls tell of them before the tools.
    if is_tool and any(line.startswith("model ") for line in _read(path)):
        return 0
    call = (event.tool.call_id if isinstance(event, PreToolUse) else "") or event.id
    start = f"{'tool' if is_tool else 'model'} {event.agent.name!a} "
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    append_regular(path, f"{start}{call!a}\n")
    return len({line for line in _read(path) if line.startswith(start)})


def _read(path: str) -> list[str]:
    return text_of(path, _LARGEST).splitlines()
