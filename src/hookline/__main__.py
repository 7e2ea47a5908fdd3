"""``python -m hookline`` and the ``hookline`` program."""

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line; agents' own calls take a path that loads as little as possible."""
    if sys.argv[1:2] == ["hook"] and "--help" not in sys.argv:
        from hookline.cli.hook import main as hook

        sys.exit(hook(sys.argv[2:]))
    if sys.argv[1:3] == ["daemon", "serve"]:
        from hookline.cli._serve import main as serve

        sys.exit(serve(sys.argv[3:]))
    from hookline.cli._main import run

    run()


if __name__ == "__main__":
    main()
