"""Where agents type into a command that still runs, and no hook hears of it, shells are not left open."""

import pytest

from hookline.builtin import shell_guard
from hookline.builtin.shell_guard import Options
from hookline.model.answers import Answer
from hookline.model.events import PreToolUse
from hookline.model.ports import Caller
from hookline.model.tools import Tool, ToolKind
from hookline.model.verdicts import Verdict

OPEN = """
bash
sh
exec sh
/bin/bash -l
bash -i
bash -s
env FOO=1 zsh
cd src && bash
python3
python3 -i setup.py
python -q
node
ruby
""".strip().splitlines()

FED = r"""
bash build.sh
bash -c 'ls -la'
bash -lc ls
sh < build.sh
python3 -m pytest
python3 -c 'print(1)'
python3 --version
python3 tools/x.py
node -e 'console.log(1)'
echo 'ls' | sh
perl -pe s/a/b/ notes.txt
grep -rn bash .
echo python3
git commit -m 'run bash'
docker exec web bash
""".strip().splitlines()


def said(command: str, dialect: str) -> Answer:
    event = PreToolUse(
        dialect=dialect, cwd="/", tool=Tool(name="shell", kind=ToolKind.SHELL, command=command)
    )
    return shell_guard.make(Options())(event, Caller(env={"HOME": "/home/someone"}))


@pytest.mark.parametrize("command", OPEN)
def test_on_codex_a_program_that_waits_for_code_is_asked_about(command: str) -> None:
    answer = said(command, "codex")
    assert answer.verdict is Verdict.ASK
    assert "typed into it" in answer.reason
    assert answer.metadata["category"] == "runs-unseen-code"


@pytest.mark.parametrize("command", ["sudo bash", "cat | sh", "tee log | bash"])
def test_what_is_asked_about_for_another_reason_still_is(command: str) -> None:
    assert said(command, "codex").verdict is Verdict.ASK


@pytest.mark.parametrize("command", FED)
def test_on_codex_a_program_that_has_its_code_passes(command: str) -> None:
    assert said(command, "codex").verdict is Verdict.PASS


@pytest.mark.parametrize("command", [*OPEN, *FED])
def test_elsewhere_nobody_can_type_into_it_so_nobody_is_asked(command: str) -> None:
    assert "typed into it" not in said(command, "claude-code").reason


def test_a_heredoc_is_code_that_is_there_already() -> None:
    assert said("bash <<'E'\nls\nE\n", "codex").verdict is Verdict.PASS
