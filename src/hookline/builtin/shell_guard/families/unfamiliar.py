"""Programs that no table knows, and tasks of a project: judged by what they are called to do."""

import re
from collections.abc import Iterator
from itertools import pairwise, takewhile

from hookline.builtin.shell_guard.families.sql import judged_sql
from hookline.builtin.shell_guard.model import Act, Family, Finding, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY", "judged_by_name"]

_ENDING = "delete|destroy|purge|wipe|erase|terminate|nuke|obliterate|undefine|deprovision|drop"
# A command of a tool: `delete`, `apps:destroy`, `vol-delete`, `delete-cluster`, `rm`.
_COMMAND = re.compile(
    rf"(?:[\w.-]+[:.-])?(?:{_ENDING}|teardown)(?:[-_:][\w-]+|[A-Z]\w*|all)?|rmi?"
    r"|(?:factory-)?reset-\w+"
)
_OPTION = re.compile(
    rf"--?(?:{_ENDING}|remove-all|shutdown|rm)(?:-(?!after|before|older)[\w-]+)?(?:=.*)?"
)
_STATEMENTS = ("-e", "-c", "-q", "--execute", "--query", "--command", "--sql", "--eval")
# A script or target that is called after what it ends.
_SCRIPT = re.compile(
    r"(?:^|/)(?:destroy|nuke|wipe|obliterate|teardown|uninstall|drop)(?:[-_.:]|$)"
    r"|[-_.:](?:destroy|nuke|wipe|obliterate|teardown|uninstall)(?:\.\w+)?$"
    r"|(?:^|[-_.:/])(?:db|database|data|prod|production|cluster|infra|env)[-_:]"
    rf"(?:reset|clean|flush|fresh|truncate|{_ENDING})(?:[-_.:]|$)"
    rf"|(?:^|[-_.:/])(?:reset|clean|flush|truncate|{_ENDING})[-_:]?"
    r"(?:db|database|all-?data|prod|production|cluster)(?:[-_.:]|$)"
)
# These take such words for names of files and tests, or for text.
_TAKES_ANY = frozenset({
    "[", "[[", "test", "expr", "let", "true", "false", ":", "cd", "pushd", "popd", "mkdir",
    "touch", "ls", "ll", "tree", "stat", "file", "wc", "basename", "dirname", "realpath",
    "readlink", "which", "whereis", "type", "man", "info", "apropos", "whatis", "tldr", "locate",
    "read", "select", "complete", "compgen", "alias", "unalias", "hash", "seq", "sleep", "wait",
    "jest", "vitest", "mocha", "ava", "tap", "pytest", "rspec", "phpunit", "ctest", "say",
    "figlet", "cowsay", "notify-send", "logger", "wall", "eslint", "prettier", "ruff", "black",
    "mypy", "tsc", "cspell", "codespell", "vale", "local", "return", "exit", "break", "continue",
    "set", "shift", "getopts", "trap", "gofmt", "rustfmt", "clang-format", "shellcheck", "shfmt",
})  # fmt: skip
_RUNNERS = {
    **dict.fromkeys(("npm", "pnpm", "bun", "composer"), ("run", "run-script")),
    "yarn": ("run", ""),
    **dict.fromkeys(
        ("make", "gmake", "just", "task", "rake", "invoke", "inv", "nox", "tox", "mage", "ant",
         "doit", "poe"),
        ("",),
    ),
}  # fmt: skip
_SHELLS = ("bash", "sh", "zsh", "dash", "ksh", "source", ".")
_SHELL = re.compile(r"(?:.*/)?(?:a|ba|c|da|fi|[lmo]?k|rba|tc|ya|z)?sh")
_GIVES_CODE = re.compile(r"-[A-Za-z]*c[A-Za-z]*|--command")
_SAYS = "its name says that something ends, and nobody has looked at what"


def judged_by_name(act: Act, world: World) -> Iterator[Finding]:
    """What speaks against a program that is in no table: its own name, and its command's."""
    if act.name in _TAKES_ANY or not act.name:
        return
    command = next((word for word in _commands(act)[:3] if _COMMAND.fullmatch(word)), "")
    command = command or next((word for word in act.words[1:] if _OPTION.fullmatch(word)), "")
    for option, word in pairwise(act.words):
        if option in _STATEMENTS:
            yield from judged_sql(word, act.name)
    yield from _judge_handed_code(act, world)
    if command:
        words = f"{act.name} … {command}" if command != act.words[1] else f"{act.name} {command}"
        yield risky("deletes", words, "what that ends may have no other copy")
    elif _SCRIPT.search(act.name):
        yield risky("deletes", act.text[:120], _SAYS)


def _judge_handed_code(act: Act, world: World) -> Iterator[Finding]:
    """``./wrap.sh bash -c CODE``: whatever the program is, it is given a shell to start."""
    from hookline.builtin.shell_guard.judging import found_in

    words = act.words
    for at in range(1, len(words) - 2):
        if _SHELL.fullmatch(words[at]) and words[at + 1].startswith("-"):
            given = takewhile(lambda word: not _GIVES_CODE.fullmatch(word), words[at + 1 :])
            code = at + 2 + sum(1 for _ in given)
            if code < len(words):
                yield from found_in(words[code], world, nested=True)
            return


def _commands(act: Act) -> list[str]:
    """Words that are neither options nor the values of such."""
    words = act.words
    return [
        word
        for before, word in pairwise(words)
        if not word.startswith("-") and not (before.startswith("-") and "=" not in before)
    ]


def _target(act: Act, world: World) -> Iterator[Finding]:
    """``npm run db:drop`` and ``make destroy``."""
    rest = [word for word in act.words[1:] if not word.startswith("-")]
    for verb in _RUNNERS[act.name]:
        named = rest[1:2] if verb and rest[:1] == [verb] else rest if not verb else []
        found = next((word for word in named if _SCRIPT.search(word)), "")
        if found:
            yield risky("deletes", f"{act.name} {found}", _SAYS)
            return


def _script(act: Act, world: World) -> Iterator[Finding]:
    """``bash scripts/wipe-db.sh``."""
    if len(act.words) > 1 and not act.words[1].startswith("-"):
        name = act.words[1].rpartition("/")[2]
        if name.endswith((".sh", ".bash", ".zsh")) and _SCRIPT.search(name):
            yield risky("deletes", act.text[:120], _SAYS)


FAMILY: Family = {
    **dict.fromkeys(_RUNNERS, _target),
    **dict.fromkeys(_SHELLS, _script),
}
