"""Runs one child process for an asyncio caller, bounded in time and output."""

from hookline.processes.run import Finished, run, run_behind
from hookline.processes.start import CannotStart
from hookline.processes.strays import guard_runs

__all__ = ["CannotStart", "Finished", "guard_runs", "run", "run_behind"]
