"""What a hook names: the files that can be pinned with it, and what else it relies on.

Knows what its values mean as names; must not know what pinning a file is.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

from hookline.model.hook import Hook
from hookline.shell import Placed, placed_words, split

__all__ = [
    "elsewhere",
    "looks_like_file",
    "named",
    "named_paths",
    "root_names",
    "run_words",
]

# The variable that a hook may name its files by; any other holds data, and is none at a program.
_PROJECT = "HOOKLINE_PROJECT_DIR"

# Patterns stay text here: most configs need none of them, so importing compiles none.
# What only the shell can tell; our own variables, as whole words, are data.
_COMPUTED = r"(?a)\$(?!(?:HOOKLINE_\w+|\{HOOKLINE_\w+\})(?![\w/.]))|[`*?]|(?<!\$)\{"

# They run what their first argument names.
_SHELLS = r"(?:ba|da|k|z|)sh"
_RUNNERS = rf"{_SHELLS}|\.|source|eval|python[\d.]*|node|perl|ruby"

# What /bin/sh does by itself.
_SHELL_OWN = frozenset(
    [
        ".",
        ":",
        "[",
        "alias",
        "bg",
        "break",
        "cd",
        "command",
        "continue",
        "echo",
        "eval",
        "exec",
        "exit",
        "export",
        "false",
        "fg",
        "getopts",
        "hash",
        "jobs",
        "kill",
        "let",
        "local",
        "printf",
        "pwd",
        "read",
        "readonly",
        "return",
        "set",
        "shift",
        "source",
        "test",
        "time",
        "times",
        "trap",
        "true",
        "type",
        "ulimit",
        "umask",
        "unalias",
        "unset",
        "wait",
    ]
)

MCP_FILES = ("mcp.json", ".mcp.json", ".vscode/mcp.json")


def named_paths(hook: Hook) -> dict[str, str]:
    """Every path that a hook names literally, with the word that names it.

    Without looking at the disk: what is a file there today need not be one tomorrow.
    """
    return {path: word.text for path, word in named(hook).items()}


def root_names(hook: Hook) -> tuple[str, ...]:
    """What a hook names below the project of the session, which need not be its config's."""
    run, mark = hook.handler.values.get("run", ()), "/\0"  # which no path has
    words = placed_words(run, _PROJECT, mark) if isinstance(run, str) else ()
    found = (os.path.normpath(word.path) for word in words if word.path.startswith(f"{mark}/"))
    return tuple(path.removeprefix(mark) for path in found)


def looks_like_file(word: str) -> bool:
    """Whether a word that names nothing may be meant as the name of a file."""
    return ("/" in word or "." in word.strip(".")) and "://" not in word and word[0] != "-"


def named(hook: Hook) -> dict[str, Placed]:
    """The same with all that is known of each word."""
    others = (*_python_files(hook), *_server_files(hook))
    words = [*run_words(hook)[1], *(Placed(name, name, 0, 0) for name in others)]
    # Of two words for one path the more telling one counts.
    words.sort(key=lambda word: looks_like_file(word.text))
    return {os.path.normpath(os.path.join(hook.directory, word.path)): word for word in words}


def elsewhere(hook: Hook) -> Iterator[str]:
    """What the hook relies on that is no file of the project's."""
    values = hook.handler.values
    for program in _programs(hook):
        yield f"program `{program}` on PATH"
    yield from _inside(hook)
    yield from _computed(hook)
    files = (os.path.join(hook.project_dir, file) for file in _python_files(hook))
    if "python" in values and not any(map(os.path.isfile, files)):
        yield f"`{str(values['python']).rpartition(':')[0]}`, wherever Python finds it"
    for key, field in (("http", "url"), ("mcp", "tool"), ("judge", "model")):
        if key in values:
            yield f"what `{_field(values[key], field)}` does or answers"


def _inside(hook: Hook) -> Iterator[str]:
    """What a shell reads from a word of the command, a here-document or a variable."""
    run = hook.handler.values.get("run", ())
    words = run_words(hook)[1]
    names = [
        inner.text
        for word in words
        if any(map(str.isspace, word.text))
        for inner in placed_words(word.text)
        if os.path.isfile(os.path.join(hook.directory, inner.path))
    ]
    for name in dict.fromkeys(names):
        yield f"`{name}`, which stands inside a quoted word"
    known = {*names, *(word.text for word in words)}
    commands = split(run).commands if isinstance(run, str) else ()
    for name in dict.fromkeys(each.words[0] for each in commands if each.words):
        if "/" in name and "$" not in name and name not in known:
            yield f"`{name}`, which only a shell makes of the command"


def _computed(hook: Hook) -> Iterator[str]:
    """What nobody but the shell can tell."""
    run = hook.handler.values.get("run", ())
    if isinstance(run, str):
        rest = run
        for word in run_words(hook)[1]:
            if word.text.startswith(f"${_PROJECT}") and os.path.isabs(word.path):
                rest = f"{rest[: word.start]}{'_' * (word.end - word.start)}{rest[word.end :]}"
        for name in dict.fromkeys(_run_by(rest)):
            if "$" in name or "`" in name:
                yield f"`{name}`, whatever that is when it runs"
    else:
        reads = any(re.fullmatch(_SHELLS, os.path.basename(word)) for word in run)
        rest = " ".join(run) if reads else ""
    if re.search(_COMPUTED, rest):
        yield "what the shell makes of `$…`, `*` or `{…}` in the command"


def _run_by(script: str) -> Iterator[str]:
    """What stands where the name of a program does."""
    for each in split(script).commands:
        yield from each.words[:1]
        if each.words and re.fullmatch(_RUNNERS, each.name):
            yield from (word for word in each.words[1:2] if not word.startswith("-"))


def _field(value: Any, name: str) -> Any:
    inner = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return value if inner is None else inner


def run_words(hook: Hook) -> tuple[str, list[Placed]]:
    """The program, where it is one that is looked for on PATH, and every other literal word."""
    run = hook.handler.values.get("run", ())
    if not isinstance(run, str):
        leads, words = True, [Placed(word, word, 0, 0) for word in run]
    else:
        words = [*placed_words(run, _PROJECT, hook.project_dir)]
        leads = bool(words) and not run[: words[0].start].strip()
    words = [word for word in words if word.text]
    if leads and words and "/" not in words[0].path:
        return words[0].text, words[1:]
    return "", words


def _programs(hook: Hook) -> Iterator[str]:
    """Every program that the command looks for on PATH, whatever stands before it."""
    run = hook.handler.values.get("run", ())
    if not isinstance(run, str):
        yield from (word for word in run[:1] if word and "/" not in word)
        return
    found = (name for each in split(run).commands for name in (*each.wrappers, *each.words[:1]))
    for name in dict.fromkeys(found):
        if name and "/" not in name and "$" not in name and name not in _SHELL_OWN:
            yield name


def _python_files(hook: Hook) -> tuple[str, ...]:
    """The file of a ``python`` hook, or those that its module would have in the project."""
    source = hook.handler.values.get("python", "").rpartition(":")[0]
    if not source or source.endswith(".py") or "/" in source:
        return (source,) if source else ()
    path = source.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


def _server_files(hook: Hook) -> tuple[str, ...]:
    """Where the project may declare the servers that an ``mcp`` hook talks to."""
    return MCP_FILES if "mcp" in hook.handler.values else ()
