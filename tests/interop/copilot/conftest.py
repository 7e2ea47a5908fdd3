"""Copilot CLI at its pinned version; every test in this folder looks at what it did."""

from collections.abc import Callable

import pytest

from hookline.lab.clients.copilot import CLIENT
from hookline.lab.ports import Client, Program


@pytest.fixture(scope="session")
def copilot(program: Callable[[Client], Program]) -> Program:
    """The client itself."""
    return program(CLIENT)


@pytest.fixture(autouse=True)
def _recorded(copilot: Program, record_client: Callable[[Client, Program], str]) -> None:
    record_client(CLIENT, copilot)
