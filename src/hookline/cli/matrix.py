"""``hookline matrix``: what works on which platform, and how that is known."""

import click

from hookline import matrix
from hookline.cli._output import print_json

__all__ = ["coloured", "command"]

_COLOURS = {"proven": "green", "specified": None, "unknown": "yellow"}
_MEANT = {
    "proven": "a test showed it on the real client",
    "specified": "from its documentation, its code or a look at it; `--json` has the source",
    "unknown": "nobody has looked",
}


@click.command("matrix")
@click.option("--events", is_flag=True, help="Native event names instead of capabilities.")
@click.option("--markdown", is_flag=True, help="Print both tables as Markdown.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, with the evidence of every cell."
)
def command(events: bool, markdown: bool, as_json: bool) -> None:
    """Show what works on which platform, from each dialect's support table.

    Beside yes and no a cell names what is said instead, never weaker than what was meant. A ✓
    stands behind what a test showed on the real client, a ? behind what nobody knows.
    """
    if as_json + markdown + events > 1:
        together = "--json, --markdown and --events do not go together"
        raise click.UsageError(f"{together}: the first two hold everything")
    known = matrix.platforms()
    if as_json:
        print_json(matrix.as_json(known))
    elif markdown:
        click.echo(matrix.as_markdown(known), nl=False)
    else:
        _print(known, events)


def _print(known: list[matrix.Platform], events: bool) -> None:
    rows = list(matrix.event_rows(known) if events else matrix.capability_rows(known))
    width = max(len(name) for name, _ in rows)
    for index, platform in enumerate(known):
        support = platform.support
        counts = ", ".join(f"{number} {state}" for state, number in platform.counts().items())
        head = click.style(f"{support.client} {support.version}", bold=True)
        click.echo(f"\n{head}  {click.style(counts, dim=True)}")
        for name, cells in rows:
            if cells[index].evidence is not None or not events:
                click.echo(f"  {name:<{width}}  {coloured(cells[index])}")
        for sentence in support.beyond if not events else ():
            click.echo(f"  {click.style('out of reach:', fg='yellow')} {sentence}")
    _print_legend()


def coloured(cell: matrix.Cell) -> str:
    """A cell in the colour of how well it is known."""
    if cell.evidence is None:
        return click.style(str(cell), dim=True)
    return click.style(str(cell), fg=_COLOURS[cell.evidence.state])


def _print_legend() -> None:
    click.echo()
    for state, mark in matrix.MARKS.items():
        word = click.style(f"{state}{mark}", fg=_COLOURS[state])
        click.echo(f"{word}: {_MEANT[state]}")
