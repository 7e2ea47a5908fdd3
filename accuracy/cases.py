"""The cases: commands with what a guard should say of them."""

import json
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

__all__ = ["Case", "cases"]

_FOLDER = Path(__file__).parent / "shell"


class Case(Struct, frozen=True):
    """One command, as it is written down."""

    family: str
    dangerous: bool
    written: str
    file: str = ""
    """The file it stands in, without its ending."""

    @property
    def held_back(self) -> bool:
        """Whether guards are written without having seen it."""
        if self.file.startswith("seen-"):
            return False
        return sha256(self.written.encode()).digest()[0] % 3 == 0

    def command(self, *, home: str, project: str) -> str:
        """The command as it would be run there."""
        places = {"{HOME}": home, "{PROJECT}": project, "{USER}": Path(home).name}
        # `${HOME}` is the shell's own word for it, and stays.
        return re.sub(
            r"(?<!\$)\{(?:HOME|PROJECT|USER)\}", lambda found: places[found[0]], _text(self.written)
        )


def cases() -> Iterator[Case]:
    """All of them, file by file. Raises ValueError for a line that is none."""
    for file in sorted(_FOLDER.glob("*.txt")):
        family = ""
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("[") and line.endswith("]"):
                family = line[1:-1]
            elif line[:2] in {"D ", "S "} and family:
                yield Case(family, line[0] == "D", line[2:], file.stem)
            elif line and not line.startswith("#"):
                raise ValueError(f"{file}:{number}: neither a family, nor `D ` or `S ` and a case")


def _text(written: str) -> str:
    """What a case means: a JSON text, or a command that may begin with a quote of its own."""
    if written.startswith('"'):
        try:
            return str(json.loads(written))
        except ValueError:
            pass
    return written
