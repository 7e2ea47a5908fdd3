"""Every test starts as on a clean machine: no agent around it, an empty home, nothing of ours set."""

import itertools
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Test modules are imported by file (--import-mode=importlib), so they need a road to `support`.
sys.path.insert(0, str(Path(__file__).parent))

from hookline.cli import _terminal
from support.daemons import end_daemon
from support.person import alone

# Whoever started the tests may be deaf to a hang-up, as under nohup, or to an interrupt, as in the
# background of a script; what we test must not be.
signal.signal(signal.SIGHUP, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples are judged by their result. How long one takes says more about the machine's other
# tenants than about us.
settings.register_profile(
    "hookline", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("hookline")

# What agents set for the programs they start, and what steers ourselves.
_FOREIGN = (
    "HOOKLINE_",
    "CLAUDE",
    "CODEX_",
    "COPILOT_",
    "CURSOR_",
    "GEMINI_",
    "OPENCODE",
    "KODELET_",
    "AI_AGENT",
    "AGENT",
    "PI_",
)
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def _homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def _clean_machine(_homes: Path) -> Iterator[None]:
    """An environment of the test's own, with a home that nobody has used."""
    home = _homes / str(next(_numbers))
    home.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(_FOREIGN)]:
            patch.delenv(name)
        patch.setenv("HOME", str(home))
        patch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
        patch.setenv("XDG_STATE_HOME", str(home / ".local/state"))
        patch.setenv("XDG_DATA_HOME", str(home / ".local/share"))
        patch.setenv("XDG_CACHE_HOME", str(home / ".cache"))
        patch.setenv("XDG_RUNTIME_DIR", str(home / ".run"))
        patch.setattr(_terminal, "host", alone)
        yield


@pytest.fixture(autouse=True)
def _no_daemon_is_left(request: pytest.FixtureRequest) -> Iterator[None]:
    """Lines that `install` writes start a daemon, which would outlive the test by half an hour."""
    place = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    for log in place.rglob("logs/daemon.log") if place is not None else ():
        end_daemon(str(log.parent.parent))
