"""Run as ``PYTHON -I -S -E thin.py PYTHON hook DIALECT …`` where no C compiler was.

Python compiles the script that it is given anew each time, and that is a third of what a small
program costs. So this one only imports the client, which is compiled once.
"""

import posix
import sys

__all__: list[str] = []

if __name__ == "__main__":
    sys.path.insert(0, __file__.rpartition("/")[0])
    import thin_ask  # type: ignore[import-not-found]  # by its place, not as a part of hookline

    # Without the interpreter's own farewell: nothing of ours is left to be flushed or freed.
    posix._exit(thin_ask.main())
