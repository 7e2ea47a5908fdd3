"""``hookline demo``: a scripted session through a sample config, for everybody to see."""

import asyncio
import os
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any

import click
import msgspec

from hookline import registry
from hookline._version import __version__
from hookline.app import App
from hookline.cli._output import print_json, print_outcome, verdict_word
from hookline.cli.init import starter
from hookline.client import fastest
from hookline.daemon.instance import find_holder
from hookline.model.answers import Verdict
from hookline.model.outcome import Outcome
from hookline.model.text import visible
from hookline.pipeline.judge import judge
from hookline.pipeline.parts import journal_file
from hookline.store.journal.reader import Filter, JournalReader

__all__ = ["command"]

# It has the form of one and is none.
_TOKEN = "ghp" + "_" + "D3moXY" * 6
_HOME = b"HOME"
"""In place of the home directory, which is another one each time."""
# (what happens, payload, a file that is there from then on)
_SCRIPT: tuple[tuple[str, dict[str, Any], str | None], ...] = (
    ("An agent starts.", {"event": "session_start", "source": "startup"}, None),
    ("A person asks.", {"event": "user_prompt_submit", "prompt": "Tidy up and ship it"}, None),
    (
        "It looks round: nobody minds.",
        {"event": "pre_tool_use", "tool": {"name": "shell", "command": "git status && ls -la"}},
        None,
    ),
    (
        "It writes a file.",
        {
            "event": "pre_tool_use",
            "tool": {"name": "write", "path": "app.py", "content": "x = 1\n"},
        },
        "app.py",
    ),
    (
        "Afterwards a command hook tells the model about it.",
        {"event": "post_tool_use", "tool": {"name": "write", "path": "app.py", "ok": True}},
        None,
    ),
    (
        "It tidies up too much, inside a nested shell.",
        {
            "event": "pre_tool_use",
            "tool": {"name": "shell", "command": "bash -c 'cd x && rm -rf ~'"},
        },
        None,
    ),
    (
        "It tries another way to the same end: what was denied is remembered.",
        {
            "event": "pre_tool_use",
            "tool": {
                "name": "shell",
                "command": "python3 -c 'import shutil; shutil.rmtree(\"HOME\")'",
            },
        },
        None,
    ),
    (
        "A commit message that only mentions danger is fine.",
        {
            "event": "pre_tool_use",
            "tool": {"name": "shell", "command": "git commit -m 'do not rm -rf ~ any more'"},
        },
        None,
    ),
    (
        "It reads a secret: a person decides.",
        {"event": "pre_tool_use", "tool": {"name": "read", "path": ".env"}},
        None,
    ),
    (
        "A tool answers with a token in it: the model never sees it.",
        {
            "event": "post_tool_use",
            "tool": {"name": "shell", "command": "env", "output": f"GITHUB_TOKEN={_TOKEN}"},
        },
        None,
    ),
    (
        "It pushes by force: the command is rewritten, and guards judge the rewritten one.",
        {"event": "pre_tool_use", "tool": {"name": "shell", "command": "git push --force"}},
        None,
    ),
    (
        "It tries production.",
        {
            "event": "pre_tool_use",
            "tool": {"name": "shell", "command": "sudo kubectl get pods --context prod"},
        },
        None,
    ),
    (
        "A guard is broken: it closes instead of letting things through.",
        {"event": "pre_tool_use", "tool": {"name": "fetch", "url": "https://example.org"}},
        None,
    ),
    (
        "It wants to edit its own guard.",
        {"event": "pre_tool_use", "tool": {"name": "edit", "path": "hookline.yaml"}},
        None,
    ),
    (
        "And once more, by the shell.",
        {
            "event": "pre_tool_use",
            "tool": {"name": "shell", "command": "sed -i s/deny/allow/ ./hookline.yaml"},
        },
        None,
    ),
    ("It wants to stop too early.", {"event": "stop", "last_message": "Done!"}, "tests-passed"),
    ("Now it may.", {"event": "stop", "last_message": "Done, and tested."}, None),
    ("The session ends.", {"event": "session_end", "reason": "other"}, None),
)


@click.command("demo")
@click.option("--json", "as_json", is_flag=True, help="Print the outcomes as JSON.")
def command(as_json: bool) -> None:
    """Play a scripted session through a sample config. Nothing outside a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="hookline-demo-") as scratch:
        outcomes = asyncio.run(_play(Path(scratch), as_json))
        if not as_json:
            _show_warm_path(Path(scratch), starter())
    if as_json:
        print_json([outcome.as_json() for outcome in outcomes])
        return
    counts = dict.fromkeys(Verdict, 0)
    for outcome in outcomes:
        counts[outcome.verdict] += 1
    said = ", ".join(f"{n} {verdict_word(v)}" for v, n in counts.items() if n)
    took = sum(run.ns for outcome in outcomes for run in outcome.runs) / 1e6
    runs = sum(len(outcome.runs) for outcome in outcomes)
    click.echo(f"{len(outcomes)} events: {said}. {runs} hooks ran, {took:.0f} ms in all.")
    click.echo("Make it yours: `hookline init` in a project, then `hookline list`.")


async def _play(scratch: Path, quiet: bool) -> list[Outcome]:
    home, project = scratch / "home", scratch / "home" / "app"
    project.mkdir(parents=True)
    config = Path(__file__).with_name("_demo.yaml").read_bytes()
    for name, content in (("hookline.yaml", config), ("starter.yaml", starter())):
        (project / name).write_bytes(content)
    state = {"XDG_CONFIG_HOME": str(scratch / "none"), "HOME": str(home)}
    app = App(
        env={**os.environ, **state, "HOOKLINE_DEPTH": "0"},
        cwd=str(project),
        home=str(scratch / "kept"),
        config=str(project / "hookline.yaml"),
    )
    decode = registry.dialect("canonical").decode
    outcomes = []
    try:
        for title, payload, appears in _SCRIPT:
            fields = {"session_id": "demo", "cwd": str(project), **payload}
            encoded = msgspec.json.encode(fields).replace(_HOME, str(home).encode())
            outcome = await judge(decode(encoded, None), app)
            outcomes.append(outcome)
            if not quiet:
                click.secho(f"\n{title}", italic=True, dim=True)
                print_outcome(outcome, quiet=True)
                _print_findings(outcome)
            if appears:
                (project / appears).write_text("x = 1\n", encoding="utf-8")
    finally:
        await app.aclose()
    if not quiet:
        click.echo()
    return outcomes


def _print_findings(outcome: Outcome) -> None:
    """What the shell guard says beside its reason."""
    for found in (run.answer.metadata for run in outcome.runs):
        if "blast_radius" in found:
            what = f"{found['category']}, blast radius {found['blast_radius']}"
            rather = f"; rather `{found['safer']}`" if "safer" in found else ""
            click.echo(f"       {what}: `{visible(str(found['words']))}`{rather}")


_WARM = 20
_PATIENCE = 5.0
_ASKED = {
    "session_id": "demo",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf ~"},
}


def _show_warm_path(scratch: Path, config: bytes) -> None:
    """Runs the client some times, and says what it cost; its daemon ends with the demo."""
    user, state = scratch / "user", scratch / "state"
    (user / "hookline").mkdir(parents=True)
    (user / "hookline/hookline.yaml").write_bytes(config)
    (scratch / "payload").write_bytes(msgspec.json.encode({**_ASKED, "cwd": str(scratch)}))
    client = [*fastest(sys.executable), "hook", "claude-code", "PreToolUse"]
    client += ["--home", str(state), "--user-config", str(user), "--timeout", "60"]
    try:
        first = _seconds(client, scratch)
        warm = median(_seconds(client, scratch) for _ in range(_WARM))
        bare = median(_seconds(["/bin/true"], scratch) for _ in range(_WARM))
        _tell(first, warm, bare, state)
    finally:
        _end(str(state))


def _seconds(argv: list[str], scratch: Path) -> float:
    """How long a program takes with the payload on stdin; by the means that costs the least."""
    opened = [
        (os.POSIX_SPAWN_OPEN, 0, str(scratch / "payload"), os.O_RDONLY, 0),
        *((os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)),
    ]
    started = perf_counter()
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=opened)
    os.waitpid(pid, 0)
    return perf_counter() - started


def _tell(first: float, warm: float, bare: float, state: Path) -> None:
    click.secho("As agents ask: the client, and the daemon it starts.", italic=True, dim=True)
    with JournalReader(journal_file(str(state))) as journal:
        newest = journal.query(Filter(limit=1))
    for last in newest:
        click.echo(f"{last.verdict}   {last.native_event} of {last.dialect}: {last.subject}")
        click.echo(f"       in the journal; `hookline explain {last.id[:16]}` would tell more")
    click.echo(
        f"       {first * 1e3:.0f} ms for the first event, which started the daemon; "
        f"{warm * 1e3:.1f} ms for each of the next {_WARM}; "
        f"/bin/true takes {bare * 1e3:.1f} ms here\n"
    )


def _end(home: str) -> None:
    """Ends the daemon, and waits for that: its files are about to go."""
    found = find_holder(home, __version__)
    until = perf_counter() + _PATIENCE
    with suppress(ProcessLookupError):
        while found is not None and perf_counter() < until:
            os.kill(found.pid, signal.SIGTERM)
            sleep(0.01)
