"""The words of Claude Code's events where other platforms have words of their own."""

from collections.abc import Mapping

from hookline.model.events import Event

__all__ = ["native_word"]

# Native event → the field, the words it may hold, and the one that stands for all others.
_WORDS: Mapping[str, tuple[str, frozenset[str], str]] = {
    "SessionStart": (
        "source",
        frozenset({"startup", "resume", "clear", "compact", "fork"}),
        "startup",
    ),
    "SessionEnd": (
        "reason",
        frozenset({"clear", "resume", "logout", "prompt_input_exit", "other"}),
        "other",
    ),
    "Setup": ("trigger", frozenset({"init", "maintenance"}), "init"),
    "PreCompact": ("trigger", frozenset({"manual", "auto"}), "auto"),
    "PostCompact": ("trigger", frozenset({"manual", "auto"}), "auto"),
}
# Gemini CLI's one word for what is asked of a person.
_KINDS = {"ToolPermission": "permission_prompt"}


def native_word(native: str, event: Event) -> tuple[str, str] | None:
    """The field and Claude Code's word in it, for fields whose words are known."""
    if native == "Notification":
        kind = getattr(event, "kind", "")
        return "kind", _KINDS.get(kind, kind)
    row = _WORDS.get(native)
    if row is None:
        return None
    field, words, default = row
    said = getattr(event, field, "")
    return field, said if said in words else default
