"""What agents start for each event: the thin clients, and which of them is the fastest here.

``client.c`` and its parts are compiled when hookline is installed, where there is a compiler;
``thin.py`` keeps the same rules in Python for everywhere else. Neither imports hookline.
"""

import os.path

from hookline._version import __version__

__all__ = ["PROGRAM", "fastest"]

_HERE = os.path.dirname(__file__)
PROGRAM = os.path.join(os.path.dirname(_HERE), "_bin", "hookline-client")
SCRIPT = os.path.join(_HERE, "thin.py")


def fastest(python: str) -> tuple[str, ...]:
    """The words that call the fastest client here; ``hook DIALECT …`` comes after them.

    ``python`` is the absolute path of the interpreter that has hookline: every client starts it
    when no daemon answers.
    """
    if _runs(PROGRAM):
        return (PROGRAM, python)
    return (python, "-I", "-S", "-E", SCRIPT, python)


def _runs(program: str) -> bool:
    """Whether it can be run here, and is of our version: one of another finds no daemon of ours."""
    import subprocess

    try:
        done = subprocess.run(  # noqa: S603 - the path is ours
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return done.returncode == 0 and done.stdout == f"{__version__}\n".encode()
