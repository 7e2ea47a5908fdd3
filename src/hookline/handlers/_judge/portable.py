"""``judge:`` as our own config writes it: a template over the event, and a verdict."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from hookline.handlers._judge.questions import Fence, Question
from hookline.handlers._judge.reading import NO_REASON, judgement_in
from hookline.handlers._judge.spec import Example, Spec
from hookline.handlers._templates import Templates, is_template, mistake_in, unknown_names
from hookline.model.answers import Answer, Verdict
from hookline.model.events import EVENTS, Event
from hookline.model.models import ModelEntry, mistakes_in
from hookline.model.ports import Call
from hookline.workspace import with_workspace

__all__ = ["Portable", "mistakes"]


_MEANING = {
    "pass": "nothing speaks against it; whoever decides otherwise decides",
    "allow": "it is certainly harmless, so nobody need be asked",
    "ask": "a person should decide",
    "deny": "it must not happen",
}
_LAST = (
    'Answer with one JSON object and nothing else: {"verdict": …, "reason": …}. The reason is one '
    "or two plain sentences which the agent will read: say what is wrong and what to do instead."
)


class Portable:
    """A judge of ours."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._fence = Fence()
        self._templates = Templates(self._fence.filled)
        self.redacts = spec.redact

    def question(self, call: Call) -> Question:
        """The prompt, filled in; with the whole event behind it when it fills nothing in."""
        spec, event = self._spec, with_workspace(call.event, call.caller)
        text = self._templates.fill(spec.prompt, event)
        if not is_template(spec.prompt):
            text = f"{text}\n\nThe event:\n{self._fence.around(_shown(event))}"
        words = _words(event, may_allow=spec.may_allow)
        return Question(
            system=self._system(words),
            text=text,
            schema=_schema(words) if spec.structured else None,
            max_tokens=spec.max_tokens,
            temperature=spec.temperature,
        )

    def answer(self, text: str, question: Question, event: Event) -> Answer:
        """The verdict, as far as the config lets this judge go."""
        said = judgement_in(text, f"{question.system}\n{question.text}")
        verdict = said.verdict
        if verdict is Verdict.ALLOW and not (self._spec.may_allow and event.allows):
            verdict = Verdict.PASS
        if verdict is Verdict.ASK and not event.asks:
            verdict = Verdict.DENY
        blocks = verdict > Verdict.PASS
        reason = self._fence.without(said.reason) or NO_REASON
        return Answer(verdict=verdict, reason=reason if blocks else "")

    def _system(self, words: Sequence[str]) -> str:
        verdicts = "\n".join(f"- {word}: {_MEANING[word]}" for word in words)
        parts = [
            "You judge what an AI coding agent is about to do or has done.",
            self._spec.system.strip(),
            self._fence.rule,
            f"Verdicts:\n{verdicts}",
            *(_example(each) for each in self._spec.examples),
            _LAST,
        ]
        return "\n\n".join(filter(None, parts))


def _shown(event: Event) -> Mapping[str, Any]:
    """The event without what no two events have in common, so that alike ones are judged once."""
    shown: dict[str, Any] = msgspec.to_builtins(event, enc_hook=lambda raw: None)
    for key in ("raw", "id", "time", "hookline"):
        shown.pop(key, None)
    if isinstance(shown.get("tool"), dict):
        shown["tool"].pop("call_id", None)
    return shown


def mistakes(spec: Spec, events: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with a judge, and what to write instead."""
    entry = ModelEntry(model=spec.model, endpoint=spec.endpoint, key=spec.key)
    yield from mistakes_in(entry, may_be_named=True)
    if not spec.prompt.strip():
        yield "`prompt` is empty", "ask something, such as: Is this safe? {{ tool.command }}"
    elif is_template(spec.prompt):
        yield from _template_mistakes(spec.prompt, events)
    kinds = [EVENTS[each] for each in events]
    for kind in kinds:
        if not (kind.gate or kind.hides or kind.continues):
            hint = "choose an event that can be blocked"
            yield f"a judge can do nothing on `{kind.event_id()}`", hint
    if spec.may_allow and not any(kind.allows for kind in kinds):
        yield "`may_allow` means nothing on these events", "leave it out"
    for each in spec.examples:
        if each.verdict == "ask" and not any(kind.asks for kind in kinds):
            yield "an example says `ask`, which these events do not take", "write `deny`"


def _template_mistakes(prompt: str, events: Sequence[str]) -> Iterator[tuple[str, str]]:
    wrong = mistake_in(prompt)
    if wrong:
        yield f"the template in `prompt`: {wrong}", ""
        return
    for name, hint in unknown_names(prompt, [EVENTS[each] for each in events]):
        yield f"`{{{{ {name} }}}}` in `prompt`: no such event has it", hint


def _words(event: Event, *, may_allow: bool) -> list[str]:
    offered = {"allow": may_allow and event.allows, "ask": event.asks}
    return [word for word in _MEANING if offered.get(word, True)]


def _schema(words: Sequence[str]) -> Mapping[str, Any]:
    return {
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": [*words]},
            "reason": {"type": "string"},
        },
        "required": ["verdict", "reason"],
        "additionalProperties": False,
    }


def _example(each: Example) -> str:
    right = msgspec.json.encode({"verdict": each.verdict, "reason": each.reason}).decode()
    return f"Example: {each.case}\nRight answer: {right}"
