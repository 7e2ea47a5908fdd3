"""VS Code's hook files, written from entries. It has no matchers: a hook there sees every tool."""

from hookline.dialects._write import JsonWriter

__all__ = ["WRITER", "VSCodeWriter"]


class VSCodeWriter(JsonWriter):
    """Flat entries in a file of their own."""

    path = ".github/hooks/hookline.json"
    says = frozenset({"timeout", "env"})
    windows_keys = ("windows", "powershell")


WRITER = VSCodeWriter()
