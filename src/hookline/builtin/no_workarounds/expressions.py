"""Which paths an expression of some program may be: its texts, and the variables it is made of."""

import re
from collections.abc import Iterator
from functools import cached_property
from itertools import chain, islice

__all__ = ["Expressions", "arguments", "receiver"]

_TEXT = re.compile(
    r"(?P<f>[fF]?)[rRbBuU]{0,2}(?:'''(?P<a>.*?)'''|\"\"\"(?P<b>.*?)\"\"\"|'(?P<c>(?:[^'\\\n]|\\.)*)'"
    r"|\"(?P<d>(?:[^\"\\\n]|\\.)*)\"|`(?P<e>[^`]*)`|<(?P<g>[\w./~-]{0,100}\*[\w./*~-]{0,100})>)",
    re.DOTALL,
)
_NAME = re.compile(r"[$@%]?[A-Za-z_]\w*")
_TOKEN = re.compile(rf"{_TEXT.pattern}|(?P<name>[$@]?[A-Za-z_]\w*)", re.DOTALL)
_ASSIGNED = re.compile(
    r"(?m)(?:^|[;{(\s])(?:const |let |var |my |our |local )?([$@]?[A-Za-z_]\w*)\s*:?=(?![=~>])\s*"
    r"([^;\n]+)"
)
_LOOPS = (
    re.compile(
        r"\bfor\s+(?:my\s+)?\(?\s*(?:const |let |var |my )?([$@\w,\s]{1,60}?)\)?\s(?:in|of)\s"
        r"([^:\n{]+)"
    ),
    re.compile(r"\bforeach\s+(?:my\s+)?([$@]\w+)\s*\(([^\n{]{1,200})\)\s*\{"),
    re.compile(r"\bfor\s+(?:my\s+)?([$@]\w+)\s*\(([^\n{]{1,200})\)\s*\{"),
)
_BLOCK = re.compile(r"\.each\w*\s*(?:do|\{)\s*\|\s*([\w,\s]{1,60})\|")
_ARROW = re.compile(r"\.(?:forEach|map|each)\(\s*(?:async\s*)?\(?\s*([\w,\s]{1,60}?)\)?\s{0,9}=>")
_WITH = re.compile(r"\bwith\s([^:\n]{1,200}?)\sas\s+(\w+)")
_COMPREHENDED = re.compile(r"\bfor\s+(\w+)\s+in\s([^\]\n]{1,200})\]")
_FUNCTION = re.compile(r"\b(?:def|function)\s+(\w+)\s*\(([^)\n]{0,200})\)")
_ABOVE = re.compile(r"\bdirname\(|\.parent\b")
_MODULE = re.compile(r"\s*(?:await\s+)?(?:require|import)\b")
_LISTS = re.compile(
    r"\b(?:listdir|i?glob|rglob|iterdir|scandir|walk|readdir(?:Sync)?|Dir\.(?:glob|children|entries"
    r"|each_child)|Dir\s*\[|find|opendir|globSync|scandir|globmultiple|bsd_glob)"
)
_JOINS = re.compile(
    r"\bjoin\b|resolve|joinpath|catfile|Path|File\.join|\s/\s|['\")]\s*/\s*['\"(\w]"
)
_HOMES = re.compile(r"\bhome\(\)|expanduser|\bHOME\b|homedir\(\)|Dir\.home")
_HOLES = re.compile(r"\$?\{[^{}]*\}|#\{[^{}]*\}")
_ARGS = frozenset({"argv", "ARGV", "args", "@ARGV", "$ARGV"})
_NO_PATH = frozenset({
    "os", "path", "Path", "pathlib", "join", "shutil", "fs", "require", "str", "open", "list",
    "glob", "sorted", "new", "await", "True", "False", "None", "true", "false", "recursive",
    "force", "ignore_errors", "missing_ok", "File", "Dir", "FileUtils", "process", "sys", "const",
    "let", "var", "my", "import", "in", "for", "of", "f", "r", "b", "u", "PurePath", "resolve",
    "self", "io", "encoding", "mode", "exist_ok", "parents", "Deno", "Bun", "iglob", "rglob",
})  # fmt: skip
_MAX_VALUES = 12
_MAX_LOOPS = 50
_MAX_ROUNDS = 4
# A variable may hold others that hold others; all of them together are looked up this often.
_MAX_LOOKS = 2_000
_LONGEST = 512


def arguments(code: str, start: int) -> list[str]:
    """The arguments of a call, from behind its bracket or its name, cut at the outer commas."""
    bracketed = code[start - 1 : start] == "("
    level, quote, begun, found = 0, "", start, []
    at = start
    for at in range(start, min(len(code), start + 2000)):
        mark = code[at]
        if quote:
            quote = "" if mark == quote and code[at - 1] != "\\" else quote
        elif mark in "'\"`":
            quote = mark
        elif mark in "([{":
            level += 1
        elif mark in ")]}":
            level -= 1
            if level < 0:
                break
        elif mark == "," and level == 0:
            found.append(code[begun:at])
            begun = at + 1
        elif mark in ";\n" and level <= 0 and not (bracketed and mark == "\n"):
            break
    else:
        at += 1
    last = code[begun:at]
    return [*found, last] if last.strip() else found


def receiver(code: str, end: int) -> str:
    """What a method is called on: the expression that ends where its dot is."""
    level = 0
    for at in range(end - 1, max(end - 400, -1), -1):
        mark = code[at]
        if mark in ")]}":
            level += 1
        elif mark in "([{":
            level -= 1
            if level < 0:
                return code[at + 1 : end]
        elif level == 0 and mark in " ;:\n=,":
            return code[at + 1 : end]
    return code[max(end - 400, 0) : end]


class Expressions:
    """The variables of one text."""

    def __init__(self, code: str, args: tuple[str, ...], file: str = "") -> None:
        self.code = code
        self._args = args
        self._file = file
        self._held: dict[str, list[str]] = {}
        self._left = _MAX_LOOKS
        self._collect()

    def _collect(self) -> None:
        for name, value in _ASSIGNED.findall(self.code):
            self._hold(name, value)
        pairs = [pair for loop in _LOOPS for pair in loop.findall(self.code)]
        blocks = chain(_BLOCK.finditer(self.code), _ARROW.finditer(self.code))
        pairs += [
            (each[1], receiver(self.code, each.start())) for each in islice(blocks, _MAX_LOOPS)
        ]
        pairs += _COMPREHENDED.findall(self.code)
        for names, value in pairs:
            for name in _NAME.findall(names):
                self._hold(name, value)
        for value, name in _WITH.findall(self.code):
            self._hold(name, value)
        for name, given in dict(_FUNCTION.findall(self.code)[:_MAX_LOOPS]).items():
            self._bind(name, [_NAME.match(each.strip()) for each in given.split(",")])

    def _bind(self, function: str, names: list[re.Match[str] | None]) -> None:
        """Gives the parameters of a function what it is called with."""
        calls = re.finditer(rf"(?<!def )(?<!function )(?<![\w.]){function}\(", self.code)
        for call in islice(calls, _MAX_VALUES):
            for name, value in zip(names, arguments(self.code, call.end()), strict=False):
                if name is not None and name.group() != value.strip():
                    self._hold(name.group(), value)

    def _hold(self, name: str, value: str) -> None:
        if _MODULE.match(value):
            return
        held = self._held.setdefault(name, [])
        if value not in held and len(held) < _MAX_VALUES:
            held.append(value)

    def texts(self, expression: str) -> list[str]:
        """The texts in an expression, and those that its variables hold."""
        found: list[str] = []
        for match in _TOKEN.finditer(expression):
            name = match["name"]
            if name is None:
                found.append(_unescaped(_text(match)))
            elif name in self._held and expression[match.end() : match.end() + 1] != "(":
                for value in self._held[name]:
                    found += [_unescaped(_text(each)) for each in _TEXT.finditer(value)]
        return found[:_MAX_VALUES]

    def names_path(self, expression: str) -> bool:
        """Whether something in an expression is, or holds, a text."""
        return bool(_TEXT.search(expression)) or any(
            name in self._held for name in _NAME.findall(expression)
        )

    def paths(self, expression: str) -> Iterator[tuple[str, bool]]:
        """What an expression may be as a path, and whether that is beyond doubt."""
        # What begins with something unknown may be anywhere.
        found = dict.fromkeys(each for each in self._paths(expression, 0) if each[:1] != "*")
        yield from ((path, True) for path in list(found)[:_MAX_VALUES] if len(path) <= _LONGEST)
        if not found:
            # It is put together from something that cannot be followed.
            yield from ((path, False) for path in self._likely)

    @cached_property
    def _likely(self) -> list[str]:
        """Every text in the code that looks like a path."""
        every = dict.fromkeys(_unescaped(_text(each)) for each in _TEXT.finditer(self.code))
        return [each for each in every if re.fullmatch(r"[\w.~*/@+-]{2,200}", each)][:_MAX_VALUES]

    def _paths(self, expression: str, rounds: int) -> list[str]:
        """Every value that an expression may have; `*` in place of what cannot be told."""
        self._left -= 1
        if self._left < 0:
            return []
        if expression.lstrip().startswith("[") and rounds < _MAX_ROUNDS:
            inside = arguments(expression, expression.index("[") + 1)
            return [path for each in inside for path in self._paths(each, rounds + 1)]
        listed = _LISTS.search(expression) is not None
        rows: list[str] = [""]
        joined = _JOINS.search(_TEXT.sub('""', expression)) is not None
        pieces = list(self._pieces(expression, rounds))
        if _HOMES.search(expression) and pieces and not pieces[0][0].startswith(("/", "~")):
            pieces.insert(0, ["~"])
            joined = True
        for values in pieces:
            glue = "/" if joined or listed else ""
            rows = [_joined(row, value, glue) for row in rows for value in values][:_MAX_VALUES]
        if listed:
            rows = [
                row if re.search(r"[*?\[]", row) else f"{row.rstrip('/')}/*" for row in rows if row
            ]
        return [row for row in rows if row]

    def _own_place(self, expression: str, name: str) -> str:
        """The file itself, or as many directories above it as the expression goes."""
        place = self._file or "*"
        ups = len(_ABOVE.findall(expression)) + (name == "__dirname")
        for _ in range(ups):
            place = place.rpartition("/")[0] or place
        return place

    def _pieces(self, expression: str, rounds: int) -> Iterator[list[str]]:
        for match in _TOKEN.finditer(expression):
            name, after = match["name"], expression[match.end() : match.end() + 1]
            if name is None:
                text = _unescaped(_text(match))
                if not _is_keyword_value(expression, match.start()):
                    yield [_HOLES.sub("*", text)]
            elif name in {"__file__", "__dirname"}:
                yield [self._own_place(expression, name)]
            elif name.lstrip("$@") in _ARGS or name in _ARGS:
                yield list(self._args) or ["*"]
            elif name in self._held and after != "(" and rounds < _MAX_ROUNDS:
                held = [v for each in self._held[name] for v in self._paths(each, rounds + 1)]
                yield [*dict.fromkeys(held)] or ["*"]
            elif (
                after not in {"(", ".", ":", "="}
                and name not in _NO_PATH
                and _stands_alone(expression, match.start())
            ):
                yield ["*"]


def _stands_alone(expression: str, start: int) -> bool:
    return expression[start - 1 : start] not in {".", ":"} or start == 0


def _is_keyword_value(expression: str, start: int) -> bool:
    """Whether a text is the value of a named argument, such as an encoding."""
    return re.search(r"\w\s*=\s*$", expression[max(0, start - 40) : start]) is not None


def _joined(row: str, value: str, glue: str) -> str:
    begun = row.partition("*")[0]
    if begun and "*" in value and value.startswith(begun):
        return value  # a name from a listing, which holds the directory already
    if not row or not glue:
        return row + value
    return value if value.startswith("/") else f"{row.rstrip('/')}/{value}"


def _text(match: re.Match[str]) -> str:
    return next((match[g] for g in "abcdeg" if match[g] is not None), "")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(['\"`\\/ ])", r"\1", text)
