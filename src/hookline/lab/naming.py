"""The clients there are drivers for, by name: every module in ``clients`` with a ``CLIENT``."""

from importlib import import_module
from pkgutil import iter_modules

import hookline.lab.clients
from hookline.lab.ports import Client
from hookline.model.errors import UnknownNameError

__all__ = ["client", "client_names"]


def client_names() -> tuple[str, ...]:
    """Every client's name, as people type it."""
    modules = (info.name for info in iter_modules(hookline.lab.clients.__path__))
    return tuple(sorted(name.replace("_", "-") for name in modules if not name.startswith("_")))


def client(name: str) -> Client:
    """The driver of a client. Raises UnknownNameError."""
    if name not in client_names():
        raise UnknownNameError("client", name, client_names())
    module = import_module(f"hookline.lab.clients.{name.replace('-', '_')}")
    found: Client = module.CLIENT
    return found
