"""How a cell of the support table is known: a test showed it on the real client, somebody read or
saw it once, or nobody knows.

Apart from ``support``, which every hook loads while an agent waits.
"""

from typing import Literal

from msgspec import Struct

from hookline.model.support import EventSupport, Support

__all__ = [
    "FIRES",
    "STATES",
    "TOPICS",
    "Evidence",
    "Proof",
    "Proofs",
    "State",
    "claimed",
    "evidence",
]

# Beside the cells of an event: that it reaches us at all.
FIRES = "fires"

# What can be shown of a platform and is no cell of an event; `failure.daemon-killed` is one.
TOPICS = (
    *("install", "uninstall", "trusted", "untrusted", "failure", "daemon", "several", "limits"),
    *("mcp", "subagent", "patch", "resume", "compaction", "continuation", "secrets", "verify"),
)

State = Literal["proven", "specified", "unknown"]
STATES: tuple[State, ...] = ("proven", "specified", "unknown")


class Proof(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Tests that showed one claim on one version of a real client."""

    claim: str
    client: str
    """As the lab calls it."""
    version: str
    tests: tuple[str, ...]


class Proofs(Struct, frozen=True, forbid_unknown_fields=True):
    """All that was shown of a platform; ``evidence.toml`` in its dialect."""

    proven: tuple[Proof, ...] = ()
    """Cells of the support table."""
    also: tuple[Proof, ...] = ()
    """What no cell stands for."""

    def find(self, claim: str) -> Proof | None:
        """The proof of a cell."""
        return next((proof for proof in self.proven if proof.claim == claim), None)


class Evidence(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one cell is known."""

    state: State
    client: str = ""
    version: str = ""
    test: str = ""
    more: tuple[str, ...] = ()
    """Further tests that show the same."""
    source: str = ""


def claimed(native: str, cell: str, value: str = "yes") -> str:
    """What a test says it proves: ``PreToolUse.deny``, and ``PreToolUse.halt=latch`` for what
    is said instead.

    The value is part of it, so that a cell which comes to mean something else is proven no more.
    """
    return f"{native}.{cell}" if value == "yes" else f"{native}.{cell}={value}"


def evidence(support: Support, row: EventSupport, cell: str, proofs: Proofs) -> Evidence:
    """How a cell of an event is known."""
    value = "yes" if cell == FIRES else row.instead(cell)
    proof = proofs.find(claimed(row.native, cell, value))
    if proof is not None and proof.tests:
        first, *more = proof.tests
        return Evidence(
            state="proven",
            client=support.client,
            version=proof.version,
            test=first,
            more=tuple(more),
        )
    if row.source.strip():
        return Evidence(state="specified", source=row.source)
    return Evidence(state="unknown")
