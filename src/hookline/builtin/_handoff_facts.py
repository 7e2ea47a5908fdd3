"""What one event tells of its session's work: todos, plan, files, failures, what is stated."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import takewhile
from typing import Any, Literal

from hookline.model.events import (
    Event,
    PostToolUse,
    PostToolUseFailure,
    Stop,
    StopFailure,
    TaskCompleted,
    TaskCreated,
    ToolEvent,
)
from hookline.model.ports import Caller
from hookline.model.text import visible
from hookline.model.tools import Tool, ToolKind
from hookline.model.usage import TranscriptEnd
from hookline.secrets import Scope, redact
from hookline.store.handoff_text import rank_file
from hookline.store.handoffs import Failure, FileUse, Handoff, Todo

__all__ = ["clean", "learn", "learn_from_transcript", "read_statements"]

# As much as is read of a text, and as is kept of it, in characters.
_READ = 32_768
_LINE = 8_192
_KEPT = 300
_PLAN = 2_000
_TODOS = 50
_FILES = 60
_FAILURES = 10
_STATED = 5
_ERROR_LINES = 3

_WRITES = frozenset({ToolKind.WRITE, ToolKind.EDIT, ToolKind.DELETE})
# What these kinds of tools say when they fail is no problem of the work.
_NO_WORK = frozenset({ToolKind.ASK, ToolKind.PLAN, ToolKind.TASK})

# Platforms name the same things differently.
_LISTS = ("todos", "plan", "todoList", "todo_list", "items", "tasks", "descriptions")
_TEXTS = ("content", "step", "subject", "title", "description", "text", "task", "name")
_IDS = ("id", "taskId", "task_id")
_DONE = frozenset({"completed", "complete", "done", "finished", "cancelled", "canceled", "deleted"})
_ACTIVE = frozenset({"in_progress", "in-progress", "inprogress", "active", "doing", "started"})
_CHECKBOX = re.compile(r"[-*+] \[([ xX~>/-])\] (\S.*)")

_MARK = re.compile(
    r"(?i)(next steps?|blockers?|blocked (?:by|on)|decisions?|decided|issue)[*_`]*\s*:[*_`]*\s*(.*)"
)
_ITEM = re.compile(r"(?:[-*+•>]|\d{1,3}[.)])\s+(.*)")
_NOTHING = frozenset({"", "none", "n/a", "na", "nothing", "no", "-", "done"})

Statement = Literal["next_steps", "blockers", "decisions", "issue"]


def clean(text: str, limit: int = _KEPT) -> str:
    """A text as one line that may be kept: without secrets, nothing hidden, not long."""
    if len(text) > _LINE:
        text = text[:_LINE].rsplit(None, 1)[0]  # no half of a secret, which nobody would know
    shown = visible(" ".join(redact(text, scope=Scope.LIKELY).text.split()))
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def learn(handoff: Handoff, event: Event, caller: Caller) -> None:
    """Adds what an event tells."""
    if isinstance(event, ToolEvent):
        _learn_call(handoff, event, caller)
    if event.agent.depth:
        return  # what a sub-agent plans and states is its own
    match event:
        case TaskCreated():
            _add_todo(handoff.todos, Todo(clean(event.task.subject), id=clean(event.task.id)))
        case TaskCompleted():
            _update_todo(handoff.todos, event.task.id, "done")
        case Stop() | StopFailure() if event.last_message:
            _take_statements(handoff, event.last_message, isinstance(event, Stop))


def learn_from_transcript(handoff: Handoff, end: TranscriptEnd) -> None:
    """Adds what the end of a transcript tells and no event did."""
    if end.todos and (handoff.read_todos or not handoff.todos):
        todos = [Todo(clean(each.text), _read_status(each.status)) for each in end.todos[:_TODOS]]
        handoff.todos, handoff.read_todos = [each for each in todos if each.text], True
    turn = takewhile(lambda said: said.role == "assistant", reversed(end.messages))
    for said in reversed(list(turn)):
        _take_statements(handoff, said.text, finished=False)


# ── tools ──


def _learn_call(handoff: Handoff, event: ToolEvent, caller: Caller) -> None:
    tool = event.tool
    failed = isinstance(event, PostToolUseFailure) or tool.ok is False
    key = _name_call(tool)
    if failed:
        interrupted = isinstance(event, PostToolUseFailure) and event.interrupted
        if not interrupted and tool.kind not in _NO_WORK and not event.agent.depth:
            said = event.error if isinstance(event, PostToolUseFailure) else ""
            _add_failure(handoff.failures, key, tool, said or tool.output or "")
        return
    if not isinstance(event, PostToolUse):
        return
    handoff.failures.pop(key, None)
    if tool.kind in _WRITES or tool.kind is ToolKind.READ:
        root = caller.project_dir or event.cwd
        for path in tool.paths[:_FILES]:
            _count_file(handoff.files, _shorten(path, event.cwd, root), tool.kind in _WRITES)
    elif tool.kind in (ToolKind.TASK, ToolKind.PLAN) and not event.agent.depth:
        _learn_plan(handoff, tool)


def _name_call(tool: Tool) -> str:
    said = tool.command or tool.path or tool.url or tool.query or ""
    words = f"{tool.name if tool.command is None else ''} {' '.join(said.split())}"
    return sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _add_failure(failures: dict[str, Failure], key: str, tool: Tool, said: str) -> None:
    known = failures.pop(key, None)
    what = tool.command or f"{tool.name} {tool.path or tool.url or tool.query or ''}"
    if len(said) > _READ:
        said = said[-_READ:]
        said = said.partition("\n")[2] or said.partition(" ")[2]
    # The last lines say what went wrong.
    lines = [line for line in said.splitlines() if line.strip()]
    error = clean("\n".join(lines[-_ERROR_LINES:]))
    failures[key] = Failure(clean(what, 160), error, known.count + 1 if known else 1)
    while len(failures) > _FAILURES:
        del failures[next(iter(failures))]


def _count_file(files: dict[str, FileUse], path: str, wrote: bool) -> None:
    use = files.setdefault(path, FileUse())
    if wrote:
        use.writes += 1
    else:
        use.reads += 1
    while len(files) > _FILES:
        others = (each for each in files if each != path)
        del files[min(others, key=lambda name: rank_file(files[name]))]


def _shorten(path: str, cwd: str, root: str) -> str:
    whole = os.path.normpath(os.path.join(cwd, path))
    inside = root and whole.startswith(root.rstrip("/") + "/")
    return clean(os.path.relpath(whole, root) if inside else whole)


# ── plans ──


def _learn_plan(handoff: Handoff, tool: Tool) -> None:
    """By what a tool for tasks or plans was given, whatever its platform calls it."""
    given = tool.input
    name = tool.name.replace("_", "").casefold()
    listed = _find_list(given)
    if listed is not None:
        todos = [todo for each in listed[:_TODOS] if (todo := _read_todo(each)) is not None]
        if name.startswith("create"):
            for todo in todos:
                _add_todo(handoff.todos, todo)
        else:
            handoff.todos, handoff.inherited = todos, []
    elif isinstance(updates := given.get("updates"), list):
        for each in updates[:_TODOS]:
            _update_from(handoff.todos, each)
    elif name.endswith(("taskupdate", "updatetodo", "updatetask")):
        _update_from(handoff.todos, given)
    elif name.endswith(("taskcreate", "createtodo", "createtask")):
        todo = _read_todo(given)
        if todo is not None:
            _add_todo(handoff.todos, todo)
    elif tool.kind is ToolKind.PLAN:
        text = tool.content or next(
            (
                given[key]
                for key in ("plan", "content", "summary")
                if isinstance(given.get(key), str)
            ),
            "",
        )
        if text:
            lines = (clean(line) for line in text[:_READ].splitlines()[:40])
            handoff.plan = "\n".join(line for line in lines if line)[:_PLAN]


def _find_list(given: Mapping[str, Any]) -> Sequence[Any] | None:
    for key in _LISTS:
        value = given.get(key)
        if isinstance(value, list):
            return value
        if key != "plan" and isinstance(value, str) and value.strip():
            return value[:_READ].splitlines()
    return None


def _read_todo(value: object) -> Todo | None:
    if isinstance(value, str):
        box = _CHECKBOX.match(value.strip())
        status = "x" if box and box[1] in "xX" else "~" if box and box[1] != " " else ""
        text = clean(box[2] if box else value.strip().lstrip("-*+ "))
        return Todo(text, {"x": "done", "~": "active"}.get(status, "open")) if text else None  # type: ignore[arg-type]
    if not isinstance(value, Mapping):
        return None
    said = next((value[key] for key in _TEXTS if isinstance(value.get(key), str)), "")
    text = clean(said)
    return Todo(text, _read_status(value.get("status")), _read_id(value)) if text else None


def _read_status(value: object) -> Literal["open", "active", "done"]:
    status = value.casefold() if isinstance(value, str) else ""
    return "done" if status in _DONE else "active" if status in _ACTIVE else "open"


def _read_id(value: Mapping[str, Any]) -> str:
    found = next((value[key] for key in _IDS if isinstance(value.get(key), str | int)), "")
    return clean(str(found)[:_KEPT], 60)


def _update_from(todos: list[Todo], value: object) -> None:
    if isinstance(value, Mapping) and isinstance(value.get("status"), str):
        _update_todo(todos, _read_id(value), _read_status(value["status"]))


def _add_todo(todos: list[Todo], todo: Todo) -> None:
    if not todo.text:
        return
    for each in todos:
        # Told twice: by the tool, and by the platform, which knows the id.
        if each.text == todo.text and (not each.id or not todo.id or each.id == todo.id):
            each.id = each.id or todo.id
            return
    todos.append(todo)
    if len(todos) > _TODOS:
        finished = next((each for each in todos if each.status == "done"), todos[0])
        todos.remove(finished)


def _update_todo(todos: list[Todo], name: str, status: Literal["open", "active", "done"]) -> None:
    for each in todos:
        if name and each.id == name:
            each.status = status
            return
    # docker-agent numbers what it was given: `todo_1`, `todo_2`.
    number = re.search(r"\d{1,4}$", name)
    if number and 0 < int(number[0]) <= len(todos) and not any(each.id for each in todos):
        todos[int(number[0]) - 1].status = status


# ── what the agent states ──


def _take_statements(handoff: Handoff, message: str, finished: bool) -> None:
    """A turn that ends without a next step has none; blockers and decisions stay."""
    stated = read_statements(message)
    if finished:
        handoff.next_steps = []
    for kind, texts in stated.items():
        if kind == "issue":
            handoff.issue = next(iter(texts), handoff.issue)[:60]
        elif kind == "decisions":
            new = [each for each in texts if each not in handoff.decisions]
            handoff.decisions = [*handoff.decisions, *new][-2 * _STATED :]
        elif kind == "blockers":
            new = [each for each in texts if each not in handoff.blockers]
            handoff.blockers = [*handoff.blockers, *new][-_STATED:] if texts else []
        else:
            handoff.next_steps = texts[:_STATED]


def read_statements(message: str) -> Mapping[Statement, list[str]]:
    """What the marked lines of a message say; an empty list where one says that there is none."""
    found: dict[Statement, list[str]] = {}
    for kind, text in _list_marked(message[-_READ:]):
        texts = found.setdefault(kind, [])
        words = clean(text)
        if words.rstrip(".!").casefold() not in _NOTHING and words not in texts:
            texts.append(words)
    return found


def _list_marked(message: str) -> Iterator[tuple[Statement, str]]:
    fenced = False
    under: Statement | None = None  # the mark whose list goes on
    for raw in message.splitlines():
        line = raw.strip()
        if line.startswith("```"):
            fenced, under = not fenced, None
        if fenced or not line:
            continue
        item = _ITEM.match(line)
        mark = _MARK.match((item[1] if item else line).lstrip("*_`# ")[: 2 * _KEPT])
        if mark:
            kind = _kind_of(mark[1])
            text = mark[2].strip("*_` ")
            under = None if text else kind
            yield kind, text
        elif under and item:
            yield under, item[1]
        else:
            under = None


def _kind_of(mark: str) -> Statement:
    word = mark.casefold()
    if word.startswith("next"):
        return "next_steps"
    if word.startswith("block"):
        return "blockers"
    return "issue" if word == "issue" else "decisions"
