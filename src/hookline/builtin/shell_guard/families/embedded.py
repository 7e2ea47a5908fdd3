"""Shell code that other programs take in an option, a setting, or a script of their own."""

import re
from collections.abc import Iterator
from itertools import pairwise

from hookline.builtin.shell_guard.model import Act, Family, Finding, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["ESCAPES", "FAMILY", "loaded", "multiplied"]

_SETTINGS = re.compile(
    r"core\.(?:sshcommand|pager|editor|fsmonitor|askpass)|sequence\.editor|credential\.\S*helper"
    r"|(?:diff|merge)\.\S+\.(?:command|driver|cmd|textconv)|filter\.\S+\.\w+|gpg\.\S*program"
    r"|pager\.\w+|proxycommand|localcommand|knownhostscommand",
    re.IGNORECASE,
)
_EDITOR = re.compile(r"\+?:?\s*!\s*(.+)|\+?:?(?:call )?system\([\"'](.+)[\"']\)", re.DOTALL)
_SED = re.compile(
    r"(?:^|[;}{\n]|\d|/)\s*e\s+(?P<code>[^;}\n]+)"
    r"|(?:^|[;}{\n]|\d)\s*s([^\w\s])(?:(?!\2).)*\2(?P<made>(?:(?!\2).)*)\2"
    r"[\dgiImMpw]*e[gimp]*(?:$|[;}\n])"
)
_MAKE_SHELL = re.compile(r"\$[({]shell\s")
_EVALS = re.compile(r"-E|--ev(?:al?)?(?:=|$)")
_READS_INPUT = (("-f", "-"), ("-f", "/dev/stdin"))
# What stands before the code of a rule, an option or a variable in a makefile.
_RULES = re.compile(
    r"(?m)^(?:--ev\w*=|-E)?(?:define\s.*|\s*[\w.]+\s*!=|[^\s:;=#]+\s*::?(?!=)[^;\n]*(?:;|$)|)"
    r"[ \t]*[-@+]*"
)
_SED_EACH = re.compile(r"(?:.*[;}{\n\d/])?\s*e\s*")
_FILTERED = ("--use-compress-program", "--to-command", "--info-script", "--checkpoint-action")
_FILTERS = re.compile(rf"(?:{'|'.join(_FILTERED)})=(?:exec=)?")
# Libraries and scripts that every program, or every shell, would load first.
_LOADERS = frozenset({"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "PERL5OPT"})
_MULTIPLIED = re.compile(r"([\w:.]+)\s*\(\)\s*\{[^{}]*\1\s*\|\s*\1\s*&")


def _code(text: str, world: World) -> Iterator[Finding]:
    from hookline.builtin.shell_guard.judging import found_in

    yield from found_in(text, world, nested=True)


def _settings(act: Act, world: World) -> Iterator[Finding]:
    """``git -c core.pager=CODE`` and ``ssh -o ProxyCommand=CODE``."""
    for option, word in zip(act.words, act.words[1:], strict=False):
        name, _, value = word.partition("=")
        if option in ("-c", "-o", "--config") and _SETTINGS.fullmatch(name.strip()) and value:
            yield from _code(value.lstrip("!"), world)


def _editor(act: Act, world: World) -> Iterator[Finding]:
    typed = (line for text in act.inputs for line in text.splitlines())
    for word in (*act.words[1:], *typed):
        found = _EDITOR.fullmatch(word)
        if found is not None:
            yield from _code(found[1] or found[2], world)


def _sed(act: Act, world: World) -> Iterator[Finding]:
    """GNU sed runs what follows ``e``, and what ``s///e`` has made."""
    script = next((word for word in act.words[1:] if not word.startswith("-")), "")
    if _SED_EACH.fullmatch(script):
        for text in act.inputs:
            yield from _code(text, world)
    for word in act.words[1:]:
        found = _SED.search(word) if "e" in word and not word.startswith("-") else None
        if found is not None and found["code"]:
            yield from _code(found["code"], world)
        elif found is not None:
            yield risky("runs-unseen-code", act.text[:120], "sed runs what it has made")
            for text in (found["made"], *act.inputs):
                yield from _code(text, world)


def _make(act: Act, world: World) -> Iterator[Finding]:
    for word in act.words[1:]:
        if word.startswith("SHELL="):
            yield from _code(word.partition("=")[2], world)
    # Rules, or what is worked out while these or a variable are read.
    flags = (flag for name in ("MAKEFLAGS", "GNUMAKEFLAGS") for flag in act.variables.get(name, ()))
    rules = [
        word for word in (*act.words, *flags) if _EVALS.match(word) or _MAKE_SHELL.search(word)
    ]
    rules += [word for option, word in pairwise(act.words) if _EVALS.fullmatch(option)]
    if "-f-" in act.words or any(each in pairwise(act.words) for each in _READS_INPUT):
        rules += act.inputs
    for text in rules:
        plain = _MAKE_SHELL.sub("$(", text).replace("$$", "$")
        yield from _code(_RULES.sub("", plain), world)


def _archiver(act: Act, world: World) -> Iterator[Finding]:
    """``tar --checkpoint-action=exec=CODE``, and what its members go through."""
    for option, word in pairwise(act.words):
        if found := _FILTERS.match(word):
            yield from _code(word[found.end() :], world)
        elif option in ("-I", "-F", *_FILTERED):
            yield from _code(word.removeprefix("exec="), world)


def _tester(act: Act, world: World) -> Iterator[Finding]:
    for option, word in zip(act.words, act.words[1:], strict=False):
        if option in ("-TT", "--unzip-command"):
            yield from _code(word, world)


def _npm(act: Act, world: World) -> Iterator[Finding]:
    if act.words[1:3] == ("config", "set") and "script-shell" in act.text:
        yield risky("runs-unseen-code", act.text, "every script would run through that program")


def _enable(act: Act, world: World) -> Iterator[Finding]:
    if "-f" in act.words:
        yield risky("runs-unseen-code", act.text, "it loads a library into the shell")


_ESCAPE = re.compile(
    r"(?m)(?:^|;)[ \t]*(?:\\!|\.shell[ \t]|\.system[ \t]|!|shell[ \t]|system[ \t]|pipe[ \t])"
    r"[ \t]*(?P<code>[^\n]+)"
)


def _escapes(act: Act, world: World) -> Iterator[Finding]:
    """``.shell CODE`` of sqlite3, ``shell CODE`` of gdb, ``!CODE`` of ftp."""
    for text in (*act.words[1:], *act.inputs):
        for found in _ESCAPE.finditer(text):
            yield from _code(found["code"], world)


_EMPTIES = re.compile(r"(?m)^[ \t]*(?:%|,|1,\$|g/\.?\*?/)[ \t]*d[ \t]*$")


def _line_editor(act: Act, world: World) -> Iterator[Finding]:
    """``ed file <<< ',d'``: a script that leaves nothing."""
    for text in (*act.words[1:], *act.inputs):
        if _EMPTIES.search(text):
            yield risky("overwrites", act.text, "the script leaves nothing of the file")
    yield from _editor(act, world)


def loaded(assigned: tuple[tuple[str, str], ...]) -> Iterator[Finding]:
    """Variables that put code into every program that is started."""
    for name, value in assigned:
        if name in _LOADERS and value:
            why = "every program that is started would run it first"
            yield risky("runs-unseen-code", f"{name}={value}", why, radius="high")


def _declares(act: Act, world: World) -> Iterator[Finding]:
    pairs = (word.partition("=") for word in act.words[1:])
    yield from loaded(tuple((name, value) for name, _, value in pairs))


def multiplied(text: str) -> Iterator[Finding]:
    """A function that does nothing but start itself twice."""
    if "|" in text and "&" in text and _MULTIPLIED.search(text):
        yield risky("kills", text[:60], "it multiplies until nothing else runs", radius="high")


FAMILY: Family = {
    **dict.fromkeys(("git", "ssh", "scp", "sftp", "rsync"), _settings),
    **dict.fromkeys(("vi", "vim", "nvim", "view", "ex", "emacs"), _editor),
    **dict.fromkeys(("sed", "gsed"), _sed),
    **dict.fromkeys(("make", "gmake"), _make),
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _archiver),
    "zip": _tester,
    "npm": _npm,
    "enable": _enable,
    **dict.fromkeys(("export", "declare", "typeset"), _declares),
}
ESCAPES: Family = {
    **dict.fromkeys(
        ("sqlite3", "sqlite", "gdb", "lldb", "mysql", "mariadb", "ftp", "lftp", "sftp", "telnet"),
        _escapes,
    ),
    **dict.fromkeys(("ed", "ex"), _line_editor),
}
