"""The clients there are drivers for, by name."""

import pytest

from hookline.lab.naming import client, client_names
from hookline.model.errors import UnknownNameError


def test_every_client_is_found_under_its_own_name() -> None:
    assert "claude-code" in client_names()
    for name in client_names():
        found = client(name)
        assert found.id == name
        assert found.package.command
        assert found.package.version[0].isdigit()


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one() -> None:
    with pytest.raises(UnknownNameError, match="claude-code"):
        client("claude_code")
