"""``hookline doctor``: every way in which hooks silently do not fire here, and how to fix it."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import click

from hookline import registry
from hookline.app import open_app
from hookline.cli._installing import machine_here
from hookline.cli._output import print_json
from hookline.cli._protection import Protection, find_protections, print_protections
from hookline.doctoring.coverage import explain_gap
from hookline.doctoring.examine import Report, examine, platforms
from hookline.model.errors import nearest
from hookline.model.findings import Finding, Severity
from hookline.model.text import visible

__all__ = ["command"]

_ORDER = {severity: number for number, severity in enumerate(Severity)}
_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def _known(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in platforms():
            hint = nearest(name, platforms()) or f"known: {', '.join(platforms())}"
            raise click.BadParameter(f"no platform is called `{visible(name)}`; {hint}")
    return tuple(dict.fromkeys(names))


@click.command("doctor")
@click.argument("dialects", nargs=-1, metavar="[DIALECT]…", callback=_known)
@click.option(
    "--project",
    type=click.Path(exists=True, file_okay=False),
    default=".",
    help="Examine this project instead of the one around you.",
)
@click.option(
    "--file",
    "files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False),
    help="Also this hook file, for platforms without a fixed place; may be repeated.",
)
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(dialects: tuple[str, ...], project: str, files: tuple[str, ...], as_json: bool) -> None:
    """Find every way in which hooks silently do not fire here, and say how to fix each.

    Looks at the hook files of all agents, or of the DIALECTs named, at their trust and switches,
    and at hookline's own config. No hook is run and nothing written; of programs only the lines
    that hookline wrote are started, with a test that no hook sees.

    Exits with 1 when there is an error: a hook does not fire, or a guard is open. Warnings and
    notes leave it at 0.
    """
    directory = os.path.abspath(project)
    app = open_app(os.environ, directory)
    machine = machine_here(os.environ, files, directory)
    debug = bool(click.get_current_context().find_root().params.get("debug"))
    report = examine(app, machine, dialects=dialects, debug=debug)
    names = [each for each in dialects if each in registry.installer_names()]
    found = find_protections(app, machine, names) if names or not dialects else []
    findings = sorted((*report.findings, *_never_fired(found)), key=lambda f: _ORDER[f.severity])
    report = replace(report, findings=tuple(findings))
    if as_json:
        print_json(_as_json(report, found))
    else:
        for finding in report.findings:
            _tell(finding)
        click.echo(_summary(report))
        if found:
            told = [each.fix for each in report.findings]
            print_protections(app, names, found, told=told)
    wanting = any(
        each.is_installed and each.has_client is not False and not each.is_full for each in found
    )
    sys.exit(1 if report.has_errors or wanting else 0)


def _never_fired(found: Sequence[Protection]) -> Iterator[Finding]:
    """The hooks that agents with hookline in them cannot fire."""
    covered = (each for one in found if one.is_installed for each in one.hooks if each.why)
    for agent, gap in ((each.agent, explain_gap(each)) for each in covered):
        yield Finding(
            id="hook-never-fires",
            dialect=agent,
            severity=Severity.WARNING,
            file=gap.file,
            line=gap.line,
            what=gap.message,
            fix=gap.hint,
        )


def _as_json(report: Report, found: Sequence[Protection]) -> dict[str, object]:
    return {
        "findings": report.findings,
        "protection": [
            {"dialect": each.standing.dialect, "hooks": each.active, "active": each.is_full}
            | {"coverage": each.hooks if each.is_installed else ()}
            for each in found
        ],
        "counts": {severity.value: _count(report)[severity] for severity in Severity},
        "files": report.files,
    }


def _count(report: Report) -> Counter[Severity]:
    return Counter(each.severity for each in report.findings)


def _tell(finding: Finding) -> None:
    word = click.style(f"{finding.severity.value:<7}", fg=_COLOURS[finding.severity], bold=True)
    click.echo(f"{word}  {finding.dialect:<13} {click.style(finding.id, bold=True)}")
    if finding.file:
        click.secho(f"         {visible(finding.where)}", dim=True)
    click.echo(f"         {visible(finding.what)}")
    click.echo(f"         {click.style('fix:', fg='green')} {visible(finding.fix)}")


def _summary(report: Report) -> str:
    counts = _count(report)
    said = [_numbered(counts[each], each.value) for each in Severity if counts[each]]
    files = sum(map(len, report.files.values()))
    looked = f"{_numbered(files, 'hook file')} of {_numbered(len(report.files), 'agent')}"
    if not said:
        return f"No mistake in {looked}."
    return f"{', '.join(said)}; {looked} examined."


def _numbered(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
