"""Which hooks an agent has here: for the session that begins, and for a test of its line."""

from collections.abc import Mapping

from hookline import registry
from hookline.config.discover import project_root
from hookline.config.load import Loader
from hookline.config.types import Config
from hookline.model.errors import HooklineError
from hookline.model.events import Event, SessionStart, UserPromptSubmit
from hookline.model.hook import Mode
from hookline.model.line_test import (
    HookReport,
    LineReport,
    count_active,
    say_active,
    say_observing,
)
from hookline.model.text import visible

__all__ = ["first_notices", "report_line"]


def report_line(
    loader: Loader, cwd: str, env: Mapping[str, str], dialect: str, *, reads_env: bool = False
) -> LineReport:
    """What a session of this agent would have, if it began at ``cwd``."""
    failure, config = "", Config()
    try:
        config = loader.load(project_root(cwd, project_var=None), cwd)
    except HooklineError as error:
        failure = str(error)
    return LineReport(
        home=loader.home,
        user_file=loader.user_file,
        reads_env=reads_env,
        hooks=_report_hooks(loader, config, env, dialect),
        failure=failure,
    )


def _report_hooks(
    loader: Loader, config: Config, env: Mapping[str, str], dialect: str
) -> tuple[HookReport, ...]:
    """The hooks that we run for this agent; it runs those of its own files itself."""
    mine = (hook for hook in config.hooks if dialect not in hook.run_by)
    return tuple(
        HookReport(
            hook.name,
            hook.events,
            flaw=next((each.message for each in problems), ""),
            observes=hook.mode is Mode.OBSERVE,
        )
        for hook in mine
        for problems in [loader.find_run_problems(hook, env)]
    )


def first_notices(
    event: Event, config: Config, loader: Loader, env: Mapping[str, str], *, counts: bool
) -> tuple[str, ...]:
    """What a person is told once a session: what is not active, and if it ``counts`` how many
    hooks are.
    """
    noted = tuple(visible(each.message) for each in config.notes if each.kind != "doubt")
    rows = registry.dialect(event.dialect).support.events.values()
    # Where an agent says nothing at the start of a session, its first prompt is the start.
    if isinstance(event, SessionStart):
        counts = counts and event.source != "compact"
    elif not isinstance(event, UserPromptSubmit) or any(r.event == "session_start" for r in rows):
        return noted
    if not counts or not event.session_id:
        return noted
    hooks = _report_hooks(loader, config, env, event.dialect)
    count = count_active(hooks, registry.delivered(event.dialect))
    broken = [visible(hook.name) for hook in hooks if hook.flaw]
    if broken:
        noted = (f"cannot run: {', '.join(broken)}; `hookline doctor` says why", *noted)
    if observing := say_observing(hooks):
        noted = (f"{visible(observing)}.", *noted)
    advice = "`hookline status` says why" if config.files else "Run `hookline init`"
    step = "" if count or noted else f". {advice}"
    return (f"hookline: {say_active(count)}{step}.", *noted)
