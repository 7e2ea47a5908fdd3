"""``python -m hookline`` and the ``hookline`` program."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import NoReturn

__all__ = ["main", "program"]


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


def _answer() -> "NoReturn":
    """For a process that is gone before anything would have to be tidied up."""
    import gc
    import os

    gc.disable()
    from hookline.cli._light import compile_when_used, load_libraries

    compile_when_used()
    load_libraries()
    from hookline.cli.hook import alone

    code = alone(sys.argv[2:])
    # The reply is written and the journal closed; to take every module apart again would cost
    # more than judging the event did.
    os._exit(code)


if __name__ == "__main__":
    program()
