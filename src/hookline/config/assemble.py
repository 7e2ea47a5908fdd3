"""Compiled files into one config: their order, and what one file may say of another's hooks.

Knows layers. A file speaks for hooks of its own rank and below, never for those above it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from hookline.config.exceptions import Except
from hookline.config.types import Config, ConfigFile, Note
from hookline.model.errors import nearest
from hookline.model.hook import Hook, Layer
from hookline.model.journal import JournalSettings
from hookline.model.models import ModelEntry
from hookline.model.ports import Matcher

__all__ = ["assemble"]


def assemble(files: Sequence[ConfigFile], *, paused: bool = False) -> Config:
    """Every active hook, in configured order, and a note on everything that was ignored."""
    ordered = tuple(sorted(files, key=_rank))
    places = [place for file in ordered for place in _places(file, ())]
    own = [place for place in places if place.layer < Layer.PROJECT]
    hooks = [_Placed(hook, place) for place in places for hook in place.file.hooks]
    notes: list[Note] = []
    off = _disabled(places, hooks, notes)
    exceptions = _exceptions(places, hooks, notes)
    project_allow = _project_allow(places, notes)
    notes += [note for place in places for note in place.file.notes]
    in_force = [each for each in hooks if id(each) not in off]
    if paused:
        stay = [each for each in in_force if each.place.layer is Layer.MANAGED]
        notes.append(Note("", "paused", _paused(len(in_force) - len(stay))))
        in_force = stay
    return Config(
        files=ordered,
        hooks=tuple(_narrowed(each.hook, exceptions.get(id(each), [])) for each in in_force),
        project_allow=project_allow,
        max_follow_ups=min(_said(own, "max_follow_ups", notes), default=None),
        project_follow_ups=_project_follow_ups(places, notes),
        max_context=next(iter(_said(places, "max_context", notes)), None),
        journal=_journal(places, notes),
        managed=sum(each.place.layer is Layer.MANAGED for each in in_force),
        models=_models(places, notes),
        managed_models=_models([each for each in places if each.layer is Layer.MANAGED], []),
        digest=_digest(places, paused),
        notes=tuple(dict.fromkeys(notes)),
    )


def _rank(file: ConfigFile) -> tuple[Layer, int]:
    """Layers in order, and a project's files from outer to inner."""
    inner = file.project_dir.rstrip("/").count("/") if file.layer is Layer.PROJECT else 0
    return file.layer, inner


class _Place(Struct, frozen=True):
    """A file where it stands; what it includes has no more say than the file itself."""

    file: ConfigFile
    above: tuple[ConfigFile, ...] = ()

    @property
    def layer(self) -> Layer:
        """The layer of the file that a person put into force."""
        return self.above[0].layer if self.above else self.file.layer

    def holds(self, other: "_Place") -> bool:
        """Whether the other is this file, or was included through it."""
        return any(each is self.file for each in (other.file, *other.above))

    def may_disable(self, other: "_Place") -> bool:
        own_only = self.above or self.layer is Layer.PROJECT
        return self.holds(other) if own_only else other.layer >= self.layer

    def may_narrow(self, other: "_Place") -> bool:
        return self.holds(other) if self.above else other.layer >= self.layer


class _Placed(Struct, frozen=True):
    hook: Hook
    place: _Place


def _places(file: ConfigFile, above: tuple[ConfigFile, ...]) -> Iterator[_Place]:
    yield _Place(file, above)
    for included in file.includes:
        yield from _places(included, (*above, file))


def _disabled(places: Sequence[_Place], hooks: Sequence[_Placed], notes: list[Note]) -> set[int]:
    return {
        id(each)
        for place in places
        for name in place.file.disable
        for each in _called(name, "disable", place, place.may_disable, hooks, notes)
    }


def _exceptions(
    places: Sequence[_Place], hooks: Sequence[_Placed], notes: list[Note]
) -> dict[int, list[Matcher]]:
    found: dict[int, list[Matcher]] = {}
    for place in places:
        for narrowing in place.file.narrowings:
            name = narrowing.name
            for each in _called(name, "narrow", place, place.may_narrow, hooks, notes):
                found.setdefault(id(each), []).extend(narrowing.exceptions)
    return found


def _called(
    name: str,
    verb: str,
    place: _Place,
    may: Callable[[_Place], bool],
    hooks: Sequence[_Placed],
    notes: list[Note],
) -> Iterator[_Placed]:
    """The hooks of this name that the file may speak for; anything else becomes a note."""
    file = place.file.file
    called = [each for each in hooks if each.hook.name == name]
    # A user's word about a hook that only some projects have is no mistake in the others.
    if not called and place.layer > Layer.USER:
        hint = nearest(name, (each.hook.name for each in hooks))
        message = f"{file} wants to {verb} `{name}`, and no hook is called so. {hint}"
        notes.append(Note(file, "ignored", message.rstrip()))
    for each in called:
        if may(each.place):
            yield each
        else:
            message = f"{file} may not {verb} `{name}` from {each.hook.source}; it stays active"
            notes.append(Note(file, "ignored", message))


def _narrowed(hook: Hook, exceptions: Sequence[Matcher]) -> Hook:
    return replace(hook, match=Except(hook.match, exceptions)) if exceptions else hook


def _said(places: Sequence[_Place], key: str, notes: list[Note]) -> list[Any]:
    """What managed and user files say under a key, the highest layer first; others' is noted."""
    said = []
    for file in (place.file for place in places):
        value = getattr(file, key)
        if value is None or value == {}:
            continue
        if file.layer in {Layer.MANAGED, Layer.USER}:
            said.append(value)
        else:
            message = f"`{key}` in {file.file} counts only in the user's own config"
            notes.append(Note(file.file, "ignored", message))
    return said


def _project_allow(places: Sequence[_Place], notes: list[Note]) -> bool:
    said = _said(places, "project_allow", notes)
    return bool(said and said[0])


def _project_follow_ups(places: Sequence[_Place], notes: list[Note]) -> int | None:
    """The lowest that counts for projects' hooks: it must not silence those of the person."""
    lowest = None
    for file in (each.file for each in places if each.layer >= Layer.PROJECT):
        if file.max_follow_ups is not None:
            lowest = min(file.max_follow_ups, file.max_follow_ups if lowest is None else lowest)
            message = f"`max_follow_ups` in {file.file} holds for the hooks of projects only"
            notes.append(Note(file.file, "doubt", message))
    return lowest


def _journal(places: Sequence[_Place], notes: list[Note]) -> JournalSettings:
    chosen: JournalSettings = next(iter(_said(places, "journal", notes)), JournalSettings())
    return chosen


def _models(places: Sequence[_Place], notes: list[Note]) -> Mapping[str, ModelEntry]:
    """Where the names of models lead: a project must not send what a user's hooks ask elsewhere."""
    named: dict[str, ModelEntry] = {}
    for models in _said(places, "models", notes):
        named = {**models, **named}
    return named


def _digest(places: Sequence[_Place], paused: bool) -> str:
    digest = sha256(b"paused" if paused else b"")
    for place in places:
        digest.update(
            f"{place.layer}\0{place.file.file}\0{place.file.digest}\n".encode(errors="replace")
        )
    return digest.hexdigest()[:16]


def _paused(count: int) -> str:
    hooks = "1 hook is" if count == 1 else f"{count} hooks are"
    return f"hookline is paused: {hooks} not run; managed hooks still are"
