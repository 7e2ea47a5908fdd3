"""What the other keys of an agent's file stand for: the builtins that flags are short for, and the
models that an agent uses.
"""

from collections.abc import Iterator
from typing import Any

from hookline.dialects._located import Located
from hookline.dialects.docker_agent.answers import PREEMPT

__all__ = ["after_hooks", "before_hooks", "models_of"]

# No key asks for these, so a file that is written anew need not name them.
_LIMITED = {"command": "limit_large_tool_results", "implied": True}


def before_hooks() -> Iterator[tuple[str, dict[str, Any]]]:
    """What every agent has in front of its own hooks, and cannot be without."""
    yield "tool_response_transform", _LIMITED


def after_hooks(agent: Located) -> Iterator[tuple[str, dict[str, Any]]]:
    """The builtins that an agent's own keys are short for, which run after its hooks."""

    def is_on(key: str) -> bool:
        node = agent.members.get(key)
        return node is not None and node.value is True

    files = agent.members.get("add_prompt_files")
    names = tuple(str(each.value) for each in files.items) if files is not None else ()
    if is_on("add_date"):
        yield "turn_start", {"command": "add_date"}
    if names:
        yield "turn_start", {"command": "add_prompt_files", "args": names}
    if is_on("add_environment_info"):
        yield "session_start", {"command": "add_environment_info"}
    redacted = agent.members.get("redact_secrets")
    if redacted is None or redacted.value is not False:
        for event in ("pre_tool_use", "before_llm_call", "tool_response_transform"):
            yield event, {"command": "redact_secrets", "implied": redacted is None}
    tools = agent.members.get("toolsets")
    for toolset in tools.items if tools is not None else ():
        safer = toolset.members.get("safer")
        if safer is not None and safer.value is True:
            # It looks at calls of `shell` only, so nothing else need wait for it.
            yield "pre_tool_use", {"command": "safer_shell", "matcher": "shell", PREEMPT: True}
    yield "session_end", _LIMITED


def models_of(root: Located) -> dict[str, list[dict[str, str]]]:
    """By agent, the models it names, as docker-agent's own event would tell of them."""
    known = root.members.get("models", Located(None, 0)).members
    agents = root.members.get("agents", Located(None, 0)).members
    found: dict[str, list[dict[str, str]]] = {}
    for name, agent in agents.items():
        said = agent.members.get("model", Located(None, 0)).value
        words = [word.strip() for word in said.split(",")] if isinstance(said, str) else []
        found[name] = [_model(word, known.get(word)) for word in words if word]
    return {name: models for name, models in found.items() if models}


def _model(word: str, node: Located | None) -> dict[str, str]:
    """One model: by its name in the file, or as ``provider/model``."""
    if node is None:
        provider, _, model = word.partition("/")
        return {"provider": provider, "model": model}
    options = node.members.get("provider_opts", Located(None, 0)).members
    keys = {key: node.members.get(key) for key in ("provider", "model", "base_url")}
    keys["unload_api"] = options.get("unload_api") or node.members.get("unload_api")
    return {
        key: found.value
        for key, found in keys.items()
        if found is not None and isinstance(found.value, str)
    }
