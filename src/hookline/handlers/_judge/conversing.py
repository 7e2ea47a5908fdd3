"""From a question to the text of its answer: in one request, or after a look at the project.

Knows the conversation; must not know what the answer means.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from hookline.handlers._judge.asking import Cost, Refused, Talk
from hookline.handlers._judge.looking import TOOLS, Looking
from hookline.handlers._judge.questions import Question
from hookline.handlers._judge.reading import judgement_in
from hookline.model.answers import BLOCKING
from hookline.model.errors import HandlerAnswerError

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart
    from pydantic_ai.settings import ModelSettings

__all__ = ["MOST_TURNS", "answered", "verified"]

MOST_TURNS = 50
_MOST_CALLS = 20
"""In one turn; each is answered, so that no call is left without its result."""
_HAND_OVER = "StructuredOutput"


async def answered(talk: Talk, question: Question) -> tuple[str, Cost]:
    """The model's one answer."""
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition

    messages, settings, free = _opening(question), _settings(question), ModelRequestParameters()
    if question.schema is None or not talk.supports_schema():
        response, cost = await talk.ask(messages, free, settings)
        return talk.unlocked(_words(response)), cost
    wanted = OutputObjectDefinition(json_schema=dict(question.schema), name="verdict", strict=True)
    held = ModelRequestParameters(output_mode="native", output_object=wanted)
    try:
        response, cost = await talk.ask(messages, held, settings)
    except Refused:
        # Many a server of one's own knows no schemas; the words ask for the same.
        response, cost = await talk.ask(messages, free, settings)
    return talk.unlocked(_words(response)), cost


async def verified(talk: Talk, question: Question, looking: Looking) -> tuple[str, Cost]:
    """What the model hands over after it has looked round."""
    from pydantic_ai.messages import ModelRequest, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.tools import ToolDefinition

    tools = {**TOOLS, _HAND_OVER: ("Hands over the verdict.", question.schema or {})}
    parameters = ModelRequestParameters(
        function_tools=[
            ToolDefinition(name=name, description=about, parameters_json_schema=dict(schema))
            for name, (about, schema) in tools.items()
        ]
    )
    messages, total = _opening(question), Cost(usd=0.0)
    for _ in range(MOST_TURNS):
        response, cost = await talk.ask(messages, parameters, _settings(question))
        total += cost
        calls = list(response.tool_calls)
        verdicts = [_written(call) for call in calls if call.tool_name == _HAND_OVER]
        if verdicts:
            # Of several a no counts, and two times yes is no answer.
            return talk.unlocked("\n".join(verdicts)), total
        if not calls:
            return talk.unlocked(_refusal(response)), total
        if len(calls) > _MOST_CALLS:
            raise HandlerAnswerError(f"the model called {len(calls)} tools at once")
        messages.append(response)
        messages.append(ModelRequest(parts=[await _result(call, looking) for call in calls]))
        if len(messages) > 2 * MOST_TURNS - 4:
            last = f"Call {_HAND_OVER} now."
            messages.append(ModelRequest(parts=[UserPromptPart(last)]))
    raise HandlerAnswerError(f"the model came to no verdict in {MOST_TURNS} turns")


async def _result(call: "ToolCallPart", looking: Looking) -> Any:
    import asyncio

    from pydantic_ai.messages import ToolReturnPart

    from hookline.secrets import redact

    found = await asyncio.to_thread(looking.use, call.tool_name, _arguments(call))
    return ToolReturnPart(
        tool_name=call.tool_name, content=redact(found).text, tool_call_id=call.tool_call_id
    )


def _written(call: "ToolCallPart") -> str:
    """What was handed over, as the model wrote it where that is known: it may say a key twice."""
    arguments = _arguments(call)
    return call.args if isinstance(call.args, str) else msgspec.json.encode(arguments).decode()


def _refusal(response: "ModelResponse") -> str:
    """The no in words that hand nothing over. Raises HandlerAnswerError for anything else."""
    words = _words(response)
    if judgement_in(words).verdict not in BLOCKING:
        raise HandlerAnswerError(f"the model handed over no verdict: it did not call {_HAND_OVER}")
    return words


def _arguments(call: "ToolCallPart") -> Mapping[str, Any]:
    try:
        found = call.args_as_dict(raise_if_invalid=True)
    except Exception as error:
        message = f"the model called {call.tool_name} with what is no object"
        raise HandlerAnswerError(message) from error
    return found


def _opening(question: Question) -> "list[ModelMessage]":
    from pydantic_ai.messages import ModelRequest, UserPromptPart

    return [ModelRequest(parts=[UserPromptPart(question.text)], instructions=question.system)]


def _settings(question: Question) -> "ModelSettings":
    from pydantic_ai.settings import ModelSettings

    settings = ModelSettings(max_tokens=question.max_tokens)
    if question.temperature is not None:
        settings["temperature"] = question.temperature
    return settings


def _words(response: "ModelResponse") -> str:
    return response.text or ""
