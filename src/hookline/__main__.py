"""``python -m hookline`` and the ``hookline`` program."""

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn

__all__ = ["compile_when_used", "main", "program"]

_OF_A_FUNCTION = 1
"""``inspect.CO_OPTIMIZED``: the code is of a function, and not of a module or a class."""


def main() -> None:
    """Runs the command line; agents' own calls take a path that loads as little as possible."""
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:
        from hookline.cli.hook import main as hook

        sys.exit(hook(sys.argv[2:]))
    if sys.argv[1:3] == ["daemon", "serve"]:
        from hookline.cli._serve import main as serve

        sys.exit(serve(sys.argv[3:]))
    try:
        from hookline.cli._main import run

        run()
    except KeyboardInterrupt:
        sys.exit(130)  # before there was a command that could have been interrupted


def program() -> None:
    """The same for a process that does nothing else."""
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:
        _answer()
    main()


def _answer() -> NoReturn:
    """For a process that is gone before anything would have to be tidied up."""
    import gc
    import os

    gc.disable()
    compile_when_used()
    # msgspec takes it where it is there, and has a use for it under older versions of Python only.
    modules: dict[str, Any] = sys.modules
    modules["typing_extensions"] = None
    with suppress(ImportError):  # which fails again where it is needed, and there a gate is closed
        import msgspec  # noqa: F401 - loaded here for those who use it later
    del modules["typing_extensions"]
    from hookline.cli.hook import main_alone

    code = main_alone(sys.argv[2:])
    # The reply is written and the journal closed; to take every module apart again would cost
    # more than judging the event did.
    os._exit(code)


def compile_when_used() -> None:
    """Puts off the patterns of every module from now on; for a process that answers one event.

    There, most of the time goes into loading. What a module compiles as it is loaded is compiled
    when it is used, which most of it never is. A pattern of a config is compiled by functions, when
    the config is read: nothing of it is put off.
    """
    compiled = re.compile

    def later(*args: Any, **kwargs: Any) -> Any:
        if sys._getframe(1).f_code.co_flags & _OF_A_FUNCTION:
            return compiled(*args, **kwargs)
        return _Later(compiled, args, kwargs)

    vars(re)["compile"] = later


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


if __name__ == "__main__":
    program()
