"""What one event tells of its session's work: todos, plan, files, failures, what is stated."""

import os
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import takewhile
from typing import Any

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
from hookline.store.handoffs import Failure, FileUse, Handoff, Status, Todo, rank_file

__all__ = ["clean", "learn", "learn_from_transcript", "read_statements"]

# As much as is read of a text, and as is kept of it, in characters.
_READ = 32_768
_LINE = 8_192
_KEPT = 300
_PLAN = 2_000
_TODOS = 50
_FILES = 60
_FAILURES = 10
_STATED = 10
_ERROR_LINES = 3

_WRITES = frozenset({ToolKind.WRITE, ToolKind.EDIT, ToolKind.DELETE})
# What these kinds of tools say when they fail is no problem of the work.
_NO_WORK = frozenset({ToolKind.ASK, ToolKind.PLAN, ToolKind.TASK})

# Platforms name the same things differently.
_LISTS = ("todos", "plan", "todoList", "todo_list", "items", "tasks", "descriptions")
_TEXTS = ("content", "step", "subject", "title", "description", "text", "task", "name")
_IDS = ("id", "taskId", "task_id")
_PLANS = ("plan", "content", "summary")
_STATUS: Mapping[str, Status] = {
    **dict.fromkeys(("completed", "complete", "done", "finished", "x"), "done"),
    **dict.fromkeys(("cancelled", "canceled", "deleted"), "done"),
    **dict.fromkeys(("in_progress", "in-progress", "inprogress"), "active"),
    **dict.fromkeys(("active", "doing", "started", "~", ">", "/", "-"), "active"),
}
_CHECKBOX = re.compile(r"[-*+] \[([ xX~>/-])\] (\S.*)")

_MARK = re.compile(
    r"(?i)(?:(?P<next_steps>next steps?)|(?P<blockers>blockers?|blocked (?:by|on))"
    r"|(?P<decisions>decisions?|decided)|(?P<issue>issue))[*_`]*\s*:[*_`]*\s*"
)
_ITEM = re.compile(r"(?:[-*+•>]|\d{1,3}[.)])\s+(.*)")
_NOTHING = frozenset({"", "none", "n/a", "na", "nothing", "no", "-", "done"})


def clean(text: str, limit: int = _KEPT) -> str:
    """A text as one line that may be kept: without secrets, nothing hidden, not long."""
    if len(text) > _LINE:
        text = text[:_LINE].rsplit(None, 1)[0]  # no half of a secret, which nobody would know
    shown = visible(" ".join(redact(text, scope=Scope.LIKELY).text.split()))
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def learn(handoff: Handoff, event: Event, caller: Caller) -> None:
    """Adds what an event tells; what a sub-agent plans and states is its own."""
    if isinstance(event, ToolEvent):
        _learn_call(handoff, event, caller)
    elif event.agent.depth:
        return
    elif isinstance(event, TaskCreated):
        _add_todo(handoff.todos, Todo(clean(event.task.subject), id=clean(event.task.id)))
    elif isinstance(event, TaskCompleted):
        _update_todo(handoff.todos, event.task.id, "done")
    elif isinstance(event, Stop | StopFailure) and event.last_message:
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
    what = tool.path or tool.url or tool.query or ""
    called = " ".join((f"{tool.name} {what}" if tool.command is None else tool.command).split())
    key = sha256(called.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    if isinstance(event, PostToolUseFailure) or tool.ok is False:
        error = event.error if isinstance(event, PostToolUseFailure) else ""
        interrupted = isinstance(event, PostToolUseFailure) and event.interrupted
        if not interrupted and tool.kind not in _NO_WORK and not event.agent.depth:
            _add_failure(handoff.failures, key, called, error or tool.output or "")
    elif isinstance(event, PostToolUse):
        handoff.failures.pop(key, None)
        if tool.kind in _WRITES or tool.kind is ToolKind.READ:
            root = caller.project_dir or event.cwd
            for path in tool.paths[:_FILES]:
                _count_file(handoff.files, _shorten(path, event.cwd, root), tool.kind in _WRITES)
        elif tool.kind in (ToolKind.TASK, ToolKind.PLAN) and not event.agent.depth:
            _learn_plan(handoff, tool)


def _add_failure(failures: dict[str, Failure], key: str, called: str, said: str) -> None:
    known = failures.pop(key, None)
    if len(said) > _READ:
        said = said[-_READ:]
        said = said.partition("\n")[2] or said.partition(" ")[2]
    # The last lines say what went wrong.
    lines = [line for line in said.splitlines() if line.strip()]
    error = clean("\n".join(lines[-_ERROR_LINES:]))
    failures[key] = Failure(clean(called, 160), error, known.count + 1 if known else 1)
    while len(failures) > _FAILURES:
        del failures[next(iter(failures))]


def _count_file(files: dict[str, FileUse], path: str, wrote: bool) -> None:
    use = files.setdefault(path, FileUse())
    use.writes += wrote
    use.reads += not wrote
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
    given, todos = tool.input, handoff.todos
    name = tool.name.replace("_", "").casefold()
    lists = (_list_items(key, given.get(key)) for key in _LISTS)
    listed = next((each for each in lists if each is not None), None)
    updates = given.get("updates", [given])
    if listed is not None:
        if not name.startswith("create"):
            todos.clear()
            handoff.inherited.clear()
        for each in listed[:_TODOS]:
            _add_todo(todos, _read_todo(each))
    elif "updates" in given or name.endswith(("taskupdate", "updatetodo", "updatetask")):
        for each in updates[:_TODOS] if isinstance(updates, list) else ():
            if isinstance(each, Mapping) and isinstance(each.get("status"), str):
                _update_todo(todos, _read_id(each), _read_status(each["status"]))
    elif name.endswith(("taskcreate", "createtodo", "createtask")):
        _add_todo(todos, _read_todo(given))
    elif tool.kind is ToolKind.PLAN and (text := tool.content or _find_text(given, _PLANS)):
        lines = (clean(line) for line in text[:_READ].splitlines()[:40])
        handoff.plan = "\n".join(line for line in lines if line)[:_PLAN]


def _list_items(key: str, value: object) -> Sequence[object] | None:
    if key != "plan" and isinstance(value, str) and value.strip():
        return value[:_READ].splitlines()
    return value if isinstance(value, list) else None


def _read_todo(value: object) -> Todo:
    """Without a text where it tells of none."""
    if isinstance(value, Mapping):
        text = clean(_find_text(value, _TEXTS))
        return Todo(text, _read_status(value.get("status")), _read_id(value))
    said = value.strip() if isinstance(value, str) else ""
    box = _CHECKBOX.match(said)
    return Todo(clean(box[2]), _read_status(box[1])) if box else Todo(clean(said.lstrip("-*+ ")))


def _find_text(given: Mapping[str, Any], keys: Sequence[str]) -> str:
    return next((given[key] for key in keys if isinstance(given.get(key), str)), "")


def _read_status(value: object) -> Status:
    return _STATUS.get(value.casefold(), "open") if isinstance(value, str) else "open"


def _read_id(value: Mapping[str, Any]) -> str:
    found = next((value[key] for key in _IDS if isinstance(value.get(key), str | int)), "")
    return clean(str(found)[:_KEPT], 60)


def _add_todo(todos: list[Todo], todo: Todo) -> None:
    for each in todos:
        # Told twice: by the tool, and by the platform, which knows the id.
        if each.text == todo.text and (not each.id or not todo.id or each.id == todo.id):
            each.id = each.id or todo.id
            return
    if todo.text:
        todos.append(todo)
    if len(todos) > _TODOS:
        todos.remove(next((each for each in todos if each.status == "done"), todos[0]))


def _update_todo(todos: list[Todo], name: str, status: Status) -> None:
    found = [each for each in todos if name and each.id == name]
    # docker-agent numbers what it was given: `todo_1`, `todo_2`.
    number = re.search(r"\d{1,4}$", name)
    if not found and number and int(number[0]) and not any(each.id for each in todos):
        found = todos[int(number[0]) - 1 : int(number[0])]
    for each in found:
        each.status = status


# ── what the agent states ──


def _take_statements(handoff: Handoff, message: str, finished: bool) -> None:
    """A turn that ends without a next step has none; blockers and decisions stay."""
    if finished:
        handoff.next_steps = []
    for kind, texts in read_statements(message).items():
        if kind == "issue":
            handoff.issue = next(iter(texts), handoff.issue)[:60]
            continue
        known = getattr(handoff, kind) if kind != "next_steps" else []
        new = [each for each in texts if each not in known]
        setattr(handoff, kind, [*known, *new][-_STATED:] if texts else [])


def read_statements(message: str) -> Mapping[str, Sequence[str]]:
    """What the marked lines of a message say; an empty list where one says that there is none."""
    found: dict[str, list[str]] = {}
    fenced, under = False, ""  # the mark whose list goes on
    for raw in message[-_READ:].splitlines():
        line = raw.strip()
        if line.startswith("```"):
            fenced, under = not fenced, ""
        if fenced or not line:
            continue
        item = _ITEM.match(line)
        said = (item[1] if item else line).lstrip("*_`# ")[: 2 * _KEPT]
        if mark := _MARK.match(said):
            kind = mark.lastgroup or ""
            text = said[mark.end() :].strip("*_` ")
            under = "" if text else kind
        elif under and item:
            kind, text = under, item[1]
        else:
            under = ""
            continue
        words, texts = clean(text), found.setdefault(kind, [])
        if words.rstrip(".!").casefold() not in _NOTHING and words not in texts:
            texts.append(words)
    return found
