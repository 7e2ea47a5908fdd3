"""For which home a client's command line was meant."""

import os

__all__ = ["home_of"]

_VALUED = {"--home", "--user-config", "--config", "--timeout"}


def home_of(argv: tuple[str, ...]) -> str | None:
    """The home that a client's command line names; None when a daemon cannot stay for it."""
    home = ""
    words = iter(argv)
    for word in words:
        if word in _VALUED:
            value = next(words, "")
            # As clients read it, and `hookline hook`: the last of two counts.
            home = value if word == "--home" else home
    return home if os.path.isabs(home) and "\0" not in home else None
