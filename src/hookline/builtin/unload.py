"""Tells a local model runner that an agent which hands over, or ends, needs its models no longer.

docker-agent's `unload`: one request for each model of the provider `dmr`. docker-agent's own event
names the models; for the events of others they are those of the agent in the hosted file, or in
`models`: a sub-agent's when it stops, and all of them when the session ends. A runner that does not
answer is written down and changes nothing.
"""

from collections.abc import Callable, Sequence
from itertools import chain
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from hookline.builtin._posting import Unsent, origin, posted
from hookline.model.answers import PASS, Answer
from hookline.model.events import AgentSwitch, Event, SessionEnd, SubagentStop
from hookline.model.ports import Caller

EVENTS: tuple[str, ...] = ("agent_switch", "subagent_stop", "session_end")
PRIORITY: int = 50
GUARD: bool = False
WAITS: bool = True
ACTS: tuple[str, ...] = EVENTS

_SECONDS = 10.0
_PROVIDER = "dmr"


class Model(Struct, frozen=True, kw_only=True):
    """One model as docker-agent names it; unknown keys are its own affair."""

    provider: str = ""
    model: str = ""
    base_url: str = ""
    unload_api: str = ""


class _Payload(Struct, frozen=True):
    from_agent_models: tuple[Model, ...] | None = None


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which models each agent uses, where the event does not say."""

    models: dict[str, tuple[Model, ...]] = {}
    args: tuple[str, ...] = ()
    """As docker-agent writes them; nobody reads them there either."""


def make(options: Options) -> Callable[[Event, Caller], Answer]:
    """The function that answers."""

    def answer(event: Event, caller: Caller) -> Answer:
        models: Sequence[Model] = ()
        match event:
            case AgentSwitch() if event.from_agent and event.from_agent != event.to_agent:
                told = _told(event.raw)
                models = told if told is not None else options.models.get(event.from_agent, ())
            case SubagentStop():
                models = options.models.get(event.agent.name, ())
            case SessionEnd():
                models = tuple(chain.from_iterable(options.models.values()))
        wrong = [flaw for each in models if (flaw := _unloaded(each, caller))]
        return Answer(metadata={"unload": "; ".join(wrong)}) if wrong else PASS

    return answer


def _told(raw: Any) -> Sequence[Model] | None:
    """The models that the event itself names; None where it names none."""
    try:
        return msgspec.json.decode(raw, type=_Payload).from_agent_models
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _unloaded(model: Model, caller: Caller) -> str:
    """Asks for one model to go; what went wrong, or nothing."""
    if model.provider != _PROVIDER or not (model.base_url or model.unload_api):
        return ""
    url = _target(model)
    where = origin(url)
    if not where:
        return f"no whole address for `{model.model}`"
    left = _SECONDS if caller.deadline is None else caller.deadline - monotonic()
    body = msgspec.json.encode({"model": model.model})
    try:
        status = posted(url, body, seconds=min(_SECONDS, left), public_only=False)
    except Unsent as error:
        return f"{where}: {error}"
    return "" if 200 <= status < 300 else f"{where} answered {status}"


def _target(model: Model) -> str:
    """Where to: what ``unload_api`` names, as a whole address or as a path beside the models."""
    if origin(model.unload_api):
        return model.unload_api
    try:
        base = urlsplit(model.base_url)
    except ValueError:
        return ""
    if not model.unload_api:
        path = base.path.rstrip("/").removesuffix("/v1") + "/_unload"
    else:
        path = "/" + model.unload_api.removeprefix("/")
    return f"{base.scheme}://{base.netloc}{path}"
