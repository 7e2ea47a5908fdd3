"""Keeps what the files of a git work tree held before each turn, so that `hookline undo` goes back.

docker-agent's `snapshot`. The trees go into a repository of hookline's own, in its state directory;
the index, HEAD and files of the work tree are left as they are. What git ignores or cannot read
and new files above 2 MiB are left out. Outside a work tree, without git or without a session it
does nothing.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from time import time

from hookline.builtin._docker_agent import ArgsOptions
from hookline.git import GitError, NoGit, find_repository
from hookline.model.answers import PASS, Answer
from hookline.model.events import Event, ToolEvent
from hookline.model.ports import Caller
from hookline.snapshots import (
    Captured,
    Checkpoint,
    Page,
    Session,
    Shadow,
    SnapshotError,
    forget_old,
)

EVENTS: tuple[str, ...] = ("session_start", "turn_start", "turn_end", "session_end")
ALSO: tuple[str, ...] = (
    *("pre_tool_use", "post_tool_use", "post_tool_use_failure"),
    # A turn, on platforms that have no event for one.
    *("user_prompt_submit", "stop"),
)
PRIORITY: int = 50
GUARD: bool = False
NEEDS = ("git",)
ALL_OF: tuple[str, ...] = ("turn_start", "turn_end")
WAITS: bool = True
ACTS: tuple[str, ...] = (*EVENTS, *ALSO)

_BEGINS = {"turn_start", "user_prompt_submit"}
_ENDS = {"turn_end", "stop"}
_DONE = {"post_tool_use", "post_tool_use_failure"}


class Options(ArgsOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """None of its own."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    return _answer


def _answer(event: Event, caller: Caller) -> Answer:
    if not (event.cwd and event.session_id and caller.home):
        return PASS
    folder = os.path.join(caller.home, "snapshot")
    with suppress(NoGit):
        try:
            repository = find_repository(event.cwd)
            if repository is None:
                return PASS
            shadow = Shadow(folder, repository, env=caller.env, deadline=caller.deadline)
            with shadow.held():
                page = Page(shadow.directory, event.session_id)
                session = page.read()
                _Turn(shadow, session, event, caller).go()
                page.write(session)
        except NoGit:
            raise
        except (GitError, OSError) as error:
            # As in docker-agent nothing is stopped for it: this guards nothing.
            return Answer(notice=(f"no snapshot was taken: {error}",))
    return PASS


class _Turn:
    """What one event does to the memory of its session."""

    def __init__(self, shadow: Shadow, session: Session, event: Event, caller: Caller) -> None:
        self._shadow = shadow
        self._session = session
        self._event = event
        self._caller = caller

    def go(self) -> None:
        """Take a tree, compare it, or clear up, as the event wants it."""
        name = self._event.event_id()
        session = self._session
        call = self._event.tool.call_id if isinstance(self._event, ToolEvent) else None
        if name == "session_end":
            self._shadow.collect()
            forget_old(self._shadow.directory)
        elif name in _BEGINS:
            session.turn, session.began = self._captured(), time()
        elif name in _ENDS:
            self._compare(session.end_turn())
        elif name == "pre_tool_use" and call:
            session.tools[call] = self._captured()
        elif name in _DONE and call:
            self._compare(session.tools.pop(call, None), tool=call)
        elif name == "session_start":
            self._captured()

    def _captured(self, scope: str | None = None) -> Captured:
        root = self._shadow.root
        if scope is None:
            inner = os.path.relpath(os.path.realpath(self._event.cwd), root)
            scope = "" if inner == "." or inner.startswith("..") else inner
        if not os.path.isdir(os.path.join(root, scope)):
            raise SnapshotError(f"`{scope}` is no longer a directory")
        return self._shadow.capture(scope)

    def _compare(self, before: Captured | None, tool: str = "") -> None:
        """Remembers what changed since, as far as going back would be right."""
        if before is None:
            return
        after = self._captured(before.scope)
        files = self._shadow.changes(before.tree, after.tree, before.scope)
        rules = before.ignoring != after.ignoring or any(map(_says_what_to_ignore, files))
        # What was left out of one of the trees was neither made nor removed in between.
        left_out = {*before.skipped, *after.skipped}
        files = {
            path: change
            for path, change in files.items()
            if path not in left_out and not (rules and change.how == "A")
        }
        if files:
            point = Checkpoint(files=files, time=time(), tool=tool)
            self._session.remember(point)


def _says_what_to_ignore(path: str) -> bool:
    return os.path.basename(path) == ".gitignore"
