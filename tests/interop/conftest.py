"""The real clients: pinned versions, installed from npm into a cache that outlives the run."""

import os
from collections.abc import Callable
from functools import cache

import pytest

from hookline.lab.acquiring import acquire, cache_directory
from hookline.lab.ports import Client, Package, Program
from interop import proofs

# Taken before any test has a home of its own: the cache is the person's.
_PERSON = dict(os.environ)


def pytest_addoption(pluginmanager: pytest.PytestPluginManager) -> None:
    """What a run proves is kept by a plug-in; early enough that it may have options."""
    pluginmanager.register(proofs, "hookline-proofs")


@cache
def _acquired(package: Package) -> Program:
    return acquire(package, cache_directory(_PERSON), env=_PERSON)


@pytest.fixture(scope="session")
def program() -> Callable[[Client], Program]:
    """Gives the program of a client, which is installed if it was not."""
    return lambda client: _acquired(client.package)
