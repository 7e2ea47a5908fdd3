"""``find`` and its like, where they remove or change what they find."""

from collections.abc import Iterator

from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.secret_files import is_secret
from hookline.builtin.shell_guard.targets import Target, targets
from hookline.builtin.shell_guard.world import Place, World, is_build_name, is_junk
from hookline.shell import split

__all__ = ["FAMILY", "searched", "swept"]

_NAMES = ("-name", "-iname", "-path", "-ipath", "-wholename", "-regex")
_REMOVERS = frozenset({"rm", "unlink", "shred", "truncate", "rmdir", "dd", "rimraf", "srm"})
_SHOWERS = frozenset({"cat", "head", "tail", "less", "grep", "cp", "base64", "strings", "tar"})
_CHANGERS = frozenset({"sed", "perl", "tee", "cp", "mv", "chmod", "chown", "chgrp", "ln"})
_RUNS = ("-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch")
_MAX_RUNS = 8
_UNDONE = frozenset({Place.SYSTEM, Place.HOME, Place.PERSONAL, Place.MOUNT, Place.DEVICE})


def _find(act: Act, world: World) -> Iterator[Finding]:
    programs = _run_by(act)
    if "-delete" in act.words or not programs.isdisjoint(_REMOVERS):
        yield from swept(act, world, act.text)
    elif programs.intersection(_SHOWERS) and any(is_secret(name) for name in _named(act)):
        yield risky("reads-secret", act.text, "what it finds usually holds secrets")
    elif programs.intersection(_CHANGERS):
        yield from _changed(act, world)
    for option in ("-fprint", "-fprintf", "-fls", "-fprint0"):
        if option in act.words:
            yield from _written(act, world, option)


def _run_by(act: Act) -> frozenset[str]:
    """The programs that are given what is found, those in the code of a shell included."""
    from shlex import join  # slow to load, and few commands search

    found: set[str] = set()
    places = [at for at, word in enumerate(act.words) if word in _RUNS]
    if len(places) > _MAX_RUNS:
        found.add("rm")  # more than anybody writes; what is not looked at may be anything
    for at in places[:_MAX_RUNS]:
        rest = act.words[at + 1 :]
        end = next((n for n, each in enumerate(rest) if each in (";", "+") and n), len(rest))
        found.update(command.name for command in split(join(rest[:end])).commands)
    return frozenset(found)


def _starts(act: Act) -> list[str]:
    """The paths where the search begins."""
    words = [word for word in act.words[1:] if word not in ("-H", "-L", "-P")]
    if act.name == "fd":
        return [word for word in words[1:] if "/" in word or word == "."] or ["."]
    count = next((at for at, word in enumerate(words) if word[:1] in ("-", "(", "!")), len(words))
    return words[:count] or ["."]


def searched(act: Act, world: World) -> Iterator[Target]:
    """Where searches begin whose findings a command is given."""
    for producer in act.producers:
        for word in _starts(producer) if producer.name in FAMILY else ():
            yield from targets(word, producer, world)


def _named(act: Act) -> list[str]:
    """The patterns of which a name must match one; none where anything else may do, too."""
    found = []
    either = not {"-o", "-or"}.isdisjoint(act.words)
    for at, word in enumerate(act.words):
        if word in _NAMES and at + 1 < len(act.words):
            if act.words[at - 1] not in ("!", "-not"):
                found.append(act.words[at + 1])
            elif either:
                return []
    return found


def _is_narrow(act: Act) -> bool:
    """Whether only left-overs and build directories are found."""
    names = [name.rstrip("/*").rpartition("/")[2] or name for name in _named(act)]
    whole = [name.rpartition("/")[2] for name in _named(act)]
    return bool(names) and all(
        is_junk(last) or is_build_name(name) or is_junk(name)
        for name, last in zip(names, whole, strict=True)
    )


def swept(act: Act, world: World, words: str) -> Iterator[Finding]:
    """What speaks against removing all that a search finds."""
    for word in _starts(act):
        for target in targets(word, act, world):
            if target.place in (Place.BUILD, Place.NOWHERE) or "-empty" in act.words:
                continue
            if target.place is Place.TEMP and (target.path.count("/") > 1 or _named(act)):
                continue
            if act.elsewhere:
                yield risky("changes-remote", words, f"this runs through {act.elsewhere}")
            elif target.place in _UNDONE:
                yield fatal("deletes", words, f"it searches {target.place.value}")
            elif not _is_narrow(act):
                yield risky("deletes", words, "more may be found than is meant")


def _changed(act: Act, world: World) -> Iterator[Finding]:
    for word in _starts(act):
        for target in targets(word, act, world):
            if target.place in _UNDONE:
                why = f"it changes what it finds in {target.place.value}"
                yield fatal("overwrites", act.text, why)


def _written(act: Act, world: World, option: str) -> Iterator[Finding]:
    at = act.words.index(option) + 1
    for target in targets(act.words[at], act, world) if at < len(act.words) else ():
        if target.place in _UNDONE:
            yield risky("overwrites", f"{option} {act.words[at]}", f"it is {target.place.value}")


FAMILY: Family = dict.fromkeys(("find", "gfind", "fd", "fdfind"), _find)
