"""User code that is type-checked and never run."""

from typing import assert_type

from hookline import (
    Answer,
    Hooks,
    Outcome,
    PreToolUse,
    Tool,
    Verdict,
    allow,
    ask,
    context,
    deny,
    hook,
    rewrite,
    tool,
)

assert_type(deny("no"), Answer)
assert_type(ask("sure?"), Answer)
assert_type(allow(), Answer)
assert_type(context("a", "b"), Answer)
assert_type(rewrite(command="ls"), Answer)
assert_type(tool("shell", command="ls"), Tool)


@hook("pre_tool_use", tool="shell")
def check(event: PreToolUse) -> Answer | None:
    """A marked function keeps its type."""
    return deny("no") if event.tool.command else None


@hook("stop")
async def wait(event: PreToolUse) -> str:
    """So does an asynchronous one."""
    return event.id


assert_type(check(PreToolUse()), Answer | None)


async def fire() -> Outcome:
    """Firing gives an outcome."""
    async with Hooks(check, wait) as hooks:
        outcome = await hooks.fire(PreToolUse())
    assert_type(outcome.verdict, Verdict)
    return outcome
