"""What splitting a text leaves behind."""

import gc

from hookline.shell import split
from hookline.shell.script import Command, Script
from hookline.shell.texts import TextReader

TEXT = 'for f in $(ls | head); do X=1 echo "$f `id`" > "$f" < in; done; set -- a; f() { :; }'


def alive() -> int:
    """How much of what is made while reading is still there."""
    return sum(isinstance(each, Command | Script | TextReader) for each in gc.get_objects())


def test_nothing_that_was_read_needs_the_collector_to_go() -> None:
    gc.disable()
    try:
        counts = []
        for turn in range(2):
            for number in range(1100):  # more than are remembered
                split(f"{TEXT} # {turn} {number}")
            counts.append(alive())
        assert counts[1] <= counts[0]
    finally:
        gc.enable()
