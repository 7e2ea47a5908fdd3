"""How many hooks are active here for each agent, and why not more: the one place that knows.

`status`, `doctor`, `check`, `init`, `install` and `trust` all say what is found here.
"""

import os
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import click

from hookline import registry
from hookline.app import App
from hookline.cli._installing import installers, machine_here
from hookline.config.discover import MANAGED_FILE, home_dir, project_root
from hookline.config.layers import all_files
from hookline.config.types import ConfigFile
from hookline.doctoring import coverage
from hookline.doctoring.own import own_config
from hookline.installing.records import Records
from hookline.installing.status import Standing, has_client, standing
from hookline.model.coverage import HookCoverage
from hookline.model.derivation import find_coverage
from hookline.model.errors import HooklineError
from hookline.model.events import EVENTS
from hookline.model.findings import Severity
from hookline.model.hook import Hook
from hookline.model.installing import Inactive, Installer, Machine
from hookline.model.line_test import LineReport, count_active, say_active, say_observing
from hookline.model.native import Voids
from hookline.model.support import Support
from hookline.model.text import visible
from hookline.pipeline.report import report_line

__all__ = [
    "Protection",
    "find_protections",
    "is_protected",
    "print_firing",
    "print_gap",
    "print_protection",
    "print_protections",
]

_STEERING = ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOOKLINE_HOME", "HOOKLINE_CONFIG")


@dataclass(frozen=True, slots=True, kw_only=True)
class Protection:
    """How one agent is protected in this directory."""

    standing: Standing
    active: int = 0
    """How many hooks run for it here."""
    gaps: tuple[Inactive, ...] = ()
    """Why nothing is active, or not all."""
    remarks: tuple[Inactive, ...] = ()
    """What a person should know although they are protected."""
    hooks: tuple[HookCoverage, ...] = ()
    """What becomes of each configured hook on this agent."""
    has_client: bool | None = None
    """Whether the agent itself is on this machine; None where nobody can see it."""

    @property
    def is_full(self) -> bool:
        """Whether hooks are active, and nothing keeps others from it."""
        return self.active > 0 and not self.gaps

    @property
    def is_installed(self) -> bool:
        """Whether hookline is in this agent's settings, or should be."""
        return bool(self.standing.installed or self.standing.inactive)


def find_protections(
    app: App, machine: Machine | None = None, dialects: Sequence[str] = ()
) -> list[Protection]:
    """For the agents named, else for all that hookline knows.

    ``app`` is as the person's variables have it. An installed line may use other files: it is
    asked which, and what it says counts.
    """
    machine = machine or machine_here(app.env)
    hooks: tuple[Hook, ...] = ()
    with suppress(HooklineError):  # which is a gap of its own
        hooks = app.loader.load(project_root(app.cwd, project_var=None), app.cwd).hooks
    active, found = coverage.list_builtins(hooks), []
    for each in installers(dialects):
        protection = _find_protection(app, machine, each)
        covered = tuple(coverage.cover(hook, each.id, active) for hook in hooks)
        gaps = [coverage.explain_gap(one) for one in covered if one.why]
        told = [Inactive(f"{gap.file}:{gap.line}: {gap.message}", gap.hint) for gap in gaps]
        remarks = (*protection.remarks, *told) if protection.is_installed else ()
        found.append(replace(protection, hooks=covered, remarks=remarks))
    return found


def is_protected(found: Sequence[Protection], *, named: bool = False) -> bool:
    """Whether every agent here runs all its hooks; ``named`` when a person asked for these."""
    # An agent that is not on this machine leaves nothing unprotected beside one that is.
    counted = [
        each for each in found if named or (each.is_installed and each.has_client is not False)
    ]
    return bool(counted) and all(each.is_full for each in counted)


def _find_protection(app: App, machine: Machine, installer: Installer) -> Protection:
    stands = standing(installer, machine, Records(app.home))
    client, name = stands.client, stands.dialect
    there = has_client(installer, machine)
    if not stands.installed:
        step = f"hookline install {name}"
        gap = Inactive(f"hookline is not installed in {client} here", step)
        return Protection(standing=stands, gaps=stands.inactive or (gap,), has_client=there)
    off = list(stands.inactive) or list(_voids(stands))
    if there is False:
        programs = " or ".join(f"`{each}`" for each in installer.clients if "/" not in each)
        why = f"{client} is not on this machine: no {programs} on your PATH"
        gap = Inactive(why, f"install {client}, or put it on your PATH")
        return Protection(standing=stands, gaps=(gap,), has_client=there)
    covered = _find_fired(installer.support, stands.covered)
    best = max(stands.reports, key=lambda each: count_active(each.hooks, covered), default=None)
    view = app if best is None or best.reads_env else _view(app, best)
    gaps, remarks = _config_gaps(view)
    if best is not None:
        # What is wrong in other files than the person's own is of no use to them.
        gaps = list(_other_files(app, view, name)) or [*gaps, *_unheard(stands, best, covered)]
    active = 0 if off or best is None else count_active(best.hooks, covered)
    if best is not None and (observing := say_observing(best.hooks)):
        step = "take `mode: observe` out to enforce what it says"
        (remarks if active else gaps).append(Inactive(observing, step))
    if best is not None and not (active or off or gaps):
        gaps = [Inactive(best.failure or "the installed line has no hook to run", "hookline list")]
    return Protection(
        standing=stands,
        active=active,
        gaps=(*off, *gaps),
        remarks=tuple(remarks),
        has_client=there,
    )


def _voids(stands: Standing) -> Iterator[Inactive]:
    """Mistakes, of whoever, for which the platform runs nothing in a file of ours."""
    for each in stands.installed:
        file = registry.native_files()[stands.dialect].read(each.target.file, each.content)
        for flaw in file.flaws:
            if flaw.voids is Voids.FILE:
                why = f"{file.path}:{flaw.line}: {flaw.message}; for this {stands.client} runs no "
                why += "hook of the whole file"
                yield Inactive(why, flaw.hint or "correct it, or take it out")


_INIT = "hookline init, or hookline init --user for all your projects"


def _view(app: App, report: LineReport) -> App:
    """As the line sees it, which believes no variable."""
    config = os.path.dirname(os.path.dirname(report.user_file))
    return App(env=app.env, cwd=app.cwd, home=report.home, person={"XDG_CONFIG_HOME": config})


def _config_gaps(app: App) -> tuple[list[Inactive], list[Inactive]]:
    """What keeps configured hooks from being active, and what is merely worth a word."""
    found: dict[Severity, list[Inactive]] = {each: [] for each in Severity}
    project = project_root(app.cwd, project_var=None)
    for each in own_config(app, project, managed=MANAGED_FILE):
        what = f"{each.where}: {each.what}" if each.file else each.what
        found[each.severity].append(Inactive(what, each.fix))
    gaps = found[Severity.ERROR]
    if not gaps and not report_line(app.loader, app.cwd, app.env, "canonical").hooks:
        gaps.append(_explain_none(app.loader.load(project, app.cwd).files))
    return gaps, found[Severity.WARNING]


def _explain_none(files: Sequence[ConfigFile]) -> Inactive:
    """Why no hook is active although nothing is wrong with any config."""
    for file in files:
        names = ", ".join(hook.name for each in all_files(file) for hook in each.hooks)
        if names:
            return Inactive(f"every hook is disabled: {names}", "correct `disable:` in the config")
    if files:
        return Inactive(f"{files[0].file} has no hooks", "write one; docs/start.md shows how")
    return Inactive("no config counts here, and you have none of your own", _INIT)


def _other_files(app: App, view: App, name: str) -> Iterator[Inactive]:
    """A line that was written for other machines reads no variables; the person's shell does."""
    pairs = [(app.home, view.home), (app.loader.user_file, view.loader.user_file)]
    differing = [pair for pair in pairs if pair[0] != pair[1]]
    if app.config is not None and view.config is None:
        differing.append((app.config, "the project's own config"))
    moved = home_dir({"HOME": app.env.get("HOME", "")}) != home_dir({})
    names = [each for each in _STEERING if app.env.get(each) and (moved or each != "HOME")]
    for ours, theirs in differing[:1]:
        why = f"your environment ({', '.join(names)}) says {ours}, and the "
        why += (
            f"installed line uses {theirs}: what you trust or configure in the first is not active"
        )
        step = f"hookline install {name}, which writes a line of your own; or unset the variables"
        yield Inactive(why, f"{step} and run hookline trust")


def _unheard(stands: Standing, report: LineReport, covered: set[str]) -> Iterator[Inactive]:
    """Hooks on events that hookline is not called for, and would be after an installation."""
    lost = registry.delivered(stands.dialect) - covered
    names = [hook.name for hook in report.hooks if not lost.isdisjoint(hook.events)]
    if names:
        events = ", ".join(stands.missing)
        why = f"hookline is not called on {events}, which {', '.join(names)} wait for"
        yield Inactive(why, f"hookline install {stands.dialect}")


def _find_fired(support: Support, heard: Collection[str]) -> set[str]:
    """The canonical events that fire where hookline is called on these native ones."""
    rest = dict.fromkeys((each for each in support.events if each not in heard), "")
    return {each for each in EVENTS if heard and find_coverage(each, support, rest).fires}


# ── said to people ──────────────────────────────────────────────────────────────────────────


def print_protections(
    app: App,
    dialects: Sequence[str] = (),
    found: Sequence[Protection] | None = None,
    more: Callable[[Protection], None] = lambda _: None,
    told: Iterable[str] = (),
) -> None:
    """How many hooks are active for each agent named, or in which hookline is installed.

    What puts it right is said once, and nothing of it if the reader was ``told`` already.
    """
    found = find_protections(app, dialects=dialects) if found is None else found
    shown = [each for each in found if dialects or each.is_installed]
    known = frozenset(told)
    steps = set(known)
    for each in shown:
        print_protection(each, steps, known)
        more(each)
    others = [each.standing for each in found if each.has_client and not each.is_installed]
    if shown and others and not dialects:
        names = ", ".join(each.client for each in others)
        step = f"hookline install {' '.join(each.dialect for each in others)}"
        print_gap(Inactive(f"{names} on this machine runs without hookline", step), "note")
    if not shown:
        click.secho(say_active(0), fg="red", bold=True)
        here = " ".join(each.standing.dialect for each in found if each.has_client)
        step = f"hookline install {here or 'AGENT'}"
        print_gap(Inactive("hookline is installed in no agent here", step))
        for gap in _config_gaps(app)[0]:
            if gap.step not in known:
                print_gap(gap)


def print_protection(each: Protection, steps: set[str], told: Container[str] = ()) -> None:
    """One agent; a step that another agent's lines named is among ``steps``."""
    colour = "green" if each.is_full else "yellow" if each.active else "red"
    said = click.style(say_active(each.active), fg=colour, bold=True)
    click.echo(f"{each.standing.client}: {said}")
    for word, things in (("not active", each.gaps), ("note", each.remarks)):
        for thing in things:
            if thing.step not in told:
                print_gap(thing, word, with_step=thing.step not in steps)
                steps.add(thing.step)


def print_firing(each: Protection) -> None:
    """How many of the person's hooks fire; each of the others has a line already."""
    meant = [covered for covered in each.hooks if covered.fires != "unmeant"]
    fires = [covered for covered in meant if not covered.why]
    said = f"{len(fires)} of {len(meant)} hooks fire"
    if fires == meant:
        said = f"all {len(meant)} hooks fire" if len(meant) > 1 else "the hook fires"
    derived = sum(covered.fires == "derived" for covered in fires)
    if meant and each.active:
        click.echo(f"  {said}" + (f", {derived} on derived events" if derived else ""))


def print_gap(gap: Inactive, word: str = "not active", *, with_step: bool = True) -> None:
    """Why, and what to do."""
    click.echo(f"  {click.style(f'{word}:', fg='yellow')} {visible(gap.why)}")
    if with_step:
        click.echo(f"    {click.style('next:', bold=True)} {visible(gap.step)}")
