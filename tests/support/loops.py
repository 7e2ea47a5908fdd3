"""An agent that makes calls and gets outcomes, as loop-guard sees them; and sequences of calls."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, NamedTuple

from msgspec import convert

from hookline.builtin import loop_guard
from hookline.model.answers import Announcement, Answer, Verdict
from hookline.model.events import (
    Agent,
    PostToolUse,
    PostToolUseFailure,
    PreCompact,
    PreToolUse,
    UserPromptSubmit,
)
from hookline.model.ports import Caller, State
from hookline.model.tools import Tool, tool

START = datetime(2026, 11, 19, 12, 0, tzinfo=UTC)


class Step(NamedTuple):
    """One call, what came of it, and how many seconds after the last one."""

    tool: Tool
    output: str | None = ""
    failed: bool = False
    seconds: float = 5


def shell(command: str, output: str | None = "", *, failed: bool = False, after: float = 5) -> Step:
    return Step(tool("shell", command=command), output, failed, after)


def edit(path: str, text: str) -> Step:
    return Step(tool("edit", path=path, old="a", new=text), "edited")


class LoopingAgent:
    """One agent of one session; ``said`` has the answers that were more than a pass."""

    def __init__(
        self,
        state: State,
        *,
        session: str = "s1",
        agent: str = "root",
        dialect: str = "canonical",
        **options: Any,
    ) -> None:
        self._answer = loop_guard.make(convert(options, loop_guard.Options))
        self._caller = Caller(state=lambda: state)
        self._fixed: dict[str, Any] = {
            "session_id": session,
            "agent": Agent(name=agent, id=None if agent == "root" else agent),
            "dialect": dialect,
            "cwd": "/srv/app",
        }
        self.now = START
        self.said: list[Answer] = []

    def fire(self, cls: Any, **fields: Any) -> Answer:
        said = self._answer(cls(**self._fixed, time=self.now, **fields), self._caller)
        answer = said.answer if isinstance(said, Announcement) else said
        if answer.verdict is not Verdict.PASS or answer.notice:
            self.said.append(answer)
        return answer

    def do(self, step: Step) -> str:
        """Makes a call, unless it is denied: ``deny``, ``halt``, ``warn`` or nothing."""
        self.now += timedelta(seconds=step.seconds)
        before = self.fire(PreToolUse, tool=step.tool)
        if before.verdict is not Verdict.PASS:
            return before.verdict.value
        if step.failed:
            after = self.fire(PostToolUseFailure, tool=step.tool, error=step.output or "")
        else:
            ok = None if step.output is None else True
            done = Tool(**{name: getattr(step.tool, name) for name in Tool.__struct_fields__}
                        | {"output": step.output, "ok": ok})  # fmt: skip
            after = self.fire(PostToolUse, tool=done)
        return "warn" if after.context else ""

    def do_all(self, steps: Sequence[Step]) -> list[str]:
        return [self.do(step) for step in steps]

    def prompt(self) -> None:
        self.fire(UserPromptSubmit, prompt="go on")

    def compact(self, tokens: int | None = None, *, seconds: float = 20, **fields: Any) -> str:
        self.now += timedelta(seconds=seconds)
        answer = self.fire(PreCompact, input_tokens=tokens, trigger="auto", **fields)
        return answer.verdict.value if answer.verdict is not Verdict.PASS else (
            "warn" if answer.context else ""
        )  # fmt: skip


# ── generated sequences ─────────────────────────────────────────────────────────────────────

_FAILING = (
    ("npm test", "Tests: {n} failed, 2 passed\nTime: {s} s\nRan at {t}"),
    ("cargo build", "error[E0425]: cannot find value `x`\n --> src/main.rs:{line}:9"),
    ("pytest -q", "FAILED tests/test_a.py:{line}: AssertionError\n{n} failed in {s}s"),
    ("make", "cc: /tmp/cc{tmp}.o: file not recognized\nmake: *** [all] Error 1"),
    ("./deploy.sh", "[{t}] pid {pid}: cannot reach host (object at 0x{hex})"),
    ("tsc -p .", "src/a.ts({line},5): error TS2304: Cannot find name 'q'."),
    ("node app.js", "Error: listen EADDRINUSE\n    at Server (/app/app.js:{line}:11)"),
    ("terraform apply", "Error acquiring the state lock\nID: {uuid}"),
)
_PLAIN = (
    ("cat src/a.py", "print('a')"),
    ("ls -la", "total 8\n-rw-r--r-- a.py"),
    ("npm run build", "built in {s} s"),
    ("grep -rn TODO src", "src/a.py:{line}: TODO"),
    ("git diff", ""),
    ("python run.py", "done at {t} in {s} seconds"),
)
_POLLS = (
    "gh run view 12 --json status",
    "kubectl get pods -n app",
    "curl -s http://localhost:3000/health",
    "docker compose ps",
    "git status",
    "tail -n 20 build.log",
    "systemctl status app",
    "aws ecs describe-tasks --cluster c --tasks t",
    "./check_status.sh",
    "ps aux | grep node",
    "squeue -u me",
    "sleep 5 && cat out.log",
    "pg_isready -h db",
    "make status",
)
_POLL_TOOLS = (
    tool("BashOutput", bash_id="b1"),
    tool("read_bash", sessionId="b1"),
    tool("mcp__ci__get_job_status", id="7"),
    tool("mcp__browser__browser_wait_for", text="Ready"),
    tool("get_terminal_output", id="t1"),
    tool("TaskOutput", task_id="t1"),
)


def fill(text: str, random: Random, count: int) -> str:
    """A text with noise of its own, and with a count that means something."""
    hexes = "0123456789abcdef"

    def draw(length: int) -> str:
        return "".join(random.choices(hexes, k=length))

    return text.format(
        n=count,
        s=round(random.uniform(0.1, 90), 2),
        t=(START + timedelta(seconds=random.randrange(9000))).isoformat(),
        line=random.randrange(1, 900),
        pid=random.randrange(2, 99999),
        hex=draw(12),
        tmp=draw(2) + "aZ9x",
        uuid="-".join(map(draw, (8, 4, 4, 4, 12))),
    )


def _noise(random: Random) -> Step:
    number = random.randrange(10**9)
    return shell(f"cat notes/{number}.md", f"note {number}", after=random.uniform(1, 8))


def make_loop(random: Random) -> tuple[str, list[Step], int]:
    """The kind of a loop, its calls, and by which of them it has to be found."""
    kind = random.choice(("failure", "repetition", "alternation"))
    pace = random.uniform(0.5, 9)
    if kind == "failure":
        command, text = random.choice(_FAILING)
        steps: list[Step] = []
        due = 0
        for number in range(9):
            steps += [_noise(random) for _ in range(random.choice((0, 0, 0, 1, 2)))]
            output = fill(text, random, 3)
            steps.append(shell(command, output, failed=True, after=pace))
            due = len(steps) if number == 2 else due
        return kind, steps, due
    if kind == "repetition":
        command, text = random.choice(_PLAIN)
        steps = [shell(command, fill(text, random, 3), after=pace) for _ in range(12)]
        return kind, steps, 6
    period = random.choice((2, 3))
    rounds = random.sample([*_PLAIN, *_FAILING], period)
    steps = []
    for _ in range(6):
        for command, text in rounds:
            failed = (command, text) in _FAILING
            steps.append(shell(command, fill(text, random, 3), failed=failed, after=pace))
    # The third failure of one of them shows it before the third round is through.
    place = next((at for at, each in enumerate(rounds, 1) if each in _FAILING), period)
    return kind, steps, period * 2 + place


def make_harmless(random: Random) -> tuple[str, list[Step]]:
    """Calls that wait, poll, or test after each edit; whatever they repeat, they are no loop."""
    kind = random.choice(("poll", "poll tool", "wait between", "spread", "tests", "refactoring"))
    steps: list[Step] = []
    if kind == "poll":
        command = random.choice(_POLLS)
        failed = random.random() < 0.4
        for _ in range(random.randrange(8, 25)):
            text = "connect: connection refused" if failed else "pending"
            steps.append(shell(command, text, failed=failed, after=random.uniform(1, 20)))
    elif kind == "poll tool":
        which = random.choice(_POLL_TOOLS)
        steps = [Step(which, "still running") for _ in range(random.randrange(8, 25))]
    elif kind == "wait between":
        command, text = random.choice(_PLAIN)
        for _ in range(random.randrange(6, 20)):
            steps += [shell(command, text), shell(f"sleep {random.randrange(1, 30)}")]
    elif kind == "spread":
        command, text = random.choice([*_PLAIN, *_FAILING])
        failed = (command, text) in _FAILING
        for _ in range(15):
            after = random.uniform(190, 900)
            steps.append(shell(command, fill(text, random, 2), failed=failed, after=after))
    else:
        command, text = random.choice(_FAILING[:1] + _FAILING[2:3])
        left = random.randrange(5, 20)
        while left:
            steps.append(edit("src/a.py", f"version {random.randrange(10**9)}"))
            if kind == "tests":
                left -= random.choice((0, 1)) if len(steps) % 4 == 0 else 1
                steps.append(shell(command, fill(text, random, left), failed=left > 0))
            else:
                left -= 1
                steps.append(shell(command, f"20 passed in {random.random():.2f}s"))
    return kind, steps


def list_seeds(seed: int, count: int) -> Iterator[Random]:
    for number in range(count):
        yield Random(f"{seed}-{number}")
