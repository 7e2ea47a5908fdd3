"""Programs that remove files: what would be gone, and whether anything brings it back."""

import os
import re
from collections.abc import Iterable, Iterator

from hookline.builtin.shell_guard.arguments import parse
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.targets import Target, targets
from hookline.builtin.shell_guard.world import Place, World

__all__ = ["FAMILY", "removed"]

# Names in a row that a person still reads one by one.
_FEW = 8
_GONE = frozenset({Place.SYSTEM, Place.HOME, Place.MOUNT, Place.DEVICE})
_FREE = frozenset({Place.BUILD, Place.NOWHERE})
# Programs that take whole directories without being told to.
_DEEP = frozenset({"wipe", "srm", "rimraf", "del-cli"})
_LISTING = re.compile(r"(?:\$\(|`)\s*(?:git ls-files|git diff --name|ls|cat|find|fd)\b")
_SOURCES = ("find", "ls", "git", "grep", "rg", "fd", "echo", "printf")


def _rm(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(act.words[1:])
    if act.name == "trash-empty":
        yield risky("deletes", act.text, "it is the last place where removed files are")
    for word in arguments.operands:
        if _LISTING.match(word):
            yield risky("deletes", f"{act.name} {word}", "every file that is listed goes")
    deep = arguments.has("-r", "-R", "--recursive", "-d", "--dir") or act.name in _DEEP
    for word in arguments.operands:
        for target in targets(word, act, world):
            yield from removed(act, target, deep=deep, world=world)
    if len(arguments.operands) > _FEW and not deep:
        yield risky("deletes", act.text[:80], f"this removes {len(arguments.operands)} files")
    elif "xargs" in act.wrappers or (act.carrier == "parallel" and not arguments.operands):
        yield from _from_pipe(act, world)


def _shred(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(act.words[1:], ("-n", "-s", "--iterations", "--size"))
    if "xargs" in act.wrappers:
        yield from _from_pipe(act, world)
    for word in arguments.operands:
        for target in targets(word, act, world):
            if target.place not in (Place.TEMP, Place.BUILD, Place.NOWHERE):
                yield fatal(
                    "deletes",
                    act.text,
                    f"nothing brings back what is shredded in {target.place.value}",
                )


def _truncate(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(act.words[1:], ("-s", "--size", "-r", "--reference"))
    grows = arguments.value("-s", "--size").startswith("+")
    for word in () if grows else arguments.operands:
        for target in targets(word, act, world):
            junk = target.junk and target.place not in _GONE
            if target.place not in (Place.TEMP, Place.BUILD, Place.NOWHERE) and not junk:
                verdict = fatal if target.place in _GONE else risky
                yield verdict(
                    "overwrites", act.text, f"this empties a file in {target.place.value}"
                )


def removed(act: Act, target: Target, *, deep: bool, world: World) -> Iterator[Finding]:
    """What speaks against removing a target, alone or with all that is in it."""
    options = [word for word in act.words[1:6] if word.startswith("-")]
    words, place = " ".join([act.name, *options, target.word]), target.place
    what = f"`{target.path or target.word}` is {place.value}"
    if place is Place.GUARD:
        yield fatal("weakens-guard", words, f"{what}; people change that, not agents")
    elif act.elsewhere:
        yield from _elsewhere(act, target, words, deep=deep)
    elif place in _GONE:
        yield fatal("deletes", words, what)
    elif place is Place.GIT:
        yield fatal("deletes", words, f"{what}, with every commit that was never pushed")
    elif place is Place.PROJECT_TOP:
        yield from _whole_project(target, words, what, deep=deep)
    elif place is Place.UNKNOWN:
        yield from _unknown(act, target, words, deep=deep)
    elif place is Place.PERSONAL:
        yield from _personal(target, words, what, deep=deep)
    elif place is Place.TEMP:
        yield from _temporary(target, words, world)
    elif place not in _FREE:
        yield from _in_project(act, target, words, deep=deep)


def _whole_project(target: Target, words: str, what: str, *, deep: bool) -> Iterator[Finding]:
    if not target.pattern or (target.all_of_it and deep):
        if deep:
            yield fatal("deletes", words, what)
    elif not target.junk:
        yield from _several(target, words)


def _several(target: Target, words: str) -> Iterator[Finding]:
    yield risky("deletes", words, f"`{target.pattern}` may be more than is meant")


def _unknown(act: Act, target: Target, words: str, *, deep: bool) -> Iterator[Finding]:
    if deep or target.pattern:
        why = f"what `{target.word}` will be cannot be told, and it may be empty"
        yield risky("deletes", words, why, radius="high")


def _personal(target: Target, words: str, what: str, *, deep: bool) -> Iterator[Finding]:
    hidden = "/." in target.path
    if deep or target.pattern or hidden:
        yield fatal("deletes", words, what)
    else:
        yield risky("deletes", words, what)


def _temporary(target: Target, words: str, world: World) -> Iterator[Finding]:
    is_root = target.path.count("/") <= 1 or target.path in ("/var/tmp", "/dev/shm")  # noqa: S108
    if target.path and is_root and (not target.pattern or target.all_of_it):
        yield risky("deletes", words, "others keep their temporary files there, too")


def _in_project(act: Act, target: Target, words: str, *, deep: bool) -> Iterator[Finding]:
    if target.junk:
        return
    if target.pattern:
        yield from _several(target, words)
    elif deep and target.place is Place.ELSEWHERE:
        # Whether it is there now says little: it is nobody's build, and out of git's reach.
        yield risky("deletes", words, f"`{target.word}` is outside of the project")
    elif deep and os.path.isdir(target.path):
        why = f"`{target.word}` is no build directory, and all in it goes"
        yield risky("deletes", words, why)
    elif deep and not target.known:
        yield risky("deletes", words, f"what `{target.word}` will be cannot be told")
    elif os.path.basename(target.path).startswith(".env"):
        yield risky("deletes", words, "it holds settings that git does not keep")


def _elsewhere(act: Act, target: Target, words: str, *, deep: bool) -> Iterator[Finding]:
    """On another machine nothing can be looked at: only names say something."""
    if deep and (target.place is Place.HOME or target.path == "/"):
        why = f"`{target.word}` is all that somebody has there, and this runs through"
        yield fatal("changes-remote", words, f"{why} {act.elsewhere}")
        return
    mild = not deep and not target.pattern and target.place not in _GONE
    if mild or target.place in (Place.TEMP, Place.BUILD, Place.NOWHERE):
        return
    yield risky(
        "changes-remote", words, f"this runs through {act.elsewhere}, out of sight", radius="high"
    )


def _from_pipe(act: Act, world: World) -> Iterator[Finding]:
    """Names come from another command: as dangerous as all that it could name."""
    source = next((each for each in act.producers if each.name in _SOURCES), None)
    first = act.producers[-1].text[:60] if act.producers else "xargs"
    words = f"{first} | {act.text}"
    if source is None:
        yield risky("deletes", words, "what is removed is decided by another command's output")
    elif source.name in ("find", "fd"):
        from hookline.builtin.shell_guard.families.finding import swept

        yield from swept(source, world, f"{words}")
    elif source.name in ("echo", "printf", "ls"):
        for word in _listed(source):
            for target in targets(word, source, world):
                yield from removed(act, target, deep=True, world=world)
    else:
        yield risky("deletes", words, "every file that is listed goes")


def _listed(act: Act) -> list[str]:
    words = [word for word in act.words[1:] if word[:1] not in ("-", "%")]
    return words or (["."] if act.name == "ls" else [])


def _gio(act: Act, world: World) -> Iterable[Finding]:
    if act.words[1:2] == ("remove",):
        for word in parse(act.words[2:]).operands:
            for target in targets(word, act, world):
                yield from removed(act, target, deep=True, world=world)
    elif act.words[1:2] == ("trash",) and "--empty" in act.words:
        yield risky("deletes", act.text, "it is the last place where removed files are")


def _rmdir(act: Act, world: World) -> Iterable[Finding]:
    """Only empty directories go, so only those of the system matter."""
    for word in parse(act.words[1:]).operands:
        for target in targets(word, act, world):
            if target.place in _GONE:
                yield risky("deletes", f"{act.name} {word}", f"it is {target.place.value}")


FAMILY: Family = {
    **dict.fromkeys(("rm", "unlink", "trash-empty", "grm", *sorted(_DEEP)), _rm),
    **dict.fromkeys(("shred", "gshred"), _shred),
    **dict.fromkeys(("truncate", "gtruncate"), _truncate),
    "rmdir": _rmdir,
    "gio": _gio,
}
