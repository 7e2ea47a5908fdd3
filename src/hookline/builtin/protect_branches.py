"""Keeps commits, pushes, merges, rebases and deletions off protected branches.

Goes by the words of each git command and by the branch that is checked out where it runs.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from hookline.builtin._git_acts import ALL, HEAD, Act, Deed, acts, moves_to
from hookline.builtin._git_places import placed
from hookline.builtin._paths import Names
from hookline.model.answers import PASS, Answer, ask, deny
from hookline.model.events import Event, ToolEvent
from hookline.model.ports import Caller
from hookline.model.tools import ToolKind
from hookline.shell import MAX_BYTES, SimpleCommand, split
from hookline.workspace import checkout_at

EVENTS: tuple[str, ...] = ("pre_tool_use",)
ALSO: tuple[str, ...] = ("permission_request",)
PRIORITY: int = 20
GUARD: bool = True
MOMENT: bool = True

_SAID = {
    "commit": "a commit on",
    "push": "a push to",
    "force-push": "a forced push to",
    "merge": "a merge into",
    "rebase": "a rebase of",
    "reset": "moving",
    "delete": "deleting",
}
# Of a text that cannot be read: whether it could be about any of this.
_MENTIONS = re.compile(
    r"\bgit\b(?s:.*)\b(?:commit|push|merge|rebase|reset|branch|cherry-pick|revert|pull|update-ref)\b"
)
_MERGES = {("pr", "merge"), ("mr", "merge")}
_MAY_BE = re.compile(r"git|gh|glab|hub|[\\'\"$`{*?\[]")
_CHANGING = re.compile(r"(?i)push|creat|updat|delet|merg|write|commit|edit")


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which branches, and what may be done to them all the same."""

    branches: tuple[str, ...] = ("main", "master", "release/*")
    """Globs over the whole name of a branch."""
    allow: tuple[Deed, ...] = ()
    """What is left to the agent."""
    ask: tuple[Deed, ...] = ()
    """What a person is asked about, instead of a deny."""

    def __post_init__(self) -> None:
        if not self.branches:
            raise ValueError("`branches` is empty: name at least one, such as main")
        Names(self.branches)


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    guard = _Guard(options)

    def answer(event: Event, caller: Caller) -> Answer:
        if not isinstance(event, ToolEvent):
            return PASS
        tool = event.tool
        cwd = event.cwd or caller.project_dir
        if tool.command is not None and tool.kind in {ToolKind.SHELL, ToolKind.MCP, ToolKind.OTHER}:
            return guard.shell(tool.command, _started(tool.input, cwd), caller)
        if tool.mcp is not None:
            return guard.mcp(tool.mcp.tool, tool.input)
        return PASS

    return answer


def _started(input: dict[str, Any], cwd: str) -> str:
    """The directory that a tool says it runs in."""
    for key in ("cwd", "workdir", "working_dir", "directory", "dir_path"):
        if isinstance(value := input.get(key), str) and value:
            return os.path.join(cwd, value)
    return cwd


class _Guard:
    """The options, ready to be asked."""

    def __init__(self, options: Options) -> None:
        self._protects = Names(options.branches)
        self._allow = frozenset(options.allow)
        self._ask = frozenset(options.ask)

    def shell(self, text: str, cwd: str, caller: Caller) -> Answer:
        """What is said about a command."""
        # Without quotes and variables nothing in it can be put together to one of these.
        if not _MAY_BE.search(text):
            return PASS
        if len(text) > MAX_BYTES:
            return self._unread() if _MENTIONS.search(text) else PASS
        parsed = split(text)
        worst = PASS
        for act, sure in _deeds(parsed.commands, text, cwd, caller):
            found = self._judge(act, sure=sure)
            if found is not PASS and (worst is PASS or found.verdict > worst.verdict):
                worst = found
        if worst is PASS and (parsed.unreadable or parsed.incomplete) and _MENTIONS.search(text):
            return self._unread()
        return worst

    def mcp(self, name: str, input: dict[str, Any]) -> Answer:
        """What is said about a tool of a server: those that write name their branch."""
        branch = input.get("branch")
        if not isinstance(branch, str) or not _CHANGING.search(name):
            return PASS
        deed: Deed = "delete" if "delete_branch" in name else "push"
        return self._judge(Act(deed, branch.removeprefix("refs/heads/")), sure=True)

    def _judge(self, act: Act, *, sure: bool) -> Answer:
        deed, branch, _ = act
        if deed in self._allow or (deed == "force-push" and {"push", "force-push"} <= self._allow):
            return PASS
        metadata = {"category": "protected-branch", "act": deed}
        if "$" in branch or "`" in branch:
            where = f"{_SAID[deed]} `{branch}`"
            return ask(f"{where}: the command does not tell which branch", metadata=metadata)
        if branch == ALL:
            reason = f"{_SAID[deed]} every branch, protected ones included"
        elif self._protects(branch):
            reason = f"{_SAID[deed]} `{branch}`, which is protected; work on a branch of its own"
        else:
            return PASS
        build = ask if deed in self._ask or not sure else deny
        return build(reason, metadata=metadata)

    def _unread(self) -> Answer:
        reason = "this command cannot be read to its end, and may act on a protected branch"
        return ask(reason, metadata={"category": "protected-branch"})


def _deeds(
    commands: Sequence[SimpleCommand], text: str, cwd: str, caller: Caller
) -> Iterator[tuple[Act, bool]]:
    """What is done to which branch, with each `cd` and each checkout followed."""
    chosen: dict[str, tuple[str, ...]] = {}
    for command, directory in placed(commands, cwd, caller):
        words = command.words[1:]
        if command.name in {"gh", "glab", "hub"} and words[:2] in _MERGES:
            yield Act("merge", "$BASE"), False
        if command.name != "git":
            continue
        found = checkout_at(directory)
        key = found.git_dir if found else ""
        current = chosen.get(key, (found.branch,) if found and found.branch else ())
        for act in acts(words):
            named = current if act.branch == HEAD else (act.branch,)
            # To bring a branch up to date with its own is no merge into it.
            meant = (each for each in named if act.source.rpartition("/")[2] != each)
            yield from ((Act(act.deed, each), True) for each in meant)
        moved = moves_to(words)
        if moved is not None and (moved[1] or (found and found.has_branch(moved[0]))):
            # A checkout that fails leaves what comes after `;` where it was.
            after = text.encode("utf-8", "replace")[command.end :].lstrip()
            chosen[key] = (moved[0],) if after.startswith(b"&&") else (*current, moved[0])
