"""Keeps the agent's tools, its shell included, from reading, changing or deleting certain files.

The agents' own hook files and hookline's config and state cannot be changed, whatever the options.
"""

import os
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from hookline.builtin._agent_files import AGENT_DIRS, ASKED_FILES, OWN_FILES
from hookline.builtin._globbing import Lookup, Match, TooManyError, has_signs, plain_signs
from hookline.builtin._own_files import OwnFiles
from hookline.builtin._paths import END, Anywhere, Globs, Places, spelled
from hookline.builtin._protected import DEFAULTS, FINE, KEY_FOLDERS, Judged, Line
from hookline.builtin._touching import Right, Touch, places_of, touches
from hookline.model.answers import PASS, Answer, Verdict, ask, deny
from hookline.model.events import Event, ToolEvent
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("pre_tool_use",)
ALSO: tuple[str, ...] = ("permission_request",)
PRIORITY: int = 20
GUARD: bool = True

_MAX_TOUCHES = 2_000
_SAID = {Right.READ: "read", Right.WRITE: "changed", Right.DELETE: "deleted", Right.USE: "used"}


class Lists(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Globs of paths, as in `match: path:`, by what is done to them."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    """Changed, replaced or deleted."""
    delete: tuple[str, ...] = ()
    """Deleted or moved away; changing them is fine."""


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is protected, beside what always is."""

    deny: Lists = Lists()
    ask: Lists = Lists()
    allow: tuple[str, ...] = ()
    """Globs of what the defaults are not about."""
    defaults: bool = True
    """Environment files, keys, credentials, lock files and git's own directory."""

    def __post_init__(self) -> None:
        for lists in (self.deny, self.ask):
            Globs(_all(lists))
        Globs(self.allow)


def _all(lists: Lists) -> tuple[str, ...]:
    return (*lists.read, *lists.write, *lists.delete)


_VERDICTS = {"pass": Verdict.PASS, "ask": Verdict.ASK, "deny": Verdict.DENY}
# What a rule about one right says about what a tool does.
_COVERS = {
    "read": {Right.READ, Right.USE},
    "write": {Right.WRITE, Right.DELETE, Right.USE},
    "delete": {Right.DELETE},
}


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    rules = _Rules(options)

    def answer(event: Event, caller: Caller) -> Answer:
        if not isinstance(event, ToolEvent):
            return PASS
        worst = _worst(rules, event, caller)
        if worst.verdict is Verdict.PASS:
            return PASS
        build = deny if worst.verdict is Verdict.DENY else ask
        return build(worst.reason, metadata={"category": "protected-path"})

    return answer


def _worst(rules: "_Rules", event: ToolEvent, caller: Caller) -> Judged:
    places = places_of(event, caller)
    found = _first(touches(event, caller, places))
    if not found:
        return FINE
    own = OwnFiles(places, caller)
    lookup = Lookup(event.tool.command or "", caller.env)
    worst = _worst_of(
        judged
        for touch in found[:_MAX_TOUCHES]
        for judged in _judge(rules, own, touch, places, lookup)
    )
    if worst.verdict is not Verdict.DENY and len(found) > _MAX_TOUCHES:
        return Judged(Verdict.ASK, "more paths are in it than can be looked at")
    return worst


def _worst_of(said: Iterable[Judged]) -> Judged:
    """The first that denies, else the first that asks."""
    worst = FINE
    for judged in said:
        if judged.verdict is Verdict.DENY:
            return judged
        worst = worst if worst.verdict is Verdict.ASK else judged
    return worst


def _first(touched: Iterable[Touch]) -> list[Touch]:
    """Each of them once, and one more than is looked at where there are too many."""
    found: dict[Touch, None] = {}
    for touch in touched:
        found[touch] = None
        if len(found) > _MAX_TOUCHES:
            break
    return list(found)


def _may_be(rules: "_Rules", own: OwnFiles, spots: Iterable[str]) -> bool:
    """Whether anything could be said about these places by their names."""
    places = "".join([spot + END for spot in spots])
    # What was moved is known by its own spelling, which is that of the disk.
    return rules.may_be(spelled(places)) or own.may_be(places)


def _judge(
    rules: "_Rules", own: OwnFiles, touch: Touch, places: Places, lookup: Lookup
) -> Iterator[Judged]:
    """What is said about one path, everything that is not fine."""
    here = places.from_bases(touch.bases)
    yield from _said(rules, own, touch, touch.path, here)
    if touch.lost and not os.path.isabs(touch.path):
        yield from own.lost(touch)
    if not touch.glob or not has_signs(touch.path):
        return
    try:
        pattern = plain_signs(touch.path)
        for path in own.matching(pattern, here) if touch.right is not Right.READ else ():
            yield from _said(rules, own, touch, path, here)
        yield from _matched(rules, own, touch, lookup.there(here.absolute(pattern)), here)
    except TooManyError:
        yield Judged(Verdict.ASK, f"`{touch.path[:200]}` stands for more than can be looked at")


def _matched(
    rules: "_Rules", own: OwnFiles, touch: Touch, found: Iterable[Match], here: Places
) -> Iterator[Judged]:
    """What is said about the files that a pattern stands for."""
    straight: dict[str, bool] = {}
    for path, is_link, is_folder in found:
        # A pattern may be thousands of files; most need no closer look.
        folder = os.path.dirname(path)
        if folder not in straight:
            straight[folder] = here.links.followed(f"{folder}/.") == folder
        plain = straight[folder] and not is_link and not (touch.deep and is_folder)
        if plain and not _may_be(rules, own, (path,)):
            continue
        yield from _said(rules, own, touch, path, here)


def _said(
    rules: "_Rules", own: OwnFiles, touch: Touch, path: str, here: Places
) -> Iterator[Judged]:
    spots = here.spots(path)
    if not spots and _may_be_path(touch):
        yield Judged(Verdict.ASK, f"`{path[:100]}` is no path that can be looked at")
    for spot in spots:
        # Where its name says nothing, links and what it holds may.
        forms = here.forms(spot) if rules.may_be(spelled(spot + END)) else ""
        found = own.judge(touch, spot, forms)
        if found is FINE and touch.deep:
            found = rules.judge_whole(touch, spot, here)
        if found is FINE and forms:
            found = rules.judge(touch, path, spot, forms)
        if found.verdict is not Verdict.PASS:
            yield found if touch.sure else _unsure(found)


def _unsure(found: Judged) -> Judged:
    return Judged(Verdict.ASK, f"{found.reason}, as far as this command can be read")


def _may_be_path(touch: Touch) -> bool:
    """Whether what is no path may become one."""
    # A word that is only mentioned goes to the system as it is, which takes none that long.
    return touch.sure or "\0" in touch.path or has_signs(touch.path)


class _Rules:
    """What the options and the defaults say."""

    def __init__(self, options: Options) -> None:
        self._given = [
            (verdict, _COVERS[right], Globs(globs))
            for verdict, lists in ((Verdict.DENY, options.deny), (Verdict.ASK, options.ask))
            for right, globs in (
                ("read", lists.read),
                ("write", lists.write),
                ("delete", lists.delete),
            )
            if globs
        ]
        self._allowed = Globs(options.allow)
        lines = DEFAULTS if options.defaults else ()
        self._defaults = [(line, Globs(line.globs)) for line in lines]
        # Most paths are none of these, and one look tells.
        given = [glob for each in (options.deny, options.ask) for glob in _all(each)]
        by_default = [glob for line in lines for glob in line.globs]
        directories = (f"**/{each}" for each in AGENT_DIRS)
        self._named = Anywhere([*OWN_FILES, *ASKED_FILES, *directories, *given, *by_default])

    def may_be(self, places: str) -> bool:
        """Whether anything could be said about places by their names, agents' files included."""
        return self._named.may_match(places)

    def judge(self, touch: Touch, path: str, spot: str, forms: str) -> Judged:
        """What is said about one place."""
        for verdict, rights, globs in self._given:
            if touch.right in rights and (found := globs.found(forms)):
                # Of a program nobody knows it is not known what it does.
                strict = verdict if touch.right is not Right.USE else Verdict.ASK
                said = "must not be" if strict is Verdict.DENY else "is about to be"
                reason = f"`{path}` {said} {_SAID[touch.right]}: it is protected by `{found}`"
                return Judged(strict, reason)
        if self._allowed.matches(forms):
            return FINE
        for line, globs in self._defaults:
            if globs.matches(forms):
                if touch.made:
                    return FINE
                made = line.may_be_made and touch.right is Right.WRITE
                return FINE if made and _is_new(spot) else _by_default(line, touch, path)
        return FINE

    def judge_whole(self, touch: Touch, spot: str, places: Places) -> Judged:
        """What is said about a directory that is taken with all that is in it."""
        inside = spot.rstrip("/") + "/"
        for home in places.homes if self._defaults else ():
            for folder in (os.path.join(home, name) for name in KEY_FOLDERS):
                if f"{folder}/".startswith(inside) and os.path.isdir(folder):
                    reason = f"`{touch.path}` holds private keys or credentials ({folder})"
                    return Judged(Verdict.DENY, f"{reason}, and is taken as a whole")
        return FINE


def _is_new(spot: str) -> bool:
    """Whether nothing is there; a place that nobody knows may hold something."""
    return os.path.isabs(spot) and not os.path.lexists(spot)


def _by_default(line: Line, touch: Touch, path: str) -> Judged:
    if touch.right is Right.USE:
        # A program may be given a lock file for many reasons; what is secret is asked about.
        asked = line.read != "pass" or line.write == "deny"
        verdict = Verdict.ASK if asked else Verdict.PASS
    else:
        verdict = _VERDICTS[line.read if touch.right is Right.READ else line.write]
    if verdict is Verdict.PASS:
        return FINE
    return Judged(verdict, f"`{path}` is {line.what}, and is about to be {_SAID[touch.right]}")
