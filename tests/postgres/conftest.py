"""Tests that need a PostgreSQL server: they start one, once for all of them."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.postgres import NOBODY, Server, programs


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "postgres: starts a PostgreSQL server of its own")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.postgres)


@pytest.fixture(scope="session")
def _server() -> Iterator[Server]:
    if os.environ.get("HOOKLINE_SKIP_POSTGRES"):
        pytest.skip("HOOKLINE_SKIP_POSTGRES is set")
    found = programs()
    # Not below pytest's own directory: the path of a socket may have 107 characters only, and
    # somebody else than us has to get there.
    directory = Path(tempfile.mkdtemp(prefix="hookline-pg-"))
    try:
        if not os.geteuid():
            os.chown(directory, NOBODY, NOBODY)
        server = Server(found, directory)
        try:
            server.start()
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def server(_server: Server) -> Server:
    """The server, running, with an empty database called ``journal``."""
    if not _server.is_running:
        _server.start()
    _server.execute("DROP DATABASE IF EXISTS journal WITH (FORCE)")
    _server.execute("CREATE DATABASE journal")
    return _server
