"""How much of which limit is used, in words that are made of these numbers."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from hookline.model.events import Budget
from hookline.model.usage import Used
from hookline.pricing import Price, add_up
from hookline.store.usage import SessionUsage, sum_used

__all__ = ["Amount", "Level", "list_spending"]


class Amount(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """At most so much."""

    tokens: int | None = None
    dollars: float | None = None

    def __post_init__(self) -> None:
        for value in (self.tokens, self.dollars):
            if value is not None and not 0 < value < 1e15:
                raise ValueError("a limit is a number above 0")
        if self.tokens is None and self.dollars is None:
            raise ValueError("say `tokens:` or `dollars:`, or both")


class Level(Struct, frozen=True, kw_only=True):
    """How much of one limit is used."""

    scope: str
    unit: str
    used: float
    limit: float

    @property
    def key(self) -> str:
        """What tells it from the others."""
        return f"{self.scope} {self.unit}"

    @property
    def percent(self) -> float:
        """Of the limit; above 100 when more was used."""
        return self.used * 100 / self.limit

    @property
    def is_spending(self) -> bool:
        """Whether what is used stays used: a conversation can be compacted."""
        return self.scope != "context"

    @property
    def budget(self) -> Budget:
        """As events tell it."""
        if self.unit == "dollars":
            return Budget(used_usd=self.used, limit_usd=self.limit)
        return Budget(used_tokens=int(self.used), effective_limit=int(self.limit))

    @property
    def message(self) -> str:
        """In one sentence."""
        if self.unit == "dollars":
            whole = f"(${self.used:,.2f} of ${self.limit:,.2f})"
        else:
            whole = f"({self.used:,.0f} of {self.limit:,.0f} tokens)"
        share = f"{min(self.percent, 9_999):.0f}%"
        if not self.is_spending:
            return f"{share} of the context is used {whole}."
        owner = {"session": "this session's", "day": "today's"}.get(self.scope, "this repository's")
        return f"{share} of {owner} {self.unit} are used {whole}."


def list_spending(
    connection: sqlite3.Connection,
    usage: SessionUsage,
    limits: Mapping[str, Amount | None],
    prices: Mapping[str, Price],
    today: str,
) -> Iterator[tuple[Level, Sequence[str]]]:
    """How much of each limit is used, and the models whose calls are not in it."""
    for scope, amount in limits.items():
        if amount is None or (scope == "repository" and not usage.repository):
            continue
        used = _sum(connection, usage, scope, today)
        # Without a limit in dollars nobody asks what anything costs, which takes its time.
        if amount.tokens is not None:
            tokens = sum(each.tokens.total for each in used)
            yield Level(scope=scope, unit="tokens", used=tokens, limit=amount.tokens), ()
        if amount.dollars is not None:
            spent = add_up(used, prices)
            level = Level(scope=scope, unit="dollars", used=spent.dollars, limit=amount.dollars)
            yield level, spent.unknown


def _sum(
    connection: sqlite3.Connection, usage: SessionUsage, scope: str, today: str
) -> Sequence[Used]:
    if scope == "session":
        return sum_used(connection, session=usage.session)
    if scope == "repository":
        return sum_used(connection, repository=usage.repository)
    return sum_used(connection, day=today)
