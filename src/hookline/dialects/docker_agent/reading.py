"""What stands in a docker-agent file, as entries: agents' hooks, global ones, and those of flags.

Knows the shape of the file and what its loader refuses; must not know how a hook is run.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from hookline.dialects._located import Located
from hookline.dialects.docker_agent.answers import PREEMPT
from hookline.model.errors import nearest
from hookline.model.native import NativeEntry, NativeFlaw, Voids

__all__ = ["LATER", "MATCHED", "Reader"]

MATCHED = ("pre_tool_use", "post_tool_use", "permission_request", "tool_response_transform")
# Events of versions after 1.123, which stand round the approval of a tool, and whether they come
# before all of it. Both are asked as pre_tool_use is, and fail closed as that does.
LATER = {"tool_guard": True, "tool_input_transform": False}
_TYPES = ("command", "builtin", "model")
_ON_ERROR = ("warn", "ignore", "block")
_TEXTS = ("type", "name", "command", "working_dir", "on_error", "model", "prompt", "schema")
_HOOK_KEYS = (*_TEXTS, "args", "timeout", "env", "strict_output")
# A file of aliases could name a million hooks in a thousand lines.
_MAX_ENTRIES = 5_000

_REFUSED = "docker-agent does not load the file"
_ALL = "*"


class Reader:
    """Walks one document, and notes what docker-agent would not take."""

    def __init__(self, known_events: Mapping[str, Any]) -> None:
        self.entries: list[NativeEntry] = []
        self.flaws: list[NativeFlaw] = []
        self._known = known_events
        self._agent: dict[str, Any] = {}
        self._named = ""
        self._models: dict[str, list[dict[str, str]]] = {}
        self._full = False

    def read(self, root: Located) -> None:
        """Everything in a document, whichever of docker-agent's files it is."""
        keys = root.members
        if not keys and root.value is not None:
            self._flaw(root.line, "the file is no mapping", "write `agents:` at its top")
        agents = keys.get("agents")
        self._models = models_of(root)
        if agents is not None:
            self._agents(agents)
        if "hooks" in keys:
            self._hooks(keys["hooks"])
        settings = keys.get("settings")
        if settings is not None:
            self._settings(settings)
        strict = {"deny", "ask"} & set(keys["permissions"].members if "permissions" in keys else ())
        if strict:
            why = "`permissions` hold in docker-agent alone, not where its hooks run for others"
            hint = "write them as rules in hookline.yaml"
            self._flaw(keys["permissions"].line, why, hint, Voids.NOTHING)
        loose = {k: node for k, node in keys.items() if k in self._known or k in LATER}
        if loose:
            self._hooks(Located(loose, root.line))

    # ── where hooks stand ───────────────────────────────────────────────────────────────────

    def _agents(self, agents: Located) -> None:
        if not agents.members:
            self._flaw(agents.line, "`agents` names no agent", "write `agents:` and `root:` in it")
        names = tuple(agents.members)
        # The agent that a run starts with; whoever is unknown to the file is judged as this one.
        main = "root" if "root" in names else next(iter(names), "")
        for name, agent in agents.members.items():
            self._agent = {"agent": name, "main": name == main, "agents": names}
            self._named = "" if name == main else name
            for event, hook in before_hooks():
                self._add_injected(event, agent.line, hook)
            if "hooks" in agent.members:
                self._hooks(agent.members["hooks"])
            for event, hook in after_hooks(agent):
                self._add_injected(event, agent.line, hook)
        self._agent, self._named = {}, ""

    def _settings(self, settings: Located) -> None:
        if "hooks" in settings.members:
            self._hooks(settings.members["hooks"])
        snapshot = settings.members.get("snapshot")
        if snapshot is not None and snapshot.value is True:
            for event in ("session_start", "turn_start", "turn_end", "session_end"):
                self._add_injected(event, snapshot.line, {"command": "snapshot"})

    def _hooks(self, hooks: Located) -> None:
        if hooks.value is None:
            return
        if not isinstance(hooks.value, dict):
            self._flaw(hooks.line, "`hooks` is no mapping of events", "write `hooks:`, then events")
        for event, node in hooks.members.items():
            unknown = ""
            if event not in self._known and event not in LATER:
                unknown = f"docker-agent has no event `{event[:60]}`"
                self._flaw(node.line, unknown, nearest(event, self._known))
            # Later versions take one mapping for a list of one.
            for item in [node] if node.members else node.items:
                if event in MATCHED or event in LATER:
                    self._group(event, item)
                else:
                    self._flat(event, item, unknown)
            if not isinstance(node.value, dict | list) and node.value is not None:
                self._flaw(node.line, f"`{event}` is no list of hooks", "start each with `- `")

    def _group(self, event: str, item: Located) -> None:
        keys = item.members
        if "hooks" not in keys and "type" in keys:
            why = f"`{event}` takes entries with a matcher, not hooks"
            self._flaw(item.line, why, "put it under `- hooks:`")
            self._hook(event, item, flaw=why)
            return
        for key in keys:
            if key not in ("matcher", PREEMPT, "hooks"):
                self._unknown(item, key, ("matcher", PREEMPT, "hooks"))
        matcher = self._typed(keys.get("matcher"), str, "matcher", "a text")
        preempt = self._typed(keys.get(PREEMPT), bool, PREEMPT, "true or false")
        inner = keys.get("hooks")
        hooks = [] if inner is None else ([inner] if inner.members else inner.items)
        if event in LATER:
            preempt, event = LATER[event], "pre_tool_use"
        if not hooks:
            self._flaw(item.line, f"an entry of `{event}` has no hooks", "add `hooks:` to it")
        for hook in hooks:
            self._hook(
                event,
                hook,
                matcher=matcher,
                group=f"{event}:{item.line}",
                preempt_yolo=bool(preempt) and event == "pre_tool_use",
            )

    def _flat(self, event: str, item: Located, unknown: str) -> None:
        inner = item.members.get("hooks")
        if inner is None:
            self._hook(event, item, flaw=unknown)
            return
        why = f"`{event}` takes hooks, not entries with a matcher"
        self._flaw(item.line, why, "remove `matcher:` and `hooks:` round them")
        for hook in [inner] if inner.members else inner.items:
            self._hook(event, hook, flaw=why)

    # ── one hook ────────────────────────────────────────────────────────────────────────────

    def _hook(
        self,
        event: str,
        node: Located,
        *,
        matcher: str | None = None,
        group: str = "",
        flaw: str = "",
        preempt_yolo: bool = False,
    ) -> None:
        if len(self.entries) >= _MAX_ENTRIES:
            if not self._full:
                self._full = True
                self.entries.append(NativeEntry(event=event, line=node.line, flaw="too many hooks"))
                self._flaw(node.line, f"more than {_MAX_ENTRIES:,} hooks; the rest is left out", "")
            return
        keys = node.members
        for key in keys:
            if key not in _HOOK_KEYS:
                self._unknown(node, key, _HOOK_KEYS)
        texts = {key: self._typed(keys.get(key), str, key, "a text") or "" for key in _TEXTS}
        flaw = flaw or self._wrong(event, node, texts)
        options: dict[str, Any] = dict(self._agent)
        options |= {key: texts[key] for key in ("model", "prompt", "schema") if texts[key]}
        options |= {PREEMPT: True} if preempt_yolo else {}
        options["on_error"] = texts["on_error"] or "warn"
        args = self._strings(keys.get("args"), "args")
        if texts["type"] == "builtin":
            options["with"] = {"args": args}
            if texts["command"] == "unload" and self._models:
                options["with"]["models"] = self._models
        timeout = self._typed(keys.get("timeout"), int, "timeout", "a number of whole seconds")
        self.entries.append(
            NativeEntry(
                event=event,
                type=texts["type"],
                command=texts["command"],
                matcher=matcher,
                timeout=float(timeout) if timeout and timeout > 0 else None,
                directory=texts["working_dir"],
                env=self._env(keys.get("env")),
                name=texts["name"],
                agent="" if event == "subagent_stop" else self._named,
                group=group,
                options=options,
                line=node.line,
                flaw=flaw,
            )
        )

    def _wrong(self, event: str, node: Located, texts: Mapping[str, str]) -> str:
        """Why its loader would not take the hook; said once, and kept with the entry."""
        kind, on_error = texts["type"], texts["on_error"]
        wanted = ("model", "prompt") if kind == "model" else ("command",)
        missing = next((key for key in wanted if not texts[key].strip()), "")
        if not node.members:
            why, hint = f"a hook of `{event}` is no mapping", "write `type:` and `command:`"
        elif not kind:
            why, hint = f"a hook of `{event}` has no `type`", "add `type: command`"
        elif kind not in _TYPES:
            why = f"unsupported hook type `{kind[:60]}`"
            hint = nearest(kind, _TYPES) or f"it is one of {', '.join(_TYPES)}"
        elif missing:
            why, hint = f"a hook of type `{kind}` needs `{missing}`", f"add `{missing}:`"
        elif on_error and on_error not in _ON_ERROR:
            why = f"`on_error` cannot be `{on_error[:60]}`"
            hint = f"it is one of {', '.join(_ON_ERROR)}"
        else:
            self._idle(node, kind)
            return ""
        self._flaw(node.line, why, hint)
        return why

    def _idle(self, node: Located, kind: str) -> None:
        """What is legal but does nothing, there or here."""
        for key in ("working_dir", "env"):
            if kind == "model" and key in node.members:
                why = f"`{key}` has no effect on a hook of type `model`"
                self._flaw(node.members[key].line, why, "remove it", Voids.NOTHING)
        if kind == "command" and "args" in node.members:
            why = "`args` has no effect on a hook of type `command`"
            hint = "write the arguments into `command`"
            self._flaw(node.members["args"].line, why, hint, Voids.NOTHING)

    def _add_injected(self, event: str, line: int, hook: Mapping[str, Any]) -> None:
        args = hook.get("args", ())
        options = {**self._agent, "on_error": "warn", "with": {"args": args}}
        options |= {PREEMPT: True} if hook.get(PREEMPT) else {}
        self.entries.append(
            NativeEntry(
                event=event,
                type="builtin",
                command=hook["command"],
                matcher=hook.get("matcher", _ALL) if event in MATCHED else None,
                agent=self._named,
                options=options,
                line=line,
                implied=bool(hook.get("implied")),
            )
        )

    # ── values ──────────────────────────────────────────────────────────────────────────────

    def _typed(self, node: Located | None, kind: type[Any], key: str, wanted: str) -> Any:
        if node is None or node.value is None:
            return None
        if type(node.value) is kind:
            return node.value
        if kind is str and not isinstance(node.value, dict | list):
            return str(node.value)  # its loader takes a bare number or word for a text
        self._flaw(node.line, f"`{key}` is not {wanted}", f"write {wanted}")
        return None

    def _strings(self, node: Located | None, key: str) -> tuple[str, ...]:
        if node is not None and node.value is not None and not isinstance(node.value, list):
            self._flaw(node.line, f"`{key}` is no list", f"write `{key}: [..]`")
        found = [self._typed(each, str, key, "a text") for each in node.items] if node else []
        return tuple(text for text in found if text is not None)

    def _env(self, node: Located | None) -> dict[str, str]:
        if node is not None and node.value is not None and not isinstance(node.value, dict):
            self._flaw(node.line, "`env` is no mapping", "write `NAME: value` in it")
        found = node.members.items() if node else ()
        return {name: self._typed(each, str, name, "a text") or "" for name, each in found}

    def _unknown(self, node: Located, key: str, known: tuple[str, ...]) -> None:
        line = node.members[key].line
        self._flaw(line, f"docker-agent knows no key `{key[:60]}` here", nearest(key, known))

    def _flaw(self, line: int, what: str, hint: str, voids: Voids = Voids.FILE) -> None:
        message = f"{what}: {_REFUSED}" if voids is Voids.FILE else what
        self.flaws.append(NativeFlaw(line, message, hint, voids))


# ── what the other keys of an agent stand for ────────────────────────────────────────────────


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
