"""How much work one text may cost to read, however it is written; knows nothing of shells."""

__all__ = ["MAX_STEPS", "Budget", "Exhausted"]

# A step takes a microsecond or two. The largest scripts that a Debian system comes with need half
# of these, and what people type needs a hundredth.
MAX_STEPS = 30_000


class Exhausted(Exception):
    """The text asks for more work than its reading may cost."""


class Budget:
    """The steps left for one text and all the code inside it."""

    __slots__ = ("left",)

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        """Pay before the work is done, so that no single piece of it can be too large."""
        self.left -= steps
        if self.left < 0:
            raise Exhausted
