"""The line round an adapter: what it answers passes through, and where it did not run, we refuse."""

import subprocess

import pytest

from hookline.converting.adapter import guarded
from hookline.converting.convert import convert
from hookline.converting.mapping import two_denies
from hookline.converting.platforms import platform
from hookline.model.native import Where
from hookline.model.outcome import Reply

REFUSAL = Reply(stdout=b'{"no": 1}\n', stderr=b"nobody judged this\n", exit_code=0)


def run(script: str, *, two: bool = True, refusal: Reply = REFUSAL) -> tuple[str, str, int]:
    line = guarded(["/bin/sh", "-c", script], refusal, two_denies=two)
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, check=False)
    return done.stdout, done.stderr, done.returncode


def test_an_answer_passes_through_to_the_letter() -> None:
    said = r'{"a": "\\n %s $HOME"}'
    assert run(f"printf %s '{said}'; echo told >&2") == (f"{said}\n", "told\n", 0)


def test_silence_stays_silence() -> None:
    assert run("true") == ("", "", 0)


def test_a_deny_by_exit_code_passes_through_where_it_is_one() -> None:
    assert run("echo why >&2; exit 2") == ("", "why\n", 2)
    assert run("echo why >&2; exit 2", two=False)[0] == '{"no": 1}\n'


@pytest.mark.parametrize("script", ["exit 1", "exit 127", "kill -9 $$", "echo half an ans; exit 3"])
def test_anything_else_is_a_refusal_in_the_platforms_words(script: str) -> None:
    out, err, code = run(script)
    assert (out, code) == ('{"no": 1}\n', 0)
    assert err.endswith("nobody judged this\n")


def test_a_refusal_may_be_an_exit_code() -> None:
    assert run("exit 1", refusal=Reply(stderr=b"no", exit_code=2)) == ("", "no\n", 2)


@pytest.mark.parametrize(
    ("name", "denies"),
    [
        ("claude-code", True),
        ("codex", True),
        ("gemini", True),
        ("docker-agent", True),
        ("vscode", True),
        ("kodelet", False),
        ("basecoat", False),
    ],
)
def test_whether_two_denies_is_asked_of_the_platform(name: str, denies: bool) -> None:
    side = platform(name)
    assert two_denies(side.native_for("pre_tool_use"), side) is denies


def test_the_script_holds_nothing_that_some_shell_would_read_otherwise() -> None:
    line = guarded(["x"], REFUSAL, two_denies=True)
    assert not set("\\!\n") & set(line)
    assert '"\'"' not in line


def test_variables_that_a_platform_would_expand_are_left_to_the_adapter() -> None:
    content = b"""{"hooks": {"PreToolUse": [{"type": "command", "command": "x",
        "env": {"WHERE": "${env.HOME}"}}]}}"""
    where = Where(project="/srv", home="/home/dev")
    done = convert("vscode", "docker-agent", "/srv/.github/hooks/x.json", content, where)
    finding = next(f for f in done.report.entries[0].findings if f.property == "env")
    assert finding.status == "replaced"


def test_codexs_other_file_is_read_as_well() -> None:
    content = b"""[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "x"
        async = true\n"""
    where = Where(project="/srv", home="/home/dev")
    done = convert("codex", "claude-code", "/srv/.codex/config.toml", content, where)
    ((_, text),) = done.files.items()
    (entry,) = platform("claude-code").rules.read("/srv/.claude/settings.json", text).entries
    assert (entry.event, entry.background) == ("Stop", True)
