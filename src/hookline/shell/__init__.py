"""Splits shell text into the simple commands it would run; knows nothing of hooks or policy."""

from collections.abc import Iterable, Iterator, Sequence

from hookline.shell.model import (
    MAX_BYTES,
    STDIN,
    PathWord,
    Redirection,
    ShellText,
    SimpleCommand,
    Word,
)

__all__ = [
    "MAX_BYTES",
    "STDIN",
    "PathWord",
    "Redirection",
    "ShellText",
    "SimpleCommand",
    "Word",
    "all_words",
    "literal_words",
    "read_path_words",
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


def read_path_words(
    run: str | Sequence[str], variable: str = "", value: str = ""
) -> tuple[PathWord, ...]:
    """Those words, or those of a list, each with the path it would be and whether it is executed.

    ``cd`` and one known variable are followed.
    """
    from hookline.shell import places

    return places.read_path_words(run if isinstance(run, str) else tuple(run), variable, value)


def all_words(words: Iterable[PathWord]) -> Iterator[PathWord]:
    """The words, and those of the code in them."""
    for word in words:
        yield word
        yield from all_words(word.code)
