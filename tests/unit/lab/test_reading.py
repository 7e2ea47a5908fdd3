"""Scripts as people write them, and what they are told when one is wrong."""

from pathlib import Path

import pytest

from hookline.lab.reading import read_script
from hookline.lab.script import Agent, Edit, Mcp, Native, Read, Script, Shell, Turn, Write
from hookline.model.errors import ConfigError, HooklineError

EVERYTHING = """
prompt: Clean up.
files: {README.md: hello, src/a.txt: ""}
turns:
  - say: I look first.
    do:
      - shell: ls -la
      - write: {path: a.txt, content: hello}
      - edit: {path: a.txt, old: hello, new: ""}
      - read: a.txt
      - mcp: {tool: echo_text, arguments: {text: hi}}
      - agent: {prompt: look around, turns: [{say: nothing here}]}
      - call: {name: NativeTool, arguments: {x: 1, y: [1.5, true, null, no]}}
  - fail: 503
  - say: Done.
"""


def read(tmp_path: Path, text: str | bytes) -> Script:
    """The script of a text, through a file."""
    path = tmp_path / "session.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_script(path)


def problems(tmp_path: Path, text: str | bytes) -> list[str]:
    """What is said about a wrong text, without the directory it is in."""
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    return [str(each).removeprefix(f"{tmp_path}/") for each in caught.value.problems]


def test_every_act_is_read(tmp_path: Path) -> None:
    assert read(tmp_path, EVERYTHING) == Script(
        prompt="Clean up.",
        files={"README.md": "hello", "src/a.txt": ""},
        turns=(
            Turn(
                "I look first.",
                (
                    Shell("ls -la"),
                    Write("a.txt", "hello"),
                    Edit("a.txt", "hello", ""),
                    Read("a.txt"),
                    Mcp("echo_text", {"text": "hi"}),
                    Agent("look around", (Turn("nothing here"),)),
                    Native("NativeTool", {"x": 1, "y": [1.5, True, None, "no"]}),
                ),
            ),
            Turn(fail=503),
            Turn("Done."),
        ),
    )


def test_a_script_may_have_no_turns(tmp_path: Path) -> None:
    assert read(tmp_path, "prompt: Hello") == Script(prompt="Hello")


def test_text_need_not_be_quoted_to_be_text(tmp_path: Path) -> None:
    script = read(tmp_path, "prompt: 42\nturns: [{do: [{shell: yes}, {read: 2026-01-01}]}]")
    assert script.prompt == "42"
    assert script.turns[0].do == (Shell("yes"), Read("2026-01-01"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "prompt: a\nturn: []",
            "session.yaml:2: `turn` is not a key of the script (did you mean `turns`?)",
        ),
        ("turns: []", "session.yaml:1: the key `prompt` of the script is missing"),
        ("prompt:\n", "session.yaml:1: `prompt` must be text; found nothing"),
        ("prompt: [a]", "session.yaml:1: `prompt` must be text; found a list"),
        ("- a", "session.yaml:1: the script must be a mapping; found a list"),
        ("prompt: a\nturns: x", "session.yaml:2: `turns` must be a list; found `x`"),
        (
            "prompt: a\nturns:\n  - {}",
            "session.yaml:3: `turns[0]` is empty (it needs `say`, `do` or both)",
        ),
        ("prompt: a\nturns:\n  - hi", "session.yaml:3: `turns[0]` must be a mapping; found `hi`"),
        (
            "prompt: a\nturns:\n  - do:\n      - shel: ls",
            "session.yaml:4: `shel` is not a key of `turns[0].do[0]` (did you mean `shell`?)",
        ),
        (
            "prompt: a\nturns:\n  - do: [ls]",
            "session.yaml:3: `turns[0].do[0]` must be one act, such as `shell: ls`; found `ls` "
            "(acts: shell, write, edit, read, mcp, agent, call)",
        ),
        (
            "prompt: a\nturns:\n  - do: [{shell: ls, read: a}]",
            "session.yaml:3: `turns[0].do[0]` must be one act, such as `shell: ls`; found a mapping "
            "(acts: shell, write, edit, read, mcp, agent, call)",
        ),
        (
            "prompt: a\nturns:\n  - do: [{write: {path: a}}]",
            "session.yaml:3: the key `content` of `turns[0].do[0].write` is missing",
        ),
        (
            "prompt: a\nturns:\n  - do: [{mcp: {tool: t, arguments: hi}}]",
            "session.yaml:3: `turns[0].do[0].mcp.arguments` must be a mapping; found `hi`",
        ),
        (
            "prompt: a\nturns:\n  - fail: 200",
            "session.yaml:3: `turns[0].fail` must be an HTTP status from 400 to 599; found `200`",
        ),
        (
            "prompt: a\nturns:\n  - {fail: 500, say: x}",
            "session.yaml:3: `turns[0]` fails, so nothing can be said or done in it (put that into the next turn)",
        ),
        (
            "prompt: a\nturns:\n  - do: [{agent: {prompt: p}}, {agent: {prompt: p, turns: [{say: x}]}}]",
            "session.yaml:3: `turns[0].do[1].agent` has the prompt of another agent, but other turns "
            "(agents are told apart by their prompts)",
        ),
        (
            "prompt: a\nturns:\n  - do: [{agent: {prompt: a}}]",
            "session.yaml:1: `prompt` is also the prompt of a sub-agent, which nobody could tell apart "
            "(let the two differ)",
        ),
        ("prompt: a\nprompt: b", "session.yaml:2: the script has the key `prompt` twice"),
        ("? [a]\n: b\nprompt: a", "session.yaml:1: a key of the script is a list (keys are text)"),
        ("", "session.yaml: the script is empty (it needs at least `prompt: …` and `turns: …`)"),
        ("prompt: &x a", ""),
        (
            "prompt: a\nfiles: {a: *x}",
            "session.yaml:2: aliases (`*x`) are not read (write the value out, or put text that starts with `*` in quotes)",
        ),
        (
            "prompt: !!python/object:os.system a",
            "session.yaml:1: tags (`tag:yaml.org,2002:python/object:os.system`) are not read "
            "(remove it, or put text that starts with `!` in quotes)",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, expected: str) -> None:
    if expected:
        assert problems(tmp_path, text) == [expected]
    else:
        assert read(tmp_path, text).prompt == "a"


@pytest.mark.parametrize("path", ["/etc/passwd", "../a", "a/../../b", "..", ".", '""', "a/"])
def test_a_file_outside_the_project_is_refused(tmp_path: Path, path: str) -> None:
    shown = path.strip('"')
    assert problems(tmp_path, f"prompt: a\nfiles:\n  {path}: x") == [
        f"session.yaml:3: `files` cannot have `{shown}` "
        "(write a path inside the project, such as `src/main.py`)"
    ]


def test_a_path_cannot_be_a_file_and_a_directory(tmp_path: Path) -> None:
    assert problems(tmp_path, "prompt: a\nfiles: {a: x, a/b: y}") == [
        "session.yaml:2: `files` has `a` as a file and as a directory"
    ]


def test_all_mistakes_are_told_at_once_and_in_order(tmp_path: Path) -> None:
    text = "turns:\n  - sy: a\n  - do: [{read: }]\nfiles: {/a: x}\n"
    assert [each.split(":")[1] for each in problems(tmp_path, text)] == ["1", "2", "3", "4"]


def test_broken_yaml_is_named_with_its_line(tmp_path: Path) -> None:
    [problem] = problems(tmp_path, "prompt: a\nturns: [")
    assert problem.startswith("session.yaml:2: not valid YAML: ")


def test_bytes_that_are_no_text_are_named_with_their_line(tmp_path: Path) -> None:
    assert problems(tmp_path, b"prompt: a\nturns: \xff") == [
        "session.yaml:2: this is not UTF-8 (save the file as UTF-8)"
    ]


def test_a_control_character_is_a_mistake_and_not_a_crash(tmp_path: Path) -> None:
    [problem] = problems(tmp_path, b"prompt: a\x01b")
    assert "not valid YAML" in problem


def test_a_very_deep_file_is_refused(tmp_path: Path) -> None:
    text = "prompt: a\nturns: " + "[" * 5_000
    assert problems(tmp_path, text) == ["session.yaml:2: nested more than 50 levels deep"]


def test_a_very_large_file_is_refused(tmp_path: Path) -> None:
    [problem] = problems(tmp_path, "prompt: " + "a" * 1_000_000)
    assert problem == "session.yaml: the file has 1,000,008 bytes, and at most 1,000,000 are read"


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(HooklineError, match=r"none\.yaml cannot be read: No such file"):
        read_script(tmp_path / "none.yaml")
