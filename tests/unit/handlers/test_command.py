"""Commands as hooks, run for real."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from hookline.config.copies import FreeFiles
from hookline.handlers import command
from hookline.model.answers import PASS, Answer, context, deny
from hookline.model.errors import (
    HandlerAnswerError,
    HandlerCrashed,
    HandlerTimeout,
    HandlerUnavailable,
)
from hookline.model.events import Event, PreToolUse, Stop
from hookline.model.tools import CANONICAL_TOOLS
from hookline.processes import Finished

EVENT = PreToolUse(id="e1", tool=CANONICAL_TOOLS.read("Bash", {"command": "ls"}))


@pytest.fixture
def said(kit: Any, tmp_path: Path) -> Any:
    def answer(
        run: str | Sequence[str], event: Event = EVENT, *, pins: Any = None, **more: Any
    ) -> Answer:
        directory = more.pop("project_dir", str(tmp_path))
        hook = kit.hook({"run": run}, project_dir=directory)
        handler = command.make(hook, kit.services(pins))
        assert not handler.instant
        return asyncio.run(handler.run(kit.call(event, hook, **more)))

    return answer


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_string_goes_to_the_shell(said: Any) -> None:
    assert said('echo "a  b" | tr a-z A-Z') == context("A  B")


def test_a_list_is_executed_as_it_stands(said: Any) -> None:
    assert said(["echo", "$HOME", "a  b", "; exit 2"]) == context("$HOME a  b ; exit 2")


def test_the_event_is_on_stdin(said: Any) -> None:
    reads = "import json, sys; print(json.load(sys.stdin)['id'])"
    assert said([sys.executable, "-c", reads]) == context("e1")


def test_json_on_stdout_is_the_answer(said: Any) -> None:
    text = json.dumps({"verdict": "deny", "reason": 'it\'s "no"'})
    assert said(["printf", "%s", text]) == deny('it\'s "no"')


def test_exit_two_denies_with_stderr_as_the_reason(said: Any) -> None:
    assert said("echo too dangerous >&2; exit 2") == deny("too dangerous")
    assert said("echo not done >&2; exit 2", Stop()) == deny("not done")


@pytest.mark.parametrize(
    "run",
    [
        "no-such-tool . || ./gate",
        "no-such-tool -q TODO . || grep -q exit gate && exit 2",
        "no-such-tool && true || ./gate",
        "out=$(no-such-tool) || ./gate",
        "out=$(no-such-tool) ; ./gate",
        "python3 none.py || ./gate",
        "python3 none.py; ./gate",
        "no-such-tool & ./gate",
        "no-such-tool | ./gate",
        "cd none 2>/dev/null; ./gate",
        "cd none || ./gate",
        "no-such-tool; exit 2",
        "no-such-tool || { ./gate; }",
        "no-such-tool\nif true; then ./gate; fi",
        "trap 'exit 2' EXIT; no-such-tool",
        "./empty && ./gate",
        "sh windows && ./gate",
        "python3 none.py <<E || ./gate\nx\nE",
        "x=$(no-such-tool) ./gate",
        "alias no-such-tool=./gate\nno-such-tool",
    ],
)
def test_a_two_counts_whatever_else_could_not_run(said: Any, tmp_path: Path, run: str) -> None:
    for name, text in {"gate": "exit 2\n", "empty": "", "windows": "#!/bin/sh\r\n"}.items():
        (tmp_path / name).write_text(text, newline="")
        (tmp_path / name).chmod(0o755)
    assert said(run, Stop(cwd=str(tmp_path))).verdict == "deny"


@pytest.mark.parametrize(
    "run",
    [
        "sh none.sh",
        "cat | python3 none.py",
        "out=$(python3 none.py)",
        "python3 none.py && ./gate 2>&1 # why",
        "cd none && ./gate",
        "cd none && ./gate || exit 2",
        "no-such-tool || exit 2;",
        "true; sh none.sh\n",
    ],
)
def test_a_two_that_tells_of_a_missing_script_is_no_answer(
    said: Any, tmp_path: Path, run: str
) -> None:
    with pytest.raises(HandlerUnavailable):
        said(run, Stop(cwd=str(tmp_path)))


def test_nothing_said_is_pass(said: Any) -> None:
    assert said("true") is PASS


def test_a_program_that_does_not_read_its_stdin_is_fine(said: Any) -> None:
    big = PreToolUse(tool=CANONICAL_TOOLS.read("Write", {"content": "x" * 1_000_000}))
    assert said("exec <&-; echo done", big) == context("done")


def test_any_other_exit_is_a_failure_with_the_end_of_stderr(said: Any) -> None:
    with pytest.raises(HandlerCrashed, match="exit code 7: boom"):
        said("echo boom >&2; exit 7")


def test_a_signal_is_a_failure_that_names_it_and_the_end_of_stderr(said: Any) -> None:
    with pytest.raises(HandlerCrashed, match="killed by SIGSEGV; stderr: \u241b oops"):
        said("printf '\\033 oops' >&2; kill -SEGV $$")


def test_a_program_past_its_deadline_is_a_timeout(said: Any) -> None:
    with pytest.raises(HandlerTimeout, match=r"0\.1 s"):
        said("sleep 1000", timeout=0.1)


def test_output_without_end_is_a_failed_answer_that_names_the_limit(said: Any) -> None:
    with pytest.raises(HandlerAnswerError, match="more than 10,000,000 bytes"):
        said("yes")


@pytest.mark.parametrize("run", [["/no/such/program"], ["no-such-program-anywhere"]])
def test_a_program_that_is_not_there_is_unavailable(said: Any, run: list[str]) -> None:
    with pytest.raises(HandlerUnavailable, match="cannot start"):
        said(run)


def test_a_project_directory_that_is_gone_is_unavailable(said: Any, tmp_path: Path) -> None:
    with pytest.raises(HandlerUnavailable, match="working directory"):
        said("true", project_dir=str(tmp_path / "gone"))


def test_hooks_run_in_the_directory_of_their_project(said: Any, tmp_path: Path) -> None:
    event = PreToolUse(cwd="/")
    assert said("pwd", event) == context(str(tmp_path.resolve()))
    assert said("pwd", event, project_dir="") == context("/")


def test_relative_programs_are_relative_to_the_project(said: Any, tmp_path: Path) -> None:
    script(tmp_path / "hooks" / "check.sh", "echo found $1")
    assert said(["hooks/check.sh", "it"]) == context("found it")
    assert said("./hooks/check.sh it") == context("found it")


@pytest.mark.parametrize("path", [".", "", "bin", "::"])
def test_a_program_is_never_found_through_a_relative_path(
    said: Any, tmp_path: Path, path: str
) -> None:
    script(tmp_path / "ls", "echo evil")
    script(tmp_path / "bin" / "ls", "echo evil")
    env = {"PATH": path}
    assert "evil" not in str(said(["ls"], env=env))
    assert "evil" not in str(said("ls", env=env))


def test_the_event_is_told_in_variables_too(said: Any) -> None:
    assert said('echo "$HOOKLINE_EVENT $HOOKLINE_COMMAND"') == context("pre_tool_use ls")


class Copies(FreeFiles):
    """Trusted copies for some files, and a note of what was asked for."""

    def __init__(self, copies: dict[str, str]) -> None:
        self.copies = copies
        self.asked: list[str] = []

    def stand_in(self, path: str) -> str | None:
        self.asked.append(path)
        return self.copies.get(os.path.normpath(path))


@pytest.fixture
def copies(tmp_path: Path) -> Callable[..., Copies]:
    """Pinned files whose trusted copies lie in a directory with a blank in its name."""

    def made(*names: str) -> Copies:
        found = {}
        for name in names:
            script(tmp_path / name, "echo edited")
            found[str(tmp_path / name)] = str(
                script(tmp_path / "trusted copies" / name, "echo $1 trusted")
            )
        return Copies(found)

    return made


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (["./check.sh", "it"], "it trusted"),
        (["sh", "check.sh", "it"], "it trusted"),
        ("./check.sh it", "it trusted"),
        ("sh 'check.sh' \"it\" | cat", "it trusted"),
        ("A=1 ./check.sh it && true", "it trusted"),
        ('echo "$(./check.sh it)"', "it trusted"),
    ],
)
def test_files_that_changed_run_in_the_bytes_that_were_trusted(
    said: Any, copies: Callable[..., Copies], run: str | list[str], text: str
) -> None:
    assert said(run, pins=copies("check.sh")) == context(text)


@pytest.mark.parametrize(
    "run",
    [
        'exec "$HOOKLINE_PROJECT_DIR/s/g.sh" it',
        "sh ${HOOKLINE_PROJECT_DIR}/s/g.sh it",
        "cd s && ./g.sh it",
        'cd "$HOOKLINE_PROJECT_DIR/s"; sh g.sh it',
    ],
)
def test_a_file_behind_a_cd_or_our_variable_runs_as_it_was_trusted(
    said: Any, copies: Callable[..., Copies], run: str
) -> None:
    assert said(run, pins=copies("s/g.sh")) == context("it trusted")


def test_several_words_can_stand_for_copies(
    said: Any, copies: Callable[..., Copies], tmp_path: Path
) -> None:
    pins = copies("a.sh", "b.sh")
    assert said("./a.sh 1; ./b.sh 2", pins=pins) == context("1 trusted\n2 trusted")
    assert pins.asked == [f"{tmp_path}/./a.sh", f"{tmp_path}/./b.sh"]


def test_a_bare_program_name_means_the_path_whatever_lies_in_the_project(
    said: Any, copies: Callable[..., Copies]
) -> None:
    assert said(["echo", "fine"], pins=copies("echo")) == context("fine")
    assert said("echo fine", pins=copies("echo")) == context("fine")


def test_an_empty_argument_stays_an_empty_argument(
    said: Any, copies: Callable[..., Copies]
) -> None:
    pins = copies("check.sh")
    assert said(["printf", "<%s>", ""], pins=pins) == context("<>")
    assert not any(path.endswith("/") for path in pins.asked)


def test_a_file_without_a_copy_makes_the_hook_unavailable(said: Any) -> None:
    class NoCopy(FreeFiles):
        def stand_in(self, path: str) -> str | None:
            raise HandlerUnavailable("no trusted copy")

    with pytest.raises(HandlerUnavailable, match="no trusted copy"):
        said("./check.sh", pins=NoCopy())


def test_an_end_that_nobody_saw_is_no_consent(kit: Any) -> None:
    lost = Finished(None, b"", b"", False, False, False, 0.0)
    with pytest.raises(HandlerCrashed, match="unknown"):
        command._exit_code(lost, kit.call(EVENT, kit.hook({})))


def test_a_signal_without_a_name_is_numbered(kit: Any) -> None:
    odd = Finished(-99, b"", b"", False, False, False, 0.0)
    with pytest.raises(HandlerCrashed, match="signal 99"):
        command._exit_code(odd, kit.call(EVENT, kit.hook({})))


@pytest.mark.parametrize(
    "run",
    [
        "ls",
        ["ls", ""],
        "cat <<E\nit's\nE",
        'echo "$(cat \'a"b\')"',
        "true # don't",
        "echo $'it\\'s'",
        "case x in a) ;; esac",
    ],
)
def test_commands_that_can_be(kit: Any, run: str | list[str]) -> None:
    assert command.check({"run": run}, kit.hook({"run": run}), kit.services()) == []


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("", "no command"),
        (" \n", "no command"),
        ([], "no command"),
        (["", "x"], "no command"),
        ("a\0b", "NUL"),
        (["a", "b\0"], "NUL"),
        ("echo don't", "cannot be read: no closing quotation"),
        ('./check.sh "$HOOKLINE_PATH', "cannot be read"),
    ],
)
def test_commands_that_cannot_be(kit: Any, run: str | list[str], message: str) -> None:
    [problem] = command.check({"run": run}, kit.hook({"run": run}), kit.services())
    assert problem.key == "run"
    assert message in problem.message
