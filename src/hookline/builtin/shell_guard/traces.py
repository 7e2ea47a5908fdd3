"""What a list of commands does not show: redirections, assignments, here-documents, loops."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from hookline.builtin.shell_guard.lazy import lazy
from hookline.shell import Redirection, ShellText

__all__ = ["MAX_REDIRECTS", "Traces", "trace"]

_LOOP = lazy(r"\bfor\s+([A-Za-z_]\w*)\s+in\s+([^;\n]*?)\s*(?:;|\n)\s*do\b")
# Redirections of one text that are looked at; one more tells that there are more.
MAX_REDIRECTS = 500


class Traces(Struct, frozen=True, kw_only=True):
    """Everything beside the commands of one text and of the code inside it."""

    redirects: tuple[Redirection, ...] = ()
    """Those that write."""
    sources: tuple[str, ...] = ()
    """Files that are read by ``<``."""
    read_by: Mapping[int, tuple[str, ...]] = {}
    """The same by the number of the command that reads them."""
    assigned: tuple[tuple[str, str], ...] = ()
    inputs: Mapping[int, tuple[str, ...]] = {}
    """Here-documents by the number of the command they are for."""
    variables: Mapping[str, tuple[str, ...]] = {}
    aliases: Mapping[str, tuple[str, ...]] = {}

    def aliased(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """The words with an alias at their head put out."""
        return (*self.aliases[words[0]], *words[1:]) if words[0] in self.aliases else words


_NOTHING = Traces()


def trace(text: str, shell: ShellText) -> Traces:
    """The traces of a text and of the code in its commands."""
    aliases = _aliases(shell)
    # Most texts have none of all this.
    if not (aliases or shell.redirections or shell.assigned or shell.inputs or "for" in text):
        return _NOTHING
    reads = [each for each in shell.redirections if each.operator == "<"]
    read_by: dict[int, tuple[str, ...]] = {}
    for each in reads:
        read_by[each.number] = (*read_by.get(each.number, ()), each.target)
    return Traces(
        redirects=tuple(each for each in shell.redirections if each.writes),
        sources=tuple(each.target for each in reads),
        read_by=read_by,
        assigned=shell.assigned,
        inputs=shell.inputs,
        variables=_variables(text, shell.assigned),
        aliases=aliases,
    )


def _variables(text: str, assigned: Sequence[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    """Sources of the values that variables may have by the time they are used."""
    found: dict[str, list[str]] = {}
    for name, value in assigned:
        found.setdefault(name, []).append(value.strip('"'))
    for name, words in _LOOP.findall(text):
        found.setdefault(name, []).extend(word.strip("\"'") for word in words.split())
    return {name: tuple(values) for name, values in found.items()}


def _aliases(shell: ShellText) -> Mapping[str, tuple[str, ...]]:
    found = {}
    for command in shell.commands:
        if command.words[0].endswith("alias") and command.name == "alias":
            for word in command.words[1:]:
                name, _, value = word.partition("=")
                if value.split():
                    found[name] = tuple(value.split())
    return found
