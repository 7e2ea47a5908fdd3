"""Every test of this level has a world of its own, with nothing in it but a rule that says no."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.faults import World, world


@pytest.fixture
def place(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as found:
        yield found
