"""What one file may rewrite of what another has rewritten, and what no project may.

Guards judge rewritten input again, so no rewrite of it passes them. Output, prompts and the rest
have no guards: there the higher layer has the last word.
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from hookline.model.answers import Rewrite
from hookline.model.errors import HandlerAnswerError
from hookline.model.hook import Hook
from hookline.model.outcome import Substitution
from hookline.model.variables import loads_code

__all__ = ["Held", "check_env"]


class Held:
    """Who has rewritten what so far; a hook of a lower layer cannot take it back."""

    __slots__ = ("_by",)

    def __init__(self) -> None:
        self._by: dict[str, Hook] = {}

    def over(self, rewrite: Rewrite, hook: Hook) -> tuple[Rewrite, list[Substitution]]:
        """As much of a rewrite as this hook may do, and what became of the rest."""
        kept: dict[str, Any] = {}
        changed: list[Substitution] = []
        for part in rewrite.parts():
            if part == "input":
                continue
            if part == "env":
                kept[part] = self._variables(rewrite, hook, changed)
            elif not self._may(part, hook, changed):
                kept[part] = None
        return (replace(rewrite, **kept) if kept else rewrite), changed

    def _variables(
        self, rewrite: Rewrite, hook: Hook, changed: list[Substitution]
    ) -> dict[str, Any] | None:
        env = rewrite.env or {}
        return {name: env[name] for name in env if self._may(f"env.{name}", hook, changed)} or None

    def _may(self, part: str, hook: Hook, changed: list[Substitution]) -> bool:
        other = self._by.setdefault(part, hook)
        if other.source.layer >= hook.source.layer:
            self._by[part] = hook
            return True
        changed.append(
            Substitution(
                f"rewrite of {part} by `{hook.name}`",
                f"rewrite of {part} by `{other.name}`",
                f"{other.source} outranks {hook.source}",
            )
        )
        return False


def check_env(variables: Iterable[str]) -> None:
    """Raises HandlerAnswerError for a variable by which a project would choose what runs."""
    names = [name for name in variables if loads_code(name)]
    if names:
        raise HandlerAnswerError(
            f"`rewrite.env` sets {', '.join(names)}, which chooses code that programs load; "
            "only the user's own config may"
        )
