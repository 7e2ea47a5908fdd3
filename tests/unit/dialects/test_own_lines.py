"""Lines that call hookline are known as such, however they call it: it must not run in itself."""

import os

import pytest

from hookline.client import PROGRAM
from hookline.dialects._call import call_words, line
from hookline.dialects._files import is_hookline
from hookline.model.installing import Call

CLIENTS = [
    ("hookline",),
    ("/usr/local/bin/hookline",),
    ("/opt/my tools/bin/hookline",),
    ("/opt/python", "-m", "hookline"),
    (f"/opt/lib/hookline/_bin/{os.path.basename(PROGRAM)}", "/opt/python"),
    (f"/opt/my tools/hookline/_bin/{os.path.basename(PROGRAM)}", "/opt/my python/bin/python3"),
    ("/opt/python", "-I", "-S", "-E", "/opt/lib/hookline/client/thin.py", "/opt/python"),
]


@pytest.mark.parametrize("program", CLIENTS, ids=" ".join)
@pytest.mark.parametrize("closes", [True, False])
def test_every_line_that_install_writes_is_known(closes: bool, program: tuple[str, ...]) -> None:
    call = Call(program=program, home="/home/dev/state", user_config="/home/dev/.config")
    assert is_hookline(line(call, "codex", "PreToolUse", closes=closes, timeout=60))
    assert is_hookline(call_words(call, "codex", "PreToolUse", 60))


def test_a_long_line_is_looked_through_quickly() -> None:
    assert not is_hookline("hookline-client " + "a'b'" * 20_000)
    assert not is_hookline("hookline-client " * 20_000)


@pytest.mark.parametrize(
    "command",
    [
        "hookline list",
        "cat hookline-client",
        "hookline-client --version",
        "my-hookline hook x",
        "python -m pytest tests/hookline/hook",
        ["hookline-client", "hook"],
    ],
)
def test_others_are_not(command: str | list[str]) -> None:
    assert not is_hookline(command)
