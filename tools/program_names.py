"""The programs that shell-guard judges, as the list in its names.py."""

import re
import textwrap
from pathlib import Path

from hookline.builtin.shell_guard import names
from hookline.builtin.shell_guard.families.register import JUDGES

__all__ = ["generated"]

_LIST = re.compile(r"(?<=^PROGRAMS = frozenset\(\{\n).*?(?=^\}\))", re.DOTALL | re.MULTILINE)


def generated() -> dict[Path, str]:
    """The module with the list as the families have it."""
    path = Path(names.__file__)
    spelled = ", ".join(f'"{name}"' for name in sorted(JUDGES)) + ","
    lines = textwrap.fill(
        spelled,
        width=96,
        initial_indent="    ",
        subsequent_indent="    ",
        break_on_hyphens=False,
        break_long_words=False,
    )
    text, changed = _LIST.subn(f"{lines}\n", path.read_text(encoding="utf-8"))
    assert changed == 1, f"no list of programs in {path}"
    return {path: text}
