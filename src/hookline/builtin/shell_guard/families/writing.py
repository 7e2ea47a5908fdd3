"""Programs that put something in the place of something else: copies, moves, links, edits."""

import os
import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.arguments import parse
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.secret_files import is_secret
from hookline.builtin.shell_guard.targets import Target, targets
from hookline.builtin.shell_guard.world import Place, World

__all__ = ["FAMILY", "WIPES", "written"]

_DISKS = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|md\d|dm-|mapper/|loop|mem|kmem)")
# What shells and other programs run or obey without being asked.
_STARTUP = re.compile(
    r"/\.(?:bashrc|bash_profile|bash_login|bash_logout|bash_aliases|bash_history|profile|zshrc"
    r"|zshenv|zprofile|zlogin|zsh_history|kshrc|cshrc|tcshrc|login|inputrc|xinitrc|xprofile"
    r"|xsession|vimrc|npmrc|pypirc|netrc|gitconfig|pam_environment|ssh|gnupg|aws|kube|docker)"
    r"(?:/|$)|/\.config/(?:fish|autostart|systemd|git|environment\.d)(?:/|$)"
    r"|/Library/Launch\w+(?:/|$)"
)
WIPES = re.compile(r"(?:\d+,\$|1,\$|\$!N;)?\s*d|s(.)\.\*\1\1[gs]*|\$?!?d|/\.\*/d|/\^/d|/\./d")
_UNOWNED = frozenset({Place.SYSTEM, Place.HOME, Place.MOUNT})


def written(act: Act, target: Target, words: str, *, adds: bool = False) -> Iterator[Finding]:
    """What speaks against writing to a target; ``adds`` when what is there stays."""
    place = target.place
    if place is Place.DEVICE:
        if _DISKS.match(target.path):
            yield fatal("overwrites", words, "it writes to a disk itself, below the file system")
    elif place is Place.GUARD:
        yield fatal(
            "weakens-guard", words, "agents may not change what guards them; ask the user to do it"
        )
    elif place in _UNOWNED:
        yield from _system(act, target, words, adds=adds)
    elif place is Place.GIT:
        yield risky("overwrites", words, "git's own files are changed by git's own commands")
    elif adds and target.path.endswith("/.ssh/known_hosts"):
        return
    elif place is Place.PERSONAL and (_STARTUP.search(target.path) or is_secret(target.path)):
        why = "shells and other programs obey that file without being asked"
        yield risky("overwrites", words, why, radius="high")
    elif place is Place.PERSONAL and os.path.exists(target.path) and not adds:
        yield risky("overwrites", words, f"it is {place.value}, and not in the project")


def _system(act: Act, target: Target, words: str, *, adds: bool) -> Iterator[Finding]:
    path = target.path
    if act.elsewhere and not path.startswith(("/etc", "/usr", "/bin", "/boot", "/lib")):
        return
    if path.startswith(("/proc/sys", "/sys/")) or path == "/proc/sysrq-trigger":
        yield fatal("changes-system", words, "it sets the running kernel")
    elif path.startswith("/etc/") and not adds:
        yield fatal("overwrites", words, "it replaces a setting of the whole system")
    else:
        yield risky("overwrites", words, f"it is {target.place.value}", radius="high")


def _to_last(act: Act, world: World) -> Iterator[Finding]:
    """``cp``, ``install`` and ``ln``: all operands but the last stay."""
    valued = ("-t", "--target-directory", "-m", "--mode", "-o", "-g", "-S", "--suffix")
    arguments = parse(act.words[1:], valued)
    directory = arguments.value("-t", "--target-directory")
    operands = [*arguments.operands, directory] if directory else arguments.operands
    if not operands or (len(operands) == 1 and act.name != "ln"):
        return
    words = f"{act.name} … {operands[-1]}"
    if act.name == "scp" and ":" in operands[-1].partition("/")[0]:
        yield from _sent(act, operands, world)
        return
    for target in targets(operands[-1], act, world):
        yield from written(act, _entered(target, operands[:-1], world), words)
    if act.name == "cp" and operands[0] == "/dev/null":
        for target in targets(operands[-1], act, world):
            if target.place is Place.PROJECT and os.path.exists(target.path):
                yield risky("overwrites", act.text, "this empties the file")


def _sent(act: Act, operands: list[str], world: World) -> Iterator[Finding]:
    """Files for another machine: where they go, and whether they are everything."""
    path = operands[-1].partition(":")[2]
    if re.match(r"/(?:etc|usr|bin|sbin|boot|lib|root)(?:/|$)", path):
        yield risky("changes-remote", act.text, "it replaces files of that system", radius="high")
    for word in operands[:-1]:
        for target in targets(word, act, world):
            if target.place is Place.HOME:
                yield risky("sends-out", act.text, f"all of {target.place.value} would leave")


def _entered(target: Target, sources: list[str], world: World) -> Target:
    """Into a directory, a file is written under its own name."""
    if not sources or not target.path or not os.path.isdir(target.path):
        return target
    inner = os.path.join(target.path, os.path.basename(sources[0].rstrip("/")) or "name")
    return Target(word=target.word, path=inner, place=world.place(inner), known=target.known)


def _mv(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(act.words[1:], ("-t", "--target-directory", "-S", "--suffix"))
    directory = arguments.value("-t", "--target-directory")
    operands = [*arguments.operands, directory] if directory else arguments.operands
    if len(operands) < 2:
        return
    for word in operands[:-1]:
        for target in targets(word, act, world):
            yield from _moved(target, operands[-1], world)
    for target in targets(operands[-1], act, world):
        yield from written(act, _entered(target, operands[:-1], world), f"mv … {operands[-1]}")
        if target.path == "/dev/null":
            yield fatal("deletes", act.text, "what is moved to /dev/null is gone")


def _moved(target: Target, to: str, world: World) -> Iterator[Finding]:
    words = f"mv {target.word} {to}"
    if target.place is Place.GUARD:
        yield fatal(
            "weakens-guard", words, "agents may not change what guards them; ask the user to do it"
        )
    elif target.place in _UNOWNED or target.place is Place.GIT:
        yield fatal("deletes", words, f"`{target.path}` is {target.place.value}")
    elif (target.place is Place.PROJECT_TOP and (not target.pattern or target.all_of_it)) or (
        target.place is Place.PERSONAL
        and (
            target.pattern
            or _STARTUP.search(target.path)
            or os.path.dirname(target.path) == world.home
        )
    ):
        yield risky("deletes", words, f"it is {target.place.value}", radius="high")


def _tee(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(act.words[1:])
    adds = arguments.has("-a", "--append")
    for word in arguments.operands:
        for target in targets(word, act, world):
            yield from written(act, target, f"{act.name} {word}", adds=adds)


def _dd(act: Act, world: World) -> Iterator[Finding]:
    for word in act.words[1:]:
        if word.startswith("of="):
            for target in targets(word[3:], act, world):
                yield from written(act, target, f"dd {word}")
                if target.place is Place.UNKNOWN:
                    yield risky("overwrites", f"dd {word}", "what it writes to cannot be told")
                elif target.place is Place.PROJECT and os.path.exists(target.path):
                    yield risky("overwrites", f"dd {word}", "a file of the project is overwritten")


def _sed(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(act.words[1:], ("-e", "--expression", "-f", "--file", "-l"))
    if not arguments.has("-i", "--in-place") and not any(w.startswith("-i") for w in act.words):
        return
    script = arguments.value("-e", "--expression")
    files = arguments.operands
    if not script and not arguments.has("-f", "--file"):
        # On macOS the suffix is a word of its own, and may be empty.
        files = [word for word in files if word]
        script, files = (files[0], files[1:]) if files else ("", [])
    if "xargs" in act.wrappers and WIPES.fullmatch(script.strip()):
        yield risky("overwrites", act.text, "the script leaves nothing of the files")
    for word in files:
        for target in targets(word, act, world):
            yield from written(act, target, f"sed -i {word}")
            if WIPES.fullmatch(script.strip()) and target.place not in (Place.BUILD, Place.TEMP):
                why = "the script leaves nothing of the file"
                yield risky("overwrites", f"sed -i {script} {word}", why)


FAMILY: Family = {
    **dict.fromkeys(("cp", "gcp", "install", "ginstall", "ln", "scp", "ditto"), _to_last),
    **dict.fromkeys(("mv", "gmv"), _mv),
    **dict.fromkeys(("tee", "gtee", "sponge"), _tee),
    **dict.fromkeys(("dd", "gdd", "dcfldd", "ddrescue"), _dd),
    **dict.fromkeys(("sed", "gsed"), _sed),
}
