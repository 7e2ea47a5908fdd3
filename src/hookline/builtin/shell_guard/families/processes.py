"""Processes, services, and the machine as a whole: what would stop."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.arguments import parse
from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY"]

_SYSTEM_PROCESSES = re.compile(
    r"sshd|systemd\S*|init|dockerd|containerd|kubelet|Xorg|gnome-shell|launchd|WindowServer"
    r"|loginwindow"
    r"|claude|codex|gemini|opencode|copilot|dbus-daemon|NetworkManager|journald|udevd|cron|crond"
    r"|login|postgres|mysqld|mongod|redis-server"
)
_BROAD = frozenset({
    "node", "python", "python3", "bash", "sh", "zsh", "java", "ruby", "tmux", "screen", "code",
    "ssh",
    "claude", "codex", "gemini", "copilot", "cursor", "opencode", ".", ".*", "", "*", "-", "a",
    "e", "fish",
})  # fmt: skip
_GUARDS = re.compile(r"hookline", re.IGNORECASE)


def _kill(act: Act, world: World) -> Iterator[Finding]:
    words = list(act.words[1:])
    if "-l" in words or "-L" in words or "-0" in words:
        return
    pids = _without_signal(words)
    if not pids and act.producers:
        yield from _signalled_from(" ".join(each.text for each in act.producers), act)
    for pid in pids:
        if _GUARDS.search(pid):
            yield fatal("weakens-guard", act.text, "people stop what guards an agent, not agents")
        elif re.fullmatch(r"\$\{?(?:PPID|\$)\}?", pid):
            yield risky("kills", act.text, "that is the agent itself", radius="high")
        elif pid in ("1", "-1", "0"):
            yield fatal("kills", act.text, "that is every process, or the first of all")
        elif re.match(r"\$\(|`", pid):
            yield from _signalled_from(pid, act)


def _without_signal(words: list[str]) -> list[str]:
    if words and words[0] in ("-s", "-n", "--signal"):
        return [word for word in words[2:] if word != "--"]
    if words and re.match(r"-[A-Z0-9]", words[0]):
        return [word for word in words[1:] if word != "--"]
    return [word for word in words if word != "--"]


def _signalled_from(source: str, act: Act) -> Iterator[Finding]:
    """Processes that another command looks for."""
    words = re.findall(r"[\w.@*-]+", source)
    if _GUARDS.search(source):
        yield fatal("weakens-guard", act.text, "people stop what guards an agent, not agents")
    elif re.search(r"\b(?:lsof|fuser|ss)\b", source) and _PORTS.intersection(words):
        yield risky("kills", act.text, "a service listens there, not a trial of yours")
    elif any(_SYSTEM_PROCESSES.fullmatch(word) for word in words):
        yield risky("kills", act.text, "the system needs that process", radius="high")
    elif re.search(r"\bps\b", source) and not re.search(r"grep|-p\b|-C\b|--pid|/[^/]+/", source):
        yield risky("kills", act.text, "every process that is listed goes", radius="high")


def _by_name(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(
        act.words[1:],
        ("-u", "-U", "-g", "-G", "-t", "-s", "--signal", "-P", "--user", "-n", "--euid"),
    )
    everything = arguments.has("-u", "-U", "--user", "--euid", "-v", "-t") or act.name in (
        "killall5",
        "skill",
        "slay",
    )
    text = " ".join(arguments.operands)
    if _GUARDS.search(text):
        yield fatal("weakens-guard", act.text, "people stop what guards an agent, not agents")
    elif everything:
        yield fatal("kills", act.text, "that is every process of somebody")
    for word in arguments.operands:
        if word in _BROAD and not arguments.has("-P"):
            yield risky(
                "kills", act.text, "that may be the agent itself, or anything else", radius="high"
            )
        elif _SYSTEM_PROCESSES.fullmatch(word):
            yield risky("kills", act.text, "the system needs that process", radius="high")


# Ports of services that outlive a session: shells, mail, web servers, databases, queues.
_PORTS = frozenset({
    "22", "25", "53", "80", "443", "1433", "2375", "2379", "3306", "5432", "5672", "6379", "6443",
    "9092", "9200", "27017",
})  # fmt: skip


def _fuser(act: Act, world: World) -> Iterator[Finding]:
    arguments = parse(act.words[1:], ("-n", "-M"))
    if arguments.has("-k", "--kill"):
        wide = arguments.has("-m", "--mount") or any(
            w.count("/") == 1 for w in arguments.operands if w[0] == "/"
        )
        ports = {word.partition("/")[0] for word in arguments.operands}
        if wide:
            yield fatal("kills", act.text, "that is every process with a file there")
        elif ports.intersection(_PORTS):
            yield risky("kills", act.text, "a service listens there, not a trial of yours")


def _off(act: Act, world: World) -> Iterator[Finding]:
    if act.name in ("init", "telinit"):
        if act.words[1:2] and act.words[1] in ("0", "1", "6", "s", "S"):
            yield fatal("kills", act.text, "the whole machine would go down")
    elif act.words[1:2] not in (("-c",), ("--show",)):
        yield fatal("kills", act.text, "the whole machine would go down")


_SYSTEMCTL = verbs(
    (
        Verb(
            "(reboot|poweroff|halt|kexec|suspend|hibernate|rescue|emergency|isolate|exit|soft-reboot)",
            "kills",
            "the whole machine would go down",
            radius="high",
            denied=True,
        ),
        Verb(
            "(stop|disable|mask|kill|revert) --user",
            "kills",
            "a service of yours stops",
            radius="low",
        ),
        Verb(
            "(stop|disable|mask|kill|revert|unmask|set-default|preset)",
            "kills",
            "others may need that service",
            radius="high",
        ),
        Verb(
            "(enable|link|edit|set-environment|daemon-reexec|import-environment)",
            "changes-system",
            "it would start with the machine from now on",
        ),
    ),
    skipped="-H --host -M --machine -p --property -t --type",
)


_DOWN = frozenset({"down", "stop", "exit", "force-stop", "kill", "force-shutdown"})


def _service(act: Act, world: World) -> Iterator[Finding]:
    if act.name == "sv" and act.words[1:2] and act.words[1] in _DOWN:
        yield risky("kills", act.text, "others may need that service")
    elif act.words[2:3] and act.words[2] in ("stop", "disable", "full-restart"):
        yield risky("kills", act.text, "others may need that service", radius="high")


_LAUNCHCTL = verbs(
    (
        Verb(
            "(unload|remove|bootout|stop|kill|disable|reboot)",
            "kills",
            "others may need that service",
            radius="high",
        ),
        Verb(
            "(load|bootstrap|enable|submit)",
            "changes-system",
            "it would start by itself from now on",
        ),
    )
)

_MANAGERS = verbs(
    (
        Verb(
            "(stop|shutdown|remove|signal|kill) (all|\\*)",
            "kills",
            "every service of it ends",
            radius="high",
        ),
        Verb(
            "(shutdown|unmonitor|killall|stopall|quit)",
            "kills",
            "every service of it ends",
            radius="high",
        ),
        Verb(
            "(delete|del|kill|stop) (all|\\*)", "kills", "every service of it ends", radius="high"
        ),
        Verb("(kill|unstartup|startup|resurrect)", "kills", "every service of it ends"),
        Verb("(stop|delete|remove)", "kills", "others may need that service", radius="low"),
    )
)


def _journal(act: Act, world: World) -> Iterator[Finding]:
    if any(word.startswith(("--vacuum", "--rotate")) for word in act.words[1:]):
        yield risky("deletes", act.text, "older messages go")


_SESSIONS = verbs(
    (
        Verb("(terminate|kill)-\\w+", "kills", "everything of that session ends", radius="high"),
        Verb(
            "(disable-linger|flush-devices|lock-sessions)",
            "changes-system",
            "it changes the sessions of others",
        ),
    )
)

FAMILY: Family = {
    **dict.fromkeys(("supervisorctl", "pm2", "forever", "monit", "circusctl"), _MANAGERS),
    "journalctl": _journal,
    "loginctl": _SESSIONS,
    "kill": _kill,
    **dict.fromkeys(("pkill", "killall", "killall5", "skill", "slay", "xkill"), _by_name),
    "fuser": _fuser,
    **dict.fromkeys(("reboot", "poweroff", "halt", "shutdown", "init", "telinit"), _off),
    "systemctl": _SYSTEMCTL,
    **dict.fromkeys(("service", "rc-service", "invoke-rc.d", "initctl", "sv"), _service),
    "launchctl": _LAUNCHCTL,
}
