"""How commands of people tell that something went wrong."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import click

from hookline.model.errors import HooklineError
from hookline.model.text import visible

__all__ = ["Trouble", "complain", "fail", "trouble"]


class Trouble(HooklineError):
    """Something went wrong in a command whose exit code of 1 says something else."""


@contextmanager
def trouble() -> Iterator[None]:
    """For such a command. Raises Trouble in place of any other error of ours."""
    try:
        yield
    except HooklineError as error:
        raise Trouble(str(error)) from error


def complain(message: str) -> None:
    """In red, where there is colour; stdout is for what was asked for."""
    label = click.style("error:", fg="red", bold=True)
    click.echo(f"{label} {visible(message)}", err=True)


def fail(message: str, code: int) -> NoReturn:
    """Ends the process."""
    complain(message)
    sys.exit(code)
