"""What runs later without being asked."""

from collections.abc import Iterator

from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY"]


def _crontab(act: Act, world: World) -> Iterator[Finding]:
    words = act.words[1:]
    if "-r" in words:
        yield fatal("deletes", act.text, "the whole table goes, and nothing keeps a copy")
    elif "-l" not in words:
        yield risky("changes-system", act.text, "it decides what runs later, unseen", radius="high")


def _at(act: Act, world: World) -> Iterator[Finding]:
    if not {"-l", "-c", "-V"}.intersection(act.words) and len(act.words) > 1:
        yield risky("changes-system", act.text, "what runs later runs unseen")


def _unqueued(act: Act, world: World) -> Iterator[Finding]:
    yield risky("deletes", act.text, "what was to run later goes")


FAMILY: Family = {
    "atrm": _unqueued,
    "crontab": _crontab,
    **dict.fromkeys(("at", "batch"), _at),
}
