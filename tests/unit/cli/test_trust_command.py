"""Giving and taking trust: what a person sees, whom we ask, and who is refused."""

import errno
import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hookline.cli import _terminal, pause, trust
from hookline.cli._terminal import Host, confirm
from hookline.config.discover import home_dir
from hookline.config.trust import TrustedSet, TrustStore
from hookline.model.errors import ConfigError, HooklineError, TrustError
from support.person import command_line, lineage

CONFIG = """\
version: 1
hooks:
  - name: no production
    on: pre_tool_use
    match: {tool: shell, command: "*prod*"}
    deny: Use the pipeline.
  - name: guard
    on: pre_tool_use
    run: ./guard.sh --strict
  - name: format
    on: post_tool_use
    run: ruff format "$HOOKLINE_PATH"
"""
# Takes the terminal on the given descriptor for its own, then becomes the program.
LAUNCHER = """\
import fcntl, os, sys, termios
os.setsid()
fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0)
os.execv(sys.argv[2], sys.argv[2:])
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path.resolve() / "project"
    (path / ".git").mkdir(parents=True)
    (path / "hookline.yaml").write_text(CONFIG)
    (path / "guard.sh").write_text("#!/bin/sh\nexit 0\n")
    (path / "guard.sh").chmod(0o755)
    monkeypatch.chdir(path)
    return path


def store() -> TrustStore:
    return TrustStore(home_dir(os.environ))


def trusted(project: Path) -> TrustedSet | None:
    return store().find(str(project / "hookline.yaml"))


def run(*words: str, vouched: str = "all") -> Result:
    """The command with ``--yes``, where that counts; what it raises comes through."""
    command = pause.command if words[:1] == ("pause",) else trust.command
    runner = CliRunner(env={"HOOKLINE_TRUST": vouched or None})
    args = [*words[words[:1] == ("pause",) :], "--yes"]
    return runner.invoke(command, args, catch_exceptions=False)


class AtTerminal:
    """The program on a terminal of its own, with a person who waits for the question."""

    def __init__(self, *words: str, env: Mapping[str, str] | None = None, stdin: str = "") -> None:
        self.screen = b""
        self.terminal, ours = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCHER, str(ours), *command_line(*words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
            pass_fds=[ours],
        )
        os.close(ours)
        assert self.process.stdin is not None
        self.process.stdin.write(stdin.encode())
        self.process.stdin.close()

    def until(self, text: bytes) -> None:
        deadline = time.monotonic() + 60
        while text not in self.screen:
            ready, _, _ = select.select([self.terminal], [], [], deadline - time.monotonic())
            assert ready, f"never saw {text!r} in {self.screen!r}"
            self.screen += os.read(self.terminal, 10_000)

    def type(self, text: str) -> None:
        os.write(self.terminal, text.encode())

    def end(self) -> tuple[int, str]:
        assert self.process.stdout is not None
        output = self.process.stdout.read().decode()
        self.process.stdout.close()
        code = self.process.wait(timeout=60)
        os.close(self.terminal)
        return code, output


class TestAsking:
    def test_yes_on_the_terminal_gives_trust(self, project: Path) -> None:
        person = AtTerminal("trust")
        person.until(b"as shown? [y/N] ")
        person.type("yes\n")
        code, output = person.end()
        assert code == 0, output
        assert f"trusted {project}/hookline.yaml" in output
        assert trusted(project) is not None

    @pytest.mark.parametrize("answer", ["n\n", "\n", "sure\n", "\x04"])
    def test_anything_else_does_not(self, project: Path, answer: str) -> None:
        person = AtTerminal("trust")
        person.until(b"[y/N] ")
        person.type(answer)
        code, output = person.end()
        assert code == 1
        assert "nothing was changed" in output
        assert trusted(project) is None

    def test_stdin_is_not_asked(self, project: Path) -> None:
        person = AtTerminal("trust", stdin="yes\nyes\n")
        person.until(b"[y/N] ")
        person.type("n\n")
        assert person.end()[0] == 1
        assert trusted(project) is None

    def test_what_was_typed_before_the_question_is_no_answer(self, project: Path) -> None:
        person = AtTerminal("trust")
        person.type("yes\n")
        person.until(b"[y/N] ")
        person.type("no\n")
        assert person.end()[0] == 1
        assert trusted(project) is None

    def test_yes_alone_still_asks(self, project: Path) -> None:
        person = AtTerminal("trust", "--yes")
        person.until(b"[y/N] ")
        person.type("n\n")
        assert person.end()[0] == 1

    def test_without_a_terminal_it_refuses(self, project: Path) -> None:
        done = subprocess.run(
            command_line("trust", "--yes"),
            input="yes\n",
            capture_output=True,
            text=True,
            start_new_session=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 1
        assert "there is no terminal here" in done.stderr
        assert trusted(project) is None

    def test_under_an_agent_it_refuses_even_on_a_terminal(self, project: Path) -> None:
        code, output = AtTerminal("trust", env={"CLAUDECODE": "1"}).end()
        assert code == 1
        assert "in a terminal of your own: an agent runs this command" in output
        assert trusted(project) is None

    def test_the_question_names_the_version(self, project: Path) -> None:
        person = AtTerminal("trust")
        person.until(b"[y/N] ")
        person.type("n\n")
        person.end()
        digest = sha256(CONFIG.encode()).hexdigest()[:12]
        assert f"{project}/hookline.yaml ({digest})".encode() in person.screen

    def test_a_pause_asks_too(self, project: Path) -> None:
        person = AtTerminal("pause", "10m")
        person.until(b"for 10m? [y/N] ")
        person.type("y\n")
        code, output = person.end()
        assert code == 0
        assert "paused until" in output


class TestConfirm:
    def test_trust_alone_does_not_count(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOOKLINE_TRUST", "all")
        with pytest.raises(TrustError, match="no terminal here"):
            confirm("?", weakening="")

    def test_without_a_terminal_nobody_can_say_yes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def none(*_args: object) -> int:
            raise OSError(errno.ENXIO, "No such device or address")

        monkeypatch.setattr(_terminal, "host", Host(lineage))
        monkeypatch.setattr(os, "open", none)
        with pytest.raises(TrustError, match="in a terminal of your own: there is no terminal"):
            confirm("?", weakening="", yes=True)


class FakeTerminal:
    """A terminal that this process pretends to control, for the ways in which one fails."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.person, self.ours = pty.openpty()
        real_open = os.open

        def opened(path: str, flags: int, *rest: int) -> int:
            return os.dup(self.ours) if path == "/dev/tty" else real_open(path, flags, *rest)

        monkeypatch.setattr(_terminal, "host", Host(lineage))
        monkeypatch.setattr(os, "open", opened)
        monkeypatch.setattr(os, "tcgetpgrp", lambda _handle: os.getpgrp())

    def close(self) -> None:
        for handle in (self.person, self.ours):
            os.close(handle)


class TestTheTerminal:
    @pytest.fixture
    def terminal(self, monkeypatch: pytest.MonkeyPatch) -> Any:
        terminal = FakeTerminal(monkeypatch)
        yield terminal
        terminal.close()

    def answer_with(
        self, terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch, text: str
    ) -> Callable[[int, bytes], int]:
        real_write = os.write

        def write(handle: int, data: bytes) -> int:
            self.asked = data.decode()
            monkeypatch.setattr(os, "write", real_write)
            real_write(terminal.person, text.encode())
            return len(data)

        monkeypatch.setattr(os, "write", write)
        return write

    def test_a_yes_is_enough(self, terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answer_with(terminal, monkeypatch, "Y\n")
        confirm("Really?", weakening="")
        assert self.asked == "Really? [y/N] "

    def test_the_question_cannot_act_on_the_terminal(
        self, terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.answer_with(terminal, monkeypatch, "n\n")
        with pytest.raises(TrustError, match="nothing was changed"):
            confirm("Trust \x1b[2J\u202egood?", weakening="")
        assert self.asked == "Trust ␛[2J\\u{202e}good? [y/N] "

    def test_the_end_of_input_is_no(
        self, terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.answer_with(terminal, monkeypatch, "y\x04\x04")
        with pytest.raises(TrustError, match="nothing was changed"):
            confirm("Really?", weakening="")

    def test_a_background_job_is_refused_instead_of_stopped(
        self, terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "tcgetpgrp", lambda _handle: os.getpgrp() + 1)
        with pytest.raises(TrustError, match="in the background"):
            confirm("Really?", weakening="")

    def test_a_terminal_that_goes_away_is_no(
        self, terminal: FakeTerminal, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def gone(_terminal: int, _question: str) -> str:
            raise OSError(errno.EIO, "Input/output error")

        monkeypatch.setattr(_terminal, "_ask", gone)
        with pytest.raises(TrustError, match="went away"):
            confirm("Really?", weakening="")


class TestWhatIsShown:
    def test_a_new_config_is_shown_whole_with_its_powers_first(self, project: Path) -> None:
        output = run().output
        assert f"{project}/hookline.yaml: not trusted yet" in output
        powers = output.index("What it would run, ask or allow:")
        assert powers < output.index("run: ./guard.sh --strict") < output.index("+version: 1")
        assert "+    deny: Use the pipeline." in output
        assert f"{project}/guard.sh (new):" in output
        assert "+exit 0" in output

    def test_what_is_pinned_and_what_is_not_is_said_for_each_hook(self, project: Path) -> None:
        output = run().output
        shown = output[output.index("Pinned, so that it runs only in these bytes:\n") :]
        assert shown.splitlines()[1:6] == [
            "  no production (line 3): nothing",
            "  guard (line 7): guard.sh",
            "    not pinned: what `./guard.sh` sources, imports or starts",
            "  format (line 10): nothing",
            "    not pinned: program `ruff` on PATH",
        ]

    def test_a_comment_adds_and_removes_no_hook(self, project: Path) -> None:
        native = {"hooks": [{"type": "command", "command": "./guard.sh"}], "matcher": "Bash"}
        settings = project / ".claude/settings.json"
        settings.parent.mkdir()
        settings.write_text(json.dumps({"hooks": {"PreToolUse": [native]}}))
        config = CONFIG + "include: [.claude]\n"
        (project / "hookline.yaml").write_text(config)
        run()
        (project / "hookline.yaml").write_text(f"# about\n{config}")
        settings.write_text("\n" + json.dumps({"hooks": {"PreToolUse": [native]}}, indent=1))
        output = run().output
        assert "What it would" not in output
        settings.write_text(settings.read_text().replace("Bash", "Edit"))
        assert "Removed or changed hooks" in run().output

    def test_a_change_is_shown_as_a_difference(self, project: Path) -> None:
        run()
        (project / "hookline.yaml").write_text(CONFIG.replace("--strict", "--lax"))
        (project / "guard.sh").write_text("#!/bin/sh\nexit 1\n")
        output = run().output
        assert f"{project}/hookline.yaml: changed since it was trusted" in output
        assert "-    run: ./guard.sh --strict\n+    run: ./guard.sh --lax" in output
        assert f"{project}/guard.sh (changed):" in output
        assert "-exit 0\n+exit 1" in output
        assert "+version: 1" not in output

    def test_only_powers_that_are_new_come_first(self, project: Path) -> None:
        run()
        more = CONFIG + "  - name: extra\n    on: stop\n    run: |\n      curl evil\n      true\n"
        (project / "hookline.yaml").write_text(more)
        output = run().output
        assert "  extra (line 13)\n    run: curl evil\n      true" in output
        assert "format (line 10)\n    run:" not in output

    def test_a_key_in_disguise_is_shown_for_what_it_is(self, project: Path) -> None:
        sly = '  - {name: sly, "on": stop, "r\\u0075n": "curl evil"}\n'
        (project / "hookline.yaml").write_text(CONFIG + sly)
        assert "  sly (line 13)\n    run: curl evil" in run().output

    def test_a_command_given_as_a_list_is_shown_as_one(self, project: Path) -> None:
        (project / "hookline.yaml").write_text(
            CONFIG + "  - {name: listed, on: stop, run: [sh, ./guard.sh, a b]}\n"
        )
        assert "run: sh ./guard.sh 'a b'" in run().output

    def test_values_with_parts_are_shown_with_all_of_them(self, project: Path) -> None:
        (project / "hookline.yaml").write_text(
            CONFIG + '  - {name: far, on: stop, http: {url: "https://example.com"}}\n'
        )
        assert 'http: {"url":"https://example.com"' in run().output

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("    deny: Use the pipeline.", "    deny: Fine by me."),
            ("*prod*", "*production-only*"),
            ("    deny: Use", "    mode: observe\n    deny: Use"),
            ("hooks:\n", "disable: [no production]\nhooks:\n"),
        ],
    )
    def test_a_guard_that_is_weakened_in_any_way_is_named(
        self, project: Path, old: str, new: str
    ) -> None:
        run()
        (project / "hookline.yaml").write_text(CONFIG.replace(old, new))
        output = run().output
        lost = output.index("Removed or changed hooks:")
        assert "no production" in output[lost : lost + 100]

    def test_nothing_hides_from_the_reader(self, project: Path) -> None:
        (project / "guard.sh").write_text("#!/bin/sh\nexit 0\r: \u202e\u200b\x1b[2K\n")
        output = run().output
        assert "+exit 0␍: \\u{202e}\\u{200b}␛[2K" in output

    def test_a_file_that_is_no_text_is_named_by_its_digest(self, project: Path) -> None:
        content = b"\x7fELF\xff\x00"
        (project / "guard.sh").write_bytes(content)
        output = run().output
        assert f"not text: 6 bytes, sha256 {sha256(content).hexdigest()}" in output

    def test_a_long_script_is_cut_and_that_is_said(self, project: Path) -> None:
        (project / "guard.sh").write_text("true\n" * 1000)
        assert f"… and 601 more lines of {project}/guard.sh" in run().output

    def test_a_file_that_is_no_longer_pinned_is_shown_to_go(self, project: Path) -> None:
        run()
        (project / "hookline.yaml").write_text(CONFIG.replace("./guard.sh --strict", "echo ok"))
        output = run().output
        assert f"{project}/guard.sh (no longer pinned):" in output
        assert "-exit 0" in output

    def test_links_are_shown_with_where_they_lead(self, project: Path) -> None:
        (project / "guard.sh").rename(project / "real.sh")
        (project / "guard.sh").symlink_to("real.sh")
        assert f"+a link to {project}/real.sh" in run().output
        (project / "guard.sh").unlink()
        (project / "other.sh").write_text("#!/bin/sh\nexit 1\n")
        (project / "guard.sh").symlink_to("other.sh")
        output = run().output
        assert f"-a link to {project}/real.sh\n+a link to {project}/other.sh" in output

    def test_there_is_no_colour_in_a_pipe(self, project: Path) -> None:
        assert "\x1b" not in run().output

    def test_data_for_programs_has_it_all(self, project: Path) -> None:
        result = run("--json")
        (shown,) = json.loads(result.stdout)
        assert shown["config"] == f"{project}/hookline.yaml"
        assert shown["sha256"] == sha256(CONFIG.encode()).hexdigest()
        assert shown["files"] == [
            {"path": f"{project}/hookline.yaml", "state": "new"},
            {"path": f"{project}/guard.sh", "state": "new"},
        ]
        assert "guard: run: ./guard.sh --strict" in shown["powers"]
        assert shown["hooks"][1]["pinned"] == [f"{project}/guard.sh"]
        assert "+version: 1" in shown["diff"]
        # Whoever answers the question sees it on the other stream.
        assert "What it would run, ask or allow:" in result.stderr


class TestTrusting:
    def test_the_shown_bytes_are_trusted(self, project: Path) -> None:
        result = run()
        assert result.exit_code == 0
        assert f"trusted {project}/hookline.yaml" in result.output
        found = trusted(project)
        assert found is not None
        assert found.read(str(project / "hookline.yaml")) == CONFIG.encode()
        assert found.read(str(project / "guard.sh")) == b"#!/bin/sh\nexit 0\n"

    def test_every_config_that_counts_here_is_trusted_at_once(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in (".hookline/hookline.yaml", "sub/hookline.yaml"):
            (project / name).parent.mkdir()
            (project / name).write_text("version: 1\n")
        monkeypatch.chdir(project / "sub")
        run()
        assert len(store().sets()[0]) == 3

    def test_when_all_is_trusted_there_is_nothing_to_do(self, project: Path) -> None:
        run()
        result = run()
        assert result.exit_code == 0
        assert "nothing to trust" in result.output
        assert json.loads(run("--json").stdout) == []

    def test_a_file_that_a_hook_names_and_that_came_later_is_news(self, project: Path) -> None:
        (project / "guard.sh").unlink()
        run()
        (project / "guard.sh").write_text("#!/bin/sh\n")
        assert f"{project}/guard.sh (new):" in run().output

    @pytest.mark.parametrize("path", [".", "hookline.yaml", "../project/hookline.yaml"])
    def test_a_directory_or_a_config_can_be_named(self, project: Path, path: str) -> None:
        run(path)
        assert trusted(project) is not None

    def test_a_directory_without_a_config_is_an_error(self, project: Path) -> None:
        (project / "empty").mkdir()
        with pytest.raises(TrustError, match=r"there is no hookline\.yaml or"):
            run("empty")

    def test_a_file_that_is_no_project_config_is_an_error(self, project: Path) -> None:
        (project / "other.yaml").write_text("version: 1\n")
        with pytest.raises(TrustError, match="no project config"):
            run("other.yaml")

    def test_a_wrong_config_cannot_be_trusted_and_all_is_said_that_is_wrong(
        self, project: Path
    ) -> None:
        (project / "hookline.yaml").write_text("version: 1\nhoks: []\nfoo: 1\n")
        with pytest.raises(ConfigError) as caught:
            run()
        assert len(caught.value.problems) == 2
        assert trusted(project) is None

    def test_one_that_is_gone_is_mentioned(self, project: Path) -> None:
        run()
        (project / "hookline.yaml").unlink()
        result = run()
        assert "is gone and still active; --revoke ends that" in result.output
        assert trusted(project) is not None

    def test_a_damaged_one_is_shown_as_new_and_can_be_trusted_again(self, project: Path) -> None:
        run()
        for path in Path(store().directory).glob("*.json"):
            path.write_text("{")
        assert "what was trusted of it is damaged" in run().output
        assert trusted(project) is not None

    def test_so_is_one_whose_bytes_are_damaged(self, project: Path) -> None:
        run()
        for path in Path(store().directory, "blobs").iterdir():
            path.write_text("altered")
        (project / "hookline.yaml").write_text(CONFIG + "# more\n")
        assert "what was trusted of it is damaged" in run().output

    def test_bytes_of_a_script_that_are_damaged_are_shown_as_new(self, project: Path) -> None:
        run()
        script = sha256(b"#!/bin/sh\nexit 0\n").hexdigest()
        Path(store().directory, "blobs", script).write_text("altered")
        (project / "hookline.yaml").write_text(CONFIG + "# more\n")
        assert f"{project}/guard.sh (new):" in run().output

    def test_hashes_answer_only_for_what_they_name(self, project: Path) -> None:
        with pytest.raises(TrustError, match="does not name this version"):
            run(vouched="0" * 64)
        config = sha256(CONFIG.encode()).hexdigest()
        with pytest.raises(TrustError, match=r"does not name this version of `.*guard\.sh`"):
            run(vouched=config)
        assert trusted(project) is None
        run(vouched=f"{config} {sha256((project / 'guard.sh').read_bytes()).hexdigest()}")
        assert trusted(project) is not None


class TestRevoking:
    def test_it_puts_the_configs_here_out_of_force(self, project: Path) -> None:
        run()
        result = run("--revoke")
        assert f"{project}/hookline.yaml is no longer trusted" in result.output
        assert trusted(project) is None

    def test_one_that_is_gone_from_the_disk_can_be_named(self, project: Path) -> None:
        run()
        (project / "hookline.yaml").unlink()
        shown = json.loads(run("--revoke", "--json", ".").stdout)
        assert shown == [{"config": f"{project}/hookline.yaml", "state": "revoked"}]
        assert trusted(project) is None

    def test_without_trust_there_is_nothing_to_do(self, project: Path) -> None:
        result = run("--revoke")
        assert result.exit_code == 0
        assert "nothing to do" in result.output

    def test_it_asks_too(self, project: Path) -> None:
        run()
        person = AtTerminal("trust", "--revoke")
        person.until(b"? [y/N] ")
        person.type("n\n")
        assert person.end()[0] == 1
        assert trusted(project) is not None


class TestListing:
    def test_nothing_yet(self, project: Path) -> None:
        assert run("--list").output == "nothing is trusted yet\n"
        assert json.loads(run("--list", "--json").stdout) == []

    def test_every_set_with_its_state(self, project: Path) -> None:
        run()
        assert run("--list").output.startswith("trusted  ")
        (project / "guard.sh").write_text("edited")
        output = run("--list").output
        assert output.startswith("changed  ")
        assert f"{project}/guard.sh is not as it was trusted" in output
        (shown,) = json.loads(run("--list", "--json").stdout)
        assert shown["state"] == "changed"
        assert shown["files"] == [f"{project}/hookline.yaml", f"{project}/guard.sh"]
        assert shown["changed"] == [f"{project}/guard.sh"]

    def test_damaged_ones_too(self, project: Path) -> None:
        run()
        for path in Path(store().directory).glob("*.json"):
            path.write_text("{")
        assert run("--list").output.startswith("damaged  ")
        (shown,) = json.loads(run("--list", "--json").stdout)
        assert shown["state"] == "damaged"


class TestPausing:
    def test_it_begins_and_ends(self, project: Path) -> None:
        assert "not paused" in run("pause", "--status").output
        assert "paused until" in run("pause", "10m").output
        assert json.loads(run("pause", "--status", "--json").output)["paused"] is True
        assert "the pause is over" in run("pause", "--off").output
        assert json.loads(run("pause", "--status", "--json").output) == {
            "paused": False,
            "until": None,
        }

    @pytest.mark.parametrize("words", [(), ("10m", "--off"), ("--off", "--status"), ("soon",)])
    def test_anything_unclear_is_an_error(self, project: Path, words: tuple[str, ...]) -> None:
        with pytest.raises(HooklineError):
            run("pause", *words)
