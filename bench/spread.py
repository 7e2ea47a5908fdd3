"""What many timings of one thing come to."""

import statistics
from collections.abc import Sequence

from msgspec import Struct

__all__ = ["Spread", "spread"]


class Spread(Struct, frozen=True, kw_only=True):
    """The middle and the tail, in microseconds."""

    count: int
    p50: float
    p95: float
    p99: float


def spread(samples: Sequence[float]) -> Spread:
    """Of at least two timings."""
    cuts = statistics.quantiles(samples, n=100, method="inclusive")
    return Spread(count=len(samples), p50=statistics.median(samples), p95=cuts[94], p99=cuts[98])
