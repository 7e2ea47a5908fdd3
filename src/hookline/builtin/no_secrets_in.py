"""Keeps secrets out of prompts, commits, files under version control and what leaves the machine.

Says which kind of secret it found and never repeats it.
"""

import os
import re
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from hookline.builtin._git_places import placed
from hookline.git import GitError, View, open_view, read_dated
from hookline.model.answers import PASS, Answer, ask, deny
from hookline.model.events import Event, PromptEvent, SteeringSubmit, ToolEvent
from hookline.model.ports import Caller
from hookline.model.tools import Tool, ToolKind
from hookline.shell import MAX_BYTES, SimpleCommand, split
from hookline.workspace import checkout_at

EVENTS: tuple[str, ...] = ("user_prompt_submit", "pre_tool_use")
ALSO: tuple[str, ...] = (
    "prompt_expansion",
    "steering_submit",
    "follow_up_submit",
    "permission_request",
)
PRIORITY: int = 20
GUARD: bool = True
MOMENT: bool = True
WAITS: bool = True

Say = Literal["deny", "ask", "pass"]

_OUTBOUND = frozenset({
    "aria2c", "curl", "dig", "drill", "ftp", "gh", "glab", "hg", "host", "http", "https",
    "httpie", "hub", "mail", "mailx", "mosh", "nc", "ncat", "netcat", "nslookup", "ping",
    "rclone", "rsync", "scp", "sendmail", "sftp", "socat", "ssh", "telnet", "wget", "xh", "xhs",
})  # fmt: skip
_COMMITS = frozenset({"commit", "tag"})
_TALKS = frozenset({"clone", "fetch", "pull", "push", "remote"})
_OWN_MACHINE = re.compile(
    r"(?i)^(?:https?://)?(?:[^/@\s]*@)?(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)(?=[:/]|$)"
)
_ADDRESS = re.compile(r"(?i)^https?://|^[\w.-]+\.[a-z]{2,}(?:[:/]|$)|^localhost\b|^127\.")
# Where secrets of a project belong; what else lies in a work tree is sooner or later committed.
_KEPT = re.compile(r"(?i)(?:^|/)\.env(?:\.[^/]*)?$|(?:^|/)\.envrc$|/\.git/")
_WORD = re.compile(r"[^\s'\"`,;=()]{12,}")
_UNREAD = "unread"


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is said about a secret, by where it was about to go."""

    prompts: Literal["deny", "pass"] = "deny"
    """In what a person sends to the model."""
    commits: Say = "deny"
    """In the message of a commit, or in what is staged for it."""
    outbound: Say = "deny"
    """In a command that talks to another machine, in an address, in what an MCP server is given."""
    files: Say = "ask"
    """In what is written to a file of a git work tree, `.env` files left aside."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""

    def answer(event: Event, caller: Caller) -> Answer:
        if isinstance(event, PromptEvent):
            return _prompted(event, options)
        if not isinstance(event, ToolEvent):
            return PASS
        tool = event.tool
        cwd = event.cwd or caller.project_dir
        if tool.command is not None and tool.kind in {ToolKind.SHELL, ToolKind.OTHER}:
            return _commanded(tool.command, cwd, options, caller)
        if tool.kind in {ToolKind.MCP, ToolKind.FETCH} and not _is_local(tool.url):
            where = f"what is sent to {_receiver(tool)}"
            return _said(options.outbound, where, _families(_as_text(tool.input)))
        if tool.kind in {ToolKind.WRITE, ToolKind.EDIT}:
            return _written(tool, cwd, options)
        return PASS

    return answer


def _prompted(event: PromptEvent, options: Options) -> Answer:
    texts = [event.prompt, *(event.prompts if isinstance(event, SteeringSubmit) else ())]
    found = _families("\n".join(texts))
    if found == (_UNREAD,):
        return PASS  # a prompt cannot be asked about, and nothing is known against it
    return _said(options.prompts, "the prompt", found, "leave it out, or name where it is kept")


def _commanded(text: str, cwd: str, options: Options, caller: Caller) -> Answer:
    commands = split(text).commands if len(text) <= MAX_BYTES else ()
    if options.commits != "pass" and any(map(_commits, commands)):
        # Redirections and here-documents hold messages too.
        found = _families(text) or _committed(commands, cwd, caller)
        if found:
            return _said(options.commits, "what is about to be committed", found)
    # What is too long to be read may be such a command.
    if any(map(_is_outbound, commands)) or len(text) > MAX_BYTES:
        return _said(
            options.outbound,
            "a command that talks to another machine",
            _families(text),
            "name a variable that holds it, so that it stays out of commands and logs",
        )
    return PASS


def _committed(commands: Sequence[SimpleCommand], cwd: str, caller: Caller) -> tuple[str, ...]:
    """The kinds of secrets in what the first commit of these would bring in."""
    for command, directory in placed(commands, cwd, caller):
        if not _commits(command):
            continue
        every = any(re.match(r"-[a-zA-Z]*a|--all", word) for word in command.words[1:])
        # What `git add` stages in the same command is not there yet.
        adds = any(c.name == "git" and "add" in c.words[1:4] for c in commands)
        lines = _read_staged_lines(directory, caller, unstaged=every, new=adds)
        return (_UNREAD,) if lines is None else _families(lines)
    return ()


def _written(tool: Tool, cwd: str, options: Options) -> Answer:
    paths = [path for path in (tool.path, *tool.paths) if path]
    whole = [os.path.normpath(os.path.join(cwd, path)) for path in dict.fromkeys(paths)]
    shared = [
        path
        for path in whole
        if not _KEPT.search(path) and checkout_at(os.path.dirname(path)) is not None
    ]
    if options.files == "pass" or not shared:
        return PASS
    texts = [text for text in (tool.content, tool.new) if text] or [_as_text(tool.input)]
    text = "\n".join(texts)
    # An edit next to a secret that was there before brings in nothing new.
    for known in set(_WORD.findall(tool.old or "")):
        text = text.replace(known, "")
    found = _families(text)
    where = f"what is written to `{os.path.basename(shared[0])}`, in a git work tree"
    return _said(options.files, where, found, "keep it in `.env` or a variable")


def _commits(command: SimpleCommand) -> bool:
    words = [each for each in command.words[1:] if not each.startswith("-")]
    return command.name == "git" and not _COMMITS.isdisjoint(words[:2])


def _is_outbound(command: SimpleCommand) -> bool:
    if command.name == "git":
        return not _TALKS.isdisjoint(command.words[1:3])
    if command.name not in _OUTBOUND:
        return False
    addresses = [word for word in command.words[1:] if _ADDRESS.match(word)]
    return not addresses or not all(map(_OWN_MACHINE.match, addresses))


def _is_local(url: str | None) -> bool:
    return url is not None and _OWN_MACHINE.match(url) is not None


def _receiver(tool: Tool) -> str:
    return f"the MCP server `{tool.mcp.server}`" if tool.mcp is not None else "another machine"


def _as_text(value: object) -> str:
    try:
        return msgspec.json.encode(value).decode("utf-8", "replace")
    except (TypeError, ValueError):
        return repr(value)


def _families(text: str) -> tuple[str, ...]:
    """The kinds of secrets in a text."""
    if not text:
        return ()
    from hookline.secrets import redact  # its table takes a while to load

    return redact(text).families


def _said(say: Say, where: str, families: tuple[str, ...], advice: str = "") -> Answer:
    if say == "pass" or not families:
        return PASS
    metadata = {"category": "secret", "families": list(families)}
    hint = f"; {advice}" if advice else ""
    if families == (_UNREAD,):
        reason = f"{where} holds more than can be looked through for secrets"
        return ask(reason, metadata=metadata)
    kinds = ", ".join(each for each in families if each != _UNREAD)
    build = deny if say == "deny" else ask
    return build(f"{where} holds a secret ({kinds}){hint}", metadata=metadata)


# What a commit would bring in is the added lines of git's own diff, bounded in time and size.
_CAP = 4 << 20
_MAX_FILES = 500
# The mark of added lines begins no other line of a diff.
_DIFF = (
    *("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--unified=0", "--text"),
    *("--ignore-submodules=dirty", "--output-indicator-new=>"),
)
_OTHERS = ("ls-files", "--others", "--exclude-standard", "--full-name", "-z")
_ADDED = re.compile(rb"^>(.*)$", re.MULTILINE)


def _read_staged_lines(directory: str, caller: Caller, *, unstaged: bool, new: bool) -> str | None:
    """The lines that a commit would add; with ``unstaged`` and ``new`` what is not staged yet.

    None when git did not tell all of it in time. Empty outside of a repository.
    """
    wanted = [(*_DIFF, "--cached"), *([_DIFF] if unstaged or new else [])]
    try:
        with open_view(directory, caller.env, caller.deadline) as view:
            if view is None:
                return ""
            lines = [line for each in wanted for line in _ADDED.findall(_ask(view, *each))]
            found = [*lines, *(_read_new_files(view) if new else ())]
    except GitError:
        return None
    return b"\n".join(found).decode("utf-8", "replace")


def _read_new_files(view: View) -> list[bytes]:
    """What is in the files that git does not know yet and would not ignore."""
    names = [os.fsdecode(name) for name in _ask(view, *_OTHERS).split(b"\0") if name]
    if len(names) > _MAX_FILES:
        raise GitError("there are too many new files")
    texts, left = [], _CAP
    for name in names:
        text, _ = read_dated(os.path.join(view.root, name), left, follow=False)
        texts.append(text)
        left -= len(text)
    return texts


def _ask(view: View, *question: str) -> bytes:
    """What git printed. Raises GitError when that is not all."""
    said = view.ask(*question, cap=_CAP)
    if said.code or said.is_cut:
        raise GitError(said.complaint)
    return said.output
