"""Commands of Windows: ``cmd`` and PowerShell, which agents also start from other shells."""

import re
from collections.abc import Iterator

from msgspec.structs import replace

from hookline.builtin.shell_guard.families.deleting import removed
from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.targets import targets
from hookline.builtin.shell_guard.world import World, is_build_name

__all__ = ["FAMILY"]

# Commands of one text, and names of one command, that are looked at.
_MAX_COMMANDS = 200
_MAX_NAMES = 50
_MAX_DEPTH = 8
# Where one command of PowerShell or cmd ends and another begins; what is quoted stays whole.
_PARTS = re.compile(r"'[^']*'|\"[^\"]*\"|[;|\n&(){}]+|[^;|\n&(){}'\"]+")
_WORDS = re.compile(r"'[^']*'|\"[^\"]*\"|[^\s'\"]+")
_SAYERS = frozenset({"echo", "write-output", "write-host", "rem", "print"})
_REMOVERS = frozenset({"remove-item", "ri", "rm", "rmdir", "rd", "del", "erase", "deltree"})
_EMPTIERS = frozenset({"clear-content", "clc", "clear-item", "cli", "clear-recyclebin"})
_DISKS = frozenset({
    "format", "format-volume", "clear-disk", "initialize-disk", "remove-partition", "diskpart",
    "remove-volume", "cipher",
})  # fmt: skip
_RUNNERS = frozenset({"invoke-expression", "iex"})
_STOPPERS = frozenset({"stop-computer", "restart-computer", "stop-service", "shutdown"})
_LOOSENS = frozenset({"set-executionpolicy", "set-mppreference", "disable-windowsdefender"})
_STARTS = frozenset({"start-process", "saps", "start", "invoke-item", "ii"})
# Where what was just downloaded lies.
_LANDS = re.compile(r"\$env:te?mp\b|%te?mp%|[\\/](?:temp|downloads)[\\/]", re.IGNORECASE)
# What is typed at a prompt by itself; other programs are not called so.
_TYPED = (
    "Remove-Item", "Clear-Content", "Clear-Item", "Clear-RecycleBin", "Format-Volume", "Clear-Disk",
    "Initialize-Disk", "Remove-Partition", "Remove-Volume", "Invoke-Expression", "iex",
    "Stop-Computer", "Restart-Computer", "Stop-Service", "Set-ExecutionPolicy", "Set-MpPreference",
    "Disable-WindowsDefender", "Start-Process", "Stop-Process", "del", "erase", "rd", "deltree",
)  # fmt: skip
_KILLERS = frozenset({"stop-process", "spps", "kill", "taskkill"})
_FETCHED = re.compile(
    r"\b(?:iwr|irm|curl|wget|invoke-webrequest|invoke-restmethod|downloadstring|downloadfile"
    r"|webclient)\b",
    re.IGNORECASE,
)
_DEEP = re.compile(r"/s|-r\w*", re.IGNORECASE)
_SWITCH = re.compile(r"/[a-z](?::\S*)?|-\w+(?::\S*)?", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:[\\/]*[*.]*")
_PLACES = re.compile(r"\$(?:env:)?(?:home|userprofile)\b|%userprofile%", re.IGNORECASE)
_VARIABLE = re.compile(r"[$%]\w")
_CALLED = re.compile(r"\[[\w.]*(?:File|Directory|DirectoryInfo)\]::Delete\b", re.IGNORECASE)
_GONE = "nothing brings back what Windows removes this way"
# A shell that is none of Windows' has taken the backslashes away already.
_PROFILES = re.compile(r"[A-Za-z]:[\\/]*(?:users|windows|program files|programdata)\b", re.I)


def _shell(act: Act, world: World) -> Iterator[Finding]:
    """``cmd /c …`` and ``pwsh -c …``: each command of the text they are given."""
    words = act.words[1:]
    if act.depth > _MAX_DEPTH:
        yield risky("unreadable", act.text[:60], "there is too much code inside code")
        return
    if any(re.fullmatch(r"-e(?:c|nc\w*)?", word, re.IGNORECASE) for word in words):
        why = "nobody can read what is encoded here"
        yield risky("runs-unseen-code", act.text[:120], why, radius="high")
        return
    if any(word.lower() in ("-file", "-f") for word in words):
        return
    for text in (_code(words), *act.inputs):
        yield from _judged(text, act, world)


def _code(words: tuple[str, ...]) -> str:
    """What stands behind the options of the program."""
    at = 0
    while at < len(words) and re.match(r"/[a-z]$|-\w", words[at], re.IGNORECASE):
        asks = words[at].lower() in ("-executionpolicy", "-ep", "-version", "-workingdirectory")
        at += 2 if asks else 1
    return " ".join(words[at:])


def _judged(text: str, act: Act, world: World) -> Iterator[Finding]:
    searched = False
    called = _CALLED.search(text)
    if called is not None:
        yield risky("deletes", called.group(), _GONE, radius="high")
    for count, command in enumerate(_commands(text)):
        if count == _MAX_COMMANDS:
            yield risky("unreadable", text[:60], "there is more than is looked at", radius="high")
            return
        name = command[0].lower().removesuffix(".exe")
        if name in _REMOVERS and not _is_rehearsed(command):
            yield from _removes(command, act, world, piped=searched)
        elif name not in _SAYERS and not _is_rehearsed(command):
            inner = replace(act, words=(name, *command[1:]), inputs=(), depth=act.depth + 1)
            yield from _one(name, command, text, inner, world)
        searched = name in ("get-childitem", "gci", "dir", "ls", "get-item")


def _is_rehearsed(command: list[str]) -> bool:
    return any(word.lower() == "-whatif" for word in command)


def _one(name: str, command: list[str], text: str, act: Act, world: World) -> Iterator[Finding]:
    words = " ".join(command)[:120]
    if name in _EMPTIERS:
        yield risky("overwrites", words, "this empties files")
    elif name in _DISKS:
        yield fatal("deletes", words, "what is on the disk is gone")
    elif name in _RUNNERS:
        verdict = fatal if _FETCHED.search(text) else risky
        yield verdict("runs-unseen-code", words, "it runs what nobody has read", radius="high")
    elif name in _STOPPERS:
        yield fatal("kills", words, "the machine or a service of it would stop")
    elif name in _LOOSENS or (name in _STARTS and (_FETCHED.search(text) or _LANDS.search(words))):
        why = "nobody has read what may run then"
        yield risky("runs-unseen-code", words, why, radius="high")
    elif name in _KILLERS and any("*" in word for word in command[1:]):
        yield fatal("kills", words, "that is every process")
    elif name in FAMILY:
        yield from FAMILY[name](act, world)
    else:
        # `cmd /c git push --force`: programs that are no commands of Windows.
        from shlex import join  # slow to load, and few commands are of Windows

        from hookline.builtin.shell_guard.judging import found_in

        yield from found_in(join(command), world, nested=True)


def _commands(text: str) -> Iterator[list[str]]:
    part = ""
    for piece in (*_PARTS.findall(text), ";"):
        if piece[0] not in ";|\n&(){}":
            part += piece
            continue
        words = [word.strip("'\"") for word in _WORDS.findall(part)]
        if words:
            # `$x = Get-Content y` is what stands behind the sign.
            yield words[2:] if words[1:2] == ["="] and len(words) > 2 else words
        part = ""


def _removes(command: list[str], act: Act, world: World, *, piped: bool) -> Iterator[Finding]:
    words = " ".join(command)
    deep = any(_DEEP.fullmatch(word) for word in command[1:])
    named = [word for word in command[1:] if not _SWITCH.fullmatch(word)]
    if len(named) > _MAX_NAMES:
        yield risky("deletes", words[:120], f"this removes {len(named)} files", radius="high")
    if not named:
        why = "all that is found goes" if piped else "what it removes cannot be told"
        yield risky("deletes", words, why, radius="high")
    for word in named[:_MAX_NAMES]:
        if _DRIVE.fullmatch(word) or _PROFILES.match(word):
            yield fatal("deletes", words, _GONE)
            continue
        path = _PLACES.sub(lambda _: world.home, word).replace("\\", "/")
        if re.match(r"[A-Za-z]:", path) or _VARIABLE.search(path):
            # A drive cannot be looked at from here, only the names on the way.
            built = any(is_build_name(part) for part in re.split(r"[:/]", path))
            verdict = fatal if deep and not built else risky
            yield verdict("deletes", words, _GONE, radius="high")
            continue
        globs = re.search(r"[*?\[]", path) is not None
        plain = replace(act, words=tuple(command), exact=not globs)
        for target in targets(path, plain, world):
            yield from removed(plain, target, deep=deep, world=world)


# -- programs of their own

_REGISTRY = verbs(
    (Verb("(?i:delete|unload|restore|import)", "changes-system", _GONE, radius="high"),)
)
# Under these names stands what Windows starts by itself, or holds everybody to.
_STANDING = re.compile(r"\b(?:hklm|hkey_local_machine)\b|run(?:once)?\b|policies", re.IGNORECASE)


def _registry(act: Act, world: World) -> Iterator[Finding]:
    yield from _REGISTRY(act, world)
    if act.words[1:2] and act.words[1].lower() == "add" and _STANDING.search(act.text):
        why = "it changes what Windows starts by itself, or holds all users to"
        yield risky("changes-system", act.text, why, radius="high")


_SHUTS = re.compile(
    r"\b(?:off|reset|delete|disabled?)\b|portproxy\b.*\badd\b|\bset\b.*\bproxy\b", re.I
)


def _network(act: Act, world: World) -> Iterator[Finding]:
    if _SHUTS.search(" ".join(act.words[1:])):
        why = "it opens or closes the machine to the network"
        yield risky("changes-system", act.text, why, radius="high")


_LOGS = verbs(
    (
        Verb(
            "(?i:cl|clear-log|sl|set-log)",
            "weakens-guard",
            "the record of what happened goes",
            radius="high",
        ),
    )
)
_SHADOWS = verbs(
    (
        Verb(
            "(?i:delete|resize) \\S+",
            "deletes",
            "the last way back to older files goes",
            radius="high",
            denied=True,
        ),
        Verb(
            "(?i:shadowcopy) (?i:delete)",
            "deletes",
            "the last way back to older files goes",
            radius="high",
            denied=True,
        ),
    )
)


def _wsl(act: Act, world: World) -> Iterator[Finding]:
    if any(word in ("--unregister", "--uninstall") for word in act.words):
        yield fatal("deletes", act.text, "the distribution goes with all its files")


def _boot(act: Act, world: World) -> Iterator[Finding]:
    if any(re.match(r"/(?:delete|set|deletevalue|import)", word, re.I) for word in act.words[1:]):
        yield risky("changes-system", act.text, "the machine may not start again", radius="high")


_SERVICES = verbs(
    (
        Verb(
            "(?i:stop|delete|config|user|localgroup|share)",
            "changes-system",
            "it changes services or accounts of Windows",
            radius="high",
        ),
    )
)


def _tasks(act: Act, world: World) -> Iterator[Finding]:
    if any(
        re.fullmatch(r"/(?:delete|create|change|end|im|pid|fi)", word, re.I) for word in act.words
    ):
        yield risky("changes-system", act.text, "it changes what runs on Windows", radius="high")


def _mirrors(act: Act, world: World) -> Iterator[Finding]:
    if any(re.fullmatch(r"/(?:mir|purge|move)|/w:\S*", word, re.I) for word in act.words[1:]):
        yield risky("deletes", act.text, "what is not in the source is removed", radius="high")


def _script(act: Act, world: World) -> Iterator[Finding]:
    if len(act.words) > 1:
        yield fatal("deletes", act.text, "what is on the disk is gone")


def _rights(act: Act, world: World) -> Iterator[Finding]:
    granted = re.search(r"/(?:grant|reset|setowner|a)\b", act.text, re.IGNORECASE)
    taken = granted is not None or act.name.startswith("takeown")
    if taken and re.search(r"/[tr]\b", act.text, re.IGNORECASE):
        yield risky("escalates", act.text, "it changes who may do what, in everything below")


_SHELLS = frozenset({"cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh", "pwsh.exe"})

FAMILY: Family = {
    **dict.fromkeys(_SHELLS, _shell),
    **dict.fromkeys(_TYPED, lambda act, world: _judged(act.text, act, world)),
    **dict.fromkeys(("wsl", "wsl.exe"), _wsl),
    **dict.fromkeys(("reg", "reg.exe"), _registry),
    **dict.fromkeys(("netsh", "netsh.exe"), _network),
    **dict.fromkeys(("wevtutil", "wevtutil.exe"), _LOGS),
    **dict.fromkeys(("vssadmin", "wmic", "wbadmin"), _SHADOWS),
    "bcdedit": _boot,
    "diskpart": _script,
    **dict.fromkeys(("takeown", "takeown.exe", "icacls", "icacls.exe"), _rights),
    **dict.fromkeys(("net", "net.exe", "sc", "sc.exe", "fsutil"), _SERVICES),
    **dict.fromkeys(("schtasks", "taskkill", "schtasks.exe", "taskkill.exe"), _tasks),
    **dict.fromkeys(("robocopy", "cipher"), _mirrors),
}
