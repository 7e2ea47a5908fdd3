"""How outcomes look to people: colour in a terminal, plain lines in a pipe."""

from collections.abc import Sequence

import click
import msgspec

from hookline.model.answers import Verdict
from hookline.model.events import Event, ToolEvent
from hookline.model.outcome import Outcome, Run
from hookline.model.text import visible

__all__ = ["print_json", "print_outcome", "subject", "verdict_word"]

_COLOURS = {
    Verdict.ALLOW: "green",
    Verdict.PASS: "white",
    Verdict.ASK: "yellow",
    Verdict.DENY: "red",
    Verdict.HALT: "magenta",
}


def print_json(data: object, *, pretty: bool = True) -> None:
    """JSON on stdout: indented for a single value, one line for a stream."""
    encoded = msgspec.json.encode(data)
    click.echo(msgspec.json.format(encoded, indent=2) if pretty else encoded)


def verdict_word(verdict: Verdict, width: int = 0) -> str:
    """The verdict in its colour."""
    return click.style(f"{verdict.value:<{width}}", fg=_COLOURS[verdict], bold=True)


def subject(event: Event) -> str:
    """What the event is about, in one line."""
    said = ""
    if isinstance(event, ToolEvent):
        tool = event.tool
        what = tool.command or tool.path or tool.url or tool.query or ""
        said = f"{tool.name or tool.kind} {what}"
    for key in ("prompt", "source", "reason", "trigger", "message", "last_message"):
        said = said or str(getattr(event, key, "") or "")
    line = " ".join(visible(said).split())
    return line if len(line) <= 90 else line[:89] + "…"


def print_outcome(outcome: Outcome, *, quiet: bool = False) -> None:
    """Everything a person wants to know of one outcome; ``quiet`` leaves out hooks that passed."""
    event = outcome.event
    name = click.style(f"{event.event_id():<19}", bold=True)
    click.echo(f"{verdict_word(outcome.verdict, 5)}  {name} {subject(event)}")
    told = [each for each in (outcome.reason, outcome.signature) if each]
    _print_texts("", told, "red")
    for label, texts, colour in (
        ("to the model: ", outcome.answer.context, "cyan"),
        ("to you: ", outcome.answer.notice, "yellow"),
        ("keep going: ", outcome.answer.follow_up, "magenta"),
    ):
        _print_texts(label, texts, colour)
    for part, value in outcome.answer.rewrite.parts().items():
        click.echo(f"       {click.style('rewritten', fg='blue')} {part}: {visible(str(value))}")
    for run in outcome.runs:
        if not quiet or run.failed or run.answer.verdict is not Verdict.PASS:
            click.echo(f"       {_run_line(run)}")
    for change in outcome.substitutions:
        click.secho(f"       {change.was} → {change.now}: {change.why}", dim=True)


def _print_texts(label: str, texts: Sequence[str], colour: str) -> None:
    for text in texts:
        first, *rest = visible(text).splitlines() or [""]
        click.echo(f"       {click.style(label, fg=colour)}{first}")
        for line in rest:
            click.echo(f"       {' ' * len(label)}{line}")


def _run_line(run: Run) -> str:
    said = click.style("failed", fg="red") if run.failed else verdict_word(run.answer.verdict, 6)
    remarks = (
        (f"on {run.derived}", run.derived),
        ("observed", not run.counts),
        ("rejudged", run.rejudged),
    )
    extras = [word for word, on in remarks if on]
    note = f" ({', '.join(extras)})" if extras else ""
    where = click.style(str(run.hook.source), dim=True)
    line = f"{said} {run.ns / 1e6:8.2f} ms  {visible(run.hook.name)}{note}  {where}"
    return f"{line}\n       {' ' * 7}{visible(run.failed)}" if run.failed else line
