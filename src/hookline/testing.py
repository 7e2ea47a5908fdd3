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
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from typing import Any, TypeVar

from hookline import registry
from hookline.app import App
from hookline.library import Hooks
from hookline.model.answers import Answer, Verdict
from hookline.model.errors import HooklineError
from hookline.model.events import Event, PostToolUse, PreToolUse, Stop, UserPromptSubmit
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.outcome import Outcome
from hookline.model.ports import Call, Caller, Match
from hookline.model.tools import tool
from hookline.pipeline.judge import judge

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

T = TypeVar("T")


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
        config = Path(hooks).resolve()
        if isinstance(hooks, str) and "\n" in hooks:
            config = Path(scratch, "hookline.yaml")
            config.write_text(hooks, encoding="utf-8")
        app = _app(scratch, env, cwd=event.cwd or str(config.parent), config=str(config))

        async def work() -> Outcome:
            try:
                return await judge(event, app)
            finally:
                await app.aclose()

        return _run(work)


def _app(
    scratch: str, env: Mapping[str, str] | None, *, cwd: str, config: str | None = None
) -> App:
    """hookline on a machine that has nothing else: no other config, no trust, no agent around."""
    nowhere = {"XDG_CONFIG_HOME": scratch, "XDG_STATE_HOME": scratch, "HOOKLINE_DEPTH": "0"}
    return App(
        env={**(os.environ if env is None else env), **nowhere},
        cwd=cwd,
        home=scratch,
        config=config,
        managed=os.path.join(scratch, "managed.yaml"),
    )


def _run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    raise HooklineError("an event loop is running here: call this from a test that is not async")


def run_script(
    script: str | os.PathLike[str],
    event: Event,
    *,
    speaks: str = "canonical",
    timeout: float = 30,
    env: Mapping[str, str] | None = None,
) -> Answer:
    """What a hook program answers to ``event``, run the way hookline runs it.

    Raises HandlerError when the program fails as a hook.
    """
    path = Path(script).resolve()
    hook = Hook(
        name=path.name,
        events=(event.event_id(),),
        handler=HandlerSpec("command", {"run": [str(path)]}),
        timeout=timeout,
        guard=event.gate,
        project_dir=str(path.parent),
        speaks=speaks,
    )
    with tempfile.TemporaryDirectory(prefix="hookline-test-") as scratch:
        app = _app(scratch, env, cwd=str(path.parent))
        handler = registry.handlers()["command"].make(hook, app.kit.services)
        assert not handler.instant
        caller = Caller(env=app.env, project_dir=hook.project_dir)
        call = Call(event, hook, caller, Match(), timeout)
        said = _run(lambda: handler.run(call))
        assert isinstance(said, Answer)  # as programs answer
        return said


def _assert(outcome: Outcome, verdict: Verdict, reason: str | None) -> None:
    if outcome.verdict is not verdict:
        found = f"{outcome.verdict.value} ({outcome.reason or 'no reason'})"
        failures = _failures(outcome)
        extra = f"; failed: {failures}" if failures else ""
        raise AssertionError(f"expected {verdict.value}, got {found}{extra}")
    if reason is not None and not re.search(reason, outcome.reason):
        raise AssertionError(f"no `{reason}` in the reason: {outcome.reason or 'there is none'}")


def _failures(outcome: Outcome) -> str:
    return "; ".join(f"{run.hook.name}: {run.failed}" for run in outcome.runs if run.failed)


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
    if failures := _failures(outcome):
        raise AssertionError(f"a hook failed: {failures}")


def assert_continued(outcome: Outcome, text: str | None = None) -> None:
    """The agent goes on working, and ``text`` is found in what it is told."""
    said = "\n".join(outcome.answer.follow_up)
    if not said:
        raise AssertionError(f"the agent may stop: {outcome.verdict.value}")
    if text is not None and not re.search(text, said):
        raise AssertionError(f"no `{text}` in: {said}")
