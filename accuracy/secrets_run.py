"""How exactly secrets are taken out of texts, and how often something is that is none."""

import json
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, convert

from accuracy.filling import filled
from hookline.builtin import redact_secrets
from hookline.model.events import PostToolUse
from hookline.model.ports import NOBODY
from hookline.model.tools import Tool

__all__ = ["Judged", "Written", "judge", "report", "show", "written"]

_FOLDER = Path(__file__).parent / "secrets"
_MARKER = re.compile(r"\[redacted:([a-z0-9-]+)\]")
Rates = dict[str, float | int]


class Written(Struct, frozen=True):
    """A text, as it is written down: its secret between «», or none in it."""

    family: str
    secret: bool
    text: str

    @property
    def held_back(self) -> bool:
        """Whether rules are written without having seen it."""
        return sha256(self.text.encode()).digest()[0] % 3 == 0

    def parts(self) -> tuple[str, str, str]:
        """What stands before the secret, the secret, and what stands behind it."""
        before, _, rest = filled(_meant(self.text)).partition("«")
        secret, _, after = rest.partition("»")
        return before, secret, after


class Judged(Struct, frozen=True):
    """A text, and what redaction made of it."""

    case: Written
    shown: str
    right: bool
    named: bool
    """Whether the family that was told is the one that it is."""


def written() -> Iterator[Written]:
    """All cases, file by file. Raises ValueError for a line that is none."""
    for file in sorted(_FOLDER.glob("*.txt")):
        family = ""
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("[") and line.endswith("]"):
                family = line[1:-1]
            elif line[:2] in {"P ", "N "} and family:
                yield Written(family, line[0] == "P", line[2:])
            elif line and not line.startswith("#"):
                raise ValueError(f"{file}:{number}: neither a family, nor `P ` or `N ` and a text")


def judge(options: dict[str, str]) -> list[Judged]:
    """What the builtin with these options makes of each text as a tool's output."""
    answer = redact_secrets.make(convert(options, redact_secrets.Options))

    def judged(case: Written) -> Judged:
        before, secret, after = case.parts()
        text = before + secret + after
        rewrite = answer(PostToolUse(tool=Tool(output=text)), NOBODY).rewrite
        shown = text if rewrite.output is None else rewrite.output
        if not case.secret:
            return Judged(case, shown, shown == text, named=True)
        marker = _MARKER.fullmatch(shown, len(before), len(shown) - len(after))
        exact = marker is not None and shown.startswith(before) and shown.endswith(after)
        return Judged(case, shown, exact, named=marker is not None and marker[1] == case.family)

    return [judged(case) for case in written()]


def report(judged: Sequence[Judged], *, building: bool = False) -> dict[str, object]:
    """Rates of both halves and of each family, and every miss that may be seen."""
    families = dict.fromkeys(each.case.family for each in judged)
    misses = [
        {"family": each.case.family, "text": each.case.text, "shown": each.shown}
        for each in judged
        if not each.right and not (building and each.case.held_back)
    ]
    return {
        "halves": _halves(judged),
        "families": {
            name: _rates([one for one in judged if one.case.family == name]) for name in families
        },
        "misses": misses,
    }


def show(judged: Sequence[Judged], *, building: bool = False) -> None:
    """The same for people."""
    print(f"{'':<12} {'secrets':>8} {'exact':>7} {'named':>7} {'others':>7} {'touched':>8}")
    families = dict.fromkeys(each.case.family for each in judged)
    by_family = {
        name: _rates([one for one in judged if one.case.family == name]) for name in families
    }
    for name, rates in (_halves(judged) | by_family).items():
        print(
            f"{name:<12} {rates['secrets']:>8} {rates['exact']:>7.1%} {rates['named']:>7.1%} "
            f"{rates['others']:>7} {rates['touched']:>8.1%}"
        )
    for each in judged:
        if not each.right and not (building and each.case.held_back):
            what = "not exact" if each.case.secret else "touched"
            print(f"miss [{each.case.family}] {each.case.text}  ({what}: {each.shown!r})")


def _halves(judged: Sequence[Judged]) -> dict[str, Rates]:
    return {
        "in sight": _rates([each for each in judged if not each.case.held_back]),
        "held back": _rates([each for each in judged if each.case.held_back]),
        "all": _rates(judged),
    }


def _rates(judged: Sequence[Judged]) -> Rates:
    secrets = [each for each in judged if each.case.secret]
    others = [each for each in judged if not each.case.secret]
    return {
        "secrets": len(secrets),
        "exact": round(sum(each.right for each in secrets) / max(len(secrets), 1), 4),
        "named": round(sum(each.named for each in secrets) / max(len(secrets), 1), 4),
        "others": len(others),
        "touched": round(sum(not each.right for each in others) / max(len(others), 1), 4),
    }


def _meant(text: str) -> str:
    """What is written as a JSON text is that text, for those of several lines."""
    if text.startswith('"'):
        try:
            return str(json.loads(text))
        except ValueError:
            pass
    return text
