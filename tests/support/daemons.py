"""Ends the daemons that tests have started."""

import os
import signal
from contextlib import suppress
from select import select

from hookline import __version__
from hookline.daemon.instance import find_holder

__all__ = ["end_daemon"]


def end_daemon(home: str) -> None:
    """Ends the daemon of a state directory, and waits until it is gone."""
    found = find_holder(home, __version__)
    if found is None:
        return
    with suppress(ProcessLookupError):
        watch = os.pidfd_open(found.pid)
        try:
            signal.pidfd_send_signal(watch, signal.SIGKILL)
            select([watch], [], [], 10)
        finally:
            os.close(watch)
