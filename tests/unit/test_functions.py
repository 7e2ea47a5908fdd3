"""``@hook``: a mark that says at once what is wrong with it, and functions that guard."""

import asyncio
import functools
from typing import Any

import pytest

from hookline import (
    Answer,
    HooklineError,
    Hooks,
    PreToolUse,
    SessionStart,
    Stop,
    ToolKind,
    ask,
    deny,
    hook,
    tool,
)
from hookline.functions import bound_hooks, marks
from hookline.model.events import Event
from hookline.model.hook import Layer, Mode, OnError
from hookline.testing import assert_denied, assert_passed, fire, shell, stop


class TestMarks:
    def test_a_marked_function_stays_an_ordinary_one(self) -> None:
        @hook("pre_tool_use")
        def no(event: PreToolUse) -> Answer:
            return deny("no")

        assert no(shell("ls")) == deny("no")
        assert no.__name__ == "no"

    def test_the_mark_holds_name_source_and_defaults(self) -> None:
        @hook("pre_tool_use", "stop")
        def guard(event: Event) -> None:
            """Guards."""

        (mark,) = marks(guard)
        assert mark.hook.name == "guard"
        assert mark.hook.events == ("pre_tool_use", "stop")
        assert mark.hook.source.layer is Layer.CODE
        assert mark.hook.source.file == __file__
        assert mark.hook.source.line == guard.__code__.co_firstlineno
        assert (mark.hook.priority, mark.hook.timeout, mark.timeout) == (50, 60.0, None)

    @pytest.mark.parametrize(
        ("events", "guards"),
        [(("pre_tool_use",), True), (("session_start",), False), (("session_start", "stop"), True)],
    )
    def test_a_hook_on_a_gate_is_a_guard_and_closes_when_it_fails(
        self, events: tuple[str, ...], guards: bool
    ) -> None:
        (mark,) = marks(hook(*events)(lambda event: None))
        assert mark.hook.guard is guards
        assert mark.hook.on_error is (OnError.BLOCK if guards else OnError.WARN)

    def test_every_keyword_is_kept(self) -> None:
        marker = hook(
            "pre_tool_use",
            name="mine",
            priority=5,
            timeout="500ms",
            on_error="ignore",
            guard=False,
            always=True,
            mode="observe",
        )
        (mark,) = marks(marker(lambda event: None))
        found = mark.hook
        assert (found.name, found.priority, found.timeout) == ("mine", 5, 0.5)
        assert (found.on_error, found.guard, found.always) == (OnError.IGNORE, False, True)
        assert found.mode is Mode.OBSERVE

    def test_the_match_key_mode_is_permission_mode_here(self) -> None:
        @hook("pre_tool_use", permission_mode="plan", mode="enforce")
        def no(event: PreToolUse) -> Answer:
            return deny("not while planning")

        assert_denied(fire(no, PreToolUse(permission_mode="plan")))
        assert_passed(fire(no, PreToolUse(permission_mode="auto")))

    def test_two_marks_are_two_hooks(self) -> None:
        @hook("stop", name="two")
        @hook("session_start", name="one")
        def both(event: Event) -> None:
            """Does nothing."""

        assert [bound.hook.name for bound in bound_hooks([both])] == ["one", "two"]

    def test_objects_and_partials_can_be_marked(self) -> None:
        class Guard:
            def __call__(self, event: Event) -> Answer:
                return deny("the object says no")

        def two(text: str, event: Event) -> Answer:
            return deny(text)

        guard = hook("pre_tool_use")(Guard())
        assert_denied(fire(guard, shell("ls")), "the object says no")
        part = hook("pre_tool_use", name="part")(functools.partial(two, "the part says no"))
        assert_denied(fire(part, shell("ls")), "the part says no")

    def test_methods_are_hooks_of_their_object(self) -> None:
        class Policy:
            def __init__(self, word: str) -> None:
                self.word = word

            @hook("pre_tool_use")
            def judge(self, event: PreToolUse) -> Answer:
                return deny(self.word)

        outcome = Hooks(Policy("mine").judge).fire_sync(shell("ls"))
        assert outcome.reason.startswith("mine")

    def test_anything_else_has_no_marks(self) -> None:
        class Liar:
            def __getattr__(self, name: str) -> object:
                return "anything you like"

        class Grump:
            def __getattr__(self, name: str) -> object:
                raise RuntimeError("working outside of a context")

        for thing in (print, 5, None, Liar(), Grump(), object):
            assert marks(thing) == ()


class TestMistakes:
    @pytest.mark.parametrize(
        ("events", "keywords", "said"),
        [
            ((), {}, r'name at least one event: @hook\("pre_tool_use"\)'),
            ((print,), {}, r'name at least one event: @hook\("pre_tool_use"\)'),
            ((PreToolUse,), {}, "name at least one event"),
            (("PreToolUse",), {}, "no event is called `PreToolUse`. did you mean `pre_tool_use`"),
            (("zzz",), {}, "no event is called `zzz`"),
            (("stop",), {"comand": "x"}, r"no keyword `comand` \(did you mean `command`\?\)"),
            (("stop",), {"priorty": 1}, "did you mean `priority`"),
            (("stop",), {"zzz": 1}, "known: tool, command, .*, mode"),
            (("stop",), {"priority": 101}, "from 0 to 100"),
            (("stop",), {"timeout": 0}, "more than 0 seconds"),
            (("stop",), {"timeout": -1}, "more than 0 seconds"),
            (("stop",), {"timeout": "soon"}, "`soon` is no length of time"),
            (("stop",), {"on_error": "deny"}, "one of ignore, warn, block"),
            (("stop",), {"mode": "dry"}, "one of enforce, observe"),
            (("stop",), {"tool": "shell"}, "never fire: `stop` never has a `tool`"),
            (("pre_tool_use",), {"tool": "shel"}, "did you mean `shell`"),
            (("pre_tool_use",), {"tool": 5}, "Expected `str | array`"),
            (("pre_tool_use",), {"tool": "shell", "path": "x"}, "never has a `path`"),
            (("pre_tool_use",), {"command": "/(/"}, "is not a regex"),
        ],
    )
    def test_are_said_when_the_module_is_read(
        self, events: tuple[Any, ...], keywords: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(HooklineError, match=said) as caught:
            hook(*events, **keywords)
        assert isinstance(caught.value, ValueError)

    def test_what_cannot_hold_a_mark_is_refused(self) -> None:
        with pytest.raises(HooklineError, match="`len` cannot be marked: wrap it in a function"):
            hook("stop")(len)

    def test_a_function_without_a_mark_is_no_hook(self) -> None:
        def plain(event: Event) -> None:
            """Does nothing."""

        with pytest.raises(HooklineError, match="`plain` is no hook: mark it with @hook"):
            Hooks(plain)


class TestMatching:
    def denies(self, **match: Any) -> Any:
        @hook("pre_tool_use", name="no", **match)
        def no(event: PreToolUse) -> Answer:
            return deny("no")

        return no

    @pytest.mark.parametrize(
        "match",
        [
            {},
            {"tool": "shell"},
            {"tool": ToolKind.SHELL},
            {"tool": ["read", "shell"]},
            {"tool": ("read", "shell")},
            {"command": "git push*"},
            {"command": "/push/"},
            {"tool": "shell", "command": ["ls", "git *"]},
            {"dialect": "canonical"},
            {"agent": "root"},
        ],
    )
    def test_a_match_is_that_of_a_config(self, match: dict[str, Any]) -> None:
        assert_denied(fire(self.denies(**match), shell("sudo git push -f")))

    @pytest.mark.parametrize(
        "match", [{"tool": "read"}, {"command": "git pull*"}, {"agent": "other"}, {"url": "*"}]
    )
    def test_no_match_is_no_run(self, match: dict[str, Any]) -> None:
        outcome = fire(self.denies(**match), shell("git push"))
        assert_passed(outcome)
        assert outcome.runs == ()


class TestFailure:
    def test_a_guard_that_raises_denies(self) -> None:
        @hook("pre_tool_use")
        def broken(event: PreToolUse) -> None:
            raise KeyError("missing")

        outcome = fire(broken, shell("ls"))
        assert_denied(outcome, "hook `broken` failed: KeyError: 'missing'")
        assert outcome.runs[0].failed is not None
        assert f"{__file__}:" in outcome.runs[0].failed

    @pytest.mark.parametrize("said", [5, True, object(), {"verdict": "deny"}, {"verdct": "deny"}])
    def test_a_guard_that_answers_nonsense_denies(self, said: object) -> None:
        assert_denied(fire(hook("pre_tool_use", name="odd")(lambda event: said), shell("ls")))

    def test_a_guard_that_exits_denies_and_the_program_goes_on(self) -> None:
        @hook("pre_tool_use")
        def leaves(event: PreToolUse) -> None:
            raise SystemExit(0)

        assert_denied(fire(leaves, shell("ls")), "called sys.exit")

    def test_any_other_hook_that_fails_is_a_notice(self) -> None:
        @hook("session_start")
        def broken(event: SessionStart) -> None:
            raise OSError("disk")

        outcome = fire(broken, SessionStart())
        assert outcome.verdict == "pass"
        assert "OSError: disk" in outcome.answer.notice[0]

    def test_a_guard_may_be_told_to_warn_only(self) -> None:
        @hook("pre_tool_use", on_error="warn")
        def broken(event: PreToolUse) -> None:
            raise OSError("disk")

        assert fire(broken, shell("ls")).verdict == "pass"

    def test_a_failure_never_keeps_an_agent_going(self) -> None:
        @hook("stop")
        def broken(event: Stop) -> None:
            raise OSError("disk")

        assert fire(broken, stop()).answer.follow_up == ()

    def test_a_coroutine_nobody_awaits_is_a_failure(self) -> None:
        async def later(event: PreToolUse) -> None:
            """Never runs."""

        assert_denied(fire(hook("pre_tool_use", name="x")(lambda event: later(event)), shell("ls")))


class TestWhatAFunctionMaySay:
    def test_nothing_is_a_pass(self) -> None:
        assert_passed(fire(hook("pre_tool_use")(lambda event: None), shell("ls")))

    def test_text_goes_to_the_model(self) -> None:
        outcome = fire(hook("session_start")(lambda event: "be kind"), SessionStart())
        assert outcome.answer.context == ("be kind",)

    def test_a_mapping_is_an_answer(self) -> None:
        said = {"verdict": "ask", "reason": "sure?"}
        assert fire(hook("pre_tool_use")(lambda event: said), shell("ls")).verdict == "ask"

    def test_an_async_function_is_awaited(self) -> None:
        @hook("pre_tool_use")
        async def later(event: PreToolUse) -> Answer:
            await asyncio.sleep(0)
            return ask("really?")

        assert fire(later, shell("ls")).verdict == "ask"

    @pytest.mark.parametrize("asynchronous", [True, False])
    def test_a_slow_function_with_a_timeout_is_cut(self, asynchronous: bool) -> None:
        forever = asyncio.Event

        async def waits(event: PreToolUse) -> None:
            await forever().wait()

        def blocks(event: PreToolUse) -> None:
            import threading

            threading.Event().wait(60)

        function = waits if asynchronous else blocks
        marked = hook("pre_tool_use", name="slow", timeout=0.05)(function)
        assert_denied(fire(marked, shell("ls")), "no answer within 0.05 s")

    def test_a_quick_function_with_a_timeout_runs_in_a_thread(self) -> None:
        import threading

        seen: list[threading.Thread] = []

        @hook("pre_tool_use", timeout=30)
        def quick(event: PreToolUse) -> Answer:
            seen.append(threading.current_thread())
            return deny("no")

        assert_denied(fire(quick, shell("ls")))
        assert seen[0] is not threading.main_thread()

    def test_an_observer_is_written_down_and_does_not_count(self) -> None:
        outcome = fire(hook("pre_tool_use", mode="observe")(lambda event: deny("no")), shell("ls"))
        assert outcome.verdict == "pass"
        assert outcome.runs[0].answer.verdict == "deny"

    def test_a_rewrite_is_judged_again_by_every_guard(self) -> None:
        from hookline import rewrite

        @hook("pre_tool_use", priority=40)
        def changes(event: PreToolUse) -> Answer | None:
            return None if event.tool.command == "rm x" else rewrite(command="rm x")

        @hook("pre_tool_use", priority=20)
        def guards(event: PreToolUse) -> Answer | None:
            return deny("no rm") if "rm" in (event.tool.command or "") else None

        outcome = Hooks(changes, guards).fire_sync(PreToolUse(tool=tool("shell", command="ls")))
        assert_denied(outcome, "no rm")
