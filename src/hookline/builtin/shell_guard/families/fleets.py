"""Other machines, many at once, and devices: what is run, removed or put there."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.arguments import parse
from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY"]

_REAL = "it changes real machines and data"
_LIVE = "what it does is seen by everybody at once"
_DEVICE = "what is on the device has no other copy"

# -- files and tunnels

_FTP = re.compile(
    r"^\s*(?:rm|rmdir|mrm|mdelete|delete|del|mirror\s.*(?:-R|--reverse|--delete)\b.*)\b.*",
    re.MULTILINE,
)


def _ftp(act: Act, world: World) -> Iterator[Finding]:
    """A session that is written down: what it removes on the other machine."""
    for text in (*act.words[1:], *act.inputs):
        for line in re.split(r"[;\n]", text):
            found = _FTP.match(line)
            if found is not None:
                yield risky("changes-remote", found.group().strip(), _REAL, radius="high")
                return


_HADOOP = re.compile(r"-(?:rm|rmr|rmdir|expunge|delete\w*|format)")


def _hadoop(act: Act, world: World) -> Iterator[Finding]:
    found = next((word for word in act.words[1:] if _HADOOP.fullmatch(word)), "")
    if found:
        yield risky("changes-remote", f"{act.name} … {found}", _REAL, radius="high")


def _admits(act: Act, world: World) -> Iterator[Finding]:
    yield risky("escalates", act.text, "whoever has that key gets in from then on", radius="high")


def _tunnel(act: Act, world: World) -> Iterator[Finding]:
    """``ssh -R`` lets the other machine in."""
    arguments = parse(act.words[1:], [f"-{letter}" for letter in "BbcDEeFIiJLlmOopPQRSWw"])
    if arguments.has("-R"):
        words = f"{act.name} -R {arguments.value('-R')}"
        yield risky("escalates", words, "it opens this machine to another one", radius="high")


_EXPOSED = "anybody with the address reaches this machine"


def _exposed(act: Act, world: World) -> Iterator[Finding]:
    words = [word for word in act.words[1:] if not word.startswith("-")]
    shows = {
        "config",
        "update",
        "version",
        "credits",
        "list",
        "login",
        "authtoken",
        "add-authtoken",
    }
    if words and words[0] not in shows:
        yield risky("escalates", act.text, _EXPOSED)


# -- many machines

_SALT = re.compile(r"state\.\w+|cmd\.\w+|pkg\.\w+|service\.\w+|file\.\w+|system\.\w+|user\.\w+")


def _salt(act: Act, world: World) -> Iterator[Finding]:
    found = next((word for word in act.words[1:] if _SALT.fullmatch(word)), "")
    if found and not any(word.startswith("test=") for word in act.words):
        yield risky("changes-remote", f"{act.name} … {found}", _REAL, radius="high")


_DEPLOYS = verbs(
    (
        Verb(
            "\\S*(deploy|rollback|redeploy|promote|setup|remove)(:\\S+)?",
            "changes-remote",
            _LIVE,
            radius="high",
        ),
        Verb(
            "\\S+ \\S*(deploy|rollback|redeploy|promote|remove)(:\\S+)?",
            "changes-remote",
            _LIVE,
            radius="high",
        ),
        Verb(
            "(app|proxy|accessory|server) (remove|stop|boot|reboot|bootstrap)",
            "changes-remote",
            _LIVE,
            radius="high",
        ),
    ),
    skipped="-H --hosts -i -u --user -c --config-file -d --destination",
)

# -- devices and desktops

_ADB = verbs(
    (
        Verb(
            "(uninstall|reboot|sideload|root|remount|restore)",
            "changes-remote",
            _DEVICE,
            radius="high",
        ),
    ),
    skipped="-s -t -H -P",
)


def _fastboot(act: Act, world: World) -> Iterator[Finding]:
    if {"erase", "format", "flash", "flashall", "update", "-w", "oem", "flashing"}.intersection(
        act.words
    ):
        yield fatal("deletes", act.text, _DEVICE)


_SIMULATORS = verbs(
    (
        Verb("simctl (erase|delete)", "deletes", "simulators go with what is in them"),
        Verb("(altool|notarytool) (submit|upload\\S*)", "publishes", "it leaves for a store"),
        Verb("altool (--upload-app|--upload-package)", "publishes", "it leaves for a store"),
    )
)  # fmt: skip
_SETTINGS = verbs(
    (
        Verb(
            "(delete|delete-all|write|import|rename)",
            "changes-system",
            "it changes how programs here behave",
        ),
        Verb(
            "(reset|reset-recursively|set)", "changes-system", "it changes how programs here behave"
        ),
        Verb("(load)", "changes-system", "it changes how programs here behave"),
    )
)
_BACKUPS = verbs(
    (
        Verb(
            "(delete|disable|removedestination|deletelocalsnapshots|thinlocalsnapshots)",
            "deletes",
            "a backup goes",
            radius="high",
            denied=True,
        ),
        Verb("(forget|prune|delete|key)", "deletes", "a backup goes", radius="high"),
        Verb("(unlock|repair|rebuild-index)", "changes-system", "another run may be under way"),
    ),
    skipped="-r --repo -p --password-file",
)

FAMILY: Family = {
    **dict.fromkeys(("sftp", "ftp", "lftp", "ncftp"), _ftp),
    **dict.fromkeys(("ssh", "autossh"), _tunnel),
    **dict.fromkeys(("hdfs", "hadoop"), _hadoop),
    "ssh-copy-id": _admits,
    **dict.fromkeys(("ngrok", "cloudflared", "localtunnel", "lt", "bore"), _exposed),
    **dict.fromkeys(("salt", "salt-call", "salt-ssh", "salt-run"), _salt),
    **dict.fromkeys(("cap", "fab", "dep", "kamal", "mina", "deployer", "dokku", "pyinfra"),
                    _DEPLOYS),
    "adb": _ADB,
    "fastboot": _fastboot,
    "xcrun": _SIMULATORS,
    **dict.fromkeys(("defaults", "gsettings", "dconf"), _SETTINGS),
    **dict.fromkeys(("tmutil", "restic", "borg", "duplicity", "kopia"), _BACKUPS),
}  # fmt: skip
