"""What Claude Code's settings files decide for each other: switches, lists and time.

Knows what is read together; must not know how an entry was written or how it runs.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from hookline.model.native import NativeEntry, NativeFile

__all__ = ["ClaudeFile", "in_force"]

_DEFAULTS = {"prompt": 30.0, "agent": 60.0}
_EVENT_DEFAULTS = {
    "UserPromptSubmit": 30.0,
    "PreModelSwitch": 30.0,
    "PostModelSwitch": 30.0,
    "MessageDisplay": 10.0,
}
_ELSE = 600.0
# All hooks of a session's end share this, unless a settings file asks for more.
_END, _LONGEST_END = 1.5, 60.0
_VARIABLE = re.compile(r"\$\{(\w+)\}|\$(\w+)")


class ClaudeFile(NativeFile, frozen=True, kw_only=True):
    """A file of Claude Code's, with what it says beside its hooks."""

    is_managed: bool = False
    is_settings: bool = True
    disables: bool | None = None
    """``disableAllHooks``; None when it says nothing."""
    only: str = ""
    """A managed switch that leaves nothing of the other settings files, by its name."""
    urls: tuple[str, ...] | None = None
    variables: tuple[str, ...] | None = None


def in_force(files: Sequence[NativeFile]) -> list[NativeFile]:
    """The files with what still runs in them; what counts first comes first."""
    own = [file for file in files if isinstance(file, ClaudeFile)]
    budget = _end_budget(own)
    urls, variables = _joined(file.urls for file in own), _joined(file.variables for file in own)
    return [
        replace(
            file,
            off=_off(file, own),
            entries=tuple(
                _filled(_allowed(entry, urls, variables), budget) for entry in file.entries
            ),
        )
        if isinstance(file, ClaudeFile)
        else file
        for file in files
    ]


def _off(file: ClaudeFile, files: Sequence[ClaudeFile]) -> str:
    """Why nothing of a file runs. Only a managed file switches off what is managed."""
    managed = [each for each in files if each.is_managed]
    says = [each for each in (*managed, *files) if each.disables is not None]
    if file.is_managed:
        says = [each for each in says if each.is_managed]
    else:
        only = next((each for each in managed if each.only), None)
        spared = only is not None and only.only != "allowManagedHooksOnly" and not file.is_settings
        if only is not None and not spared:
            return f"`{only.only}` in {only.path}"
    if says and says[0].disables:
        return f"`disableAllHooks` in {says[0].path}"
    return file.off if not file.disables else ""


def _joined(lists: Iterable[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    given = [each for each in lists if each is not None]
    return tuple(text for each in given for text in each) if given else None


def _allowed(
    entry: NativeEntry, urls: tuple[str, ...] | None, variables: tuple[str, ...] | None
) -> NativeEntry:
    """An http hook within what the settings allow, its headers in our own spelling."""
    if entry.type != "http" or entry.flaw:
        return entry
    if urls is not None and not any(_is_like(url, entry.url) for url in urls):
        return replace(entry, flaw="`allowedHttpHookUrls` does not list its address")
    granted = set(entry.options.get("allowedEnvVars", ()))
    if variables is not None:
        granted &= set(variables)

    def spelled(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        return f"${{{name}}}" if name in granted else ""

    headers = entry.options.get("headers", {})
    ours = {name: _VARIABLE.sub(spelled, text) for name, text in headers.items()}
    return replace(entry, options={**entry.options, "headers": ours})


def _is_like(pattern: str, url: str) -> bool:
    """Whether a text with ``*`` in it stands for the whole of another."""
    first, *rest = pattern.split("*")
    if not rest:
        return url == pattern
    if not url.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        found = url.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return len(url) >= at + len(rest[-1]) and url.endswith(rest[-1])


def _end_budget(files: Sequence[ClaudeFile]) -> float:
    asked = [
        entry.timeout
        for file in files
        if file.is_settings
        for entry in file.entries
        if entry.event == "SessionEnd" and entry.timeout
    ]
    return min(_LONGEST_END, max([_END, *asked]))


def _filled(entry: NativeEntry, end_budget: float) -> NativeEntry:
    """With the time it has, where the file does not say."""
    if entry.event == "SessionEnd":
        return replace(entry, timeout=min(entry.timeout or end_budget, end_budget))
    default = _DEFAULTS.get(entry.type) or _EVENT_DEFAULTS.get(entry.event, _ELSE)
    return replace(entry, timeout=entry.timeout or default)
