"""The path of one event through our own code, as a tree of calls: who called whom, with what.

Knows frames and files of this package; must not know what any of them means. Only the thread that
asks is watched.
"""

import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from inspect import CO_OPTIMIZED
from pathlib import Path
from time import perf_counter_ns
from types import CodeType, FrameType
from typing import Any, TypeVar

from hookline.model.answers import Answer, Verdict
from hookline.model.events import Event, ToolEvent
from hookline.model.hook import Hook
from hookline.model.outcome import Outcome, Reply, Run, Translated
from hookline.model.ports import Call
from hookline.model.text import visible

__all__ = ["Step", "every_step", "glance", "is_stage", "stages", "watch"]

T = TypeVar("T")

_PACKAGE = Path(__file__).resolve().parents[1]
# Bodies of modules and of comprehensions are no steps of an event.
_NO_STEPS = frozenset(
    {"<module>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>", "<lambda>"}
)

# What is done before the event is looked at, and what tidies up after it.
_SET_UP = frozenset({"App.__init__", "_find_hooks", "App.engine_for", "App.aclose"})


class Step:
    """One call of a function of ours."""

    __slots__ = (
        "came_out",
        "ended",
        "file",
        "inner",
        "line",
        "name",
        "started",
        "went_in",
    )

    def __init__(self, code: CodeType, file: str, went_in: str) -> None:
        self.file = file
        self.line = code.co_firstlineno
        self.name = code.co_qualname
        self.went_in = went_in
        self.came_out = ""
        self.inner: list[Step] = []
        self.started = perf_counter_ns()
        self.ended = self.started

    @property
    def ms(self) -> float:
        """From its first instruction to its last, with all it waited for."""
        return (self.ended - self.started) / 1e6


class _Watcher:
    def __init__(self) -> None:
        self.roots: list[Step] = []
        self._current: ContextVar[Step | None] = ContextVar("step", default=None)
        # The frame is kept with its step: a coroutine's comes back, and no other may take its id.
        self._known: dict[int, tuple[FrameType, Step, Step | None]] = {}
        self._files: dict[str, str | None] = {}

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        if event == "call":
            self._enter(frame)
        elif event == "return":
            self._leave(frame, arg)

    def _enter(self, frame: FrameType) -> None:
        known = self._known.get(id(frame))
        if known is not None:
            # A task has a copy of the context it was made in, so its steps find their parent.
            self._current.set(known[1])
            return
        code = frame.f_code
        file = self._file(code)
        if file is None or code.co_name in _NO_STEPS or not code.co_flags & CO_OPTIMIZED:
            return
        parent = self._current.get()
        step = Step(code, file, _arguments(frame))
        (self.roots if parent is None else parent.inner).append(step)
        self._known[id(frame)] = frame, step, parent
        self._current.set(step)

    def _leave(self, frame: FrameType, arg: object) -> None:
        known = self._known.get(id(frame))
        if known is None:
            return
        _, step, parent = known
        step.ended = perf_counter_ns()
        # A coroutine that waits leaves, too; what it leaves with last is what came out.
        step.came_out = glance(arg)
        self._current.set(parent)

    def _file(self, code: CodeType) -> str | None:
        """The file below the package; None for any other."""
        name = code.co_filename
        if name not in self._files:
            path = Path(name)
            inside = path.is_relative_to(_PACKAGE) and path.parent != _PACKAGE / "explaining"
            self._files[name] = str(path.relative_to(_PACKAGE)) if inside else None
        return self._files[name]


def _arguments(frame: FrameType) -> str:
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    shown = (glance(frame.f_locals.get(name)) for name in names if name not in {"self", "cls"})
    return ", ".join(filter(None, shown))


def watch(run: Callable[[], T]) -> tuple[T | BaseException, list[Step]]:
    """What came of ``run``, an exception included, and all its steps."""
    watcher = _Watcher()
    result: Any
    before = sys.getprofile()
    sys.setprofile(watcher)
    try:
        result = run()
    except BaseException as error:
        result = error
    finally:
        sys.setprofile(before)
    return result, watcher.roots


def is_stage(file: str) -> bool:
    """Whether a file is one of those in which an event is followed."""
    path = Path(file)
    if path.name.startswith("_"):
        return False
    match path.parts:
        case ("cli", "hook.py" | "fire.py") | ("engine", "engine.py" | "merge.py"):
            return True
        case ("pipeline", "answer.py" | "judge.py"):
            return True
        case ("dialects", _, "codec.py") | ("handlers", _):
            return True
        case _:
            return False


def every_step(steps: list[Step], depth: int = 0) -> Iterator[tuple[int, Step]]:
    """All steps, each with its depth."""
    for step in steps:
        yield depth, step
        yield from every_step(step.inner, depth + 1)


def stages(steps: list[Step], depth: int = 0) -> Iterator[tuple[int, Step]]:
    """The steps in those files, but for those that nothing of the event comes out of."""
    for step in steps:
        if step.file == "app.py" and step.name in _SET_UP:
            yield depth, step  # one line, whatever files had to be read
            continue
        inner = list(stages(step.inner, depth + 1))
        if is_stage(step.file) and (step.came_out or inner):
            yield depth, step
            yield from inner
        else:
            yield from ((deep - 1, each) for deep, each in inner)


_LONGEST = 70


def glance(value: object) -> str:
    """The value in a line; empty for what would tell nobody anything.

    Only nouns of the model are shown, and texts: an environment or a secret in other hands is not.
    """
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
