"""The machine itself: accounts, network and kernel."""

import re
from collections.abc import Iterator, Mapping

from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY"]

# -- accounts and rights


def _accounts(act: Act, world: World) -> Iterator[Finding]:
    if act.name == "passwd" and {"-S", "--status"}.intersection(act.words):
        return
    if act.name == "visudo" and {"-c", "--check"}.intersection(act.words):
        return
    removes = act.name in ("userdel", "deluser", "groupdel", "delgroup")
    why = "the account and what belongs to it goes" if removes else "it changes who may do what"
    yield (fatal if removes else risky)("escalates", act.text, why, radius="high")


def _becomes(act: Act, world: World) -> Iterator[Finding]:
    """A shell of another user: whatever is typed there is not seen here."""
    words = act.words[1:]
    if act.name in ("sudo", "doas"):
        if {"-e", "--edit"}.intersection(words):
            yield risky("escalates", act.text, "it edits a file of the system", radius="high")
        elif {"-i", "-s", "--login", "--shell"}.intersection(words):
            yield risky("escalates", act.text, "what runs in that shell is not seen", radius="high")
    elif not any(word.startswith(("-c", "--command", "--session-command")) for word in words):
        yield risky("escalates", act.text, "what runs in that shell is not seen", radius="high")


def _trusts(act: Act, world: World) -> Iterator[Finding]:
    """Certificates that everything on the machine believes from then on."""
    words = set(act.words[1:])
    asks = act.name in ("mkcert", "trust")
    if not asks or words & {"-install", "-uninstall", "anchor"}:
        yield risky("escalates", act.text, "it changes whom this machine trusts", radius="high")


def _enters(act: Act, world: World) -> Iterator[Finding]:
    yield risky("escalates", act.text, "what runs in that shell is not seen", radius="high")


def _shell_as_root(act: Act, world: World) -> Iterator[Finding]:
    entered = "nsenter" in act.wrappers
    if (act.raised or entered) and len(act.words) == 1 and not act.inputs and not act.producers:
        yield risky(
            "escalates",
            f"{act.wrappers[0]} {act.text}",
            "what runs in that shell is not seen",
            radius="high",
        )


# -- network and kernel

_FIREWALL = re.compile(
    r"-F|--flush|-X|-P|--policy|-D|--delete|flush|reset|disable|stop|delete|--panic-on|-Z"
)


_ADMITS: Mapping[str, re.Pattern[str]] = {
    "nft": re.compile(r"add|insert|-f"),
    "iptables": re.compile(r"-A|-I|-R|--append|--insert"),
    "ip6tables": re.compile(r"-A|-I|-R|--append|--insert"),
    "ufw": re.compile(r"allow|deny|enable|default|reject"),
    "firewall-cmd": re.compile(r"--(?:add|remove|reload|set|permanent)\S*"),
    "iptables-restore": re.compile(r".*"),
}


def _firewall(act: Act, world: World) -> Iterator[Finding]:
    admits = _ADMITS.get(act.name)
    if any(_FIREWALL.fullmatch(word) for word in act.words[1:]):
        why = "it opens or closes the machine to the network"
        yield risky("changes-system", act.text, why, radius="high")
    elif admits is not None and any(admits.fullmatch(word) for word in act.words):
        yield risky("changes-system", act.text, "it changes who reaches this machine")


def _proxies(act: Act, world: World) -> Iterator[Finding]:
    """``networksetup`` of macOS."""
    if any(word.startswith(("-set", "-remove", "-create")) for word in act.words[1:]):
        why = "what this machine sends may go another way"
        yield risky("changes-system", act.text, why, radius="high")


_IP = re.compile(r"set|del|delete|flush|add|change|replace|down")


def _ip(act: Act, world: World) -> Iterator[Finding]:
    if act.name == "ip":
        words = [word for word in act.words[1:] if not word.startswith("-")]
        if len(words) > 1 and _IP.fullmatch(words[1]):
            yield risky(
                "changes-system", act.text, "the machine may lose its network", radius="high"
            )
    elif (
        act.name in ("ifdown",)
        or "down" in act.words
        or {"del", "delete", "flush"}.intersection(act.words)
    ):
        yield risky("changes-system", act.text, "the machine may lose its network", radius="high")


_NMCLI = verbs(
    (
        Verb(
            "(networking|radio|n|nm) (off|\\w+)",
            "changes-system",
            "the machine may lose its network",
            radius="high",
        ),
        Verb(
            "(connection|con|c|device|dev|d) (down|delete|modify|disconnect|del)",
            "changes-system",
            "the machine may lose its network",
            radius="high",
        ),
    )
)


def _kernel(act: Act, world: World) -> Iterator[Finding]:
    words = act.words[1:]
    if act.name == "sysctl" and not (
        {"-w", "-p", "--write", "--system"}.intersection(words) or any("=" in w for w in words)
    ):
        return
    if act.name == "swapoff" or act.name in ("rmmod", "insmod", "modprobe", "sysctl", "kexec"):
        if words:
            yield risky("changes-system", act.text, "it changes the running kernel", radius="high")
    elif act.name in ("setenforce", "aa-teardown", "aa-disable", "spctl", "csrutil"):
        if "status" not in words:
            yield fatal("weakens-guard", act.text, "it switches a protection of the system off")
    elif act.name in ("hostnamectl", "timedatectl", "localectl") and any(
        w.startswith("set-") for w in words
    ):
        yield risky("changes-system", act.text, "it changes the whole system")


FAMILY: Family = {
    **dict.fromkeys(
        ("passwd", "chpasswd", "useradd", "adduser", "usermod", "userdel", "deluser", "groupadd",
         "groupmod", "groupdel", "delgroup", "gpasswd", "visudo", "chsh", "vipw", "dscl",
         "newusers", "addgroup", "sysadminctl"),
        _accounts,
    ),
    **dict.fromkeys(("su", "sudo", "doas", "pkexec", "runuser"), _becomes),
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh", "fish"), _shell_as_root),
    "nsenter": _enters,
    **dict.fromkeys(("mkcert", "update-ca-certificates", "update-ca-trust", "trust"), _trusts),
    **dict.fromkeys(
        ("iptables", "ip6tables", "nft", "ufw", "firewall-cmd", "pfctl", "ebtables",
         "iptables-restore"),
        _firewall,
    ),
    **dict.fromkeys(("ip", "ifconfig", "ifdown", "route"), _ip),
    "nmcli": _NMCLI,
    "networksetup": _proxies,
    **dict.fromkeys(
        ("sysctl", "swapoff", "rmmod", "insmod", "modprobe", "kexec", "setenforce", "aa-teardown",
         "aa-disable", "spctl", "csrutil", "hostnamectl", "timedatectl", "localectl"),
        _kernel,
    ),
}  # fmt: skip
