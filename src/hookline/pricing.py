"""What calls of models cost, and how much a model takes: as a person states it, else as the package
genai-prices knows it, else unknown. It is loaded when somebody asks for a price.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from msgspec import Struct

from hookline.model.usage import Tokens, Used

__all__ = ["Price", "Spending", "add_up", "find_window", "has_prices", "price_calls"]

_MILLION = 1_000_000


class Price(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Dollars for a million tokens."""

    input: float
    output: float
    cached: float | None = None
    """What comes from a cache; as input unless it is said."""
    written: float | None = None
    """What is put into one; as input unless it is said."""

    def __post_init__(self) -> None:
        if any(value is not None and not value >= 0 for value in self._values()):
            raise ValueError("a price is a number of dollars from 0")

    def _values(self) -> tuple[float | None, ...]:
        return self.input, self.output, self.cached, self.written

    def charge(self, tokens: Tokens) -> float:
        """What these cost."""
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.written is None else self.written
        dollars = (
            tokens.input * self.input
            + tokens.cached * cached
            + tokens.written * written
            + tokens.output * self.output
        )
        return dollars / _MILLION


class Spending(Struct, frozen=True):
    """What was used together."""

    tokens: int
    dollars: float
    """What is known of it."""
    unknown: tuple[str, ...] = ()
    """The models whose price nobody knows."""


def add_up(used: Iterable[Used], prices: Mapping[str, Price]) -> Spending:
    """Everything together."""
    tokens, dollars, unknown = 0, 0.0, {}
    for each in used:
        cost = price_calls(each, prices)
        if cost is None:
            unknown[each.model or "an unnamed model"] = True
        tokens, dollars = tokens + each.tokens.total, dollars + (cost or 0.0)
    return Spending(tokens, dollars, tuple(unknown))


def price_calls(used: Used, prices: Mapping[str, Price]) -> float | None:
    """What calls of one model cost: as the platform says, else by price; None if unknown."""
    if used.usd is not None:
        return used.usd
    model, tokens, calls = used.model, used.tokens, used.calls
    stated = prices.get(model) or prices.get(model.rpartition("/")[2])
    if stated is not None:
        return stated.charge(tokens)
    module = _module()
    if module is None or not model or calls < 1:
        return None
    # Of the average: prices depend on how long a call is.
    given = -(-tokens.read // calls)
    usage = module.Usage(
        input_tokens=given,
        cache_read_tokens=tokens.cached // calls,
        cache_write_tokens=tokens.written // calls,
        output_tokens=tokens.output // calls,
    )
    time = datetime.fromisoformat(f"{used.day}T12:00:00Z") if used.day else None
    for name, provider in _names(model):
        try:
            found = module.calc_price(
                usage, name, provider_id=provider, genai_request_timestamp=time
            )
        except (LookupError, ValueError):
            continue
        return float(found.total_price) * calls
    return None


def find_window(model: str) -> int | None:
    """How many tokens a model takes; None where nobody knows."""
    module = _module()
    if module is None or not model:
        return None
    for name, provider in _names(model):
        try:
            found = module.calc_price(module.Usage(), name, provider_id=provider)
        except (LookupError, ValueError):
            continue
        window = found.model.context_window
        return window if isinstance(window, int) and window > 0 else None
    return None


def has_prices() -> bool:
    """Whether the package that knows prices is installed."""
    return _module() is not None


def _names(model: str) -> Sequence[tuple[str, str | None]]:
    """The names by which a model may be known, each with its provider where that is said."""
    provider, slash, name = model.partition("/")
    return ((name, provider), (name, None)) if slash else ((model, None),)


@cache
def _module() -> Any:
    try:
        import genai_prices  # slow to load, and part of an extra
    except ImportError:
        return None
    return genai_prices
