"""What the builtins that docker-agent has too share: its ``args``, and where context can go."""

from msgspec import Struct

from hookline.model.events import EVENTS

__all__ = ["CONTEXT_EVENTS", "ArgsOptions", "positive"]

CONTEXT_EVENTS = tuple(name for name, event in EVENTS.items() if event.takes_context)


class ArgsOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of a builtin that may come from a docker-agent file."""

    args: tuple[str, ...] = ()
    """Its arguments as docker-agent writes them; those nobody reads are ignored, as there."""


def positive(args: tuple[str, ...]) -> int | None:
    """The first argument as a number above zero; None, as in docker-agent, for anything else."""
    text = args[0] if args else ""
    digits = text.removeprefix("+")
    return int(digits) or None if digits.isascii() and digits.isdecimal() else None
