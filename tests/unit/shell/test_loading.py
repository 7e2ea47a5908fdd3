"""What is loaded when: a hook that reads no command must not pay for the parser."""

import subprocess
import sys

import pytest


def loaded_after(code: str) -> set[str]:
    """The modules a fresh interpreter has loaded after running ``code``."""
    script = f"import sys, hookline.shell\n{code}\nprint(*sys.modules)"
    return set(subprocess.check_output([sys.executable, "-c", script], text=True).split())


def test_importing_the_package_loads_no_parser() -> None:
    modules = loaded_after("")
    assert not any(name.startswith("tree_sitter") for name in modules)
    assert "hookline.shell.splitting" not in modules


@pytest.mark.parametrize(
    "call", ["split('ls -l')", "split('')", "split('ls | wc && pwd')", "literal_words('a; b')"]
)
def test_what_is_words_and_operators_is_read_without_the_parser(call: str) -> None:
    assert "tree_sitter" not in loaded_after(f"hookline.shell.{call}")


def test_what_has_structure_is_read_with_the_parser() -> None:
    assert "tree_sitter" in loaded_after("hookline.shell.split('if ls; then wc; fi')")
