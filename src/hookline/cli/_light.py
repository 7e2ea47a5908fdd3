"""Loads the libraries that every event needs, without what they load for others.

For a process that answers one event and ends: there, most of the time goes into loading. Patterns
that a library compiles for itself are compiled when they are used, which they are not here. No
pattern of ours or of a config is touched by this.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["load_libraries"]


def load_libraries() -> None:
    """Loads what reads payloads and configs. To be called before anything else is loaded.

    Whatever fails here fails again where it is needed, and there a gate is closed for it.
    """
    with suppress(Exception), _patterns_later():
        with _absent("typing_extensions"):  # only of use to older versions of Python
            import msgspec  # noqa: F401 - loaded here for those who use it later
        import yaml  # noqa: F401 - as above


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


@contextmanager
def _patterns_later() -> Iterator[None]:
    compiled = re.compile

    def later(*args: Any, **kwargs: Any) -> Any:
        return _Later(compiled, args, kwargs)

    vars(re)["compile"] = later
    try:
        yield
    finally:
        vars(re)["compile"] = compiled


class _Later:
    """A pattern, compiled when something of it is asked for."""

    def __init__(self, compiled: Callable[..., Any], args: Any, kwargs: Any) -> None:
        self._make = compiled, args, kwargs

    def __getattr__(self, name: str) -> Any:
        compiled, args, kwargs = self._make
        pattern = compiled(*args, **kwargs)  # kept by `re` itself
        return getattr(pattern, name)
