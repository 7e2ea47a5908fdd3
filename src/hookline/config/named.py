"""What a hook executes, which can be pinned with it, and what else it relies on.

Knows what its values mean as names; must not know what pinning a file is.
"""

import os
import re
import shlex
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Any

from hookline.model.hook import Hook
from hookline.shell import STDIN, PathWord, all_words, read_path_words, split

__all__ = [
    "elsewhere",
    "find_executed",
    "find_executed_files",
    "find_named_files",
    "looks_like_file",
    "root_names",
]

# The variable that a hook may name its files by; any other holds data, and is none at a program.
_PROJECT = "HOOKLINE_PROJECT_DIR"

# Patterns stay text here: most configs need none of them, so importing compiles none.
# What only the shell can tell; our own variables, as whole words, are data.
_COMPUTED = r"(?a)\$(?!(?:HOOKLINE_\w+|\{HOOKLINE_\w+\})(?![\w/.]))|[`*?]|(?<!\$)\{"
_SHELLS = r"(?:ba|da|k|z|)sh"

# What /bin/sh does by itself.
_SHELL_OWN = frozenset({
    ".", ":", "[", "alias", "bg", "break", "cd", "command", "continue", "echo", "eval", "exec",
    "exit", "export", "false", "fg", "getopts", "hash", "jobs", "kill", "let", "local",
    "printf", "pwd", "read", "readonly", "return", "set", "shift", "source", "test", "time",
    "times", "trap", "true", "type", "ulimit", "umask", "unalias", "unset", "wait",
})  # fmt: skip

MCP_FILES = ("mcp.json", ".mcp.json", ".vscode/mcp.json")


def find_executed(hook: Hook) -> tuple[PathWord, ...]:
    """Every program that a hook executes, every script that it has executed, by what.

    A path counts from the directory of the hook. A word without a slash and an interpreter is
    looked for on PATH; what the shell does by itself is left out. Without looking at the disk:
    what is a file there today need not be one tomorrow.
    """
    run = hook.handler.values.get("run", ())
    words = [word for word in all_words(_run_words(hook)) if word.is_executed and word.text]
    own = _SHELL_OWN if isinstance(run, str) else frozenset[str]()
    found = [word for word in words if not (word.is_computed or word.text in own)]
    files = [(file, "python") for file in _python_files(hook)]
    if "mcp" in hook.handler.values:  # where the project may declare the servers it talks to
        files += [(file, "mcp") for file in MCP_FILES]
    found += [PathWord(file, file, 0, 0, is_executed=True, interpreter=by) for file, by in files]
    return tuple(found)


def find_executed_files(hook: Hook) -> dict[str, PathWord]:
    """The same by absolute path, less what is looked for on PATH: what can be pinned."""
    return {_path(hook, word): word for word in find_executed(hook) if not word.is_on_path}


def find_named_files(hook: Hook) -> dict[str, PathWord]:
    """Every path that a hook names literally, executed or not, with the word that names it."""
    words = [word for word in all_words(_run_words(hook)) if word.text and word.start >= 0]
    words = [word for word in words if not (word.code or word.is_on_path)]
    # Of two words for one path the more telling one counts.
    words.sort(key=lambda word: looks_like_file(word.text))
    return {**{_path(hook, word): word for word in words}, **find_executed_files(hook)}


def root_names(hook: Hook) -> tuple[str, ...]:
    """What a hook executes below the project of the session, which need not be its config's."""
    mark = "/\0"  # which no path has
    words = (word for word in all_words(_run_words(hook, mark)) if word.is_executed)
    found = (os.path.normpath(word.path) for word in words if word.path.startswith(f"{mark}/"))
    return tuple(path.removeprefix(mark) for path in found)


def looks_like_file(word: str) -> bool:
    """Whether a word that names nothing may be meant as the name of a file."""
    return ("/" in word or "." in word.strip(".")) and "://" not in word and word[0] != "-"


def elsewhere(hook: Hook) -> Iterator[str]:
    """What the hook relies on that is no file of the project's."""
    values = hook.handler.values
    programs = [word.text for word in find_executed(hook) if word.is_on_path]
    for program in dict.fromkeys(programs):
        yield f"program `{program}` on PATH"
    yield from _computed(hook)
    for module in dict.fromkeys(_modules(values.get("run", ()))):
        yield f"`{module}`, wherever Python finds it"
    files = (os.path.join(hook.project_dir, file) for file in _python_files(hook))
    if "python" in values and not any(map(os.path.isfile, files)):
        yield f"`{str(values['python']).rpartition(':')[0]}`, wherever Python finds it"
    for key, field in (("http", "url"), ("mcp", "tool"), ("judge", "model")):
        if key in values:
            yield f"what `{_field(values[key], field)}` does or answers"


def _run_words(hook: Hook, project: str = "") -> tuple[PathWord, ...]:
    run = hook.handler.values.get("run", ())
    return read_path_words(run, _PROJECT, project or hook.project_dir)


def _path(hook: Hook, word: PathWord) -> str:
    return os.path.normpath(os.path.join(hook.directory, word.path))


def _computed(hook: Hook) -> Iterator[str]:
    """What nobody but the shell can tell."""
    run, words = hook.handler.values.get("run", ()), [*all_words(_run_words(hook))]
    if run and not words:
        yield "the command, which is too long to be read"
    computed = ((word.text, word.interpreter) for word in words if word.is_computed)
    for name, by in dict.fromkeys(computed):
        script = f"the script that `{by}` reads from standard input"
        yield script if name == STDIN else f"`{name}`, whatever that is when it runs"
    if isinstance(run, str):
        text = run
    else:
        reads = any(re.fullmatch(_SHELLS, os.path.basename(word)) for word in run)
        text = " ".join(run) if reads else ""
    known = [word for word in words if word.text.startswith(f"${_PROJECT}") and not word.code]
    use = rf"\$(?:\{{{_PROJECT}\}}|{_PROJECT}(?!\w))"
    if len(re.findall(use, text)) == sum(os.path.isabs(word.path) for word in known):
        text = re.sub(use, "", text)
    if re.search(_COMPUTED, text):
        yield "what the shell makes of `$…`, `*` or `{…}` in the command"


def _modules(run: str | Sequence[str]) -> Iterator[str]:
    """Those that Python is to run by their names."""
    for command in split(run if isinstance(run, str) else shlex.join(run)).commands:
        _, *words = command.words
        options = len([*takewhile(lambda word: word[:1] == "-" and word != "-m", words)])
        if command.name.startswith(("python", "pypy")) and words[options : options + 1] == ["-m"]:
            yield from words[options + 1 : options + 2]


def _field(value: Any, name: str) -> Any:
    inner = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return value if inner is None else inner


def _python_files(hook: Hook) -> tuple[str, ...]:
    """The file of a ``python`` hook, or those that its module would have in the project."""
    source = hook.handler.values.get("python", "").rpartition(":")[0]
    if not source or source.endswith(".py") or "/" in source:
        return (source,) if source else ()
    path = source.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"
