"""What commands find on standard input, as far as the text tells."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from hookline.shell.budget import Budget
from hookline.shell.carriers import find_copied_files, literal_output
from hookline.shell.fields import Field
from hookline.shell.model import STDIN
from hookline.shell.plain import PlainCommand
from hookline.shell.script import Command
from hookline.shell.wrappers import unwrap

if TYPE_CHECKING:
    from hookline.shell.texts import TextReader

__all__ = ["Feed", "around", "own", "piped_into", "written"]


class Feed(NamedTuple):
    """What a command finds on standard input; ``unseen`` when that is not all."""

    texts: Sequence[Field]
    unseen: bool
    files: Sequence[Field] = (Field(STDIN),)
    """Those whose content it finds there; STDIN stands for what cannot be told."""


def own(command: Command) -> Feed | None:
    """What the command's own redirections put on its standard input."""
    if command.fed is None:
        return None
    file = Field(STDIN) if command.fed else command.file
    return Feed(command.inputs, command.fed, [] if file is None else [file])


def written(command: Command, budget: Budget) -> list[Field]:
    """What a command evidently writes."""
    words = unwrap(command.words, budget).words if command.words else ()
    return literal_output(words, command.inputs) if words else []


def piped_into(commands: Sequence[PlainCommand], at: int) -> Feed | None:
    """What such a command finds; where pipes are, something unseen if nothing else."""
    first = commands[at].pipeline
    if first == at:
        piped = any(each.pipeline != number for number, each in enumerate(commands))
        return Feed([], unseen=True) if piped else None
    before = commands[first:at]
    texts = [text for each in before for text in literal_output(each.fields, [])]
    files = find_copied_files((each.fields, None) for each in before)
    return Feed(texts, unseen=True, files=files)


def around(text: "TextReader", doubtful: Budget | None, redirected: bool) -> Feed | None:
    """What a command without input of its own might find, in a function or compound command.

    Where the pipes are in doubt, any command might write to any other.
    """
    commands = [item for item in text.found if isinstance(item, Command)]
    given = [field for script in text.scripts for fields in script.inputs for field in fields]
    given += [field for command in commands for field in command.inputs]
    if doubtful is not None:
        given += [field for command in commands for field in written(command, doubtful)]
    redirected = redirected or any(script.inputs for script in text.scripts)
    if given or redirected or any(command.fed is not None for command in commands):
        files = [file for script in text.scripts for file in script.files]
        # `exec < FILE` gives it to every command after it.
        opened = (each.file for each in commands if [word.text for word in each.words] == ["exec"])
        files += [file for file in opened if file is not None]
        return Feed(given, unseen=True, files=[*files, Field(STDIN)])
    return None
