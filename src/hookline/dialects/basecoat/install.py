"""BaseCoat's hooks.json: where runtimes that follow it look, and our entries in it."""

from collections.abc import Mapping
from typing import ClassVar

from hookline.dialects._native import JsonDialect
from hookline.dialects._spoken import SpokenSettings
from hookline.dialects.basecoat import DIALECT
from hookline.model.installing import Call, Scope

__all__ = ["INSTALLER", "BaseCoatHooks"]

# Above every priority in the specification: what is judged last is what runs.
_LAST = 100


class BaseCoatHooks(SpokenSettings):
    """``hooks.json`` of a project; the specification has no place for a person's own.

    A hook that fails is passed over there, so refusals are said. Nothing is known of any runtime.
    """

    id = "basecoat"
    support = DIALECT.support
    codec: ClassVar[JsonDialect] = DIALECT
    scopes = (Scope.PROJECT,)
    grouped = False
    frame: ClassVar[Mapping[str, object]] = {"version": 1}
    commands = ("bash", "command")
    timeout_key = "timeoutSec"
    project_file = "hooks.json"
    # The longest in its own packs: runtimes expect seconds, not minutes.
    default_timeout = 30

    def handler(self, event: str, call: Call) -> Mapping[str, object]:
        """As everywhere, after all others."""
        return {**super().handler(event, call), "priority": _LAST}


INSTALLER = BaseCoatHooks()
