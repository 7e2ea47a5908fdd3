"""Takes secrets out of what tools are given and answer, of prompts and of what the model is sent.

Goes by the form of a token, and for what is read by names too; what was base64, encrypted or cut in
two before is not seen. Where a platform cannot change a text, what is done instead is in
docs/redaction.md.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from hookline.model.answers import PASS, Answer, Rewrite
from hookline.model.events import Event, PostToolUse, PreToolUse, PromptEvent, ToolEvent, TurnEvent
from hookline.model.ports import Caller
from hookline.secrets import EFFORT, Redacted, Scope, looked_through, redact, redact_bytes

EVENTS: tuple[str, ...] = (
    "pre_tool_use",
    "post_tool_use",
    "tool_response_transform",
    "user_prompt_submit",
    "before_llm_call",
)
ALSO: tuple[str, ...] = ("follow_up_submit", "prompt_expansion")
PRIORITY: int = 90
GUARD: bool = True

# docker-agent's builtin does nothing elsewhere.
_DOCKER_AGENT = frozenset({"pre_tool_use", "tool_response_transform", "before_llm_call"})
_SCOPES = {"tokens": Scope.TOKENS, "likely": Scope.LIKELY, "all": Scope.ALL}
_TEXTS = frozenset({"content", "reasoning_content", "text", "thinking"})
"""Members of a message that are its words."""
_ARGUMENTS = frozenset({"arguments", "args", "input"})
"""Members of a message that a tool is called with: every text in them is one for it."""
_MOST = 25_000
_SHARE = 8


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is taken for a secret, and what stands in its place."""

    scope: Literal["tokens", "likely", "all"] | None = None
    """``tokens``: known families and passwords in URLs; ``likely``: also what a name or header
    announces and looks random; ``all``: whatever they announce. Default: ``tokens`` for tool input
    and prompts, which others work with, and ``likely`` for the rest."""
    marker: Literal["family", "plain", "docker-agent"] | None = None
    """``[redacted:github]``, or ``[REDACTED]`` as docker-agent writes it, which is the default in
    its files."""
    args: tuple[str, ...] | None = None
    """docker-agent's spelling; it has none, and ignores them."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""
    plain = (options.marker or ("family" if options.args is None else "plain")) != "family"

    def answer(event: Event, caller: Caller) -> Answer:
        if options.args is not None and event.event_id() not in _DOCKER_AGENT:
            return PASS
        default = Scope.TOKENS if isinstance(event, PreToolUse | PromptEvent) else Scope.LIKELY
        scope = default if options.scope is None else _SCOPES[options.scope]
        cleaner = _Cleaner(scope, plain=plain)
        try:
            return _answer(event, cleaner)
        finally:
            looked_through(cleaner.looked_through)

    return answer


def clean_answer(answer: Answer, options: Mapping[str, Any]) -> Answer:
    """What hooks tell the model and the person, like the output of a tool."""
    asked = msgspec.convert(options, Options)
    scope = Scope.LIKELY if asked.scope is None else _SCOPES[asked.scope]
    cleaner = _Cleaner(scope, plain=(asked.marker or "family") != "family")

    def clean(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(cleaner.text(text) for text in texts)

    cleaned = replace(
        answer,
        reason=cleaner.text(answer.reason),
        context=clean(answer.context),
        notice=clean(answer.notice),
        follow_up=clean(answer.follow_up),
    )
    return cleaned if cleaner.families else answer


def _answer(event: Event, cleaner: "_Cleaner") -> Answer:
    match event:
        case PreToolUse():
            changed = _changed(event.tool.input, cleaner)
            rewrite = Rewrite(input=changed) if changed else None
        case PostToolUse() if event.dialect == "docker-agent":
            # Its outputs were transformed before; all it could do here is to end the run.
            return PASS
        case ToolEvent():
            output = event.tool.output
            rewrite = Rewrite(output=cleaner.text(output)) if output else None
        case PromptEvent():
            rewrite = Rewrite(prompt=cleaner.text(event.prompt))
        case TurnEvent():
            rewrite = Rewrite(messages=[cleaner.message(each) for each in event.messages])
        case _:
            return PASS
    if rewrite is None or not cleaner.families:
        return PASS
    notice = (_notice(event, cleaner),) if isinstance(event, PreToolUse) else ()
    return Answer(rewrite=rewrite, notice=notice, metadata={"redacted": sorted(cleaner.families)})


def _notice(event: PreToolUse, cleaner: "_Cleaner") -> str:
    families = ", ".join(sorted(cleaner.families))
    return f"secrets were taken out of what `{event.tool.name}` is given: {families}"


def _changed(given: dict[str, Any], cleaner: "_Cleaner") -> dict[str, Any]:
    """The members that are others without their secrets; one whose name was a secret goes."""
    cleaned = cleaner.value(given)
    if cleaned is given:
        return {}
    gone = {key: None for key in given if key not in cleaned}
    return gone | {
        key: value for key, value in cleaned.items() if key not in given or given[key] != value
    }


class _Cleaner:
    """Takes secrets out of texts and of what holds texts, and remembers of which families."""

    def __init__(self, scope: Scope, *, plain: bool) -> None:
        self._scope = scope
        self._plain = plain
        self.families: set[str] = set()
        self.looked_through = 0

    def text(self, text: str) -> str:
        """Without its secrets; the same object when it has none."""
        return self._redacted(text).text

    def value(self, value: Any) -> Any:
        """With every text in it without its secrets.

        As JSON: so what a member's name says of its value is seen, and what stands in one argument
        of what stands in the next.
        """
        if isinstance(value, str):
            return self.text(value)
        try:
            encoded = msgspec.json.encode(value)
        except UnicodeEncodeError:  # half a character, which JSON from elsewhere may hold
            return self._each(value)
        done = redact_bytes(
            encoded, self._effort(len(encoded)), scope=self._scope, plain=self._plain
        )
        if not done.count:
            return value
        self.families.update(done.families)
        return _laid_over(value, msgspec.json.decode(done.raw))

    def message(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """A message to or from a model, whose words and arguments alone are looked at."""
        return {key: self._member(key, value) for key, value in message.items()}

    def _member(self, key: str, value: Any) -> Any:
        if key in _ARGUMENTS:
            return self.value(value)
        match value:
            case str() if key in _TEXTS:
                return self.text(value)
            case dict():
                return self.message(value)
            case list():
                # Texts in a list are what the list is.
                return [self._member(key, each) for each in value]
            case _:
                return value

    def _each(self, value: Any) -> Any:
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(key): self._each(inner) for key, inner in value.items()}
            case list():
                return [self._each(inner) for inner in value]
            case _:
                return value

    def _redacted(self, text: str) -> Redacted:
        effort = self._effort(len(text))
        done = redact(text, effort, scope=self._scope, plain=self._plain)
        self.families.update(done.families)
        return done

    def _effort(self, length: int) -> int:
        """In what is large, more may be looked at: nobody wants the rest of it withheld."""
        self.looked_through += length
        return min(max(EFFORT, length // _SHARE), _MOST)


def _laid_over(old: Any, new: Any) -> Any:
    """The old value with the texts of the new one: numbers stay as they were to the digit."""
    match old, new:
        case dict(), dict() if len(old) == len(new):
            pairs = zip(old.values(), new.items(), strict=True)
            return {key: _laid_over(before, after) for before, (key, after) in pairs}
        case list(), list():
            return [_laid_over(*pair) for pair in zip(old, new, strict=True)]
        case str(), str():
            return new
        case dict(), dict():
            return new  # two of its keys were secrets and are one now
        case _:
            return old
