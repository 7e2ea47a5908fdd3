"""``hookline trust``: look at a project's config, and put this version of it in force."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain
from typing import TYPE_CHECKING

import click

from hookline.app import open_app
from hookline.cli._output import print_json
from hookline.cli._protection import print_protections
from hookline.cli._review import Review
from hookline.cli._terminal import confirm, guard_weakening
from hookline.config.discover import NAMES, place_of, project_root
from hookline.config.trust import TrustedSet
from hookline.model.errors import ConfigError, TrustError
from hookline.model.text import visible

if TYPE_CHECKING:
    from hookline.app import App
    from hookline.config.load import Loader, Standing

__all__ = ["command"]


@click.command("trust")
@click.argument("paths", nargs=-1, metavar="[PATH]…", type=click.Path())
@click.option("--list", "list_all", is_flag=True, help="Show everything that is trusted.")
@click.option("--revoke", is_flag=True, help="Stop trusting a config: none of its hooks runs.")
@click.option(
    "--yes", is_flag=True, help="Do not ask: for images, before hookline is installed there."
)
@click.option("--json", "as_json", is_flag=True, help="Print data for programs.")
@guard_weakening("trust")
def command(paths: tuple[str, ...], list_all: bool, revoke: bool, yes: bool, as_json: bool) -> None:
    """Show what changed in this project's configs, and trust them as they are now.

    PATH is a config or a project directory; without one, every config that counts here and is
    not trusted as it is. Until then the version trusted last stays active.
    """
    app = open_app(os.environ)
    loader = app.loader
    if list_all and (paths or revoke):
        raise click.UsageError("--list stands alone: it shows everything that is trusted")
    if list_all:
        _list(loader, as_json)
        return
    places = [place for path in paths for place in _named(loader, os.path.abspath(path))]
    standings = [loader.standing(place) for place in places] if paths else _here(loader)
    if revoke:
        _revoke(loader, standings, yes, as_json)
    else:
        _trust(app, standings, yes, as_json)


def _named(loader: "Loader", path: str) -> Iterator[str]:
    if os.path.isdir(path):
        places = [place_of(os.path.join(path, name)) for name in NAMES]
        found = [place for place in places if os.path.lexists(place) or loader.store.has(place)]
        if not found:
            raise TrustError(f"there is no {' or '.join(NAMES)} in `{path}`")
        yield from found
    elif os.path.basename(path) != "hookline.yaml":
        message = f"`{path}` is no project config; those are called {' or '.join(NAMES)}"
        raise TrustError(f"{message}, and what they include is trusted with them")
    else:
        yield place_of(path)


def _here(loader: "Loader") -> list["Standing"]:
    cwd = os.path.abspath(".")
    return list(loader.standings(project_root(cwd, project_var=None), cwd))


def _trust(app: "App", standings: Sequence["Standing"], yes: bool, as_json: bool) -> None:
    loader = app.loader
    there = [each for each in standings if each.state != "missing"]
    reviews = [each for each in (_review(loader, each) for each in there) if each.is_news]
    for review in reviews:
        # Whoever reads data from stdout still has to see what they are asked about.
        click.echo("\n".join((*review.as_lines(), "")), err=as_json)
    if reviews:
        names = ", ".join(f"{each.draft.config} ({each.draft.digest[:12]})" for each in reviews)
        lost = [each for each in reviews if each.losses()]
        files = ", ".join(each.draft.config for each in lost)
        weakening = f"a version of {files} was trusted that drops or changes hooks" if lost else ""
        _check_vouched(reviews, yes)
        confirm(f"Trust {names} as shown?", weakening=weakening, yes=yes)
    data = [each.as_json() for each in reviews]
    for review in reviews:
        loader.store.trust(review.draft.config, review.draft.readings)
    if as_json:
        print_json(data)
        return
    for review in reviews:
        click.secho(f"trusted {visible(review.draft.config)}", fg="green")
    for each in standings:
        if each.state == "missing":
            click.echo(f"{visible(each.config)} is gone and still active; --revoke ends that")
    if not reviews:
        click.echo("nothing to trust: every config here is trusted as it is")
    print_protections(app)


def _check_vouched(reviews: Sequence[Review], yes: bool) -> None:
    """With ``--yes`` the hashes in HOOKLINE_TRUST are the answer, and answer only for those."""
    words = os.environ.get("HOOKLINE_TRUST", "").replace(",", " ").split()
    if not yes or not words or "all" in words:
        return
    for reading in (each for review in reviews for each in review.draft.readings):
        digest = sha256(reading.content or b"").hexdigest()
        if reading.content is not None and digest not in words:
            message = f"HOOKLINE_TRUST does not name this version of `{reading.path}`"
            raise TrustError(f"{message}, whose sha256 is {digest}")


def _review(loader: "Loader", standing: "Standing") -> Review:
    draft = loader.draft(standing.config)
    found = (loader.find_run_problems(each.hook, os.environ, on_disk=True) for each in draft.hooks)
    problems = tuple(chain.from_iterable(found))
    if standing.trusted is None:
        return Review(draft, standing.state, problems=problems)
    try:
        before = loader.trusted_file(standing.trusted)
    except (ConfigError, TrustError):
        return Review(draft, "damaged", problems=problems)
    return Review(draft, standing.state, standing.trusted, before, problems)


def _revoke(loader: "Loader", standings: Sequence["Standing"], yes: bool, as_json: bool) -> None:
    known = [each.config for each in standings if loader.store.has(each.config)]
    if known:
        names = ", ".join(known)
        question = f"Stop trusting {names}?"
        confirm(question, weakening=f"trust in {names} was revoked", yes=yes)
    for place in known:
        loader.store.revoke(place)
    if as_json:
        print_json([{"config": place, "state": "revoked"} for place in known])
    else:
        for place in known:
            click.echo(f"{visible(place)} is no longer trusted, and nothing in it is active")
        if not known:
            click.echo("nothing to do: no config here is trusted")


def _list(loader: "Loader", as_json: bool) -> None:
    sets, damaged = loader.store.sets()
    standings = [loader.standing(each.config) for each in sets]
    if as_json:
        data = [_as_json(each) for each in standings]
        print_json([*data, *({"state": "damaged", "problem": str(each)} for each in damaged)])
        return
    for standing in standings:
        trusted = standing.trusted
        assert trusted is not None
        colour = "green" if standing.state == "trusted" else "yellow"
        state = click.style(f"{standing.state:<8}", fg=colour)
        click.echo(f"{state} {_when(trusted)}  {visible(standing.config)}")
        for path in standing.changed:
            there = trusted.find(path) is not None
            what = "is not as it was trusted" if there else "was not there when it was trusted"
            click.echo(f"         {visible(path)} {what}")
    for error in damaged:
        click.secho(f"damaged  {visible(str(error))}", fg="red")
    if not sets and not damaged:
        click.echo("nothing is trusted yet")


def _as_json(standing: "Standing") -> dict[str, object]:
    trusted = standing.trusted
    assert trusted is not None
    return {
        "config": standing.config,
        "state": standing.state,
        "time": _when(trusted),
        "files": [file.path for file in trusted.files],
        "changed": list(standing.changed),
    }


def _when(trusted: TrustedSet) -> str:
    return datetime.fromtimestamp(trusted.time, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
