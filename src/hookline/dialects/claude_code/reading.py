"""One file of Claude Code's as a whole: its hooks, and what it says about all hooks.

Knows the files' shapes; must not know how hooks run.
"""

import os

from hookline.dialects._located import Located, UnreadableText
from hookline.dialects.claude_code.entries import Reading, read_hooks
from hookline.dialects.claude_code.plugins import plugin_around
from hookline.dialects.claude_code.policy import ClaudeFile
from hookline.model.native import NativeEntry, NativeFlaw, Voids

__all__ = ["MANAGED", "MANAGED_MORE", "read_scoped", "read_settings", "unreadable"]

MANAGED = "managed-settings.json"
MANAGED_MORE = "managed-settings.d"
_HINT = "until it can be read, Claude Code runs nothing of it"


def unreadable(path: str, error: UnreadableText) -> ClaudeFile:
    """A file of which nothing can be read."""
    flaw = NativeFlaw(error.line, error.message, _HINT, Voids.FILE)
    return ClaudeFile(dialect="claude-code", path=path, flaws=(flaw,))


def read_settings(path: str, root: Located, known: frozenset[str]) -> ClaudeFile:
    """A settings file, or a plugin's."""
    folder, name = os.path.split(path)
    is_managed = name == MANAGED or os.path.basename(folder) == MANAGED_MORE
    if name in {"hooks.json", "plugin.json"}:
        plugin = plugin_around(path) or os.path.dirname(folder)
    else:
        is_settings = is_managed or os.path.basename(folder) == ".claude"
        plugin = "" if is_settings else plugin_around(path)
    is_plugin = bool(plugin)
    env = {"CLAUDE_PLUGIN_ROOT": plugin} if is_plugin else {}
    entries: tuple[NativeEntry, ...] = ()
    flaws = _shape(root, is_plugin)
    hooks = root.members.get("hooks")
    if hooks is not None and not flaws:
        entries, flaws = read_hooks(hooks, Reading(known=known, env=env, origin=plugin))
    disables = root.get("disableAllHooks")
    only = next((k for k in _ONLY if is_managed and _locks(root.get(k))), "")
    return ClaudeFile(
        dialect="claude-code",
        path=path,
        entries=entries,
        flaws=tuple(dict.fromkeys(flaws)),
        off="`disableAllHooks` is true" if disables is True else "",
        is_managed=is_managed,
        is_settings=not is_plugin,
        disables=disables if isinstance(disables, bool) and not is_plugin else None,
        only=only,
        urls=_listed(root.get("allowedHttpHookUrls")),
        variables=_listed(root.get("httpHookAllowedEnvVars")),
    )


_ONLY = ("allowManagedHooksOnly", "strictPluginOnlyCustomization")


def _locks(value: object) -> bool:
    return value is True or (isinstance(value, list) and "hooks" in value)


def _listed(value: object) -> tuple[str, ...] | None:
    if not isinstance(value, list):
        return None
    return tuple(each for each in value if isinstance(each, str))


def _shape(root: Located, is_plugin: bool) -> tuple[NativeFlaw, ...]:
    hooks = root.members.get("hooks")
    if not isinstance(root.value, dict):
        return (NativeFlaw(root.line, "the file must hold an object", "", Voids.FILE),)
    if hooks is None or isinstance(hooks.value, dict):
        return ()
    if is_plugin and isinstance(hooks.value, str | list):
        if str(hooks.value).removeprefix("./") == "hooks/hooks.json":
            return ()  # which is read anyway
        message = "`hooks` names further files, which an include does not follow"
        return (NativeFlaw(hooks.line, message, "include those files themselves", Voids.NOTHING),)
    return (NativeFlaw(hooks.line, "`hooks` must be an object of events", "", Voids.FILE),)


def read_scoped(path: str, root: Located, known: frozenset[str]) -> ClaudeFile:
    """An agent's or a skill's front matter."""
    is_agent = "agents" in path.split("/")[:-1]
    stem = os.path.splitext(os.path.basename(path))[0]
    named = root.get("name")
    hooks = root.members.get("hooks")
    reading = Reading(
        known=known,
        origin=path,
        agent=(named if isinstance(named, str) and named else stem) if is_agent else "",
        is_skill=not is_agent,
    )
    shape = _shape(root, is_plugin=False)
    entries, flaws = read_hooks(hooks, reading) if hooks is not None and not shape else ((), shape)
    if entries and not is_agent:
        message = "hooks of a skill run here in every session, not only once it was invoked"
        flaws = (NativeFlaw(entries[0].line, message, "", Voids.NOTHING), *flaws)
    plugin_agent = is_agent and ".claude" not in path.split("/")
    return ClaudeFile(
        dialect="claude-code",
        path=path,
        entries=entries,
        flaws=tuple(dict.fromkeys(flaws)),
        off="agents that a plugin brings may have no hooks" if plugin_agent and entries else "",
        is_settings=False,
    )
