"""What calls of models cost, and how much a model takes, as the package genai-prices knows it; else
it is unknown. The package is loaded when somebody asks for a price.
"""

from collections.abc import Iterable
from datetime import datetime
from functools import cache
from typing import Any

from hookline.model.usage import Used

__all__ = ["add_prices", "find_window", "has_prices"]


def add_prices(used: Iterable[Used]) -> tuple[float, tuple[str, ...]]:
    """What is known to have been paid, and the models whose price nobody knows."""
    dollars, unknown = 0.0, {}
    for each in used:
        cost = _price_calls(each)
        if cost is None:
            unknown[each.model or "an unnamed model"] = True
        dollars += cost or 0.0
    return dollars, tuple(unknown)


def _price_calls(used: Used) -> float | None:
    """What calls of one model cost: as the platform says, else by its price; None if unknown."""
    if used.usd is not None:
        return used.usd
    tokens, calls = used.tokens, used.calls
    # Of the average: prices depend on how long a call is.
    found = _look_up(
        used.model,
        datetime.fromisoformat(f"{used.day}T12:00:00Z"),
        input_tokens=-(-tokens.read // calls),
        cache_read_tokens=tokens.cached // calls,
        cache_write_tokens=tokens.written // calls,
        output_tokens=tokens.output // calls,
    )
    return None if found is None else float(found.total_price) * calls


def find_window(model: str) -> int | None:
    """How many tokens a model takes; None where nobody knows."""
    found = _look_up(model, None)
    return found.model.context_window if found is not None else None


def has_prices() -> bool:
    """Whether the package that knows prices is installed."""
    return _module() is not None


def _look_up(model: str, time: datetime | None, **usage: int) -> Any:
    """What is known of a model and of such a call; None where that is nothing."""
    module, (provider, slash, name) = _module(), model.partition("/")
    if module is None or not model:
        return None
    for given, of in ((name, provider), (name, None)) if slash else ((model, None),):
        try:
            return module.calc_price(
                module.Usage(**usage), given, provider_id=of, genai_request_timestamp=time
            )
        except (LookupError, ValueError):
            continue
    return None


@cache
def _module() -> Any:
    try:
        import genai_prices  # slow to load, and part of an extra
    except ImportError:
        return None
    return genai_prices
