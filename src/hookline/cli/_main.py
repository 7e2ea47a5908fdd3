"""The command group, and the one door through which every error leaves."""

import os
import sys
from importlib import import_module
from itertools import takewhile
from pkgutil import iter_modules

import click

import hookline.cli
from hookline._version import __version__
from hookline.cli._failing import Trouble, fail
from hookline.model.errors import HooklineError
from hookline.model.text import visible

__all__ = ["main", "run"]


_SECTIONS = {
    "Get protected": "init install status verify doctor uninstall",
    "Write hooks": "check list fire trust pause convert matrix",
    "Look back": "log explain replay snapshots undo cost handoff",
    "More": "mcp daemon lab trace demo adapt completion hook",
}


def _names() -> list[str]:
    modules = (info.name for info in iter_modules(hookline.cli.__path__))
    return sorted(name for name in modules if not name.startswith("_"))


class _Commands(click.Group):
    """Finds a command by the name of its module, and imports it only when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return _names()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """By topic, each with its whole first sentence."""
        for title, names in _SECTIONS.items():
            commands = {name: self.get_command(ctx, name) for name in names.split()}
            with formatter.section(title):
                formatter.write_dl(
                    [
                        (name, each.get_short_help_str(200))
                        for name, each in commands.items()
                        if each
                    ]
                )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _names():
            return None
        module = import_module(f"hookline.cli.{cmd_name}")
        command: click.Command = module.command() if cmd_name == "hook" else module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from hookline.model.errors import nearest

        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing:
            hint = nearest(name, _names()) or "`hookline --help` lists them"
            ctx.fail(f"no command is called `{visible(name)}`; {hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Ctrl-C ends every command as it ends other programs: with 130."""
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, click.Abort):
            ctx.exit(130)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="hookline")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def main(debug: bool) -> None:
    """Lifecycle hooks for AI agents, written once: allow, ask, deny, rewrite, remember.

    Start with `hookline init --user` and `hookline install AGENT`, see what is active with
    `hookline status`, try a rule with `hookline fire`, and find out why a hook does not fire
    with `hookline doctor`.
    """


def run(args: list[str] | None = None) -> None:
    """Runs one command and ends the process with its exit code."""
    arguments = sys.argv[1:] if args is None else args
    leading = list(takewhile(lambda word: word.startswith("-"), arguments))
    debug = "--debug" in leading or os.environ.get("HOOKLINE_DEBUG") == "1"
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    colour = False if plain else None  # None: where there is a terminal
    with click.Context(main, color=colour):  # for what is said outside of a command
        try:
            main.main(args=arguments, prog_name="hookline", color=colour)
        except HooklineError as exc:
            if debug:
                raise
            fail(str(exc), 2 if isinstance(exc, Trouble) else 1)
        except Exception as exc:
            if debug:
                raise
            fail(
                f"something went wrong that should not have: {type(exc).__name__}: {exc}. "
                "`hookline --debug …` shows where; please report it.",
                3,
            )
