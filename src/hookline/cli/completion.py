"""``hookline completion``: the script that teaches a shell to complete hookline's words."""

import click
from click.shell_completion import get_completion_class

from hookline.cli import _main

__all__ = ["command"]


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script for SHELL.

    \b
      bash:  eval "$(hookline completion bash)"
      zsh:   eval "$(hookline completion zsh)"
      fish:  hookline completion fish | source
    """
    complete = get_completion_class(shell)
    assert complete is not None
    click.echo(complete(_main.main, {}, "hookline", "_HOOKLINE_COMPLETE").source())
