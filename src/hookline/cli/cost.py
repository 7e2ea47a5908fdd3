"""``hookline cost``: the tokens and dollars that agents used."""

import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime, tzinfo
from itertools import groupby
from typing import Any

import click
from msgspec import Struct

from hookline.app import open_app
from hookline.cli._journal import moment
from hookline.cli._output import print_json
from hookline.model.errors import HooklineError
from hookline.model.text import visible
from hookline.model.usage import Tokens, Used
from hookline.pricing import add_prices, has_prices
from hookline.store.state import StateDatabase
from hookline.store.usage import BREAKDOWNS, open_zone, read_zone, sum_used

__all__ = ["command"]

_UNKNOWN = "unknown"
_HEADS = ("calls", "input", "cached", "output", "dollars")


class _Row(Struct, frozen=True):
    """One part of what was used."""

    name: str
    calls: int
    tokens: Tokens
    dollars: float
    """What is known of them."""
    unpriced: Sequence[str]
    """The models whose price nobody knows."""
    silent: int
    """How many sessions told of no call."""


@click.command("cost")
@click.option(
    "--by",
    type=click.Choice(list(BREAKDOWNS)),
    default="day",
    show_default=True,
    help="What each line is for.",
)
@click.option("--since", help="From a day on, such as 2026-11-01, or 7d.")
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
def command(by: str, since: str | None, as_json: bool) -> None:
    """Show the tokens and dollars that agents have used, as far as they tell.

    `use: budget` in a config counts them. Dollars need the public prices of models, which
    `hookline[judge]` brings.

    \b
      hookline cost --since 7d
      hookline cost --by model --json
    """
    state = StateDatabase(open_app().home)
    if not os.path.exists(state.path):
        raise HooklineError("nothing has been counted yet: `use: budget` in a config counts")
    with state.read() as connection:
        name = read_zone(connection) or "UTC"
        start = _read_since(since, open_zone(name))
        found = sum_used(connection, by, since=start)
    state.close()
    parts = groupby(sorted(found, key=lambda each: each.part), key=lambda each: each.part)
    rows = [_add_up(part, list(used)) for part, used in parts]
    total = _add_up("total", found)
    if as_json:
        listed = [{by: row.name or None, **_as_json(row)} for row in rows]
        zone = {"time_zone": name, "since": start or None, "by": by}
        print_json({**zone, "rows": listed, "total": _as_json(total)})
    elif rows:
        _print_table(by, rows, total)
        _print_remarks(total, name, start)
    else:
        click.echo("Nothing was used in that time.")


def _read_since(text: str | None, zone: tzinfo) -> str:
    """The first day that is meant; empty for all."""
    if text is None:
        return ""
    with suppress(ValueError):
        return date.fromisoformat(text.strip()).isoformat()
    try:
        return moment(text, datetime.now(zone)).astimezone(zone).date().isoformat()
    except HooklineError as error:
        raise click.BadParameter(str(error), param_hint="--since") from error


def _add_up(name: str, used: Sequence[Used]) -> _Row:
    known = [each for each in used if each.calls]
    tokens = [each.tokens for each in known]
    dollars, unpriced = add_prices(known)
    return _Row(
        name,
        sum(each.calls for each in known),
        Tokens(
            *(sum(getattr(each, field) for each in tokens) for field in Tokens.__struct_fields__)
        ),
        dollars,
        unpriced,
        sum(each.sessions for each in used if not each.calls),
    )


def _as_json(row: _Row) -> dict[str, Any]:
    counts = {
        "input_tokens": row.tokens.input,
        "cached_tokens": row.tokens.cached,
        "cache_write_tokens": row.tokens.written,
        "output_tokens": row.tokens.output,
    }
    is_known = row.calls and not row.unpriced and not row.silent
    return {
        "calls": row.calls,
        **(counts if row.calls else dict.fromkeys(counts)),
        "dollars": row.dollars if is_known else None,
        "known_dollars": row.dollars,
        "unpriced_models": row.unpriced,
        "sessions_without_usage": row.silent,
    }


def _print_table(by: str, rows: Sequence[_Row], total: _Row) -> None:
    lines = [(by, *_HEADS), *(_cells(row) for row in (*rows, total))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number, line in enumerate(lines):
        values = (f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True))
        text = "  ".join((f"{line[0]:<{widths[0]}}", *values))
        click.secho(text, bold=number in (0, len(lines) - 1))


def _print_remarks(total: _Row, zone: str, start: str) -> None:
    began = f"Since {start}. " if start else ""
    click.echo(f"\n{began}Days end at midnight in {zone}.")
    if total.silent or total.unpriced:
        click.echo("≥: at least so much, as not all of it is known.")
    if total.silent:
        click.echo(f"Sessions that told of no usage: {total.silent}.")
    if total.unpriced:
        models = ", ".join(map(visible, total.unpriced))
        more = "" if has_prices() else " `hookline[judge]` knows many."
        click.echo(f"No price is known for: {models}.{more}")


def _cells(row: _Row) -> tuple[str, ...]:
    name = visible(row.name) or _UNKNOWN
    if not row.calls:
        return (name, *[_UNKNOWN] * len(_HEADS))
    least = "≥" if row.silent else ""
    tokens = row.tokens
    given = tokens.input + tokens.written
    counts = (f"{least}{each:,}" for each in (row.calls, given, tokens.cached, tokens.output))
    if row.unpriced and not row.dollars:
        return (name, *counts, _UNKNOWN)
    about = "≥" if row.silent or row.unpriced else ""
    return (name, *counts, f"{about}${row.dollars:,.2f}")
