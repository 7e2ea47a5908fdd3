"""A model as a judge: it is asked about the event, and its answer is the verdict.

Knows when a model is asked and what is remembered of it; must not know who serves it or how it
speaks. What it asks of models fires no hooks: it is a request of this process's own.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import msgspec
from msgspec import ValidationError, convert
from msgspec.structs import replace

from hookline.handlers._exchange import as_asked
from hookline.handlers._judge.spec import Cache, Spec
from hookline.model.answers import Answer, deny
from hookline.model.errors import HandlerTimeout, HandlerUnavailable
from hookline.model.hook import Hook
from hookline.model.models import ModelEntry, Place, place_of
from hookline.model.ports import Call, Handler, KeyProblem, Services

if TYPE_CHECKING:
    from hookline.handlers._judge.asking import Cost
    from hookline.handlers._judge.native import Native
    from hookline.handlers._judge.questions import Question, Remembered, Style

__all__ = ["COMBINES", "EXTRA_KEYS", "KEYS", "Spec", "aclose", "check", "make"]

KEYS: Mapping[str, Any] = {"judge": Spec}
EXTRA_KEYS: Mapping[str, Any] = {}
COMBINES: bool = False

# Under this a dialect says how its platform asks; no config does.
_NATIVE = "native"


def check(values: Mapping[str, Any], hook: Hook, services: Services) -> Sequence[KeyProblem]:
    """Every mistake in the model, the prompt, and what the event can take."""
    if _NATIVE in values:
        return [KeyProblem("judge", why) for why in _native_mistakes(values)]
    try:
        spec = _spec(values)
    except ValidationError as error:
        hint = "it takes `model`, `prompt` and what docs/judge.md lists"
        return [KeyProblem("judge", f"`judge` does not fit: {error}", hint)]
    from hookline.handlers._judge.portable import mistakes  # of no use to configs without a judge

    found = [KeyProblem("judge", message, hint) for message, hint in mistakes(spec, hook.events)]
    if hook.env:
        message = "`env` means nothing beside `judge`: `key` names the one variable that it needs"
        found.append(KeyProblem("env", message, "write `judge: {key: NAME, …}`"))
    return found


def make(hook: Hook, services: Services) -> Handler:
    """The judge for one hook."""
    return Judge(hook, services)


class Judge:
    """One question to one model, and the verdicts it gave lately."""

    instant: ClassVar[Literal[False]] = False

    def __init__(self, hook: Hook, services: Services) -> None:
        values = hook.handler.values
        self._services = services
        self._codec = services.codec(hook.speaks)
        self._native = _native(values) if _NATIVE in values else None
        self._spec = _spec(values) if self._native is None else None
        self._style: Style | None = None
        # Other platforms ask each time.
        cache = self._spec.cache if self._spec is not None else False
        self._kept = _remembered(Cache() if cache is True else cache or None)

    async def run(self, call: Call) -> Answer:
        """The model's verdict, within the run's time."""
        from asyncio import timeout

        try:
            async with timeout(call.timeout):
                return await self._judged(call)
        except TimeoutError as error:
            raise HandlerTimeout(call.timeout) from error

    async def _judged(self, call: Call) -> Answer:
        from hookline.handlers._judge.questions import Unseen, key_of, ready

        style, place = self._asking(), self._place()
        closes = self._closes(call)
        strict = closes and call.event.gate
        try:
            question = ready(style.question(call), redacts=style.redacts, strict=strict)
        except Unseen as error:
            if not closes:
                raise
            # No failure, whatever `on_error` says: an agent must not choose to go unjudged.
            return deny(f"hook `{call.hook.name}` cannot judge this, so it is blocked: {error}")
        key = key_of(f"{place}\0{place.url}", question)
        known = self._kept.get(key) if self._kept is not None else None
        if known is not None:
            return _billed(known, place, None)
        text, cost = await self._said(call, place, question)
        answer = style.answer(text, question, as_asked(call))
        if self._kept is not None:
            self._kept.keep(key, answer)
        return _billed(answer, place, cost)

    def _closes(self, call: Call) -> bool:
        """Whether a no of this judge's keeps something from happening or from being seen."""
        native, event = self._native, call.event
        if native is not None and (native.form == "text" or native.refusal == "notice"):
            return False
        return (event.gate or event.hides) and not event.continues

    async def _said(self, call: Call, place: Place, question: "Question") -> "tuple[str, Cost]":
        from hookline.handlers._judge.asking import opened

        talk = await opened(place, call.caller.env)
        # Only now: its own imports need what opening has loaded away from the event loop.
        from hookline.handlers._judge.conversing import answered, verified

        if not question.tools:
            return await answered(talk, question)
        from time import monotonic

        from hookline.handlers._judge.looking import Looking

        root = call.caller.project_dir or call.hook.project_dir or call.event.cwd
        looking = Looking(root, call.event.cwd, monotonic() + call.timeout)
        return await verified(talk, question, looking)

    def _asking(self) -> "Style":
        """Made when it is needed first: template engines are slow to load."""
        if self._style is None:
            self._style = self._new_style()
        return self._style

    def _new_style(self) -> "Style":
        if self._native is None:
            from hookline.handlers._judge.portable import Portable

            assert self._spec is not None
            return Portable(self._spec)
        from hookline.handlers._judge.native import OkForm, TemplateForm

        form = OkForm if self._native.form == "ok" else TemplateForm
        return form(self._native, self._codec)

    def _place(self) -> Place:
        models = self._services.models
        if self._native is not None:
            from hookline.handlers._judge.native import entry_of

            return place_of(entry_of(self._native, models))
        assert self._spec is not None
        spec = self._spec
        entry = ModelEntry(model=spec.model, endpoint=spec.endpoint, key=spec.key)
        if "/" in spec.model:
            return place_of(entry)
        if spec.model not in models:
            raise HandlerUnavailable(
                f"no model is called `{spec.model}`: write `provider/name`, or name it under "
                "`models:` in the user's own hookline.yaml"
            )
        return place_of(models[spec.model])


async def aclose() -> None:
    """Close the running loop's connections, if there are any."""
    from sys import modules

    connecting = modules.get("hookline.handlers._judge.connecting")
    if connecting is not None:
        await connecting.aclose()


def _billed(answer: Answer, place: Place, cost: "Cost | None") -> Answer:
    """The answer with what it took; None when it was remembered, and so took nothing."""
    bill: dict[str, Any] = {"model": str(place)}
    if cost is None:
        bill["cached"] = True
    else:
        bill |= {"input_tokens": cost.input_tokens, "output_tokens": cost.output_tokens}
        if cost.usd is not None:
            bill["cost_usd"] = round(cost.usd, 8)
    return replace(answer, metadata={**answer.metadata, "judge": bill})


def _remembered(cache: Cache | None) -> "Remembered | None":
    from hookline.handlers._judge.questions import Remembered

    return None if cache is None else Remembered(cache.seconds, cache.entries)


def _spec(values: Mapping[str, Any]) -> Spec:
    value = values["judge"]
    return value if isinstance(value, Spec) else convert(value, Spec)


def _native(values: Mapping[str, Any]) -> "Native":
    from hookline.handlers._judge.native import Native

    return msgspec.convert(dict(values[_NATIVE]), Native)


def _native_mistakes(values: Mapping[str, Any]) -> list[str]:
    native = _native(values)
    if native.form == "ok":
        return []
    from hookline.handlers._judge.go_templates import mistake_in

    wrong = mistake_in(native.prompt)
    return [wrong] if wrong else []
