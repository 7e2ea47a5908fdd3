"""Daemons of a home of the test's own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.serving import Daemons, daemons


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Daemons]:
    with daemons(tmp_path / "home") as found:
        yield found
