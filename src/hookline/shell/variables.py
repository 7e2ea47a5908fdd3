"""Variables whose value some program runs as a command; knows their names and nothing else."""

from collections.abc import Iterable, Iterator

from hookline.shell.fields import Field
from hookline.shell.inner import Argv, Code, Inner

__all__ = ["programs_in"]

_RUN = frozenset({
    "BROWSER", "EDITOR", "FCEDIT", "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
    "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "MANPAGER", "PAGER",
    "PROMPT_COMMAND", "RSYNC_RSH", "SSH_ASKPASS", "SUDO_ASKPASS", "SUDO_EDITOR", "VISUAL",
})  # fmt: skip
# Shells expand these, and run what is substituted in them.
_SOURCED = frozenset({"BASH_ENV", "ENV"})
_EXPANDED = _SOURCED | {"PS0", "PS1", "PS2", "PS4"}


def programs_in(assigned: Iterable[tuple[str, Field]]) -> Iterator[Inner]:
    """The code that these assignments give to whatever reads them."""
    for name, value in assigned:
        if name in _RUN and value.exact:
            yield Code(value)
        elif name in _EXPANDED and value.exact and ("$(" in value.text or "`" in value.text):
            yield Code(Field(f': "{value.text}"'))
        elif name in _SOURCED and value.text:
            yield Argv((Field("."), value))
