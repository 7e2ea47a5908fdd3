"""What a verification came to: a table for people, data for programs."""

from collections import Counter

import click
from msgspec import Struct

from hookline.cli._output import print_json
from hookline.lab.finding import Age
from hookline.model.errors import HooklineError
from hookline.model.text import visible
from hookline.verifying.lines import Line, State

__all__ = ["Report", "tell_failure"]

_COLOURS = {
    State.OK: "green",
    State.FAILED: "red",
    State.NOT_OBSERVED: "yellow",
    State.CANNOT: "cyan",
    State.SKIPPED: "white",
}
_WIDTH = max(len(state.value) for state in State)


class Report(Struct, frozen=True, kw_only=True):
    """Every line, and about which client."""

    client: str
    name: str
    """As people call it."""
    version: str
    proven: str
    """The version that hookline's own tests run."""
    known: Age
    isolated: bool
    lines: tuple[Line, ...]
    kept: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing failed and nothing was left unseen."""
        return not any(line.state.is_bad for line in self.lines)

    def show(self, *, as_json: bool) -> None:
        """Print it."""
        if as_json:
            print_json(self._data())
            return
        click.echo(self._head())
        for line in self.lines:
            _tell(line)
        counts = Counter(line.state for line in self.lines)
        click.echo(", ".join(f"{counts[state]} {state.value}" for state in State if counts[state]))
        if self.kept:
            click.echo(f"kept: {self.kept}")

    def _data(self) -> dict[str, object]:
        return {
            "client": self.client,
            "version": self.version,
            "known": self.known,
            "proven": self.proven,
            "isolated": self.isolated,
            "passed": self.passed,
            "lines": self.lines,
            "kept": self.kept or None,
        }

    def _head(self) -> str:
        name = click.style(self.name, bold=True)
        alone = "" if self.isolated else "; kept to this machine by proxy settings only"
        return f"{name} {visible(self._version())}{alone}"

    def _version(self) -> str:
        today = "the lines below are what it does today"
        match self.known:
            case "same":
                return f"{self.version}, the version proven here"
            case "newer" | "older":
                return f"{self.version}, {self.known} than the {self.proven} proven here: {today}"
            case _:
                version = self.version or "of a version that it does not tell"
                return f"{version}, not the {self.proven} proven here: {today}"


def tell_failure(client: str, error: HooklineError | OSError, *, as_json: bool) -> None:
    """Say why nothing could be verified."""
    if as_json:
        print_json({"client": client, "error": str(error), "passed": False, "lines": []})
    label = click.style("error:", fg="red", bold=True)
    click.echo(f"{label} {visible(str(error))}", err=True)


def _tell(line: Line) -> None:
    word = click.style(f"{line.state.value:<{_WIDTH}}", fg=_COLOURS[line.state], bold=True)
    click.echo(f"{word}  {line.id:<17}  {line.title}")
    if line.detail:
        click.secho(f"{'':<{_WIDTH + 21}}{visible(line.detail)}", dim=True)
