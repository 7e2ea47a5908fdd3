"""``hookline init``: a starter config that protects from the first minute."""

import os
from pathlib import Path

import click

from hookline.app import open_app
from hookline.cli._protection import print_protections
from hookline.config.discover import project_root
from hookline.config.load import Loader
from hookline.model.errors import HooklineError
from hookline.model.text import visible

__all__ = ["command", "starter"]


def starter() -> bytes:
    """The starter config."""
    return Path(__file__).with_name("_starter.yaml").read_bytes()


@click.command("init")
@click.option("--user", is_flag=True, help="Write your own file, which counts in every project.")
@click.option("--nested", is_flag=True, help="Write one although another config counts here too.")
def command(user: bool, nested: bool) -> None:
    """Write a commented starter config here, and trust it.

    With --user it is your own file (~/.config/hookline/hookline.yaml), which needs no trust. An
    existing config is never touched, nor one that was trusted here before and is gone now. At the
    end you see how many hooks are active here, and what is still missing.
    """
    app = open_app()
    path = Path(app.loader.user_file) if user else Path(app.cwd, "hookline.yaml")
    if os.path.lexists(path):
        raise HooklineError(
            f"{path} is there already; nothing was changed. "
            "`hookline check` shows whether it is right and active."
        )
    if not user and app.loader.is_trusted(str(path)):
        raise HooklineError(
            f"{path} was trusted before, and that version is still active although the file "
            "is gone. `hookline trust --revoke` ends that; then run `hookline init` again."
        )
    root = project_root(app.cwd, project_var=None)
    outer = [each.config for each in app.loader.standings(root, app.cwd)]
    if not user and outer and not nested:
        raise HooklineError(
            f"{outer[-1]} counts here already, and a second starter would run each hook twice. "
            "Edit that one, or add --nested if you want both."
        )
    _write(path)
    if not user:
        _trust(app.loader, path)
    click.secho(f"wrote {visible(str(path))}", fg="green")
    print_protections(open_app())
    click.echo("Try: hookline fire pre_tool_use --tool shell --command 'rm -rf ~'")


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
