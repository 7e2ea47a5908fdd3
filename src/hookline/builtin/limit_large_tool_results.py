"""Shows the model the end of a large tool result and keeps all of it in a file."""

from collections.abc import Callable

from hookline.builtin._docker_agent import ArgsOptions
from hookline.builtin._spill import Limits, forget, spilled
from hookline.model.answers import PASS, Answer, Rewrite
from hookline.model.events import Event, SessionEnd, ToolEvent
from hookline.model.ports import Caller
from hookline.model.tools import ToolKind

EVENTS: tuple[str, ...] = ("post_tool_use", "tool_response_transform", "session_end")
PRIORITY: int = 10
GUARD: bool = False
EFFECT: str = "output"
ACTS: tuple[str, ...] = EVENTS

_LIMITS = Limits()
# docker-agent's categories: filesystem, shell, mcp and a2a.
_KINDS = {
    *(ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT, ToolKind.DELETE, ToolKind.SEARCH),
    *(ToolKind.SHELL, ToolKind.MCP, ToolKind.AGENT),
}


class Options(ArgsOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """None of its own."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    return _answer


def _answer(event: Event, caller: Caller) -> Answer:
    if isinstance(event, SessionEnd):
        forget(caller, event.session_id)
        return PASS
    if not isinstance(event, ToolEvent) or event.derived_from or event.tool.kind not in _KINDS:
        return PASS  # what a failed tool said cannot be replaced
    shown = spilled(event.tool.output or "", _LIMITS, caller, event.session_id)
    return PASS if shown is None else Answer(rewrite=Rewrite(output=shown))
