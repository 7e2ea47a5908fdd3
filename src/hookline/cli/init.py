"""``hookline init``: a starter config that protects from the first minute."""

import os
from pathlib import Path

import click

from hookline.config.load import Loader
from hookline.model.errors import HooklineError
from hookline.model.text import visible
from hookline.opening import open_app

__all__ = ["command", "starter"]


def starter() -> bytes:
    """The starter config."""
    return Path(__file__).with_name("_starter.yaml").read_bytes()


@click.command("init")
@click.option("--user", is_flag=True, help="Write your own file, which holds in every project.")
def command(user: bool) -> None:
    """Write a commented starter config here, and put it in force.

    An existing config is never touched, nor one that was trusted here before and is gone now.
    """
    app = open_app()
    path = Path(app.loader.user_file) if user else Path(app.cwd, "hookline.yaml")
    if os.path.lexists(path):
        raise HooklineError(
            f"{path} is there already; nothing was changed. `hookline check` says how it stands."
        )
    if not user and app.loader.is_trusted(str(path)):
        raise HooklineError(
            f"{path} was trusted before, and that version is still in force although the file "
            "is gone. `hookline trust --revoke` ends that; then run `hookline init` again."
        )
    _write(path)
    if not user:
        _trust(app.loader, path)
    _tell(path)


def _write(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(starter())
    except OSError as exc:
        raise HooklineError(f"{path} could not be written: {exc.strerror}") from exc


def _trust(loader: Loader, path: Path) -> None:
    try:
        # These bytes, not whatever lies there by now: nobody has looked at that.
        loader.trust_content(str(path), starter())
    except (OSError, HooklineError) as exc:
        path.unlink()
        raise HooklineError(f"{path} was not kept, because it cannot be trusted: {exc}") from exc


def _tell(path: Path) -> None:
    click.secho(f"wrote {visible(str(path))}", fg="green")
    click.echo("It is in force. Try:")
    click.echo("  hookline fire pre_tool_use --tool shell --command 'rm -rf ~'")
    click.echo("  hookline list")
