"""Which files the words of one shell command stand for, and what the program does with them.

Knows programs by name only; must not look at any disk.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from hookline.builtin._touch_code import INTERPRETERS, Right, Use, code_uses
from hookline.builtin._touch_special import SPECIAL, operands, values, without_loaded

__all__ = ["find_excluded", "has_named_targets", "uses"]


# Look at names and dates at most, or only say something.
_SILENT = frozenset({
    ":", "[", "[[", "alias", "basename", "cd", "chdir", "command", "date", "declare", "dir",
    "dirname", "df", "du", "echo", "exit", "export", "false", "hash", "help", "hookline",
    "kill", "local", "ls", "man", "popd", "printf", "ps", "pushd", "pwd", "read",
    "readlink", "realpath", "return", "set", "shift", "sleep", "stat", "test", "time",
    "tree", "trap", "true", "type", "typeset", "umask", "unset", "wait", "which", "whereis",
    "whoami",
})  # fmt: skip
_READERS = frozenset({
    "ack", "ag", "base32", "base64", "bat", "batcat", "cat", "cksum", "cmp", "column",
    "comm", "cut", "diff", "egrep", "envsubst", "fgrep", "file", "fmt", "fold", "grep", "head",
    "hexdump", "jless", "join", "less", "md5sum", "more", "nl", "od", "paste", "rev",
    "rg", "sha1sum", "sha256sum", "sha512sum", "shasum", "shellcheck", "sort",
    "strings", "tac", "tail", "tr", "uniq", "wc", "xxd", "yamllint", "zcat", "zgrep", "ssh-add",
    "ssh-keygen", "gpg", "age",
})  # fmt: skip
# The packers put something else in the place of what they are given.
_WRITERS = frozenset({
    "bunzip2", "bzip2", "gunzip", "gzip", "unxz", "xz", "zstd", "chattr", "chflags", "chgrp",
    "chmod", "chown", "dos2unix", "ed", "emacs", "ex", "micro", "mkfifo", "mknod", "nano", "nvim",
    "patch", "pico", "setfacl", "sponge", "tee", "touch", "truncate", "vi", "vim",
})  # fmt: skip
_DELETERS = frozenset({
    "rm", "rmdir", "shred", "srm", "trash", "trash-put", "unlink",
})  # fmt: skip
# Of those that read, the options that name a file to write.
_OUTPUTS = {
    **dict.fromkeys(("sort", "gpg", "age", "base32", "base64"), frozenset({"-o", "--output"})),
    "less": frozenset({"-o", "-O", "--log-file"}),
}
# They create files of which only what they are given knows the names.
_UNPACKERS = frozenset({"bsdtar", "curl", "git", "install", "patch", "tar", "unzip", "wget"})
_JOINED = re.compile(r"-[a-zA-Z][^-=]*/")
_LEAVES_OUT = re.compile(r"--(?:\w+-)?(?:ignore|exclude|skip)[\w-]*")
_CODE = re.compile(r"""[('"`{]""")
_GIVEN = re.compile(r"-[a-zA-Z]*[ef]|--(?:expression|regexp|file|from-file)")
_EDITORS = frozenset({"sed", "yq"})
_IN_PLACE = re.compile(r"-[a-zA-Z]*[iI]|--in-place|--inplace")
_SED_WRITES = re.compile(r"(?:^|[;/}\s\d$])[wW]\s+([^\s;}]+)")
# Rights for the owner alone: they keep nobody out who should be in.
_CLOSES = re.compile(r"0?[67]00|[go]+[-=][rwx]*|[go]+=")
_INVERTS = re.compile(r"-[a-zA-Z]*v[a-zA-Z]*|--invert-match")
# Whole lines or words only, other patterns, or lines around those found.
_SHOWS_MORE = re.compile(r"-[a-zA-Z]*[ABCefwx\d]|--(?!invert|color|no-)")
_PLAIN_PATTERN = re.compile(r"[\w./-]+")
# What does not narrow down the files that `find` finds.
_ANYTHING = frozenset({
    "-delete", "-depth", "-exec", "-execdir", "-maxdepth", "-mindepth", "-type", "-f", "-rf", "-i",
})  # fmt: skip
# Their first word is a pattern or a script, unless an option gave one.
_SCRIPTED = frozenset({
    "ack", "ag", "egrep", "fgrep", "grep", "rg", "jq", "yq", "sed",
})  # fmt: skip


def uses(words: Sequence[str]) -> Iterable[Use]:
    """Every word of a command that may be a path."""
    name = words[0].rpartition("/")[2]
    arguments = without_loaded(name, words[1:])
    known = _KNOWN.get(name)
    if known is not None:
        return known(name, arguments)
    if INTERPRETERS.fullmatch(name):
        return _interpreted(name, arguments)
    left_out = [after for option, after in pairwise(arguments) if _LEAVES_OUT.fullmatch(option)]
    given = [*values(arguments), *(each[2:] for each in arguments if _JOINED.match(each))]
    return [Use(each, Right.USE) for each in given if each not in left_out]


def find_excluded(words: Sequence[str]) -> Sequence[str]:
    """The pattern of a ``grep -v``: nothing that has it is handed on."""
    if words[0] not in {"grep", "egrep", "fgrep", "rg"}:
        return ()
    options = [each for each in words[1:] if each.startswith("-")]
    if not any(map(_INVERTS.fullmatch, options)) or any(map(_SHOWS_MORE.match, options)):
        return ()
    return [each for each in operands(words[1:])[:1] if _PLAIN_PATTERN.fullmatch(each)]


def has_named_targets(words: Sequence[str]) -> bool:
    """Whether a program changes nothing but what its words name, as far as is known."""
    name = words[0].rpartition("/")[2]
    if INTERPRETERS.fullmatch(name):
        return {use.right for use in uses(words)} == {Right.READ}
    return name in _KNOWN and name not in _UNPACKERS


def _nothing(_name: str, _arguments: Sequence[str]) -> Iterable[Use]:
    return ()


def _deleted(_name: str, arguments: Sequence[str]) -> Iterable[Use]:
    return [Use(each, Right.DELETE, deep=True) for each in operands(arguments)]


def _written(name: str, arguments: Sequence[str]) -> Iterable[Use]:
    given = operands(arguments)
    if name == "chmod" and given and _CLOSES.fullmatch(given[0]):
        return
    deep = any(re.match(r"-\w*R|--recursive", each) for each in arguments)
    yield from [Use(each, Right.WRITE, deep) for each in given]
    # An editor's commands name files as well: `vim -c 'w FILE'`.
    inner = (word for each in arguments if " " in each for word in each.split())
    yield from (Use(word, Right.WRITE, sure=False) for word in inner)


def _read(name: str, arguments: Sequence[str]) -> Iterable[Use]:
    files = operands(arguments)
    if name in _SCRIPTED and not any(map(_GIVEN.match, arguments)):
        files = files[1:]
    changes = name in _EDITORS and any(map(_IN_PLACE.match, arguments))
    right = Right.WRITE if changes else Right.READ
    found = [Use(each, right) for each in files]
    if name == "sed":
        found[:0] = [use for each in arguments for use in _sed_script(each)]
    if name in {"uniq", "xxd"}:
        found[1:] = [Use(each, Right.WRITE) for each in files[1:]]
    written = _OUTPUTS.get(name, ())
    for at, each in enumerate(arguments):
        if each in written:
            found += [Use(file, Right.WRITE) for file in arguments[at + 1 : at + 2]]
        elif each.startswith("--output="):
            found.append(Use(each.partition("=")[2], Right.WRITE))
    return found


def _sed_script(script: str) -> Iterator[Use]:
    for file in _SED_WRITES.findall(script):
        yield Use(file, Right.WRITE, sure=False)


def _interpreted(name: str, arguments: Sequence[str]) -> Iterable[Use]:
    changes = name in {"perl", "ruby"} and any(re.match(r"-\w*i", each) for each in arguments)
    right = Right.WRITE if changes else Right.USE
    if not name.endswith("awk") and not _CODE.search(" ".join(arguments)):
        return [Use(value, right) for value in values(arguments)]
    return _coded(name, arguments, right)


def _coded(name: str, arguments: Sequence[str], right: Right) -> Iterator[Use]:
    """The same where a word may be a program."""
    for each in arguments:
        if _CODE.search(each):
            yield from code_uses(each)
        else:
            yield from (Use(value, right) for value in values([each]))
    if name.endswith("awk"):
        yield from (Use(each, Right.READ) for each in operands(arguments))


def _find(_name: str, arguments: Sequence[str]) -> Iterator[Use]:
    """Where it starts, and the names it looks for there, when it does something to them."""
    starts: list[str] = []
    for each in arguments:
        if each.startswith(("-", "(", "!")):
            break
        starts.append(each)
    names = [value for key, value in pairwise(arguments)
             if key in {"-name", "-iname", "-path", "-ipath", "-wholename"}]  # fmt: skip
    does = next((_exec(arguments[at + 1 :]) for at, each in enumerate(arguments)
                 if each in {"-exec", "-execdir", "-ok", "-okdir"}), None)  # fmt: skip
    right = Right.DELETE if "-delete" in arguments else does
    for at, each in enumerate(arguments):
        if each in {"-fprint", "-fprintf", "-fls"}:
            yield from (Use(file, Right.WRITE) for file in arguments[at + 1 : at + 2])
    if right is None:
        return
    for start in starts or ["."]:
        if not names and right is not Right.READ:
            narrowed = any(each.startswith("-") and each not in _ANYTHING for each in arguments)
            yield Use(start, right, deep=True, sure=not narrowed)
        yield from (Use(f"{start.rstrip('/')}/{name.lstrip('/')}", right) for name in names)
        yield from (Use(f"{start.rstrip('/')}/**/{name.lstrip('/')}", right) for name in names)


def _exec(words: Sequence[str]) -> Right | None:
    found = [use.right for use in uses(words) if use.word == "{}"] if words else []
    return found[0] if found else None


def _specially(name: str, arguments: Sequence[str]) -> Iterable[Use]:
    return SPECIAL[name](arguments)


_KNOWN: Mapping[str, Callable[[str, Sequence[str]], Iterable[Use]]] = {
    **dict.fromkeys(_READERS | _SCRIPTED, _read),
    **dict.fromkeys(_WRITERS, _written),
    **dict.fromkeys(_DELETERS, _deleted),
    **dict.fromkeys(_SILENT, _nothing),
    "find": _find,
    **dict.fromkeys(SPECIAL, _specially),
}
