"""A hook that cannot run when an agent ends: the person reads it, the model hears it, once.

Law 4: a failed hook there never keeps an agent going; and what was not checked is not silent.
Through ``hookline hook DIALECT``, each event by parts of its own, judged by client models.
"""

import asyncio
import json
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.model.events import Event, PostToolUse, Stop, SubagentStop, UserPromptSubmit
from hookline.model.outcome import Reply
from hookline.model.tools import tool
from hookline.pipeline.answer import answer
from hookline.pipeline.call import Call
from hookline.pipeline.parts import LastingJournals, Parts
from support.clients.effects import Effect

NATIVE = [name for name in registry.dialect_names() if name != "canonical"]
# Each of them ends in another way: 127 or 126 from the shell, no start at all, and 2, by which
# these interpreters say that their script is missing and which is "keep going" from a hook.
BROKEN = {
    "text": "./gone.sh",
    "list": "[./gone.sh]",
    "directory": "./folder",
    "program": "no-such-program-here --check",
    "exit 2 of sh": "sh gone.sh",
    "exit 2 of python": "[python3, gone.py]",
    "exit 2 of a sourced file": ". ./gone.sh",
    "exit 2 of cd": "cd nowhere && ./gone.sh",
    "exit 2 of one that closes": "no-such-program-here || exit 2",
    "exit 2 after Windows line ends": "./windows.sh",
    "exit 2 of a group": "'{ sh gone.sh; }'",
    "exit 2 of a branch": "'if true; then sh gone.sh; fi'",
    "exit 2 of Python in a branch": "'if true; then python3 gone.py; fi'",
    "fails": "exit 3",
    "no answer": """ "echo '{'" """,
    "killed": "kill -9 $$",
}

# Scripts that a shell cannot read or go on with: all of them end with 2 in dash, some in bash.
GIVE_UP = {
    "syntax.sh": "#!/bin/sh\nif true; then\n",
    "late.sh": "#!/bin/bash\necho checked >&2\nif true; then\n",
    "trap.sh": "#!/bin/bash\ntrap 'echo bye >&2' EXIT\ntrue\nif true; then\n",
    "array.sh": "#!/bin/sh\na=(1 2)\nexit 2\n",
    "unset.sh": "#!/bin/sh\nset -u\necho $NO_SUCH\n",
    "needed.sh": "#!/bin/sh\n: ${NO_SUCH:?}\n",
    "source.sh": "#!/bin/sh\n. ./gone.sh\n",
    "shift.sh": "#!/bin/sh\nshift 5\n",
    "readonly.sh": "#!/bin/sh\nreadonly x=1\nx=2\n",
    "sum.sh": "#!/bin/sh\necho $((1+))\n",
}
GIVING_UP = [
    *(f"./{name}" for name in GIVE_UP),
    "sh syntax.sh",
    "bash syntax.sh",
    "[bash, syntax.sh]",
    "'. ./syntax.sh'",
    "'cd . && ./syntax.sh'",
    "'\"$HOOKLINE_PROJECT_DIR\"/syntax.sh'",
    "'env A=1 sh syntax.sh'",
    "'sh < syntax.sh'",
    "'cat syntax.sh | sh'",
    "'for i in 1; do ./syntax.sh; done'",
    "'if true; then'",
    "[bash, -c, 'if true; then']",
    "'set -u; echo $NO_SUCH'",
    "'a=(1 2); exit 2'",
]
# These mean their 2, whatever stands on stderr: what they check is not in order.
MEANT = {
    "more.sh": "#!/bin/sh\necho MK_MORE >&2\nexit 2\n",
    "target.sh": "if true; then\n",
    "lint.sh": "#!/bin/sh\nbash -n target.sh\nexit 2\n",
    "payload.sh": "#!/bin/sh\necho MK_MORE >&2\nexit 2\nif then ((\n",
    "globs.sh": "#!/bin/bash\nshopt -s extglob\necho !(a) >&2\nexit 2\n",
    "incomplete.sh": "#!/bin/sh\nno-such-program-here\necho MK_MORE >&2\nexit 2\n",
}
MEANING_IT = [
    *(f"./{name}" for name in MEANT if name != "target.sh"),
    "bash -n target.sh",
    "'sh -n target.sh || exit 2'",
    "'cat target.sh | bash -n'",
    "'echo target.sh: line 3: syntax error >&2; exit 2'",
    "'echo src/a.py:3: error >&2; exit 2'",
]


class Platform:
    """One platform's client, with hookline installed in it."""

    def __init__(self, name: str, directory: Path, run: str = "./gone.sh") -> None:
        self.dialect: Any = registry.dialect(name)
        self.directory = directory
        (directory / "folder").mkdir()
        (directory / "windows.sh").write_bytes(b"#!/bin/sh -e\r\n")
        (directory / "windows.sh").chmod(0o755)
        (directory / "hookline.yaml").write_text(
            f"version: 1\nhooks:\n  - {{name: MK_CHECK, on: [stop, subagent_stop], run: {run}}}\n",
            encoding="utf-8",
        )

    def row(self, event: type[Event]) -> Any:
        native = self.dialect.native_for(event.event_id())
        if not native:
            pytest.skip(f"no {event.event_id()} there")
        return self.dialect.support.events[native]

    def fire(self, event: Event) -> tuple[str, Effect]:
        """All that was replied, and what the client does with it."""
        native = self.row(type(event)).native
        payload = self.dialect.stdin(event)
        options = {
            "--home": str(self.directory / "state"),
            "--user-config": str(self.directory / "none"),
            "--config": str(self.directory / "hookline.yaml"),
        }
        reply = asyncio.run(
            respond(
                Call(
                    argv=[self.dialect.id, native, *chain(*options.items())],
                    payload=payload,
                    env={"PATH": "/usr/bin:/bin", "HOME": str(self.directory)},
                    cwd=str(self.directory),
                )
            )
        )
        client = import_module(f"support.clients.{self.dialect.id.replace('-', '_')}")
        effect: Effect = client.obey(native, reply, json.loads(payload))
        assert not effect.failed, effect.failed
        return (reply.stdout + reply.stderr).decode(), effect

    def prompt(self, session: str = "s1") -> str:
        event = UserPromptSubmit(prompt="go on", session_id=session, cwd=str(self.directory))
        return self.fire(event)[1].context

    def stop(self, event: type[Stop | SubagentStop] = Stop) -> tuple[str, Effect]:
        return self.fire(event(session_id="s1", cwd=str(self.directory)))


async def respond(call: Call) -> Reply:
    parts = Parts(LastingJournals())
    try:
        return await answer(call, parts)
    finally:
        await parts.aclose()


@pytest.fixture(params=NATIVE)
def platform(request: pytest.FixtureRequest, tmp_path: Path) -> Platform:
    return Platform(request.param, tmp_path)


@pytest.mark.parametrize("event", [Stop, SubagentStop])
def test_the_person_reads_it_at_once_and_the_agent_ends(
    platform: Platform, event: type[Stop | SubagentStop]
) -> None:
    told, effect = platform.stop(event)
    assert not effect.follow_up
    assert effect == Effect(context=effect.context)
    assert ("MK_CHECK" in told) == platform.row(event).can("notice")


def test_the_model_hears_of_it_once_and_in_its_own_session(platform: Platform) -> None:
    platform.stop()
    if not platform.row(UserPromptSubmit).can("context"):
        assert "MK_CHECK" not in platform.prompt()  # and it is not lost, see below
        return
    assert "MK_CHECK" not in platform.prompt("s2")
    heard = platform.prompt()
    assert "MK_CHECK" in heard
    assert "gone.sh" in heard
    assert "MK_CHECK" not in platform.prompt()


def test_where_a_prompt_takes_no_context_it_comes_with_the_next_event_that_does(
    platform: Platform,
) -> None:
    row = platform.row(PostToolUse)
    if platform.row(UserPromptSubmit).can("context") or not row.can("context"):
        pytest.skip("the prompt carries it, or nothing does")
    platform.stop()
    platform.prompt()
    done = PostToolUse(
        tool=tool("shell", command="ls"), session_id="s1", cwd=str(platform.directory)
    )
    assert "MK_CHECK" in platform.fire(done)[1].context
    assert "MK_CHECK" not in platform.fire(done)[1].context


@pytest.mark.parametrize("run", ["sh more.sh", "no-such-program-here; sh more.sh"])
def test_a_program_that_runs_and_says_2_still_keeps_it_going(run: str, tmp_path: Path) -> None:
    platform = Platform("claude-code", tmp_path, run)
    (tmp_path / "more.sh").write_text("echo MK_MORE >&2; exit 2\n")
    assert "MK_MORE" in platform.stop()[1].follow_up
    assert platform.prompt() == ""


@pytest.mark.parametrize("run", BROKEN.values(), ids=BROKEN)
def test_however_it_fails_it_keeps_nobody_going(run: str, tmp_path: Path) -> None:
    platform = Platform("claude-code", tmp_path, run)
    told, effect = platform.stop()
    assert not effect.follow_up
    assert "MK_CHECK" in told
    assert "MK_CHECK" in platform.prompt()


def put_scripts(directory: Path, scripts: dict[str, str]) -> None:
    for name, text in scripts.items():
        (directory / name).write_text(text)
        (directory / name).chmod(0o755)


@pytest.mark.parametrize("run", GIVING_UP)
def test_a_shell_that_gives_up_keeps_nobody_going(run: str, tmp_path: Path) -> None:
    platform = Platform("claude-code", tmp_path, run)
    put_scripts(tmp_path, GIVE_UP)
    told, effect = platform.stop()
    assert not effect.follow_up, told
    assert "MK_CHECK" in told
    assert "MK_CHECK" in platform.prompt()


@pytest.mark.parametrize("run", MEANING_IT)
def test_a_check_that_finds_something_keeps_it_going(run: str, tmp_path: Path) -> None:
    platform = Platform("claude-code", tmp_path, run)
    put_scripts(tmp_path, MEANT)
    assert platform.stop()[1].follow_up
    assert platform.prompt() == ""
