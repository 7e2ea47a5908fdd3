"""``hookline trace``: one event on its way through the code, step by step, as it happens."""

import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from hookline.cli import fire
from hookline.cli._output import print_json
from hookline.explaining.watching import Step, every_step, stages, watch
from hookline.model.text import visible

__all__ = ["command"]

_BY_MODULE = 3
_LONGEST = 16 << 20


@click.command(
    "trace", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}
)
@click.option(
    "--all", "everything", is_flag=True, help="Every function of ours, not its stages alone."
)
@click.option("--json", "as_json", is_flag=True, help="Print the steps as JSON.")
@click.argument("words", nargs=-1, required=True, type=click.UNPROCESSED, metavar="EVENT|COMMAND…")
def command(everything: bool, as_json: bool, words: tuple[str, ...]) -> None:
    """Follow one event: who calls whom, what goes in, what comes out, and how long it takes.

    EVENT and what follows it is as for `hookline fire`; a COMMAND is one that calls `hookline hook`
    or `hookline fire`, and its payload comes from stdin. Hooks run for real. Being watched takes
    time, too, so times are to be compared with each other only.

    \b
      hookline trace pre_tool_use --tool shell --command 'git push -f'
      hookline trace -- hookline hook claude-code PreToolUse < payload.json
    """
    name, arguments = _called(words)
    with _kept_output() as printed:
        result, steps = watch(lambda: _run(name, arguments))
    if isinstance(result, KeyboardInterrupt):
        raise result
    code = _exit_code(result)
    shown = list(every_step(steps) if everything else stages(steps))
    if as_json:
        print_json(
            {"exit_code": code, "output": "".join(printed), "steps": [_as_json(*s) for s in shown]}
        )
    else:
        for depth, step in shown:
            _print(depth, step)
        click.secho("out", bold=True)
        click.echo(visible("".join(printed)).rstrip("\n"))
    if isinstance(result, BaseException) and not isinstance(result, SystemExit):
        raise result
    sys.exit(code)


def _called(words: Sequence[str]) -> tuple[str, list[str]]:
    """Which of our commands is meant, and its arguments. Raises UsageError."""
    rest = list(words)
    program = os.path.basename(rest[0])
    if program.startswith("python") and rest[1:_BY_MODULE] == ["-m", "hookline"]:
        rest = rest[_BY_MODULE:]
    elif program.startswith("hookline"):
        rest = rest[1:]
    else:
        return "fire", rest
    if not rest or rest[0] not in {"hook", "fire"}:
        raise click.UsageError("only `hookline hook` and `hookline fire` have an event to follow")
    return rest[0], rest[1:]


def _run(name: str, arguments: list[str]) -> int:
    if name == "hook":
        from hookline.cli import hook

        return hook.main(arguments)
    fire.command.main(args=arguments, prog_name="hookline fire", standalone_mode=False)
    return 0


def _exit_code(result: object) -> int:
    if isinstance(result, SystemExit):
        return result.code if isinstance(result.code, int) else 1
    return result if isinstance(result, int) else 1


@contextmanager
def _kept_output() -> Iterator[list[str]]:
    """Keeps what is printed, so that it does not stand between the steps; complete at the end."""
    before, printed = sys.stdout, list[str]()
    # A file, since `hookline hook` writes to descriptors.
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as kept:
        sys.stdout = kept
        try:
            yield printed
        finally:
            sys.stdout = before
            kept.flush()
            printed.append(os.pread(kept.fileno(), _LONGEST, 0).decode("utf-8", "replace"))


def _print(depth: int, step: Step) -> None:
    where = click.style(f"{step.file}:{step.line}", dim=True)
    name = click.style(step.name, bold=depth == 0)
    indent = "  " * depth
    click.echo(f"{step.ms:9.3f} ms  {indent}{name}  {where}")
    for arrow, text in (("→", step.went_in), ("←", step.came_out)):
        if text:
            click.echo(f"              {indent}{arrow} {visible(text)}")


def _as_json(depth: int, step: Step) -> dict[str, Any]:
    return {
        "depth": depth,
        "name": step.name,
        "source": f"{step.file}:{step.line}",
        "in": step.went_in,
        "out": step.came_out,
        "ms": round(step.ms, 3),
    }
