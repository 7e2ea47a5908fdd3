"""Loads the libraries that every event needs, without what they load for others.

For a process that answers one event and ends: there, most of the time goes into loading. What a
module compiles as it is loaded is compiled when it is used, which most of it never is here. A
pattern of a config is compiled by functions, when the config is read: nothing of it is put off.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["compile_when_used", "load_libraries"]

_OF_A_FUNCTION = 1
"""``inspect.CO_OPTIMIZED``: the code is of a function, and not of a module or a class."""
_SELDOM_USED: Mapping[str, Sequence[str]] = {
    "msgspec._json_schema": ("schema", "schema_components"),
    "msgspec.inspect": (),
    "msgspec.msgpack": (),
    "msgspec.toml": (),
    "msgspec.yaml": (),
    # Grammars have their queries from it, of which we ask none.
    "importlib.resources": ("files",),
}
"""Parts of libraries, and those functions of them that others take as they are loaded."""


def compile_when_used() -> None:
    """Puts off the patterns of every module from now on; for a process that does nothing else."""
    compiled = re.compile

    def later(*args: Any, **kwargs: Any) -> Any:
        if sys._getframe(1).f_code.co_flags & _OF_A_FUNCTION:
            return compiled(*args, **kwargs)
        return _Later(compiled, args, kwargs)

    vars(re)["compile"] = later


def load_libraries() -> None:
    """Loads what reads payloads and configs. To be called before anything else is loaded.

    Whatever fails here fails again where it is needed, and there a gate is closed for it.
    """
    with suppress(Exception):
        for name, functions in _SELDOM_USED.items():
            sys.modules.setdefault(name, _Unloaded(name, functions))
        with _absent("typing_extensions"):  # only of use to older versions of Python
            import msgspec  # noqa: F401 - loaded here for those who use it later
        import yaml  # noqa: F401 - as above
    with suppress(Exception):
        _load_hashes()


def _load_hashes() -> None:
    """Python's own: to load those of OpenSSL, with all its ciphers, takes longer than all of them.

    Where Python was built without, they are loaded as ever with the first that needs one.
    """
    own = ("_sha2",) if sys.version_info >= (3, 12) else ("_sha256", "_sha512")
    for name in ("_md5", "_sha1", *own, "_sha3", "_blake2"):
        import_module(name)
    with _absent("_hashlib"):
        import hashlib  # noqa: F401 - loaded here for those who use it later
        import hmac  # noqa: F401 - as above


@contextmanager
def _absent(name: str) -> Iterator[None]:
    if name in sys.modules:
        yield
        return
    modules: dict[str, Any] = sys.modules
    modules[name] = None
    try:
        yield
    finally:
        del modules[name]


class _Unloaded(ModuleType):
    """A part of a library, loaded when something of it is asked for or one of these is called."""

    def __init__(self, name: str, functions: Sequence[str]) -> None:
        super().__init__(name)
        package, _, own = name.rpartition(".")
        if package in sys.modules:
            setattr(sys.modules[package], own, self)
            # Where parts of a part are found; where there are none, nobody looks.
            self.__path__ = [f"{each}/{own}" for each in sys.modules[package].__path__]
        vars(self).update({each: partial(self._call, each) for each in functions})

    def _load(self) -> ModuleType:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        loaded = import_module(self.__name__)
        for name, part in vars(self).items():
            if isinstance(part, ModuleType):  # loaded before, and nobody else's to know of
                vars(loaded).setdefault(name, part)
        return loaded

    def _call(self, function: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(self._load(), function)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # as the import system asks of any module
            raise AttributeError(name)
        return getattr(self._load(), name)


class _Later:
    """A pattern, compiled when something of it is asked for."""

    def __init__(self, compiled: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self._make = compiled, args, kwargs

    @property  # type: ignore[misc]  # nobody sets it
    def __class__(self) -> Any:
        """What ``re`` goes by when it is given a pattern in place of a text."""
        return re.Pattern

    def __getattr__(self, name: str) -> Any:
        compiled, args, kwargs = self._make
        pattern = compiled(*args, **kwargs)  # kept by `re` itself
        found = vars(self)[name] = getattr(pattern, name)
        return found
