"""The words of a command with what they stand for: variables, loops, what a pipe brings along."""

import re
from collections.abc import Iterator, Sequence

from hookline.builtin._touch_programs import uses
from hookline.builtin._touch_special import operands
from hookline.builtin.no_workarounds.doings import Ground
from hookline.shell import SimpleCommand, split

__all__ = ["Words", "command_line", "without_code"]

_UNKNOWN = re.compile(
    r"\$\([^()]*\)|`[^`]*`|\$\{(\w+)(?::?[-=]([^}]{0,200}))?[^}]{0,200}\}|\$(\w+)"
    r"|\$[@*#?!$-]|\{\}"
)
_LOOP = re.compile(r"\bfor\s+([A-Za-z_]\w*)\s+in\s([^;\n]{0,1000})[;\n]\s*do\b")
_GIVEN = re.compile(r"(?:^|[\s;&|({])(\w+)=\"?(\$\([^()]*\)|`[^`]*`|\$\{[^}\n]*\})")
_READ_IN = re.compile(r"\bread\s[^;\n|&]*")
_HERE = re.compile(r"<<<\s*(\S+)")
# A directory of nobody's, which whatever is moved there is gone from.
_MADE = "/tmp/made"  # noqa: S108
_ASSIGNED = re.compile(r"""(?:^|[\s;&|({])(\w+)=([^\s;&|()'"$`]+|'[^'\n]*'|"[^"$`\n]*")""")
_LISTERS = frozenset(
    {"find", "fd", "fdfind", "ls", "echo", "printf", "git", "realpath", "readlink"}
)
_FEEDERS = frozenset({"xargs", "parallel"})
_SILENT = frozenset({
    ":", "[", "[[", "alias", "awk", "basename", "cat", "cd", "chdir", "cut", "date", "declare",
    "dirname", "du", "df", "echo", "egrep", "env", "exit", "export", "false", "fgrep", "find",
    "grep", "head", "jq", "less", "local", "ls", "man", "mkdir", "more", "popd", "printf", "pushd",
    "pwd", "read", "realpath", "return", "rg", "sed", "set", "shift", "sleep", "sort", "source",
    "stat", "tail", "tee", "test", "time", "touch", "tr", "tree", "true", "type", "uniq", "unset",
    "wait", "wc", "which", "whoami", "xargs", ".", "eval", "rm", "mv", "cp", "git", "curl", "wget",
})  # fmt: skip
_CARRIERS = re.compile(r"(?:ba|z|da|k|a|fi)?sh|(?:python|node|perl|ruby|php|deno|bun)[\d.]*")
# By interpreter, the option behind which its program stands.
_CODE = {
    "python": re.compile(r"-\w*c"),
    **dict.fromkeys(("perl", "ruby", "lua", "luajit", "julia", "Rscript"), re.compile(r"-\w*[eE]")),
    **dict.fromkeys(("node", "nodejs", "bun"), re.compile(r"-\w*[ep]|--eval|--print")),
    "deno": re.compile("eval"),
    "php": re.compile(r"-[rBR]"),
    "osascript": re.compile("-e"),
}
_MAX_VALUES = 32
_MAX_ROUNDS = 6
_LONGEST = 200


class Words:
    """The words of all commands of one text."""

    def __init__(self, text: str, commands: Sequence[SimpleCommand], ground: Ground) -> None:
        self._text = text
        self._commands = commands
        self._ground = ground
        self._held: dict[str, list[str]] = {}
        for name, value in _ASSIGNED.findall(text):
            self._held.setdefault(name, []).append(value.strip("'\""))
        for name, value in _GIVEN.findall(text):
            values = [value] if value[1] == "{" else _output(value)
            self._held.setdefault(name, []).extend(values)
        self._read_in = {word for each in _READ_IN.findall(text) for word in each.split()[1:]}
        for name, value in _LOOP.findall(text):
            self._held.setdefault(name, []).extend(each.strip("'\"") for each in value.split())

    def of(self, at: int) -> tuple[str, ...]:
        """A command's words, each in all its values, with those that a pipe adds at the end."""
        command = self._commands[at]
        words = command.words
        if not command.exact:
            spread = (value for word in words[1:] for value in self.values(word, at))
            words = (self.values(words[0], at)[0] or words[0], *spread)
        if any(each.rpartition("/")[2] in _FEEDERS for each in command.full[:3]):
            known = {*words}
            given = [*self._listed(at), *(each.strip("'\"") for each in _HERE.findall(self._text))]
            words = (*words, *(each for each in given if each not in known))
        return words

    def values(self, word: str, at: int | None = None, rounds: int = 0) -> list[str]:
        """What a word may be; `*` stands for a name that cannot be told.

        A word of which nobody knows where it begins is empty: it may be anywhere.
        """
        found = _UNKNOWN.search(word)
        if found is None:
            return [word]
        whole = found.span() == (0, len(word))
        values = [*self._ground.first(self._value(found, at, whole=whole), _MAX_VALUES)]
        if not values and not found.start():
            return [""]
        values = values or ["*"]
        texts = [word[: found.start()] + each + word[found.end() :] for each in values]
        if len(texts) == 1 and _UNKNOWN.search(texts[0]) and rounds < _MAX_ROUNDS:
            return self.values(texts[0], at, rounds + 1)
        return texts

    def _value(self, found: re.Match[str], at: int | None, *, whole: bool) -> list[str]:
        name, default = found[1] or found[3], [found[2]] if found[2] else []
        if name and name.isdecimal():
            args = self._ground.args[int(name) - 1 : int(name)] if int(name) else ()
            return list(args) or default or (self._listed(at) if whole else [])
        if found.group() in {"$@", "$*"}:
            return list(self._ground.args) or self._listed(at)
        if name and name in self._held:
            # A value that is made of its own variable would be looked up for ever.
            own = re.compile(rf"\$\{{?{name}\b")
            return [each for each in self._held[name] if not own.search(each)]
        if name == "HOME":
            return ["~"]
        if name == "PWD" or found.group() in {"$(pwd)", "`pwd`"}:
            return ["."]
        if name and (value := self._ground.env.get(name)):
            return [value]
        if name:
            return [*self._listed(at), *self._fed()] if name in self._read_in else default
        return list(_output(found.group())) or (self._listed(at) if found.group() == "{}" else [])

    def _fed(self) -> list[str]:
        """The lines of here-documents, which a loop may read."""
        return [line for body in split(self._text).heredocs for line in body.splitlines()]

    def _listed(self, at: int | None) -> list[str]:
        """What the nearest command before one lists; a loop may come before what feeds it."""
        before = list(reversed(self._commands[:at])) if at else []
        for command in (*before, *self._commands[(at or 0) + 1 :]):
            if command.name in _LISTERS:
                return [*self._ground.first([*_lists(command)], _MAX_VALUES)]
        return []


def _output(source: str) -> Iterator[str]:
    """What a substitution evidently gives."""
    for command in split(source.strip("$()`")).commands[-1:]:
        if command.name == "mktemp":
            yield _MADE
        elif command.name in _LISTERS:
            yield from _lists(command)


def _lists(command: SimpleCommand) -> Iterator[str]:
    """The paths that a command prints."""
    words = command.words
    if command.name == "find":
        yield from (use.word for use in uses((*_search(words), "-delete")))
    elif command.name in {"fd", "fdfind"}:
        yield from (f"{each}/*" for each in [*operands(words[1:])][1:] or ["."])
    elif command.name == "ls":
        # With `-d`, and of a pattern, the names themselves are listed.
        bare = any(re.match(r"-[a-zA-Z]*d", each) for each in words[1:])
        for each in [*operands(words[1:])] or ["."]:
            yield each if bare or "*" in each else f"{each.rstrip('/')}/*"
    elif command.name == "git":
        if "ls-files" in words:
            yield from [each for each in operands(words[1:]) if each != "ls-files"] or ["."]
    else:
        yield from (part for each in operands(words[1:]) for part in each.split())


def _search(words: Sequence[str]) -> list[str]:
    """A search without what it does to its findings."""
    ends = {"-exec", "-execdir", "-ok", "-okdir", "-print0", "-print"}
    stop = next((at for at, each in enumerate(words) if each in ends), len(words))
    return list(words[:stop])


def command_line(words: Sequence[str]) -> str:
    """A program and its operands in one line, by which the same command is known again.

    Empty for what only looks or speaks, and for what is known by the files it touches.
    """
    name = words[0].rpartition("/")[2]
    given = [*operands(words[1:])]
    if name in _SILENT or _CARRIERS.fullmatch(name) or not given:
        return ""
    return " ".join([name, *given])[:_LONGEST]


def without_code(name: str, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The programs among an interpreter's words, and the words that are none."""
    code: list[str] = []
    rest: list[str] = []
    option = _CODE.get(name.rstrip("0123456789."), _CODE["python"])
    before = ""
    for each in words[1:]:
        first = name.endswith("awk") and not code and each[:1] != "-" and each != "inplace"
        glued = re.match(r"-[ce](?=.*[('\"])(.+)", each, re.DOTALL)
        if first or option.fullmatch(before):
            code.append(each)
        elif glued is not None:
            code.append(glued[1])
        elif not option.fullmatch(each):
            rest.append(each)
        before = each
    return code, rest
