"""How an outcome reads: who held it back, and what was said in other words."""

from hookline.model.answers import Answer, Verdict, allow, ask, context, deny, notice, rewrite
from hookline.model.events import PreToolUse
from hookline.model.hook import HandlerSpec, Layer, Source
from hookline.model.outcome import Substitution
from hookline.model.tools import ToolKind, ToolRow, ToolTable
from support.engines import bound, fire, shell
from support.strategies import bare_event


def test_whoever_is_held_back_reads_by_which_hook_file_and_line() -> None:
    hook = bound("no push", deny("not today"), source=Source("hookline.yaml", 7, Layer.USER))

    outcome = fire([hook], shell("push"))
    assert (outcome.reason, outcome.signature) == ("not today", "— no push, hookline.yaml:7")


def test_a_hook_that_stands_in_no_file_signs_with_its_name() -> None:
    assert fire([bound("no push", ask("really?"))], shell("push")).signature == "— no push"


def test_each_of_several_hooks_signs_its_own_reason() -> None:
    hooks = [bound("a", deny("one")), bound("b", ask("lost to a deny")), bound("c", deny("two"))]

    outcome = fire(hooks, shell("push"))
    assert (outcome.reason, outcome.signature) == ("one\ntwo", "— a\n— c")


def test_builtins_that_hold_back_the_same_act_give_one_reason_and_all_of_them_sign() -> None:
    builtin = {name: HandlerSpec("builtin", {"use": name}) for name in "abc"}
    hooks = [
        bound("a", ask("lost to a deny"), handler=builtin["a"]),
        bound("b", deny("one"), handler=builtin["b"]),
        bound("c", deny("the same in other words"), handler=builtin["c"]),
        bound("d", deny("a rule of the config's own")),
    ]
    outcome = fire(hooks, shell("push"))
    assert outcome.verdict is Verdict.DENY
    assert outcome.reason == "one\na rule of the config's own"
    assert outcome.signature == "— b\n— c\n— d"
    assert len(outcome.runs) == 4


def test_an_allow_is_not_signed() -> None:
    outcome = fire([bound("a", allow("harmless"))], shell("ls"))
    assert (outcome.reason, outcome.signature) == ("harmless", "")


def test_an_engine_that_explains_ends_every_objection_with_the_command_that_explains_it() -> None:
    objection = fire([bound("a", deny("no"))], shell("ls", id="e42"), explains=True)
    agreement = fire([bound("a", allow("fine"))], shell("ls", id="e42"), explains=True)

    assert objection.signature.endswith("\nhookline explain e42")
    assert objection.reason == "no"
    assert (agreement.reason, agreement.signature) == ("fine", "")


def test_a_project_may_object_though_it_may_not_allow() -> None:
    project = Source("hookline.yaml", 3, Layer.PROJECT)

    objection = fire([bound("a", deny("no"), source=project)], shell("ls"))
    grant = fire([bound("a", allow("fine"), source=project)], shell("ls"))

    assert objection.verdict is Verdict.DENY
    assert grant.answer == Answer()
    assert grant.substitutions == (
        Substitution("allow", "pass", "`a` is in a project file, and `project_allow` is not set"),
    )


def test_what_a_project_adds_beside_its_allow_still_counts() -> None:
    said = Answer(verdict=Verdict.ALLOW, context=("note",), notice=("look",))
    included = Source(".github/hooks/a.json", 3, Layer.INCLUDE)

    outcome = fire([bound("a", said, source=included)], shell("ls"))

    assert outcome.answer == Answer(context=("note",), notice=("look",))


def test_a_change_of_words_is_recorded_even_when_nothing_else_was_said() -> None:
    outcome = fire([bound("h", allow(), events=("stop",))], bare_event("stop"))

    assert outcome.answer == Answer()
    assert outcome.substitutions == (
        Substitution("allow", "pass", "there is nothing to allow on stop"),
    )


def test_text_from_a_verdict_joins_the_text_that_came_with_it() -> None:
    said = Answer(verdict=Verdict.DENY, reason="too late", context=("first",))

    outcome = fire([bound("h", said, events=("turn_start",))], bare_event("turn_start"))

    assert outcome.answer == context("first", "too late")


def test_where_no_text_reaches_the_model_it_reaches_the_person() -> None:
    said = Answer(verdict=Verdict.DENY, reason="too late", notice=("first",))

    outcome = fire([bound("h", said, events=("session_end",))], bare_event("session_end"))

    assert outcome.answer == notice("first", "too late")


def test_a_rewrite_is_written_in_the_words_of_the_events_own_platform() -> None:
    table = ToolTable({"Run": ToolRow(ToolKind.SHELL, {"command": "script_text"})})
    event = PreToolUse(dialect="its own", tool=table.read("Run", {"script_text": "ls"}))
    asked: list[str] = []

    def tools(dialect: str) -> ToolTable:
        asked.append(dialect)
        return table

    outcome = fire([bound("safer", rewrite(command="ls --safe"))], event, tools=tools)

    assert outcome.answer.rewrite.input == {"script_text": "ls --safe"}
    assert isinstance(outcome.final, PreToolUse)
    assert outcome.final.tool.command == "ls --safe"
    assert set(asked) == {"its own"}
