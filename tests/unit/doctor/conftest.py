"""A machine of its own for every test."""

from pathlib import Path

import pytest

from support.doctors import Ward


@pytest.fixture
def ward(tmp_path: Path) -> Ward:
    """An empty machine."""
    return Ward(tmp_path.resolve())
