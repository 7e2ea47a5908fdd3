"""An outcome as JSON: exactly the keys that are documented, always."""

import json
from typing import Any

from hookline.model.answers import PASS, Verdict, allow, deny, rewrite
from hookline.model.hook import Layer, Mode, Source
from hookline.model.outcome import Outcome, Reply, Run
from support.engines import bound, command_of, fire, shell

KEYS = [
    "event",
    "id",
    "verdict",
    "reason",
    "context",
    "notice",
    "rewrite",
    "follow_up",
    "metadata",
    "runs",
    "substitutions",
]


def printed(outcome: Outcome) -> dict[str, Any]:
    shown: dict[str, Any] = json.loads(json.dumps(outcome.as_json()))
    return shown


def test_an_outcome_in_which_nothing_happened_has_every_key() -> None:
    shown = printed(Outcome(event=shell("ls", id="e1")))

    assert list(shown) == KEYS
    assert shown == {
        "event": "pre_tool_use",
        "id": "e1",
        "verdict": "pass",
        "reason": "",
        "context": [],
        "notice": [],
        "rewrite": {},
        "follow_up": [],
        "metadata": {},
        "runs": [],
        "substitutions": [],
    }


def test_an_outcome_shows_runs_substitutions_and_rewrites() -> None:
    project = Source("hookline.yaml", 4, Layer.PROJECT)
    hooks = [bound("grants", allow(), source=project), bound("quiet", rewrite(command="ls -q"))]

    shown = printed(fire(hooks, shell("ls", id="e1")))

    assert list(shown) == KEYS
    assert shown["rewrite"] == {"input": {"command": "ls -q"}}
    assert shown["substitutions"] == [
        {
            "from": "allow",
            "to": "pass",
            "why": "`grants` is in a project file, and `project_allow` is not set",
        }
    ]
    for run in shown["runs"]:
        assert isinstance(run.pop("ms"), float)
    assert shown["runs"] == [
        {"hook": "grants", "source": "hookline.yaml:4", "verdict": "allow", "failed": None},
        {"hook": "quiet", "source": "", "verdict": "pass", "failed": None},
    ]


def test_an_outcome_is_made_of_what_json_is_made_of() -> None:
    hooks = [bound("fails", OSError("disk")), bound("denies", deny("no", metadata={"a": [1]}))]

    shown = fire(hooks, shell("ls")).as_json(reply=Reply(), error="e")

    assert json.loads(json.dumps(shown)) == shown
    assert shown["runs"][0]["failed"] == "OSError: disk"


def test_reply_and_error_are_there_only_when_given() -> None:
    reply = Reply(stdout=b'{"a":1}\n', stderr=b"caf\xe9", exit_code=2)

    shown = Outcome(event=shell("ls")).as_json(reply=reply, error="bad line")

    assert list(shown) == [*KEYS, "reply", "error"]
    assert shown["reply"] == {"stdout": '{"a":1}\n', "stderr": "caf\ufffd", "exit_code": 2}
    assert shown["error"] == "bad line"


def test_a_run_says_how_long_it_took_and_what_was_special_about_it() -> None:
    hook = bound("h", PASS, mode=Mode.OBSERVE).hook

    plain = Run(bound("h", PASS).hook, PASS, 1_234_567).as_json()
    special = Run(hook, PASS, 0, rejudged=True).as_json()

    assert plain["ms"] == 1.235
    assert list(plain) == ["hook", "source", "verdict", "ms", "failed"]
    assert (special["observed"], special["rejudged"]) == (True, True)


def test_verdict_and_reason_are_those_of_the_merged_answer() -> None:
    outcome = Outcome(event=shell("ls"), answer=deny("no"))

    assert (outcome.verdict, outcome.reason) == (Verdict.DENY, "no")


def test_the_event_of_an_outcome_is_the_one_that_was_fired() -> None:
    outcome = fire([bound("h", rewrite(command="b"))], shell("a"))

    assert command_of(outcome.event) == "a"
