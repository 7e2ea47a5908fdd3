"""Codex at its pinned version; every test in this folder looks at what it did."""

from collections.abc import Callable

import pytest

from hookline.lab.clients.codex import CLIENT
from hookline.lab.ports import Client, Program


@pytest.fixture(scope="session")
def codex(program: Callable[[Client], Program]) -> Program:
    """The client itself."""
    return program(CLIENT)


@pytest.fixture(autouse=True)
def _recorded(codex: Program, record_client: Callable[[Client, Program], str]) -> None:
    record_client(CLIENT, codex)
