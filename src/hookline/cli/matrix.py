"""``hookline matrix``: what works on which platform."""

import click

from hookline import matrix
from hookline.cli._output import print_json

__all__ = ["command"]

_COLOURS = {"yes": "green", "no": "red", "—": "white"}


@click.command("matrix")
@click.option("--events", is_flag=True, help="Native event names instead of capabilities.")
@click.option("--markdown", is_flag=True, help="Print both tables as Markdown.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the source of every cell.")
def command(events: bool, markdown: bool, as_json: bool) -> None:
    """Show what works on which platform, from each dialect's support table.

    Beside yes and no a cell names what is said instead, never weaker than what was meant.
    """
    if as_json + markdown + events > 1:
        together = "--json, --markdown and --events do not go together"
        raise click.UsageError(f"{together}: the first two hold everything")
    if as_json:
        print_json(matrix.as_json())
    elif markdown:
        click.echo(matrix.as_markdown(), nl=False)
    else:
        _print(events)


def _print(events: bool) -> None:
    supports = matrix.platforms()
    rows = list(matrix.event_rows(supports) if events else matrix.capability_rows(supports))
    width = max(len(name) for name, _ in rows)
    for index, support in enumerate(supports):
        click.secho(f"\n{support.client} {support.version}", bold=True)
        for name, cells in rows:
            cell = cells[index] or "—"
            if events and cell == "—":
                continue
            click.echo(f"  {name:<{width}}  {click.style(cell, fg=_COLOURS.get(cell, 'yellow'))}")
