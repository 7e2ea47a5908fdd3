"""``hookline cost``: the tokens and dollars that agents used."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, tzinfo
from itertools import groupby
from typing import Any

import click
from msgspec import Struct, ValidationError, convert

from hookline.app import App, open_app
from hookline.cli._journal import moment
from hookline.cli._output import print_json
from hookline.model.errors import HooklineError
from hookline.model.text import visible
from hookline.model.usage import Tokens, Used
from hookline.pricing import Price, Spending, add_up, has_prices
from hookline.store.state import StateDatabase
from hookline.store.usage import BREAKDOWNS, list_used, open_zone, read_zone

__all__ = ["command"]

_UNKNOWN = "unknown"
_HEADS = ("calls", "input", "cached", "output", "dollars")


class _Row(Struct, frozen=True):
    """One part of what was used."""

    name: str
    used: Sequence[Used]
    spent: Spending

    @property
    def calls(self) -> int:
        """How many were counted."""
        return sum(each.calls for each in self.used)

    @property
    def silent(self) -> int:
        """How many sessions told of no call."""
        return sum(each.sessions for each in self.used if not each.calls)

    @property
    def tokens(self) -> Tokens:
        """All of them."""
        found = [each.tokens for each in self.used]
        return Tokens(
            sum(each.input for each in found),
            sum(each.cached for each in found),
            sum(each.written for each in found),
            sum(each.output for each in found),
        )


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

    `use: budget` in a config counts them. Dollars need the prices of models: `prices:` there
    states them, and `hookline[judge]` brings those that are public.

    \b
      hookline cost --since 7d
      hookline cost --by model --json
    """
    app = open_app()
    state = StateDatabase(app.home)
    if not os.path.exists(state.path):
        raise HooklineError("nothing has been counted yet: `use: budget` in a config counts")
    with state.read() as connection:
        name = read_zone(connection) or "UTC"
        zone = open_zone(name)
        start = _read_since(since, zone)
        found = list_used(connection, by, start)
    state.close()
    prices = _stated_prices(app)
    rows = list(_make_rows(found, prices))
    if as_json:
        print_json(
            {
                "time_zone": name,
                "since": start or None,
                "by": by,
                "rows": [_as_json(by, row) for row in rows],
                "total": _as_json("", _total(rows, prices)),
            }
        )
        return
    if not rows:
        click.echo("Nothing was used in that time.")
        return
    _print_table(by, rows, _total(rows, prices), name, start)


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


def _stated_prices(app: App) -> Mapping[str, Price]:
    """The prices that the person's config states; none where no config can be loaded."""
    prices: dict[str, Price] = {}
    try:
        hooks = app.loader.load(app.cwd, app.cwd).hooks
    except HooklineError:
        return prices
    for hook in hooks:
        if hook.handler.values.get("use") == "budget":
            stated: Any = hook.handler.values.get("with", {}).get("prices", {})
            try:
                prices |= convert(stated, dict[str, Price])
            except ValidationError:
                continue  # `hookline check` says so
    return prices


def _make_rows(found: Sequence[Used], prices: Mapping[str, Price]) -> Iterator[_Row]:
    found = sorted(found, key=lambda each: each.part)
    for part, used in groupby(found, key=lambda each: each.part):
        group = list(used)
        yield _Row(part, group, add_up((each for each in group if each.calls), prices))


def _total(rows: Sequence[_Row], prices: Mapping[str, Price]) -> _Row:
    used = [each for row in rows for each in row.used]
    return _Row("total", used, add_up((each for each in used if each.calls), prices))


def _as_json(by: str, row: _Row) -> dict[str, Any]:
    tokens = row.tokens
    counts = {
        "input_tokens": tokens.input,
        "cached_tokens": tokens.cached,
        "cache_write_tokens": tokens.written,
        "output_tokens": tokens.output,
    }
    is_priced = row.calls and not row.spent.unknown
    return {
        **({by: row.name or None} if by else {}),
        "calls": row.calls,
        **(counts if row.calls else dict.fromkeys(counts)),
        "dollars": row.spent.dollars if is_priced and not row.silent else None,
        "known_dollars": row.spent.dollars,
        "unpriced_models": row.spent.unknown,
        "sessions_without_usage": row.silent,
    }


def _print_table(by: str, rows: Sequence[_Row], total: _Row, name: str, start: str) -> None:
    lines = [(by, *_HEADS), *(_cells(row) for row in (*rows, total))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number, line in enumerate(lines):
        values = (f"{cell:>{width}}" for cell, width in zip(line[1:], widths[1:], strict=True))
        text = "  ".join((f"{line[0]:<{widths[0]}}", *values))
        click.secho(text.rstrip(), bold=number in (0, len(lines) - 1))
    began = f"Since {start}. " if start else ""
    click.echo(f"\n{began}Days end at midnight in {name}.")
    if total.silent or total.spent.unknown:
        click.echo("≥: at least so much, as not all of it is known.")
    if total.silent:
        click.echo(f"Sessions that told of no usage: {total.silent}.")
    if total.spent.unknown:
        models = ", ".join(visible(model) for model in total.spent.unknown)
        more = "" if has_prices() else " `hookline[judge]` knows many."
        click.echo(f"No price is known for: {models}. State it under `prices:`.{more}")


def _cells(row: _Row) -> tuple[str, ...]:
    name = visible(row.name) or _UNKNOWN
    if not row.calls:
        return (name, *[_UNKNOWN] * len(_HEADS))
    least = "≥" if row.silent else ""
    tokens = row.tokens
    given = tokens.input + tokens.written
    counts = (f"{least}{each:,}" for each in (row.calls, given, tokens.cached, tokens.output))
    if row.spent.unknown and not row.spent.dollars:
        return (name, *counts, _UNKNOWN)
    about = "≥" if row.silent or row.spent.unknown else ""
    return (name, *counts, f"{about}${row.spent.dollars:,.2f}")
