"""Which hooks fire on which agents, in words; how one does is for ``model.coverage``."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from importlib.metadata import entry_points

from hookline import registry
from hookline.installing.records import Records
from hookline.installing.status import is_installed
from hookline.model.coverage import HookCoverage, cover_hook
from hookline.model.derivation import COUNTED
from hookline.model.errors import Problem
from hookline.model.hook import Hook, Mode
from hookline.model.installing import Machine
from hookline.model.support import Support

__all__ = ["agents", "cover", "cover_on", "describe"]
__all__ += ["explain_death", "explain_gap", "find_installed", "list_builtins", "summarise"]

_VERDICTS = frozenset({"allow", "ask", "deny", "rewrite"})


def agents() -> tuple[str, ...]:
    """Every platform; our own contract is none."""
    return tuple(name for name in registry.dialect_names() if name != "canonical")


def find_installed(machine: Machine, home: str) -> tuple[str, ...]:
    """The agents that hookline is installed in here."""
    names, records = registry.installer_names(), Records(home)
    return tuple(n for n in names if is_installed(registry.installer(n), machine, records))


def list_builtins(hooks: Iterable[Hook]) -> frozenset[str]:
    """The builtins among hooks, as far as they count."""
    return frozenset(
        hook.handler.values["use"].replace("_", "-")
        for hook in hooks
        if hook.handler.kind == "builtin" and hook.mode is Mode.ENFORCE
    )


def cover(hook: Hook, agent: str, active: Collection[str] | None = None) -> HookCoverage:
    """What becomes of a hook on an agent; for ``active`` see find_coverage."""
    return cover_on(hook, registry.dialect(agent).support, registry.unheard(agent), active)


def cover_on(
    hook: Hook,
    support: Support,
    left_out: Mapping[str, str],
    active: Collection[str] | None = None,
) -> HookCoverage:
    """The same for any support table."""
    values, effect, all_of = hook.handler.values, "", ()
    if hook.handler.kind == "builtin":
        module = registry.builtin(values["use"])
        effect, all_of = getattr(module, "EFFECT", ""), getattr(module, "ALL_OF", ())
    elif hook.handler.kind == "rule" and _VERDICTS.isdisjoint(values):
        effect = "context"
    announced = {} if COUNTED.isdisjoint(hook.events) else registry.list_announcers()
    return cover_hook(hook, support, left_out, announced, active, effect=effect, all_of=all_of)


def summarise(found: Sequence[HookCoverage]) -> str:
    """One line for all agents that are meant; empty when there are none."""
    marks = []
    for each in (each for each in found if each.fires != "unmeant"):
        words = {"derived": ["derived"], "itself": ["runs it itself"]}.get(each.fires, [])
        words += [f"not on {', '.join(each.lost)}"] if each.lost else []
        mark = f"{each.agent} ({'; '.join(words)})" if words else each.agent
        marks.append(f"not {each.agent}" if each.why else mark)
    return f"fires: {', '.join(marks)}" if marks else ""


def describe(covered: HookCoverage) -> Iterator[str]:
    """All that is known of one agent, a line for each event."""
    if covered.fires in {"unmeant", "itself"}:
        yield "not meant by its `match`" if covered.fires == "unmeant" else "runs it itself"
        return
    for event, each in covered.events.items():
        source = f" from {', '.join(each.by)}" if each.by else ""
        words = {"native": f"on {', '.join(each.by)}", "derived": f"derived{source}"}
        said = ", ".join(filter(None, (words.get(each.how, "never"), each.why)))
        yield f"{event} {said}"
    if covered.why and covered.fires != "none":
        yield f"no effect: {covered.why}"


def explain_gap(covered: HookCoverage) -> Problem:
    """Why nothing comes of a hook on an agent, and what to do."""
    what = "never fires" if covered.fires == "none" else "has no effect"
    hint = "choose other events, or name its agents: `match: {dialect: …}`; "
    hint += f"hookline list --agent {covered.agent}"
    message = f"`{covered.hook}` {what} in {covered.client}: {covered.why}"
    return Problem(covered.file, covered.line, message, hint)


def explain_death(hook: Hook) -> Problem | None:
    """Why no agent fires a hook on any of its events; None where one does."""
    covered = [cover_on(hook, registry.dialect(agent).support, {}) for agent in agents()]
    meant = [each for each in covered if each.fires != "unmeant"]
    # What builtins count, one of another package may announce anywhere.
    if any(each.fires != "none" for each in meant) or not COUNTED.isdisjoint(hook.events):
        return None
    # Programs of a person's own fire what they like, where the hook names them.
    others = ["canonical", *entry_points(group="hookline.dialects").names]
    can_hold = getattr(hook.match, "can_hold", None)
    if len(meant) < len(covered) and can_hold is not None and can_hold("dialect", others):
        return None
    who = "no agent" if len(meant) == len(covered) else "none of the agents in its `match`"
    message = f"`{hook.name}` never fires: {who} has an event for {', '.join(hook.events)}"
    hint = "choose other events; `match: {dialect: canonical}` is for programs of your own"
    return Problem(hook.source.file, hook.source.line, message, hint)
