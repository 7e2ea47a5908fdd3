"""For people who write hooks: fire events at a hook in a test, and say what you expect of it.

    from hookline.testing import assert_denied, fire, shell

    def test_force_push_is_denied():
        assert_denied(fire(no_force_push, shell("git push -f")), "force")

``fire`` takes functions marked with ``@hook``, the text of a config, or the path of one.
"""

import asyncio
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hookline import registry
from hookline.library import Hooks
from hookline.model.answers import Answer
from hookline.model.events import Event, PostToolUse, PreToolUse, Stop, UserPromptSubmit
from hookline.model.outcome import Outcome
from hookline.model.tools import tool
from hookline.model.verdicts import Verdict

__all__ = [
    "assert_allowed",
    "assert_asked",
    "assert_continued",
    "assert_denied",
    "assert_passed",
    "edit",
    "fire",
    "prompt",
    "read",
    "run_script",
    "shell",
    "stop",
    "tool_result",
    "write",
]


def shell(command: str, **fields: Any) -> PreToolUse:
    """A shell command about to run."""
    return PreToolUse(tool=tool("shell", command=command), **fields)


def read(path: str, **fields: Any) -> PreToolUse:
    """A file about to be read."""
    return PreToolUse(tool=tool("read", path=path), **fields)


def write(path: str, content: str = "", **fields: Any) -> PreToolUse:
    """A file about to be written."""
    return PreToolUse(tool=tool("write", path=path, content=content), **fields)


def edit(path: str, old: str = "", new: str = "", **fields: Any) -> PreToolUse:
    """A file about to be edited."""
    return PreToolUse(tool=tool("edit", path=path, old=old, new=new), **fields)


def tool_result(name: str, output: str, *, ok: bool = True, **input: Any) -> PostToolUse:
    """A tool that has run."""
    from msgspec.structs import replace

    return PostToolUse(tool=replace(tool(name, **input), output=output, ok=ok))


def prompt(text: str, **fields: Any) -> UserPromptSubmit:
    """A person's prompt."""
    return UserPromptSubmit(prompt=text, **fields)


def stop(last_message: str = "", **fields: Any) -> Stop:
    """An agent that wants to stop."""
    return Stop(last_message=last_message, **fields)


def fire(
    hooks: Callable[..., Any] | str | os.PathLike[str],
    event: Event,
    *,
    env: Mapping[str, str] | None = None,
) -> Outcome:
    """The outcome of ``event`` under one function, config text or config file, and nothing else.

    Neither the machine's own hooks nor its trust store play a part.
    """
    if callable(hooks):
        with Hooks(hooks, env=env) as loaded:
            return loaded.fire_sync(event)
    with tempfile.TemporaryDirectory(prefix="hookline-test-") as scratch:
        config = Path(hooks)
        if isinstance(hooks, str) and "\n" in hooks:
            config = Path(scratch, "hookline.yaml")
            config.write_text(hooks, encoding="utf-8")
        return _fire_config(config, event, scratch, env)


def _fire_config(
    config: Path, event: Event, scratch: str, env: Mapping[str, str] | None
) -> Outcome:
    from hookline.app import App

    base = dict(os.environ if env is None else env)
    config = config.resolve()
    app = App(
        env={**base, "XDG_CONFIG_HOME": scratch, "XDG_STATE_HOME": scratch},
        cwd=event.cwd or str(config.parent),
        home=scratch,
        config=str(config),
        managed=os.path.join(scratch, "managed.yaml"),
    )

    async def run() -> Outcome:
        try:
            return await app.fire(event)
        finally:
            await app.aclose()

    return asyncio.run(run())


def run_script(
    script: str | os.PathLike[str], event: Event, *, speaks: str = "canonical", timeout: float = 30
) -> Answer:
    """What a hook program answers to ``event``, run the way hookline runs it."""
    from hookline.processes import run

    codec = registry.dialect(speaks)
    path = Path(script).resolve()
    finished = asyncio.run(
        run(
            [str(path)],
            stdin=codec.stdin(event),
            cwd=str(path.parent),
            env=dict(os.environ),
            timeout=timeout,
        )
    )
    return codec.read_answer(
        event,
        stdout=finished.stdout,
        stderr=finished.stderr,
        exit_code=-1 if finished.exit_code is None else finished.exit_code,
    )


def _assert(outcome: Outcome, verdict: Verdict, reason: str | None) -> None:
    found = f"{outcome.verdict.value} ({outcome.reason or 'no reason'})"
    failures = [f"{run.hook.name}: {run.failed}" for run in outcome.runs if run.failed]
    extra = f"; failed: {'; '.join(failures)}" if failures else ""
    assert outcome.verdict is verdict, f"expected {verdict.value}, got {found}{extra}"
    if reason is not None:
        assert re.search(reason, outcome.reason), f"no `{reason}` in the reason: {outcome.reason}"


def assert_denied(outcome: Outcome, reason: str | None = None) -> None:
    """The verdict is deny, and ``reason`` (a regular expression) is found in the reason."""
    _assert(outcome, Verdict.DENY, reason)


def assert_asked(outcome: Outcome, reason: str | None = None) -> None:
    """The verdict is ask."""
    _assert(outcome, Verdict.ASK, reason)


def assert_allowed(outcome: Outcome, reason: str | None = None) -> None:
    """The verdict is allow."""
    _assert(outcome, Verdict.ALLOW, reason)


def assert_passed(outcome: Outcome) -> None:
    """No hook objected, and none failed."""
    _assert(outcome, Verdict.PASS, None)
    failures = [f"{run.hook.name}: {run.failed}" for run in outcome.runs if run.failed]
    assert not failures, f"a hook failed: {'; '.join(failures)}"


def assert_continued(outcome: Outcome, text: str | None = None) -> None:
    """The agent goes on working, and ``text`` is found in what it is told."""
    assert outcome.answer.follow_up, f"the agent may stop: {outcome.verdict.value}"
    said = "\n".join(outcome.answer.follow_up)
    assert text is None or re.search(text, said), f"no `{text}` in: {said}"
