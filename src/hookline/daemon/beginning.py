"""When this process began: deadlines count from there, and not from when Python was ready."""

import os
import time

__all__ = ["started"]


def started() -> float:
    """When this process was started, by the monotonic clock; now, where nobody tells."""
    now = time.monotonic()
    try:
        with open("/proc/self/stat", "rb") as file:
            # The name of the program comes before, in brackets, and may hold anything.
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except Exception:  # whatever it is, no answer depends on it
        return now
    return now - max(age, 0.0)
