"""Rights, owners, archives and mirrors: programs that change many files at once."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.arguments import Arguments, parse
from hookline.builtin.shell_guard.families.deleting import removed
from hookline.builtin.shell_guard.families.finding import searched
from hookline.builtin.shell_guard.families.writing import written
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.targets import Target, targets
from hookline.builtin.shell_guard.world import Place, World

__all__ = ["FAMILY"]

_SHARED = frozenset({Place.SYSTEM, Place.HOME, Place.MOUNT, Place.DEVICE})
_FOR_ALL = re.compile(r"0?[0-7]{0,2}[2367]|[ugo]*[oa][ugoa]*[+=]\w*w\w*|\+\w*w\w*")
_NOBODY = re.compile(r"0?000|[ugoa]*[-=]r?w?x?|a-\w+|-\w+")
_SET_ID = re.compile(r"[2467][0-7]{3}|[ugo]*[+=]\w*s\w*")


def _modes(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse([word for word in act.words[1:] if not re.fullmatch(r"-[rwxst]+", word)])
    deep = arguments.has("-R", "--recursive")
    operands = arguments.operands
    stripped = next((word for word in act.words[1:] if re.fullmatch(r"-[rwx]+", word)), "")
    if not stripped and not arguments.has("--reference"):
        stripped, operands = (operands[0], operands[1:]) if operands else ("", [])
    for word in operands:
        for target in targets(word, act, world):
            yield from _rights(act, target, stripped, deep=deep)
    if "xargs" in act.wrappers:
        for target in searched(act, world):
            yield from _rights(act, target, stripped, deep=True)


def _rights(act: Act, target: Target, mode: str, *, deep: bool) -> Iterator[Finding]:
    words = f"{act.text}"
    place = target.place
    is_chmod = act.name in ("chmod", "gchmod")
    if place is Place.GUARD:
        yield fatal(
            "weakens-guard", words, "agents may not change what guards them; ask the user to do it"
        )
    elif place in _SHARED:
        if deep:
            yield fatal("escalates", words, f"it changes the rights of {place.value}, all of it")
        elif is_chmod and re.fullmatch(r"[ua]?\+x|0?755", mode):
            yield risky("escalates", words, f"it is {place.value}", radius="low")
        else:
            yield risky("escalates", words, f"it is {place.value}", radius="high")
    elif is_chmod and _SET_ID.fullmatch(mode):
        yield risky(
            "escalates", words, "the program would run with its owner's rights", radius="high"
        )
    elif place is Place.PERSONAL and (deep or (is_chmod and _FOR_ALL.fullmatch(mode))):
        yield risky("escalates", words, f"it opens or closes {place.value}", radius="high")
    elif is_chmod and deep and place not in (Place.TEMP, Place.BUILD):
        if _FOR_ALL.fullmatch(mode) or _NOBODY.fullmatch(mode):
            yield risky("escalates", words, "every file below it gets those rights")
    elif not is_chmod and deep and place in (Place.PROJECT_TOP, Place.UNKNOWN):
        yield risky("escalates", words, "every file below it gets another owner")


def _acl(act: Act, world: World) -> Iterator[Finding]:
    valued = ("-m", "-x", "-M", "-X", "--modify", "--remove", "-v", "-p", "--set")
    arguments = parse(act.words[1:], valued)
    for word in arguments.operands:
        for target in targets(word, act, world) if not re.fullmatch(r"[+=-]\w+", word) else ():
            if target.place in _SHARED or target.place is Place.PERSONAL:
                yield risky("escalates", act.text, f"it is {target.place.value}", radius="high")
    if act.name == "chattr" and any(re.match(r"-\w*[ia]", word) for word in act.words[1:]):
        yield risky("escalates", act.text, "it takes away a protection somebody has set")


def _rsync(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(act.words[1:], ("-e", "--rsh", "--exclude", "--include", "-f", "--filter"))
    if arguments.has("-n", "--dry-run", "--list-only") or len(arguments.operands) < 2:
        return
    mirrors = any(name.startswith("--del") for name in arguments.options)
    to = arguments.operands[-1]
    if _is_remote(to):
        if mirrors:
            yield risky("changes-remote", act.text, "what is not here is removed there")
        return
    for target in targets(to, act, world):
        yield from written(act, target, f"rsync … {to}")
        if mirrors and target.place not in (Place.BUILD, Place.TEMP):
            why = f"what is not in the source is removed from {target.place.value}"
            verdict = fatal if target.place in _SHARED else risky
            yield verdict("deletes", act.text, why)
    if arguments.has("--remove-source-files"):
        yield from _emptied(act, arguments.operands[:-1], world)


def _is_remote(word: str) -> bool:
    return ":" in word.partition("/")[0] or "://" in word


def _emptied(act: Act, words: list[str], world: World) -> Iterator[Finding]:
    for word in words:
        for target in targets(word, act, world) if not _is_remote(word) else ():
            yield from removed(act, target, deep=True, world=world)


def _tar(act: Act, world: World) -> Iterator[Finding]:
    words = list(act.words[1:])
    if words and not words[0].startswith("-"):
        words[0] = f"-{words[0]}"
    arguments = parse(words, ("-f", "--file", "-C", "--directory", "-X", "-T", "-I", "--exclude"))
    if arguments.has("--remove-files"):
        yield from _emptied(act, arguments.operands, world)
    if arguments.has("-x", "--extract", "--get"):
        yield from _unpacked(act, arguments.value("-C", "--directory"), world)
    if any(name.startswith(("--checkpoint-action", "--to-command")) for name in arguments.options):
        yield risky("runs-unseen-code", act.text, "tar runs a program of its own here")


def _unpacked(act: Act, directory: str, world: World) -> Iterator[Finding]:
    for target in targets(directory or ".", act, world):
        if target.place in _SHARED and not (act.elsewhere and target.path.count("/") > 1):
            why = f"files of {target.place.value} may be replaced"
            yield risky("overwrites", act.text, why, radius="high")


def _zip(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(act.words[1:], ("-x", "-i", "-d", "-P"))
    if act.name == "unzip":
        yield from _unpacked(act, arguments.value("-d"), world)
    elif arguments.has("-m", "--move", "-sdel"):
        yield from _emptied(act, arguments.operands[1:], world)


def _seven(act: Act, world: World) -> Iterator[Finding]:
    if "-sdel" in act.words:
        arguments: Arguments = parse(act.words[2:], long=True)
        yield from _emptied(act, arguments.operands[1:], world)


FAMILY: Family = {
    **dict.fromkeys(("chmod", "chown", "chgrp", "gchmod", "gchown"), _modes),
    **dict.fromkeys(("setfacl", "chattr", "chflags", "icacls"), _acl),
    "rsync": _rsync,
    **dict.fromkeys(("tar", "gtar", "bsdtar"), _tar),
    **dict.fromkeys(("zip", "unzip"), _zip),
    **dict.fromkeys(("7z", "7za", "7zz"), _seven),
}
