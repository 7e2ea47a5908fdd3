"""What a program in another language would do: the calls in its text that name files or commands.

Reads calls by their names and follows the variables that hold their arguments. It runs nothing and
knows no grammar: what it cannot follow it says of every path in the text, and that it is not sure.
"""

import re
from collections.abc import Iterator, Mapping
from shlex import join

from msgspec import Struct

from hookline.builtin.no_workarounds.doings import Deed
from hookline.builtin.no_workarounds.expressions import Expressions, arguments, receiver

__all__ = ["Called", "called"]

_MAX_CODE = 65_536
_MAX_CALLS = 200


class Called(Struct, frozen=True):
    """One call: a deed to a path, or a command that is run."""

    did: Deed
    word: str
    deep: bool = False
    sure: bool = True


_TREES = (
    r"rmtree|rm_rf|rm_r|remove_tree|rmSync|rmdirSync|removeSync|remove_dir_all|rimraf(?:\.sync)?"
    r"|emptyDirSync|removedirs|remove_entry_secure|RemoveAll|fs\.rm|fs\.promises\.rm|Deno\.remove"
    r"|Deno\.removeSync|rm(?=\()|FileUtils\.(?:rm\w*|remove\w*)|deltree"
)
_FILES = (
    r"(?<![.\w])remove(?=\()|os\.(?:remove|unlink|rmdir)|unlink(?:Sync)?|rmdir|File\.delete"
    r"|Dir\.(?:rmdir|delete|unlink)"
)
_MOVES = r"os\.(?:rename|replace|renames)|shutil\.move|rename(?:Sync)?|File\.rename|FileUtils\.mv"
_COPIES = (
    r"shutil\.copy\w*|copyfile|copytree|copyFile(?:Sync)?|cpSync|FileUtils\.(?:cp\w*|copy\w*)"
    r"|os\.(?:link|symlink)|symlinkSync|linkSync"
)
_OPENS = r"open|fopen|io\.open|codecs\.open|os\.open|File\.(?:open|new)|openSync"
_WRITES = (
    r"writeFile(?:Sync)?|appendFile(?:Sync)?|file_put_contents|File\.write|IO\.write|outputFileSync"
    r"|Deno\.write\w*|Bun\.write|createWriteStream|createWritable"
)
_MODES = r"os\.(?:chmod|chown|lchown)|(?:l|f)?ch(?:mod|own)Sync|File\.ch(?:mod|own)|fs\.chmod"
_EMPTIES = r"truncate(?:Sync)?|File\.truncate|os\.truncate"
_READS = (
    r"readFile(?:Sync)?|file_get_contents|File\.(?:read|readlines|foreach)|IO\.(?:read|readlines)"
    r"|Deno\.read\w*|Bun\.file|createReadStream|load_dotenv|dotenv_values|readlines|slurp|read_csv"
    r"|linecache\.getlines?"
)
_RUNS = (
    r"os\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawn|execute)|subprocess\.\w+"
    r"|exec(?:Sync|File|FileSync)?|spawn(?:Sync)?|system|popen[234]?|io\.popen|shell_exec|passthru"
    r"|proc_open|check_call|check_output|Popen|getoutput|Open3\.\w+|pty\.spawn|Deno\.Command"
    r"|Bun\.spawn\w*"
)
# The last name of a call decides, so that `os.remove` is found before `remove` would be.
_CALL = re.compile(
    rf"(?<!\w)(?:\w+\.){{0,4}}?(?:(?P<tree>{_TREES})|(?P<file>{_FILES})|(?P<move>{_MOVES})"
    rf"|(?P<copy>{_COPIES})|(?P<open>{_OPENS})|(?P<write>{_WRITES})|(?P<empty>{_EMPTIES})"
    rf"|(?P<mode>{_MODES})|(?P<read>{_READS})|(?P<run>{_RUNS}))"
    r"\b[!?]?(?:\s*\(|[ \t]+(?=['\"$<\w%@]))"
)
_METHOD = re.compile(
    r"\.(?P<name>unlink|rmdir|rmtree|rename|replace|write_text|write_bytes|touch|open|read_text"
    r"|read_bytes|truncate|delete|symlink_to|hardlink_to|chmod)\s*\("
)
_METHODS: Mapping[str, Deed] = {
    "unlink": Deed.DELETE,
    "rmdir": Deed.DELETE,
    "rmtree": Deed.DELETE,
    "delete": Deed.DELETE,
    "write_text": Deed.WRITE,
    "write_bytes": Deed.WRITE,
    "truncate": Deed.EMPTY,
    "read_text": Deed.READ,
    "read_bytes": Deed.READ,
    "chmod": Deed.MODE,
    "symlink_to": Deed.WRITE,
    "hardlink_to": Deed.WRITE,
}
_MODULE = re.compile(r"(?:require|(?:__)?import(?:__|_module)?)\s*\([^)]*\)")
_MODE = re.compile(r"r?b?[wax]b?\+?t?|[rab]+\+b?|[><+]{1,3}")
_FILLS = re.compile(r"\.write|print\(|dump\(|writelines|\bprint\b|puts|copyfileobj|fwrite|fputs")
_TICKS = re.compile(r"(?:^|(?<=[=;({\s]))`([^`]*)`|(?:\bqx|%x)\s*[{(\[/]([^})\]/]*)")
_AWK_WRITES = re.compile(r"\bprintf?\b[^;}|]*?(>{1,2})\s*\"([^\"]+)\"")
_AWK_READS = re.compile(r"getline\b[^;}|]*<\s*\"([^\"]+)\"")
_AWK_RUNS = re.compile(r"\"([^\"]+)\"\s*\|\s*getline|\|\s*\"([^\"]+)\"")


def called(code: str, name: str, args: tuple[str, ...] = (), file: str = "") -> Iterator[Called]:
    """Every call of a program's text, which may be in a file, for the interpreter of that name."""
    if len(code) > _MAX_CODE:
        yield Called(Deed.UNREAD, "")
        code = code[:_MAX_CODE]
    known = Expressions(code, args, file)
    for number, match in enumerate(_CALL.finditer(code)):
        if number == _MAX_CALLS:
            yield Called(Deed.UNREAD, "")
            break
        if _is_method(code, match.start(), known):
            continue
        kind = match.lastgroup or ""
        yield from _CALLS[kind](arguments(code, match.end()), known, match.group())
    for number, match in enumerate(_METHOD.finditer(code)):
        if number == _MAX_CALLS:
            yield Called(Deed.UNREAD, "")
            break
        yield from _method(match, code, known)
    if name.startswith(("perl", "ruby", "php")):
        for ticks, quoted in _TICKS.findall(code)[:_MAX_CALLS]:
            yield Called(Deed.RUN, ticks or quoted)
    if name.endswith("awk"):
        yield from _awk(code)


def _awk(code: str) -> Iterator[Called]:
    yield from (Called(Deed.WRITE, file) for _, file in _AWK_WRITES.findall(code))
    yield from (Called(Deed.READ, file) for file in _AWK_READS.findall(code))
    yield from (Called(Deed.RUN, one or other) for one, other in _AWK_RUNS.findall(code))


def _each(
    did: Deed, expression: str, known: Expressions, *, deep: bool = False
) -> Iterator[Called]:
    for path, sure in known.paths(expression):
        yield Called(did, path, deep, sure)


def _tree(given: list[str], known: Expressions, call: str) -> Iterator[Called]:
    for each in given[:1]:
        yield from _each(Deed.DELETE, each, known, deep=True)


def _file(given: list[str], known: Expressions, call: str) -> Iterator[Called]:
    # perl's and ruby's take a list.
    for each in given:
        yield from _each(Deed.DELETE, each, known)


def _move(given: list[str], known: Expressions, call: str) -> Iterator[Called]:
    for each in given[:1]:
        yield from _each(Deed.DELETE, each, known, deep=True)
        yield from _each(Deed.TAKE, each, known)
    for each in given[1:2]:
        yield from _each(Deed.WRITE, each, known)


def _copy(given: list[str], known: Expressions, call: str) -> Iterator[Called]:
    for each in given[:1]:
        yield from _each(Deed.READ, each, known)
    for each in given[1:2]:
        yield from _each(Deed.WRITE, each, known)


def _open(given: list[str], known: Expressions, call: str) -> Iterator[Called]:
    if not given:
        return
    modes = [text for each in given[1:] for text in known.texts(each)]
    path = given[0]
    if re.fullmatch(r"\s*(?:(?:my\s+)?\$\w+|\*?[A-Z]+)\s*", path) and len(given) > 1:
        # perl has the handle first, and the mode before the name or in it.
        texts = [text for each in given[1:] for text in known.texts(each)]
        mode = texts[0] if texts else ""
        path = given[2] if len(given) > 2 else repr(mode.lstrip("<>+ "))
        modes = [re.sub(r"[^<>+]", "", mode)]
    writes = any(_MODE.fullmatch(each.partition(":")[0]) and each not in {"<"} for each in modes)
    flags = re.search(r"O_(?:WRONLY|RDWR|TRUNC|CREAT|APPEND)", " ".join(given[1:]))
    if not writes and not flags:
        yield from _each(Deed.READ, path, known)
    else:
        truncates = any("w" in each or each == ">" for each in modes)
        empties = truncates and not _FILLS.search(known.code)
        yield from _each(Deed.EMPTY if empties else Deed.WRITE, path, known)


def _write(given: list[str], known: Expressions, call: str) -> Iterator[Called]:
    nothing = len(given) > 1 and given[1].strip() in {"''", '""', "b''", "``"}
    for each in given[:1]:
        yield from _each(Deed.EMPTY if nothing else Deed.WRITE, each, known)


def _empty(given: list[str], known: Expressions, call: str) -> Iterator[Called]:
    for each in given[:1]:
        yield from _each(Deed.EMPTY, each, known)


def _mode(given: list[str], known: Expressions, call: str) -> Iterator[Called]:
    for each in given[:1]:
        yield from _each(Deed.MODE, each, known)


def _read(given: list[str], known: Expressions, call: str) -> Iterator[Called]:
    for each in given[:1]:
        yield from _each(Deed.READ, each, known)


def _run(given: list[str], known: Expressions, call: str) -> Iterator[Called]:
    """A command: one text, or a list of words."""
    if not given:
        return
    listed = given[0].lstrip().startswith("[")
    words = [text for each in (given[:1] if listed else given) for text in known.texts(each)]
    if not words:
        return
    if listed or (len(words) > 1 and " " not in words[0]):
        yield Called(Deed.RUN, join(words))
    else:
        yield Called(Deed.RUN, words[0])


_CALLS = {
    "tree": _tree,
    "file": _file,
    "move": _move,
    "copy": _copy,
    "open": _open,
    "write": _write,
    "empty": _empty,
    "mode": _mode,
    "read": _read,
    "run": _run,
}


def _is_method(code: str, start: int, known: Expressions) -> bool:
    """Whether a name is called on a path, and not on a module or on nothing."""
    if code[start - 1 : start] != ".":
        return False
    return known.names_path(_MODULE.sub("", receiver(code, start - 1)))


def _method(match: re.Match[str], code: str, known: Expressions) -> Iterator[Called]:
    """A call on what stands before the dot: ``Path("x").unlink()``."""
    owner, name = receiver(code, match.start()), match["name"]
    if re.search(r"\b(?:os|shutil|fs|File|Dir|FileUtils|io|codecs|promises|Deno)\s*$", owner):
        return  # found by its whole name already
    if not known.names_path(owner):
        return
    given = arguments(code, match.end())
    if name in {"rename", "replace"}:
        yield from _move([owner, *given], known, name)
    elif name == "open":
        yield from _open([owner, *given], known, name)
    elif name in _METHODS:
        yield from _each(_METHODS[name], owner, known, deep=name == "rmtree")
