"""docker-agent's hook files: agents' YAML, global hooks, drop-in files and command-line flags.

Its loader refuses a file for a single unknown key; pre_tool_use fails closed, the rest open.
"""

import os
from collections.abc import Sequence

from msgspec.structs import replace

from hookline.dialects._files import Files
from hookline.dialects._located import Located, UnreadableText
from hookline.dialects._patterns import is_pattern, whole
from hookline.dialects.docker_agent import DIALECT
from hookline.dialects.docker_agent.answers import PREEMPT, PREEMPT_LANE
from hookline.dialects.docker_agent.reading import LATER, MATCHED, Reader
from hookline.dialects.docker_agent.yamltext import parse_yaml
from hookline.model.events import Event, ToolEvent
from hookline.model.hook import (
    DEFAULT_PRIORITY,
    HandlerSpec,
    Hook,
    Lane,
    Layer,
    OnError,
    Start,
)
from hookline.model.native import NativeEntry, NativeFile, NativeFlaw, NativePlace, Voids, Where
from hookline.model.tools import Tool

__all__ = ["FILES", "DockerAgentFiles"]

_YAML = (".yaml", ".yml")
_DROP_INS = "hooks.d"
_FLAGS = {
    "--hook-pre-tool-use": "pre_tool_use",
    "--hook-post-tool-use": "post_tool_use",
    "--hook-session-start": "session_start",
    "--hook-session-end": "session_end",
    "--hook-on-user-input": "on_user_input",
    "--hook-stop": "stop",
}
_WHOSE = {"agent", "main", "agents"}
# The lane before all approval is a key of an entry, not an event.
_EVENTS = {name: row for name, row in DIALECT.support.events.items() if name != PREEMPT_LANE}
_OWN = _EVENTS.keys() | LATER.keys()
# A failed hook can block only where an answer could have.
_BLOCKED = {
    *("permission_request", "post_tool_use", "user_prompt_submit", "worktree_create"),
    *("user_steering_messages_submit", "user_followup_submit", "before_llm_call"),
    *("pre_compact", "before_compaction"),
}
# Hooks that rewrite the same thing run one after another, or one would undo what another redacted.
_CHAINED = {"pre_tool_use", "tool_response_transform", "before_llm_call"}
# How a model's answer is read, by the schema that a hook names.
_FORMS = {"": "text", "pre_tool_use_decision": "decision"}
# The person's own shell; one that is no absolute path could be anything.
_SHELL = 'case "${SHELL-}" in /*) ;; *) SHELL=/bin/sh ;; esac; exec "$SHELL" -c "$1"'


class DockerAgentFiles(Files):
    """The hook files of docker-agent."""

    codec = DIALECT
    default_timeout = 60.0
    run_by = frozenset({"docker-agent"})

    # ── where ───────────────────────────────────────────────────────────────────────────────

    def owns(self, path: str, content: bytes) -> bool:
        """YAML with agents, or with hooks by docker-agent's events: ours has a list of hooks."""
        if not path.endswith(_YAML):
            return False
        try:
            keys = parse_yaml(content).members
        except UnreadableText:
            return os.path.basename(os.path.dirname(path)) == _DROP_INS
        settings = keys.get("settings", Located(None, 0)).members
        hooks = [keys.get("hooks"), settings.get("hooks")]
        return (
            bool(keys.get("agents", Located(None, 0)).members)
            or any(each is not None and each.members.keys() & _OWN for each in hooks)
            or (bool(keys) and keys.keys() <= _OWN)
        )

    def members(self, directory: str, names: Sequence[str]) -> Sequence[str] | None:
        """The drop-in files, or the one settings file of its config directory."""
        folder = os.path.basename(directory.rstrip("/"))
        if folder == _DROP_INS:
            return sorted(name for name in names if name.endswith(_YAML))
        if folder == "cagent":
            return [name for name in names if name == "config.yaml"]
        return None

    def places(self, where: Where) -> Sequence[NativePlace]:
        """Its global hooks. An agent's own file is whichever the person names, and comes first."""
        named = ("DOCKER_AGENT_CONFIG_DIR", "CAGENT_CONFIG_DIR")
        default = os.path.join(where.home, ".config", "cagent")
        folder = next((where.env[name] for name in named if where.env.get(name)), default)
        return [
            NativePlace(path=os.path.join(folder, name), layer=Layer.USER, scope="user")
            for name in ("config.yaml", _DROP_INS)
        ]

    # ── what stands in them ─────────────────────────────────────────────────────────────────

    def read(self, path: str, content: bytes) -> NativeFile:
        """What stands in a file; one that its loader refuses still shows what is in it."""
        reader = Reader(_EVENTS)
        try:
            reader.read(parse_yaml(content))
        except UnreadableText as error:
            message = f"{error.message}: docker-agent does not load the file"
            flaw = NativeFlaw(error.line, message, "correct the YAML", Voids.FILE)
            return NativeFile(dialect=self.dialect, path=path, flaws=(flaw,))
        flaws = [*reader.flaws, *(flaw for each in reader.entries for flaw in _dropped(each))]
        return NativeFile(
            dialect=self.dialect,
            path=path,
            entries=tuple(reader.entries),
            flaws=tuple(sorted(set(flaws), key=lambda flaw: (flaw.line, flaw.message))),
        )

    def flags(self, arguments: Sequence[str]) -> NativeFile:
        """The hooks in ``docker agent run``'s arguments, which follow those of all files."""
        entries: list[NativeEntry] = []
        flaws: list[NativeFlaw] = []
        rest = iter(arguments)
        for argument in rest:
            flag, has_value, value = argument.partition("=")
            if not flag.startswith("--hook-"):
                continue
            command = value if has_value else next(rest, None)
            if flag not in _FLAGS or command is None:
                why = f"no flag is called `{flag}`" if flag not in _FLAGS else f"`{flag}` is empty"
                hint = f"known: {', '.join(_FLAGS)}" if flag not in _FLAGS else "add a command"
                flaws.append(NativeFlaw(0, why, hint, Voids.FILE))
            elif command.strip():
                event = _FLAGS[flag]
                matcher = "*" if event in MATCHED else None
                entries.append(NativeEntry(event=event, command=command, matcher=matcher))
        path = "docker agent run"
        return NativeFile(
            dialect=self.dialect, path=path, entries=tuple(entries), flaws=tuple(flaws)
        )

    # ── its rules ───────────────────────────────────────────────────────────────────────────

    def canonical(self, native: str) -> tuple[str, ...]:
        """One event tells of success and failure here."""
        events = super().canonical(native)
        return (*events, "post_tool_use_failure") if native == "post_tool_use" else events

    def native(self, entry: NativeEntry) -> str:
        """The lane before all approval is read in its own way."""
        return PREEMPT_LANE if entry.options.get(PREEMPT) else entry.event

    def matches(self, entry: NativeEntry, event: Event) -> bool:
        """The whole name of the tool, in docker-agent's own words or in those of its MCP tools."""
        if not _is_for(entry, event):
            return False
        pattern = entry.matcher
        if pattern in {None, "", "*"} or not isinstance(event, ToolEvent):
            return True
        return any(whole(pattern or "", name) for name in self._names(event.tool))

    def _names(self, tool: Tool) -> set[str]:
        names = {self.codec.native_tool(tool)}
        if tool.mcp is not None:
            server, name = tool.mcp.server, tool.mcp.tool
            names |= {f"mcp:{server}:{name}", f"mcp__{server}__{name}", f"{server}_{name}"}
        return names

    def on_error(self, entry: NativeEntry) -> OnError:
        """A failed pre_tool_use hook denies whatever it says itself."""
        if entry.event == "pre_tool_use":
            return OnError.BLOCK
        word = OnError(entry.options.get("on_error", "warn")) if not entry.flaw else OnError.WARN
        return OnError.WARN if word is OnError.BLOCK and entry.event not in _BLOCKED else word

    def lane(self, entry: NativeEntry, entries: Sequence[NativeEntry]) -> Lane | None:
        """Side by side, but for those that rewrite; of summaries the first counts."""
        if entry.event == "before_compaction":
            return Lane(name="docker-agent before_compaction", first_rewrites=True)
        if entry.event not in _CHAINED or entry.options.get(PREEMPT):
            return None
        return Lane(name=f"docker-agent {entry.event}", piped=True)

    def start(self, entry: NativeEntry) -> Start:
        """In the shell of whoever runs the agent, where the agent works."""
        return Start(
            interpreter=("/bin/sh", "-c", _SHELL, "sh"),
            directory=entry.directory,
            in_cwd=not entry.directory,
            variables=entry.env,
        )

    def handler(self, entry: NativeEntry) -> HandlerSpec:
        """As everywhere, and a model for hooks that ask one."""
        if entry.type != "model" or entry.flaw:
            return super().handler(entry)
        schema, model = entry.options.get("schema", ""), entry.options["model"]
        if schema not in _FORMS:
            why = f"no schema is called `{schema[:60]}`; there is `pre_tool_use_decision`"
            return HandlerSpec("native", {"why": why})
        native = {
            "form": _FORMS[schema],
            "prompt": entry.options["prompt"],
            "model": model,
            "names": (model,),
        }
        return HandlerSpec("judge", {"judge": {"model": model}, "native": native})

    def twin(self, entry: NativeEntry) -> object:
        """The same definition on the same lane runs once, whichever files and agents have it."""
        options = tuple(sorted((k, repr(v)) for k, v in entry.options.items() if k not in _WHOSE))
        env = tuple(sorted(entry.env.items()))
        said = (entry.type, entry.command, entry.name, entry.directory, entry.timeout, entry.flaw)
        return (said, env, options)

    def hooks(
        self, files: Sequence[NativeFile], *, layer: Layer, project_dir: str
    ) -> tuple[Hook, ...]:
        """In order, but that a deny before all approval leaves the others unasked."""
        found = super().hooks(files, layer=layer, project_dir=project_dir)
        return tuple(
            replace(hook, priority=DEFAULT_PRIORITY - 1) if hook.native == PREEMPT_LANE else hook
            for hook in found
        )


def _is_for(entry: NativeEntry, event: Event) -> bool:
    """Whether the acting agent is the entry's; one that the file does not know is its main one."""
    name = entry.options.get("agent")
    if name is None:
        return True
    if event.event_id() == "subagent_stop":
        # A finished child is told of to its parent, whose name nobody says.
        return name != event.agent.name or len(entry.options["agents"]) == 1
    unknown = event.agent.name not in entry.options["agents"]
    return event.agent.name == name or (unknown and bool(entry.options["main"]))


def _dropped(entry: NativeEntry) -> list[NativeFlaw]:
    pattern = entry.matcher
    if pattern in {None, "", "*"} or is_pattern(pattern or ""):
        return []
    why = f"the matcher `{(pattern or '')[:60]}` is no regex, so its hooks never run"
    return [NativeFlaw(entry.line, why, "correct the regex")]


FILES = DockerAgentFiles()
