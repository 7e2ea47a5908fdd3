"""``hookline convert``: another platform's hook file from this one, and what is lost on the way."""

import os
import sys
from collections.abc import Mapping

import click
import msgspec

from hookline.app import open_loader
from hookline.cli._output import print_json
from hookline.converting.convert import Converted, convert, convert_hookline
from hookline.converting.platforms import platform, platform_names
from hookline.converting.portable import HOOKLINE
from hookline.converting.report import Report, Status
from hookline.model.errors import HooklineError, UnknownNameError
from hookline.model.hook import Layer
from hookline.model.native import Where
from hookline.model.text import visible

__all__ = ["command"]

_LOST = 3
_COLOURS = {Status.KEPT: "green", Status.REPLACED: "yellow", Status.LOST: "red"}


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in (*platform_names(), HOOKLINE) if name.startswith(incomplete)]


@click.command("convert")
@click.argument("file", type=click.Path())
@click.option("--from", "origin", required=True, shell_complete=_complete, metavar="PLATFORM")
@click.option("--to", "target", required=True, shell_complete=_complete, metavar="PLATFORM")
@click.option("--event", help="Only hooks on this event; says what a Kodelet program is for.")
@click.option(
    "--output",
    type=click.Path(),
    help="Write the new file here, or to stdout for `-`; for Kodelet a directory.",
)
@click.option("--report", "report_file", type=click.Path(), help="Write the report as JSON here.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def command(
    file: str,
    origin: str,
    target: str,
    event: str | None,
    output: str | None,
    report_file: str | None,
    as_json: bool,
) -> None:
    """Convert FILE, a hook file of one platform, to another platform's or to hookline.yaml.

    PLATFORM is claude-code, codex, gemini and so on, or `hookline`. Commands are written for one
    platform's contract, so the new file calls them through `hookline adapt`. Nothing is run.

    The report says for every property of every hook whether it is kept, replaced or lost. Exit
    code 0: nothing is lost; 3: something is; 1: the file cannot be converted, and nothing is
    written.
    """
    if as_json and output == "-":
        raise click.UsageError("--json and --output - both print: name a file for one of them")
    done = _converted(file, origin, target, event)
    files = _placed(done, output, target) if output not in (None, "-") else {}
    for path in files:
        _check_free(path)
    if report_file is not None:
        _check_report(report_file)
        content = msgspec.json.format(msgspec.json.encode(done.report.as_json()), indent=2)
        _write(report_file, content + b"\n", 0o644)
    for path, (written, mode) in files.items():
        _write(path, written, mode)
    if output in (None, "-") and not as_json:
        _print_files(done.files)
    if as_json:
        print_json(done.report.as_json())
    else:
        _print_report(done.report)
    sys.exit(_LOST if done.report.count(Status.LOST) else 0)


def _converted(file: str, origin: str, target: str, event: str | None) -> Converted:
    known = (*platform_names(), HOOKLINE)
    for name in (origin, target):
        if name not in known:
            raise UnknownNameError("platform to convert from or to", name, known)
    path = os.path.abspath(file)
    if origin == HOOKLINE:
        if event is not None:
            raise click.UsageError("--event is for files of other platforms")
        return _from_hookline(path, target)
    where = Where(project=os.getcwd(), home=os.path.expanduser("~"), env=dict(os.environ))
    return convert(origin, target, path, _read(path), where, only=event)


def _from_hookline(path: str, target: str) -> Converted:
    if target == HOOKLINE:
        raise HooklineError("a hookline.yaml is what it would become: there is nothing to do")
    platform(target)
    _read(path)  # for the same words about a file that is not there
    loader = open_loader(config=path)
    config = loader.load(os.path.dirname(path), os.path.dirname(path), ())
    # With what the file includes, but without what is in force on every platform anyway.
    hooks = [hook for hook in config.hooks if hook.source.layer >= Layer.PROJECT]
    if not hooks:
        raise HooklineError(f"{path}: there are no hooks in it")
    return convert_hookline(hooks, target, path)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise HooklineError(f"{path}: cannot be read: {error.strerror}") from error


# ── out ─────────────────────────────────────────────────────────────────────────────────────


def _placed(done: Converted, output: str | None, target: str) -> dict[str, tuple[bytes, int]]:
    """Each file's path, content and mode; programs are made to be run."""
    assert output is not None
    programs = target == "kodelet"
    mode = 0o755 if programs else 0o644
    if not programs:
        (content,) = done.files.values() or (b"",)
        return {output: (content, mode)}
    return {
        os.path.join(output, os.path.basename(name)): (content, mode)
        for name, content in done.files.items()
    }


def _check_free(path: str) -> None:
    if os.path.lexists(path):
        raise HooklineError(
            f"{path} is there already, and is left as it is; name another file, and move what "
            "you want of it"
        )


def _check_report(path: str) -> None:
    """An older report may go; nothing else may."""
    if not os.path.lexists(path):
        return
    try:
        known = msgspec.json.decode(_read(path), type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        known = {}
    if not {"hookline", "entries", "summary"} <= known.keys():
        raise HooklineError(f"{path} is there already and no report, so it is left as it is")


def _write(path: str, content: bytes, mode: int) -> None:
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as stream:
            stream.write(content)
    except OSError as error:
        raise HooklineError(f"{path}: cannot be written: {error.strerror}") from error


def _print_files(files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        if len(files) > 1:
            click.echo(f"# {name}")
        click.echo(content, nl=False)


def _print_report(report: Report) -> None:
    """On stderr, since stdout may be the new file."""
    for entry in report.entries:
        where = f"{os.path.basename(report.file)}:{entry.line}"
        becomes = ", ".join(entry.becomes) or "nothing"
        line = f"{where}  {entry.event} → {becomes}  {visible(' '.join(entry.what.split()))[:60]}"
        click.secho(line, bold=True, err=True)
        for each in entry.findings:
            if each.status is Status.KEPT:
                continue
            now = f" → {each.now}" if each.now else ""
            status = click.style(f"{each.status.value:<8}", fg=_COLOURS[each.status])
            said = visible(f"{each.property}: {each.was}{now} ({each.why})")
            click.echo(f"  {status}  {said}", err=True)
    counts = ", ".join(f"{report.count(status)} {status.value}" for status in Status)
    click.echo(counts, err=True)
