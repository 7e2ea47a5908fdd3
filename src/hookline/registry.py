"""Parts by name: a dialect is a folder, a handler or builtin a module, a plug-in an entry point.

Nothing registers itself on import and no central list is edited: a new file is found by its name.
"""

import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from hookline.model.derivation import find_coverage
from hookline.model.errors import UnknownNameError
from hookline.model.events import EVENTS
from hookline.model.ports import BuiltinModule, Dialect, HandlerModule, NativeFiles, Transcript
from hookline.model.tools import ToolTable

if TYPE_CHECKING:
    from hookline.model.installing import Installer

__all__ = [
    "builtin",
    "builtin_names",
    "delivered",
    "dialect",
    "dialect_names",
    "handlers",
    "installer",
    "installer_names",
    "list_announcers",
    "native_events",
    "native_files",
    "registrations",
    "tools",
    "transcript",
    "unheard",
]


def _list_modules(package: str) -> list[str]:
    folders = [os.path.abspath(each) for each in import_module(package).__path__]
    if not all(map(os.path.isdir, folders)):  # packed into an archive
        from pkgutil import iter_modules

        return sorted({each.name for each in iter_modules(folders) if each.name[0] != "_"})
    # By hand: pkgutil loads the tools for reading source code.
    found = {_find_module_name(folder, name) for folder in folders for name in os.listdir(folder)}
    return sorted(name for name in found if name and name[0] != "_")


def _find_module_name(folder: str, name: str) -> str:
    if name.endswith(".py"):
        return name.removesuffix(".py")
    return name if os.path.isfile(os.path.join(folder, name, "__init__.py")) else ""


def _load_plugin(kind: str, name: str) -> Any:
    # Reading the metadata of every installed package is slow, so only an unknown name pays it.
    from importlib.metadata import entry_points

    for entry in entry_points(group=f"hookline.{kind}", name=name):
        return entry.load()
    return None


@cache
def handlers() -> Mapping[str, HandlerModule]:
    """Every handler module by name."""
    modules = {
        name: import_module(f"hookline.handlers.{name}")
        for name in _list_modules("hookline.handlers")
    }
    return {name: cast(HandlerModule, module) for name, module in modules.items()}


@cache
def dialect(name: str) -> Dialect:
    """The dialect with this id. Raises UnknownNameError."""
    if name in dialect_names():
        module = import_module(f"hookline.dialects.{name.replace('-', '_')}")
        return cast(Dialect, module.DIALECT)
    found = _load_plugin("dialects", name)
    if found is None:
        raise UnknownNameError("dialect", name, dialect_names())
    return cast(Dialect, found)


@cache
def dialect_names() -> tuple[str, ...]:
    """The ids of all bundled dialects."""
    return tuple(name.replace("_", "-") for name in _list_modules("hookline.dialects"))


@cache
def native_events() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """The platforms' own names of events: for each the canonical events, and who calls it so.

    From the support tables alone: no dialect is loaded.
    """
    from hookline.dialects._support import load_support

    found: dict[str, dict[str, tuple[str, ...]]] = {}
    package = import_module("hookline.dialects").__path__[0]
    for name in dialect_names():
        try:
            support = load_support(os.path.join(package, name.replace("-", "_"), "__init__.py"))
        except FileNotFoundError:
            continue  # the canonical one has no names of its own
        for native, row in support.events.items():
            dialects = found.setdefault(native, {})
            dialects[row.event] = (*dialects.get(row.event, ()), name)
    return found


@cache
def native_files() -> Mapping[str, NativeFiles]:
    """The hook files of every platform that has any, by dialect."""
    found = {}
    for name in dialect_names():
        package = f"hookline.dialects.{name.replace('-', '_')}"
        if find_spec(f"{package}.files") is not None:
            found[name] = cast(NativeFiles, import_module(f"{package}.files").FILES)
    return found


def tools(name: str) -> ToolTable:
    """The tool table of a dialect."""
    return dialect(name).tools


@cache
def transcript(name: str) -> Transcript | None:
    """How the client of a dialect writes down its sessions; None where that is not known."""
    package = f"hookline.dialects.{name.replace('-', '_')}"
    if name not in dialect_names() or find_spec(f"{package}.transcript") is None:
        return None
    return cast(Transcript, import_module(f"{package}.transcript").TRANSCRIPT)


@cache
def installer(name: str) -> "Installer":
    """What writes hookline into this platform's settings. Raises UnknownNameError."""
    if name in installer_names():
        module = import_module(f"hookline.dialects.{name.replace('-', '_')}.install")
        return cast("Installer", module.INSTALLER)
    found = _load_plugin("installers", name)
    if found is None:
        raise UnknownNameError("platform with an installer", name, installer_names())
    return cast("Installer", found)


@cache
def installer_names() -> tuple[str, ...]:
    """The ids of all bundled dialects whose settings hookline can be written into."""
    folders = ((name, name.replace("-", "_")) for name in dialect_names())
    return tuple(
        name for name, folder in folders if find_spec(f"hookline.dialects.{folder}.install")
    )


@cache
def unheard(name: str) -> Mapping[str, str]:
    """The native events of a platform on which hookline is not installed, and why."""
    if name not in installer_names():
        return {}
    chosen, left_out = installer(name).events(), installer(name).left_out
    other = "it is installed on another name of the same event"
    native = dialect(name).support.events
    return {each: left_out.get(each, other) for each in native if each not in chosen}


@cache
def delivered(name: str) -> frozenset[str]:
    """The canonical events that fire, derived ones too, where hookline is installed."""
    support = dialect(name).support
    return frozenset(e for e in EVENTS if find_coverage(e, support, unheard(name)).fires)


@cache
def builtin(name: str) -> BuiltinModule:
    """The builtin with this name, written with ``-`` or ``_``. Raises UnknownNameError."""
    if name.replace("_", "-") in builtin_names():
        return cast(BuiltinModule, import_module(f"hookline.builtin.{name.replace('-', '_')}"))
    found = _load_plugin("builtin", name)
    if found is None:
        raise UnknownNameError("builtin", name, builtin_names())
    return cast(BuiltinModule, found)


def registrations() -> Any:
    """Takes functions of BaseCoat's contract, which programs register, and has hooks of them."""
    return import_module("hookline.dialects.basecoat.registering").Registry()


@cache
def list_announcers() -> Mapping[str, tuple[str, ...]]:
    """The events that builtins of other packages announce, and which do."""
    from importlib.metadata import entry_points

    found: dict[str, tuple[str, ...]] = {}
    for entry in entry_points(group="hookline.builtin"):
        for event in getattr(entry.load(), "FIRES", ()):
            found[event] = (*found.get(event, ()), entry.name)
    return found


@cache
def builtin_names() -> tuple[str, ...]:
    """The names of all bundled builtins."""
    return tuple(name.replace("_", "-") for name in _list_modules("hookline.builtin"))
