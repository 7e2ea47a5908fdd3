"""The five verdicts, and the order of their strictness."""

from enum import StrEnum

__all__ = ["BLOCKING", "Verdict"]


class Verdict(StrEnum):
    """What one hook, or all of them together, decided.

    ``<`` compares strictness: ``allow < pass < ask < deny < halt``.
    """

    ALLOW = "allow"
    PASS = "pass"  # noqa: S105 - a verdict, not a password
    ASK = "ask"
    DENY = "deny"
    HALT = "halt"

    @property
    def strictness(self) -> int:
        """0 for allow up to 4 for halt."""
        return _STRICTNESS[self]

    def __lt__(self, other: str) -> bool:
        return self.strictness < _STRICTNESS[Verdict(other)]

    def __le__(self, other: str) -> bool:
        return self.strictness <= _STRICTNESS[Verdict(other)]

    def __gt__(self, other: str) -> bool:
        return self.strictness > _STRICTNESS[Verdict(other)]

    def __ge__(self, other: str) -> bool:
        return self.strictness >= _STRICTNESS[Verdict(other)]


_STRICTNESS = {verdict: rank for rank, verdict in enumerate(Verdict)}

# Verdicts that hold somebody back; each needs a reason.
BLOCKING = frozenset({Verdict.ASK, Verdict.DENY, Verdict.HALT})
