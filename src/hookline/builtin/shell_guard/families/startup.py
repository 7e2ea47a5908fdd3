"""What runs later without being asked: crontabs, and other machines' windows."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY"]


def _crontab(act: Act, world: World) -> Iterator[Finding]:
    words = act.words[1:]
    if "-r" in words:
        yield fatal(
            "deletes", act.text, "the whole table goes, and nothing keeps a copy", "crontab -l"
        )
    elif "-l" not in words:
        yield risky(
            "changes-system", act.text, "it decides what runs later, unseen", "crontab -l", "high"
        )


def _at(act: Act, world: World) -> Iterator[Finding]:
    if not {"-l", "-c", "-V"}.intersection(act.words) and len(act.words) > 1:
        yield risky("changes-system", act.text, "what runs later runs unseen", "atq")


_WINDOWS = re.compile(
    r"\b(?:rd|rmdir|del|erase|format|deltree|Remove-Item|Clear-Content|Format-Volume|diskpart)\b",
    re.IGNORECASE,
)


def _windows(act: Act, world: World) -> Iterator[Finding]:
    text = " ".join(act.words[1:])
    found = _WINDOWS.search(text)
    if found is not None:
        deep = re.search(r"/s\b|-Recurse|\bformat\b|diskpart", text, re.IGNORECASE)
        verdict = fatal if deep else risky
        yield verdict("deletes", act.text[:120], f"`{found.group()}` removes files of Windows")


FAMILY: Family = {
    "crontab": _crontab,
    **dict.fromkeys(("at", "batch"), _at),
    **dict.fromkeys(
        ("cmd", "cmd.exe", "powershell", "powershell.exe", "pwsh", "wsl", "Remove-Item"), _windows
    ),
}
