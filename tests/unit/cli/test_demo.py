"""``hookline demo``: everything it shows happened, and nothing of it stays."""

from pathlib import Path

import pytest

from hookline.cli import demo
from support.cli import Machine


@pytest.fixture
def machine(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Machine:
    return Machine(tmp_path, capfdbinary)


def test_it_prints_a_title_and_a_line_for_every_event(machine: Machine) -> None:
    done = machine.call("demo")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    for title, payload, _ in demo._SCRIPT:
        shown = lines[lines.index(title) + 1]
        assert shown.split()[0] in {"pass", "ask", "deny"}
        assert shown.split()[1] == payload["event"]
    assert f"{len(demo._SCRIPT)} events: " in done.out
    assert "deletes, blast radius high: `rm -rf ~`" in done.out


def test_json_is_a_list_of_outcomes(machine: Machine) -> None:
    done = machine.call("demo", "--json")
    assert done.code == 0
    assert [shown["event"] for shown in done.json] == [
        payload["event"] for _, payload, _ in demo._SCRIPT
    ]


def test_every_title_tells_what_happens(machine: Machine) -> None:
    titles = [title for title, _, _ in demo._SCRIPT]
    shown = dict(zip(titles, machine.call("demo", "--json").json, strict=True))

    def of(words: str) -> dict[str, object]:
        (found,) = [outcome for title, outcome in shown.items() if words in title]
        assert isinstance(found, dict)
        return found

    tidied = of("tidies up too much")
    assert tidied["verdict"] == "deny"
    assert str(tidied["reason"]).endswith("is a home directory.")
    again = of("another way to the same end")
    assert again["verdict"] == "deny"
    assert isinstance(again["runs"], list)
    denied = [run["hook"] for run in again["runs"] if run["verdict"] == "deny"]
    assert "no-workarounds" in denied
    assert of("only mentions danger")["verdict"] == "pass"
    assert of("reads a secret")["verdict"] == "ask"
    forced = of("pushes by force")
    assert forced["verdict"] == "ask"
    assert forced["rewrite"] == {"input": {"command": "git push --force-with-lease"}}
    assert of("a token in it")["rewrite"] == {"output": "GITHUB_TOKEN=[redacted:github]"}
    assert "Production changes go through the pipeline" in str(of("tries production")["reason"])
    assert "exit code 7" in str(of("A guard is broken")["reason"])
    assert of("edit its own guard")["verdict"] == "deny"
    assert of("by the shell")["verdict"] == "deny"
    assert of("stop too early")["follow_up"] == ["The tests have not passed yet. Run them."]
    assert of("Now it may")["follow_up"] == []
    assert of("A person asks")["context"] == ["This project uses British spelling."]
    assert of("tells the model about it")["context"] == ["app.py has 1 lines"]
    assert of("An agent starts")["context"]


def test_it_leaves_nothing_behind(machine: Machine) -> None:
    scratch = machine.base / "scratch"
    scratch.mkdir()
    before = sorted(machine.base.rglob("*"))
    assert machine.run("demo", TMPDIR=str(scratch)).code == 0
    assert sorted(machine.base.rglob("*")) == before


def test_the_persons_own_hooks_play_no_part(machine: Machine) -> None:
    machine.user_file.parent.mkdir(parents=True)
    machine.user_file.write_text("version: 1\nhoks: []\n", encoding="utf-8")
    machine.write(machine.config, "version: 1\nhoks: []\n")
    done = machine.call("demo", "--json", HOOKLINE_DEPTH="9", HOOKLINE_CONFIG="nowhere.yaml")
    assert done.code == 0
    assert [shown["verdict"] for shown in done.json].count("deny") == 6
