"""The sessions that make a client show its events: what is played when payloads are recorded.

Most are portable. Where a client has events of its own there is a scenario for it alone.
"""

from collections.abc import Callable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hookline.lab.clients._codex_talk import Talk
from hookline.lab.clients.codex import Codex
from hookline.lab.ports import Client, Wish
from hookline.lab.script import Agent, Edit, Mcp, Native, Read, Script, Shell, Turn, Write

__all__ = ["SCENARIOS", "Scenario", "Step", "scenarios_for"]


class Step(Struct, frozen=True, kw_only=True):
    """One session of a scenario, in the room that the ones before it left."""

    script: Script
    wish: Wish = Wish()


class Scenario(Struct, frozen=True, kw_only=True):
    """Sessions played one after another in one room."""

    name: str
    steps: tuple[Step, ...]
    clients: tuple[str, ...] = ()
    """The clients it is for; empty for all."""
    driver: Client | None = None
    """Plays it in the place of the client's usual driver."""
    fails: bool = False
    """Whether the client is meant to end badly."""

    @property
    def files(self) -> dict[str, str]:
        """The project's files before the first session."""
        return {path: text for step in self.steps for path, text in step.script.files.items()}


_FILES = {"README.md": "# Lab project\nhello from readme\n", "app.py": 'print("one")\n'}


def _one(
    name: str,
    *turns: Turn,
    wish: Wish | None = None,
    clients: tuple[str, ...] = (),
    prompt: str = "Please do the scripted task.",
    files: dict[str, str] | None = None,
) -> Scenario:
    """A scenario of one session."""
    script = Script(prompt=prompt, turns=turns, files=_FILES | (files or {}))
    return Scenario(name=name, steps=(Step(script=script, wish=wish or Wish()),), clients=clients)


def _then(first: Scenario, prompt: str, *turns: Turn, extra: tuple[str, ...] = ()) -> Scenario:
    """The scenario with one more session, which goes on with the one before."""
    wish = Wish(resume=True, extra=extra)
    step = Step(script=Script(prompt=prompt, turns=turns), wish=wish)
    return replace(first, steps=(*first.steps, step))


def _claude_code(
    name: str,
    *turns: Turn,
    extra: tuple[str, ...] = (),
    permission: Literal["all", "ask"] = "all",
    prompt: str = "Please do the scripted task.",
    files: dict[str, str] | None = None,
) -> Scenario:
    """A scenario of one session for Claude Code, with arguments of its own."""
    # It refuses to skip permissions for root, unless it is told that it is in a sandbox.
    wish = Wish(extra=extra, permission=permission, env={"IS_SANDBOX": "1"})
    return _one(name, *turns, wish=wish, clients=("claude-code",), prompt=prompt, files=files)


def _mode(mode: str) -> Scenario:
    """Claude Code in one of its permission modes, which every payload names."""
    turns = (
        Turn(do=(Shell("echo hi"),)),
        Turn(do=(Write("notes.txt", "written\n"),)),
        Turn(say="All done."),
    )
    return _claude_code(mode, *turns, extra=("--permission-mode", mode), permission="ask")


_BASIC = _one(
    "basic",
    Turn(say="First a command.", do=(Shell("echo hi > out.txt && cat out.txt"),)),
    Turn(do=(Write("notes.txt", "written\n"),)),
    Turn(do=(Read("app.py"),)),
    Turn(do=(Edit("app.py", 'print("one")', 'print("two")'),)),
    Turn(do=(Shell("exit 3"),)),
    Turn(say="All done."),
)

_PORTABLE = (
    _BASIC,
    _one(
        "several-at-once",
        Turn(do=(Shell("echo one"), Read("README.md"), Shell("echo three"))),
        Turn(say="All done."),
    ),
    _one("failing", Turn(do=(Read("missing.txt"),)), Turn(say="All done.")),
    _one(
        "mcp",
        Turn(do=(Mcp("echo_text", {"text": "hello"}),)),
        Turn(do=(Mcp("fail_text", {"text": "hello"}),)),
        Turn(say="All done."),
    ),
    _one(
        "sub-agent",
        Turn(
            do=(
                Agent(
                    "Please do the sub-task.",
                    (
                        Turn(do=(Shell("echo from the sub-agent"),)),
                        Turn(say="The sub-task is done."),
                    ),
                ),
            )
        ),
        Turn(say="All done."),
    ),
    _one(
        "asking",
        Turn(do=(Shell("touch asked.txt"),)),
        Turn(do=(Write("asked.md", "written\n"),)),
        Turn(say="All done."),
        wish=Wish(permission="ask"),
    ),
    _then(
        _one("resume", Turn(do=(Shell("echo before"),)), Turn(say="So far.")),
        "Please go on.",
        Turn(do=(Shell("echo after"),)),
        Turn(say="All done."),
    ),
)

_DONE = Turn(say="All done.")
_TALK = Turn(say="A long talk.")
_HI = Turn(do=(Shell("echo hi"),))
# Only some models have an effort, and only they have a classifier for the mode `auto`.
_EFFORT = ("--model", "claude-opus-4-6")
_CELL = '{"id": "c1", "cell_type": "code", "source": ["1"], "metadata": {}, "outputs": []}'
_NOTEBOOK = f'{{"cells": [{_CELL}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'

_CLAUDE_CODE = (
    *map(_mode, ("acceptEdits", "bypassPermissions", "dontAsk", "plan")),
    _claude_code("effort", _HI, _DONE, extra=_EFFORT),
    _claude_code(
        "auto",
        Turn(do=(Shell("rm -rf ../elsewhere"),)),
        _DONE,
        extra=("--permission-mode", "auto", *_EFFORT),
        permission="ask",
    ),
    _claude_code("main-agent", _HI, _DONE, extra=("--agent", "general-purpose")),
    _claude_code("init", _DONE, extra=("--init",)),
    _claude_code("maintenance", _DONE, extra=("--maintenance",)),
    _then(_claude_code("compact", _TALK), "/compact"),
    _then(_claude_code("clear", _TALK), "/clear"),
    _then(_claude_code("model", _TALK), "/model opus"),
    _then(_claude_code("fork", _TALK), "Please go on.", _DONE, extra=("--fork-session",)),
    _claude_code(
        "command",
        _DONE,
        prompt="/greet the world",
        files={".claude/commands/greet.md": "Greet $ARGUMENTS.\n"},
    ),
    _claude_code("directory", Turn(do=(Shell("mkdir -p inner && cd inner"),)), _DONE),
    _claude_code(
        "instructions",
        Turn(do=(Read("sub/data.txt"),)),
        _DONE,
        files={
            "CLAUDE.md": "Be brief. See @more.md\n",
            "more.md": "Be kind.\n",
            "sub/CLAUDE.md": "Be careful here.\n",
            "sub/data.txt": "data\n",
        },
    ),
    _claude_code(
        "tasks",
        Turn(do=(Native("TaskCreate", {"subject": "First", "description": "The first task"}),)),
        Turn(do=(Native("TaskUpdate", {"taskId": "1", "status": "completed"}),)),
        Turn(do=(Native("TaskList"),)),
        _DONE,
    ),
    _claude_code(
        "worktree",
        Turn(do=(Native("EnterWorktree", {"name": "aside"}),)),
        Turn(do=(Native("ExitWorktree", {"action": "remove"}),)),
        _DONE,
        extra=("--allowedTools", "EnterWorktree,ExitWorktree"),
    ),
    _claude_code(
        "notebook",
        Turn(do=(Read("n.ipynb"),)),
        Turn(
            do=(
                Native(
                    "NotebookEdit",
                    {"notebook_path": "n.ipynb", "new_source": "2", "cell_id": "c1"},
                ),
            )
        ),
        _DONE,
        extra=("--allowedTools", "NotebookEdit"),
        files={"n.ipynb": _NOTEBOOK},
    ),
)


def _compacting(talk: Talk, script: Script) -> None:
    talk.begin()
    talk.say(script.prompt)
    talk.compact()


def _interrupting(talk: Talk, script: Script) -> None:
    talk.begin()
    turn = talk.start(script.prompt)
    talk.until("item/started", lambda told: bool(told["item"]["type"] == "commandExecution"))
    talk.interrupt(turn)
    talk.finish()


def _spoken(name: str, *turns: Turn, talk: Callable[[Talk, Script], None]) -> Scenario:
    """What only a conversation makes Codex do."""
    return replace(_one(name, *turns, clients=("codex",)), driver=Codex(talk=talk))


_CODEX = (
    _spoken("compact-thread", _TALK, talk=_compacting),
    _spoken("interrupt", Turn(do=(Shell("sleep 60"),)), talk=_interrupting),
)

# Nobody listens at the port for nothing, so the client is refused at once.
_NOWHERE = Wish(env={"COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:9/v1"})

_OTHERS = (
    _then(_one("compress", _TALK, clients=("gemini",)), "/compress"),
    _then(_one("compact-session", _TALK, clients=("copilot",)), "/compact"),
    replace(_one("unreachable", wish=_NOWHERE, clients=("copilot",)), fails=True),
)

SCENARIOS: Sequence[Scenario] = (*_PORTABLE, *_CLAUDE_CODE, *_CODEX, *_OTHERS)
"""Everything that can be played; the first shows the most."""


def scenarios_for(client: str) -> Sequence[Scenario]:
    """What is played with one client."""
    return [each for each in SCENARIOS if not each.clients or client in each.clients]
