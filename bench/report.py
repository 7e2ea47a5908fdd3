"""What a suite has to say: figures with a limit, tables without one, and sentences."""

from collections.abc import Sequence

from msgspec import Struct, field, to_builtins

from bench.measure import Ratio

__all__ = ["Report", "Table", "as_json", "markdown"]

_HEADER = "| hookline | µs | against | µs | ratio | limit | holds |\n|---|--:|---|--:|--:|--:|---|"


class Table(Struct, frozen=True, kw_only=True):
    """Figures for orientation; the first column is text, the others are numbers."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


class Report(Struct, frozen=True, kw_only=True):
    """One suite's results."""

    ratios: Sequence[Ratio] = ()
    tables: Sequence[Table] = ()
    notes: Sequence[str] = ()
    samples: dict[str, list[float]] = field(default_factory=dict)
    """Every timing by its row's name, in microseconds: for JSON only."""


def markdown(reports: Sequence[Report]) -> str:
    """One table of all figures with a limit, then the rest."""
    parts = []
    if any(report.ratios for report in reports):
        lines = [_line(entry) for report in reports for entry in report.ratios]
        parts.append("\n".join([_HEADER, *lines]))
    for report in reports:
        parts += [_table(table) for table in report.tables]
        parts += report.notes
    return "\n\n".join(parts)


def as_json(reports: Sequence[Report]) -> object:
    """The same as plain values, with every timing."""
    return {
        "ratios": [
            {**to_builtins(entry), "ratio": entry.ratio, "holds": entry.holds}
            for report in reports
            for entry in report.ratios
        ],
        "tables": [to_builtins(table) for report in reports for table in report.tables],
        "notes": [note for report in reports for note in report.notes],
        "samples": {name: times for report in reports for name, times in report.samples.items()},
    }


def _line(entry: Ratio) -> str:
    sign = "≥" if entry.least else "≤"
    return (
        f"| {entry.what} | {entry.ours_us:,.1f} | {entry.against} | {entry.theirs_us:,.1f} "
        f"| {entry.ratio:.2f} | {sign} {entry.limit:g} | {'yes' if entry.holds else 'NO'} |"
    )


def _table(table: Table) -> str:
    lines = [
        f"**{table.title}**\n",
        f"| {' | '.join(table.columns)} |",
        f"|---|{'--:|' * (len(table.columns) - 1)}",
    ]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in table.rows)])
