"""What an installed line answers when `hookline status` tests it, and who asks that way.

The test comes where a payload does and is none, so a program that does not know it closes the gate.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

__all__ = ["LINE_TEST", "REPORT_MARK", "HookReport", "LineReport", "count_active", "say_active"]
__all__ += ["say_observing"]

LINE_TEST = b"hookline: test of an installed line"
"""Stands in for a payload; nothing is judged and nothing is written down."""
REPORT_MARK = b"hookline-line-report "
"""Begins the line on stderr that holds the report."""


class HookReport(Struct, frozen=True):
    """One hook as the agent would meet it."""

    name: str
    events: tuple[str, ...]
    flaw: str = ""
    """Why it cannot run; empty when it can."""
    observes: bool = False
    """Whether its answers are recorded and not enforced."""


class LineReport(Struct, frozen=True, kw_only=True):
    """What a line will use: whose state, whose config, which hooks."""

    home: str
    user_file: str
    reads_env: bool = False
    """Whether it believes the variables that it is started with."""
    hooks: tuple[HookReport, ...] = ()
    failure: str = ""
    """Why no config can be loaded."""


def count_active(hooks: Sequence[HookReport], delivered: AbstractSet[str]) -> int:
    """How many hooks can run and count, on an event that the agent delivers."""
    can_count = (hook for hook in hooks if not (hook.flaw or hook.observes))
    return sum(not delivered.isdisjoint(hook.events) for hook in can_count)


def say_observing(hooks: Sequence[HookReport]) -> str:
    """Which hooks enforce nothing; empty when all do."""
    names = [hook.name for hook in hooks if hook.observes]
    verb = "only observes" if len(names) == 1 else "only observe"
    return f"{', '.join(names)} {verb} (`mode: observe`), so nothing is blocked" if names else ""


def say_active(count: int) -> str:
    """The number as every command and every session says it."""
    if count == 0:
        return "0 hooks are active here: nothing is protected"
    return "1 hook is active here" if count == 1 else f"{count} hooks are active here"
