"""Splits shell text into the simple commands it would run; knows nothing of hooks or policy."""

from hookline.shell.model import MAX_BYTES, Placed, ShellText, SimpleCommand, Word

__all__ = [
    "MAX_BYTES",
    "Placed",
    "ShellText",
    "SimpleCommand",
    "Word",
    "literal_words",
    "placed_words",
    "split",
]

# The readers load on first use: most hooks never look into a command, and start without them.


def split(text: str) -> ShellText:
    """Every simple command ``text`` would run, and what about it could not be seen."""
    from hookline.shell import splitting

    return splitting.split(text)


def literal_words(text: str) -> tuple[Word, ...]:
    """Every word of ``text`` without expansions, quotes removed, with its place in characters.

    Words inside ``$(...)`` count; comments and the bodies of here-documents do not.
    """
    from hookline.shell import literals

    return literals.literal_words(text)


def placed_words(text: str, variable: str = "", value: str = "") -> tuple[Placed, ...]:
    """Those words with the path that each would be, ``cd`` and one known variable followed."""
    from hookline.shell import places

    return places.placed_words(text, variable, value)
