"""Finds everything that speaks against a text, and makes one answer of it."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

from msgspec import structs

from hookline.builtin.shell_guard.arguments import is_only_asked
from hookline.builtin.shell_guard.families import (
    code,
    databases,
    embedded,
    own_guard,
    redirecting,
    unfamiliar,
    unseen,
)
from hookline.builtin.shell_guard.families.register import JUDGES
from hookline.builtin.shell_guard.left_open import left_open
from hookline.builtin.shell_guard.model import Act, Finding, fatal, risky
from hookline.builtin.shell_guard.reading import MAX_REDIRECTS, Story, read
from hookline.builtin.shell_guard.secret_files import is_secret
from hookline.builtin.shell_guard.world import World
from hookline.shell import MAX_BYTES, split

__all__ = ["found_in"]

_MAX_DEPTH = 4
# Steps for one text inside another, and characters of it, or words of a command, for one more.
_TEXT_STEPS = 10
_PER_STEP = 16
# Words of one command that are looked at.
_MAX_WORDS = 1_000
# A program that runs code takes `--help` for an argument of that code.
_TAKES_WORDS = frozenset(code.FAMILY) | unseen.SHELLS

_UNFAMILIAR = (unfamiliar.judged_by_name,)
_VARIABLE = re.compile(r"\$\{?(\w+)\}?")

Allowed = Callable[[str], bool]


def _nothing(text: str) -> bool:
    return False


def found_in(
    text: str, world: World, *, nested: bool = False, allowed: Allowed = _nothing
) -> Iterator[Finding]:
    """What speaks against running a text; ``nested`` when other code would run it."""
    if len(text) > MAX_BYTES:
        yield risky("unreadable", text[:60], "it is too long to be read", radius="high")
        return
    if nested:
        world = structs.replace(world, depth=world.depth + 1)
        if world.depth > _MAX_DEPTH or not world.spend(_TEXT_STEPS + len(text) // _PER_STEP):
            yield risky(
                "unreadable", text[:60], "there is too much code inside code", radius="high"
            )
            return
    story = read(text, world)
    yield from _unread(story)
    for act in story.acts:
        if not world.spend(1 + len(act.words) // _PER_STEP):
            break
        if allowed is _nothing or not allowed(act.text):
            yield from judged(act, world)
            if "$" in act.words[0] or act.name == "eval":
                yield from _by_value(act, world)
    yield from _around(story, world)
    if world.left_open and not nested:
        yield from left_open(story)
    if world.exhausted:
        yield _too_much(story)


def _around(story: Story, world: World) -> Iterator[Finding]:
    """What speaks against a text beside its single commands; most have nothing of all this."""
    traces = story.traces
    if traces.redirects or traces.sources:
        yield from _written(story, world)
        yield from _read_in(story, world)
    if traces.assigned:
        yield from embedded.loaded(traces.assigned)
    yield from own_guard.find_in_text(story)
    if len(story.acts) == 1 and not traces.redirects and not story.decoded:
        return
    yield from embedded.multiplied(story.text)
    yield from unseen.run_later(story.acts, traces, world)
    if any(act.name in _TAKES_WORDS for act in story.acts):
        for hidden in story.decoded:
            yield from found_in(hidden, world, nested=True)


def judged(act: Act, world: World) -> Iterator[Finding]:
    """What speaks against one command."""
    if act.carrier in ("find", "fd") and any("{}" in word for word in act.words):
        # What is found is known only to the search, which is judged for itself.
        return
    if act.name not in _TAKES_WORDS and is_only_asked(act.words):
        return
    if len(act.words) > _MAX_WORDS and act.name in JUDGES:
        yield risky("unreadable", act.text[:60], f"it has {len(act.words)} words", radius="high")
        return
    if act.words[0].startswith(("http://", "https://")):
        yield risky("runs-unseen-code", act.text, "nobody has read what this would run")
    for judge in JUDGES.get(act.name, _UNFAMILIAR):
        yield from judge(act, world)


def _by_value(act: Act, world: World) -> Iterator[Finding]:
    """Programs and code that stand in a variable which the text may have set."""
    place = 1 if act.name == "eval" else 0
    variable = _VARIABLE.fullmatch(act.words[place]) if len(act.words) > place else None
    for value in act.variables.get(variable[1], ()) if variable is not None else ():
        text = " ".join([value, *act.words[place + 1 :]])
        if not _VARIABLE.match(value):
            yield from found_in(text, world, nested=True)


def _written(story: Story, world: World) -> Iterator[Finding]:
    places = [(act.start, act.runs_in) for act in story.acts if not act.depth]
    starts = [start for start, _ in places]
    if len(story.traces.redirects) > MAX_REDIRECTS:
        yield risky("unreadable", story.text[:60], "it opens too many files", radius="high")
    for redirect in story.traces.redirects[:MAX_REDIRECTS]:
        if not world.spend():
            return
        at = bisect_right(starts, redirect.start) - 1
        runs_in = places[at][1] if at >= 0 else world.where
        if 0 <= redirect.number < len(story.acts):
            runs_in = story.acts[redirect.number].runs_in
        act = Act(
            words=redirect.words or (":",),
            exact=redirect.exact,
            runs_in=runs_in,
            variables=story.traces.variables,
        )
        yield from redirecting.redirected(redirect, act, world)


def _read_in(story: Story, world: World) -> Iterator[Finding]:
    for source in story.traces.sources:
        for act in story.acts:
            if act.name in databases.CLIENTS:
                yield from databases.scripted(act, source, world)
        if is_secret(source):
            yield risky("reads-secret", f"< {source}", "that file usually holds secrets")


def _unread(story: Story) -> Iterator[Finding]:
    shell = story.shell
    if not story.complete:
        yield _too_much(story)
    elif shell.unreadable and split(_without_benign(story)).unreadable:
        words = next((act.text for act in story.acts if not act.exact), story.text)
        yield risky("unreadable", words[:100], "what this would run cannot be seen", radius="high")


def _too_much(story: Story) -> Finding:
    why = "it is too long or too deep to be read to its end"
    return risky("unreadable", story.text[:60], why, radius="high")


def _without_benign(story: Story) -> str:
    """The text without what is unreadable and yet known to be harmless."""
    source = story.source.encode("utf-8", "surrogatepass")
    for act in reversed(story.acts):
        if not act.depth and unseen.is_benign(act):
            source = source[: act.start] + b":" + source[act.end :]
    return source.decode("utf-8", "surrogatepass")


def denied_by(patterns: tuple[str, ...], text: str, world: World) -> Iterator[Finding]:
    """Commands that the person's own list denies."""
    for act in read(text, world).acts:
        pattern = next((each for each in patterns if fnmatchcase(act.text, each)), None)
        if pattern is not None:
            yield fatal("protected", act.text, f"your list denies `{pattern}`")
