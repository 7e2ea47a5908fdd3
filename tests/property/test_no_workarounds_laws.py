"""Adding no-workarounds never weakens a verdict, and no text is too strange for it to read."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hookline.builtin import no_workarounds
from hookline.builtin.no_workarounds.remembering import doings
from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.handlers.builtin import Instant
from hookline.model.answers import PASS, Answer, Verdict, allow, ask, deny, halt
from hookline.model.denials import MAX_ACTS, Denial, DeniedAct, call_digest, with_denial
from hookline.model.events import Event, PreToolUse
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.memory import SessionMemory, combined, taught
from hookline.model.outcome import Outcome, Run
from hookline.model.ports import Caller
from hookline.model.tools import tool
from hookline.testing import shell

OPINIONS = (PASS, allow("a"), ask("b"), deny("c"), halt("d"))
HELD_BACK = (Verdict.ASK, Verdict.DENY, Verdict.HALT)
PIECES = [
    "rm", "-rf", "build", "build/*", "src/a.py", "'", '"', "`", "$(", ")", "${", "}", "$x", "{}",
    "|", "xargs", "find", "-delete", "-exec", ";", "&&", ">", ">>", "<", "<<E", "\nE\n", "\n",
    "python -c", "import os", "os.remove(", "'build'", "shutil.rmtree(", "open(", ", 'w')", "[",
    "]", "for f in", "do", "done", "node -e", "fs.rmSync(", "perl -e", "unlink", "awk", "system(",
    "make", "npm run", "bash", "./x.sh", "cd", "..", "/", "~", "mv", "cp -r", "/dev/null", "git",
    "push", "origin", "main", "clean -fdx", "apply", "curl -d @x", "https://a.example/b", "\\",
    "sed -i", "tee", "*", "?", "=", "x=", "def f(a):", "f(", ".unlink()", "Path(", "\0", "é", "\ud800",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join) | st.text(max_size=60)
commands = texts | st.sampled_from(["rm -rf build", "find build -delete", "cat .env", "ls"])


def hook(name: str, use: str = "") -> Hook:
    spec = HandlerSpec("builtin", {"use": use}) if use else HandlerSpec("rule", {})
    return Hook(name=name, events=("pre_tool_use",), handler=spec, priority=20, guard=True)


def saying(answer: Answer) -> Instant:
    return Instant(lambda event, caller: answer)


def judged(event: Event, bound: Sequence[Bound], caller: Caller) -> Outcome:
    return asyncio.run(Engine(bound).handle(event, caller))


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory) -> Caller:
    project = tmp_path_factory.mktemp("project")
    (project / "build").mkdir()
    (project / "build/a.o").write_text("x", encoding="utf-8")
    (project / "x.sh").write_text("rm -rf build\n", encoding="utf-8")
    return Caller(project_dir=str(project), env={"HOME": str(project)})


def learned(event: PreToolUse, caller: Caller) -> Denial | None:
    said = deny("no")
    outcome = Outcome(event=event, answer=said, runs=(Run(hook("g"), said, 1, None, event),))
    return no_workarounds.learn(outcome, caller)


@given(first=commands, then=commands, said=st.lists(st.sampled_from(OPINIONS), max_size=3))
def test_adding_it_never_lowers_an_ask_a_deny_or_a_halt(
    caller: Caller, first: str, then: str, said: list[Answer]
) -> None:
    cwd = caller.project_dir
    denial = learned(shell(first, cwd=cwd), caller)
    known = replace(caller, denied=(denial,) if denial is not None else ())
    others = [Bound(hook(f"h{at}"), saying(each)) for at, each in enumerate(said)]
    guard = no_workarounds.make(no_workarounds.Options())
    own = Bound(hook("no-workarounds", "no-workarounds"), Instant(guard))
    event = shell(then, cwd=cwd)
    before, after = (judged(event, hooks, known) for hooks in (others, [own, *others]))
    assert not [run.failed for run in after.runs if run.failed]
    assert before.verdict not in HELD_BACK or after.verdict >= before.verdict
    assert after.verdict is not Verdict.ALLOW or before.verdict is Verdict.ALLOW


@settings(max_examples=300)
@given(text=texts)
def test_any_text_can_be_read(caller: Caller, text: str) -> None:
    for name in ("shell", "mcp__a__run"):
        doings(PreToolUse(tool=tool(name, command=text), cwd=caller.project_dir), caller)


@settings(max_examples=200)
@given(text=texts, name=st.sampled_from(["run.py", "run.sh", "run.js", "Makefile", "package.json"]))
def test_any_script_can_be_read(caller: Caller, text: str, name: str) -> None:
    file = Path(caller.project_dir, name)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    for command in (
        "python run.py",
        "bash run.sh",
        "node run.js",
        "make x",
        "npm run x",
        "./run.sh",
    ):
        doings(shell(command, cwd=caller.project_dir), caller)


denials = st.builds(
    Denial,
    call=st.sampled_from("abcdef"),
    hook=st.just("h"),
    reason=st.just("r"),
    acts=st.lists(
        st.builds(DeniedAct, st.sampled_from(["delete", "read"]), st.text("ab/", max_size=3)),
        min_size=1,
        max_size=40,
    ).map(tuple),
)


@given(st.lists(denials, max_size=8))
def test_what_is_remembered_is_bounded_and_the_newest_is_in_it(many: list[Denial]) -> None:
    kept: tuple[Denial, ...] = ()
    for each in many:
        kept = with_denial(kept, each)
        assert kept[-1] == each
        assert sum(len(denial.acts) for denial in kept) <= MAX_ACTS
        assert len({denial.call for denial in kept}) == len(kept)


@given(st.lists(denials, max_size=3, unique_by=lambda each: each.call), denials, denials)
def test_denials_of_calls_that_overlap_are_all_remembered(
    known: list[Denial], one: Denial, other: Denial
) -> None:
    before = SessionMemory(denials=tuple(known))
    event = PreToolUse()
    first = taught(before, event, Verdict.DENY, one)
    second = taught(before, event, Verdict.DENY, other)
    stored = combined(before, second, combined(before, first, before))
    assert other in stored.denials
    assert one in stored.denials or one.call == other.call or len(stored.denials) > 1


def test_a_call_is_known_by_its_tool_input_and_directory_alone() -> None:
    one = shell("rm x", cwd="/a", session_id="s")
    assert call_digest(one) == call_digest(shell("rm x", cwd="/a", session_id="t"))
    for other in (shell("rm y", cwd="/a"), shell("rm x", cwd="/b")):
        assert call_digest(one) != call_digest(other)
