"""BaseCoat's ``hooks.json``, written from entries."""

from hookline.dialects._write import JsonWriter

__all__ = ["WRITER", "BaseCoatWriter"]


class BaseCoatWriter(JsonWriter):
    """Flat entries with a priority; there are no matchers."""

    path = "hooks.json"
    says = frozenset({"timeout", "env", "priority"})
    heeds = frozenset({"shell"})
    version = 1
    timeout_key = "timeoutSec"


WRITER = BaseCoatWriter()
