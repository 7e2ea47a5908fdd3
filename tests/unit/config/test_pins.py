"""Which files are trusted together with a hook, and in which bytes they run."""

import os
import subprocess
import textwrap
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from hookline import registry
from hookline.config import pins, reading
from hookline.config.copies import FreeFiles, HookFiles, UntrustedFiles, VouchedFiles
from hookline.config.pins import Draft, HookPins, draft
from hookline.config.trust import TrustStore
from hookline.config.types import Kit
from hookline.model.errors import ConfigError, HandlerUnavailable, TrustError
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.ports import Services

KIT = Kit(
    registry.handlers(),
    Services(codec=registry.dialect, builtin=registry.builtin, pins=lambda hook: FreeFiles()),
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path.resolve() / "project"
    path.mkdir()
    return path


def put(path: Path, content: str = "#!/bin/sh\nexit 0\n", mode: int = 0o755) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
    return path


def write_config(project: Path, *hooks: str, more: str = "", name: str = "hookline.yaml") -> Path:
    lines = [textwrap.indent(hook, "    ").replace("    ", "  - ", 1) for hook in hooks]
    start = ["version: 1", more, "hooks:" if hooks else ""]
    return put(project / name, "\n".join([*start, *lines, ""]), 0o644)


def drafted(project: Path, run: str, *, extra: str = "") -> HookPins:
    config = write_config(project, f"on: pre_tool_use\nrun: {run}\n{extra}".strip())
    (found,) = draft(str(config), KIT).hooks
    return found


def relative(paths: tuple[str, ...], project: Path) -> list[str]:
    return [os.path.relpath(path, project) for path in paths]


class TestWhatIsPinned:
    def test_the_config_itself(self, project: Path) -> None:
        config = write_config(project)
        found = draft(str(config), KIT)
        assert [each.path for each in found.readings] == [str(config)]
        assert found.config == str(config)

    def test_each_file_it_includes(self, project: Path) -> None:
        put(project / "more/inner.yaml", "version: 1\n")
        put(project / "more/outer.yaml", "version: 1\ninclude: [inner.yaml]\n")
        config = write_config(project, more="include: [more/outer.yaml]")
        found = [each.path for each in draft(str(config), KIT).readings]
        assert relative(tuple(found), project) == [
            "hookline.yaml",
            "more/outer.yaml",
            "more/inner.yaml",
        ]

    @pytest.mark.parametrize(
        "run",
        [
            "./check.sh",
            "sh check.sh",
            "sh './check.sh'",
            "true && ./scripts/../check.sh || exit 2",
            "[./check.sh, --strict]",
            "[sh, check.sh]",
            "sh $(cat which) check.sh",
            "sh < check.sh",
            "cat check.sh | sh",
            "'sh < \"$HOOKLINE_PROJECT_DIR/check.sh\"'",
        ],
    )
    def test_a_word_that_names_a_file_of_the_project(self, project: Path, run: str) -> None:
        put(project / "check.sh")
        assert relative(drafted(project, run).pinned, project) == ["check.sh"]

    def test_data_that_a_script_is_given_is_not_unless_a_pattern_says_so(
        self, project: Path
    ) -> None:
        put(project / "a.py")
        put(project / "conf/rules.json", "{}", 0o644)
        run = "python3 a.py --rules conf/rules.json --level 3"
        assert relative(drafted(project, run).pinned, project) == ["a.py"]
        found = drafted(project, run, extra="pins: [conf/*.json]")
        assert relative(found.pinned, project) == ["a.py", "conf/rules.json"]

    @pytest.mark.parametrize("run", ["ruff check", "[ruff, check]", "  ruff"])
    def test_a_bare_program_is_not_though_a_file_has_its_name(
        self, project: Path, run: str
    ) -> None:
        put(project / "ruff")
        found = drafted(project, run)
        assert found.pinned == ()
        assert "program `ruff` on PATH" in found.unpinned

    def test_an_absolute_word_inside_the_project(self, project: Path) -> None:
        put(project / "check.sh")
        assert drafted(project, str(project / "check.sh")).pinned == (str(project / "check.sh"),)

    def test_a_directory_is_not(self, project: Path) -> None:
        (project / "src").mkdir()
        found = drafted(project, "ruff check src")
        assert found.pinned == ()
        assert found.unpinned == ("program `ruff` on PATH",)

    def test_names_count_from_the_project_even_for_a_config_in_its_dot_directory(
        self, project: Path
    ) -> None:
        put(project / "check.sh")
        config = write_config(project, "on: stop\nrun: ./check.sh", name=".hookline/hookline.yaml")
        (found,) = draft(str(config), KIT).hooks
        assert relative(found.pinned, project) == ["check.sh"]

    def test_hooks_of_included_files_are_pinned_too(self, project: Path) -> None:
        put(project / "check.sh")
        put(project / "more.yaml", "version: 1\nhooks:\n  - on: stop\n    run: ./check.sh\n")
        config = write_config(project, more="include: [more.yaml]")
        (found,) = draft(str(config), KIT).hooks
        assert relative(found.pinned, project) == ["check.sh"]

    def test_the_file_of_a_python_hook(self, project: Path) -> None:
        put(project / "hooks/guard.py")
        config = write_config(project, "on: stop\npython: hooks/guard.py:check")
        (found,) = draft(str(config), KIT).hooks
        assert relative(found.pinned, project) == ["hooks/guard.py"]
        assert found.unpinned == ("what `hooks/guard.py` sources, imports or starts",)

    @pytest.mark.parametrize("file", ["guards/shell.py", "guards/shell/__init__.py"])
    def test_a_python_module_that_lies_in_the_project(self, project: Path, file: str) -> None:
        put(project / file)
        config = write_config(project, "on: stop\npython: guards.shell:check")
        (found,) = draft(str(config), KIT).hooks
        assert relative(found.pinned, project) == [file]

    def test_a_python_module_that_is_installed_is_not(self, project: Path) -> None:
        config = write_config(project, "on: stop\npython: guards.shell:check")
        (found,) = draft(str(config), KIT).hooks
        assert found.pinned == ()
        assert found.unpinned == ("`guards.shell`, wherever Python finds it",)

    @pytest.mark.parametrize("run", ["python3 -u -m pkg.x", "[uv, run, python, -m, pkg.x, y]"])
    def test_a_module_that_an_interpreter_is_to_find_is_shown(
        self, project: Path, run: str
    ) -> None:
        assert "`pkg.x`, wherever Python finds it" in drafted(project, run).unpinned
        assert "finds it" not in str(drafted(project, "python3 ./check.sh -m pkg").unpinned)

    def test_a_python_file_outside_the_project_is(self, project: Path) -> None:
        shared = put(project.parent / "shared.py")
        config = write_config(project, "on: stop\npython: ../shared.py:check")
        (found,) = draft(str(config), KIT).hooks
        assert found.pinned == (str(shared),)

    def test_a_server_that_an_mcp_hook_talks_to(self, project: Path) -> None:
        put(project / ".mcp.json", "{}")
        hook = Hook(
            name="ask",
            events=("stop",),
            handler=HandlerSpec("mcp", {"mcp": "policy.check"}),
            project_dir=str(project),
        )
        found = pins._pins_of_hook(hook, reading.Reader())
        assert relative(found.pinned, project) == [".mcp.json"]
        assert "what `policy.check` does or answers" in found.unpinned

    def test_what_an_http_hook_is_told_is_not(self, project: Path) -> None:
        config = write_config(project, "on: stop\nhttp: https://example.com/hook")
        (found,) = draft(str(config), KIT).hooks
        assert found.unpinned == ("what `https://example.com/hook` does or answers",)

    def test_the_url_is_shown_without_its_headers(self, project: Path) -> None:
        config = write_config(project, 'on: stop\nhttp: {url: "https://example.com/hook"}')
        (found,) = draft(str(config), KIT).hooks
        assert found.unpinned == ("what `https://example.com/hook` does or answers",)

    def test_a_rule_has_nothing_to_pin(self, project: Path) -> None:
        config = write_config(project, "on: pre_tool_use\ndeny: no")
        (found,) = draft(str(config), KIT).hooks
        assert (found.pinned, found.unpinned) == ((), ())


class TestWhatIsNot:
    def test_a_program_outside_the_project(self, project: Path) -> None:
        found = drafted(project, "/bin/sh -c true")
        assert found.pinned == ()
        assert found.unpinned == ("`/bin/sh`, which is outside the project",)

    def test_what_a_script_imports(self, project: Path) -> None:
        put(project / "check.sh")
        assert drafted(project, "./check.sh").unpinned == (
            "what `./check.sh` sources, imports or starts",
        )

    def test_a_file_that_is_not_there(self, project: Path) -> None:
        (text,) = drafted(project, "./later.sh").unpinned
        assert text == "`./later.sh`: no such file; should one appear, the hook fails"

    @pytest.mark.parametrize("run", ["curl https://example.com/x", "x --in=./y", "x build"])
    def test_words_that_mean_no_file_are_not_mentioned(self, project: Path, run: str) -> None:
        assert all("no such file" not in text for text in drafted(project, run).unpinned)

    @pytest.mark.parametrize("run", ["curl https://a.b/c | sh", "sh", "[sh, -c, sh]"])
    def test_a_script_on_standard_input(self, project: Path, run: str) -> None:
        script = "the script that `sh` reads from standard input"
        assert script in drafted(project, run).unpinned

    @pytest.mark.parametrize("run", ["$TOOL x", "cat *.md", "ls {a,b}", "x `y`"])
    def test_what_only_the_shell_can_tell(self, project: Path, run: str) -> None:
        computed = "what the shell makes of `$…`, `*` or `{…}` in the command"
        assert computed in drafted(project, run).unpinned

    def test_our_own_variables_are_data_and_not_mentioned(self, project: Path) -> None:
        found = drafted(project, 'ruff format "$HOOKLINE_PATH" ${HOOKLINE_CWD}')
        assert found.unpinned == ("program `ruff` on PATH",)


class TestWhereAWordLeads:
    @pytest.mark.parametrize(
        "run",
        [
            """'exec "$HOOKLINE_PROJECT_DIR/s/g.sh"'""",
            "sh ${HOOKLINE_PROJECT_DIR}/s/g.sh",
            "cd s && ./g.sh",
            "cd s; sh g.sh",
            """'cd "$HOOKLINE_PROJECT_DIR/s" && ./g.sh'""",
        ],
    )
    def test_a_file_behind_a_cd_or_our_variable_is_pinned(self, project: Path, run: str) -> None:
        put(project / "s/g.sh")
        found = drafted(project, run)
        assert relative(found.pinned, project) == ["s/g.sh"]
        assert not any("$…" in text or "`cd`" in text for text in found.unpinned)

    def test_one_that_is_not_there_yet_is_told(self, project: Path) -> None:
        missing = "no such file; should one appear, the hook fails"
        found = drafted(project, "'\"$HOOKLINE_PROJECT_DIR/s/g.sh\"'")
        assert found.unpinned == (f"`$HOOKLINE_PROJECT_DIR/s/g.sh`: {missing}",)

    def test_one_that_is_not_where_a_cd_leads_is_told(self, project: Path) -> None:
        put(project / "g.sh")
        found = drafted(project, "cd s; ./g.sh")
        assert found.pinned == ()
        assert "`./g.sh`, which is not where the `cd` before it leads" in found.unpinned

    def test_behind_a_cd_that_nobody_can_follow_both_are_told(self, project: Path) -> None:
        put(project / "g.sh")
        found = drafted(project, "cd build | make && ./g.sh && ./h.sh")
        assert relative(found.pinned, project) == ["g.sh"]
        for name in ("./g.sh", "./h.sh"):
            text = f"`{name}` in another directory, should a `cd` before it lead there"
            assert text in found.unpinned

    @pytest.mark.parametrize(
        ("run", "name"),
        [
            ('exec "$HOOKLINE_CWD/g.sh"', "$HOOKLINE_CWD/g.sh"),
            ('"$HOOKLINE_PATH"', "$HOOKLINE_PATH"),
            ('sh "$HOOKLINE_PATH"', "$HOOKLINE_PATH"),
            ('read HOOKLINE_PROJECT_DIR; "$HOOKLINE_PROJECT_DIR/g"', "$HOOKLINE_PROJECT_DIR/g"),
        ],
    )
    def test_our_variables_are_told_where_the_name_of_a_program_stands(
        self, project: Path, run: str, name: str
    ) -> None:
        found = drafted(project, f"'{run}'").unpinned
        assert any(text.startswith(f"`{name}`, whatever that is") for text in found)

    @pytest.mark.parametrize(
        "run",
        [
            "x --in=$HOOKLINE_CWD/a",
            "'x ${HOOKLINE_PROJECT_DIR:-.}/a'",
        ],
    )
    def test_a_path_made_of_our_variables_is_computed(self, project: Path, run: str) -> None:
        computed = "what the shell makes of `$…`, `*` or `{…}` in the command"
        assert computed in drafted(project, run).unpinned

    @pytest.mark.parametrize(
        "run",
        [
            "sh -c 'cd s && ./g.sh'",
            "[sh, -c, cd s && ./g.sh]",
            """[sh, -c, 'exec "$HOOKLINE_PROJECT_DIR/s/g.sh"']""",
            "|\n  sh <<E\n  s/g.sh\n  E",
            "'X=s/g.sh; $X'",
        ],
    )
    def test_a_file_inside_code_is_pinned_and_told_when_it_is_not_there(
        self, project: Path, run: str
    ) -> None:
        missing = drafted(project, run).unpinned
        assert any("g.sh`: no such file" in text or "`cd` before" in text for text in missing)
        put(project / "s/g.sh")
        assert relative(drafted(project, run).pinned, project) == ["s/g.sh"]

    def test_a_directory_that_is_executed_is_told(self, project: Path) -> None:
        put(project / "tool/__main__.py")
        found = drafted(project, "python3 tool")
        assert found.pinned == ()
        assert "what is in `tool`, a directory: name it under `pins`" in found.unpinned


class TestLinks:
    def test_a_link_is_pinned_with_what_it_leads_to(self, project: Path) -> None:
        put(project / "lib/real.sh")
        (project / "check.sh").symlink_to("lib/real.sh")
        config = write_config(project, "on: stop\nrun: ./check.sh")
        found = draft(str(config), KIT)
        kept = {each.path: each for each in found.readings}
        link, real = kept[str(project / "check.sh")], kept[str(project / "lib/real.sh")]
        assert link.real == real.path == str(project / "lib/real.sh")
        assert link.content == real.content == b"#!/bin/sh\nexit 0\n"

    def test_of_a_link_out_of_the_project_only_the_direction_is_pinned(self, project: Path) -> None:
        (project / ".venv/bin").mkdir(parents=True)
        (project / ".venv/bin/python").symlink_to("/bin/sh")
        found = drafted(project, ".venv/bin/python -V")
        assert relative(found.pinned, project) == [".venv/bin/python"]
        real = os.path.realpath("/bin/sh")
        assert found.unpinned == (
            f"what is in `{real}`; that `.venv/bin/python` leads there is pinned",
        )

    def test_a_word_that_leaves_a_linked_directory_with_dots_is_refused(
        self, project: Path
    ) -> None:
        outside = project.parent / "outside/deep"
        outside.mkdir(parents=True)
        put(project.parent / "outside/check.sh")
        put(project / "check.sh")
        (project / "link").symlink_to(outside)
        with pytest.raises(TrustError, match=r"goes through a link and back"):
            drafted(project, "link/../check.sh")


class TestPatterns:
    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            ("lib/*.py", ["lib/a.py"]),
            ("lib/**/*.py", ["lib/a.py", "lib/deep/b.py"]),
            ("**/*.py", ["lib/a.py", "lib/deep/b.py"]),
            ("lib/", ["lib/a.py", "lib/deep/b.py", "lib/deep/c.txt"]),
            ("lib/**", ["lib/a.py", "lib/deep/b.py", "lib/deep/c.txt"]),
            ("./lib/deep/?.txt", ["lib/deep/c.txt"]),
            ("*/*/[bc].*", ["lib/deep/b.py", "lib/deep/c.txt"]),
            ("lib/a.py", ["lib/a.py"]),
        ],
    )
    def test_they_add_what_they_match(
        self, project: Path, pattern: str, expected: list[str]
    ) -> None:
        for name in ("lib/a.py", "lib/deep/b.py", "lib/deep/c.txt"):
            put(project / name)
        found = drafted(project, "echo ok", extra=f"pins: ['{pattern}']")
        assert sorted(relative(found.pinned, project)) == expected

    def test_one_that_matches_nothing_is_mentioned(self, project: Path) -> None:
        found = drafted(project, "echo ok", extra="pins: ['nowhere/*']")
        assert "the pin `nowhere/*`, which matches no file" in found.unpinned

    @pytest.mark.parametrize("pattern", ["/etc/*", "../*.py", "a/../../b"])
    def test_one_that_leaves_the_project_is_refused(self, project: Path, pattern: str) -> None:
        with pytest.raises(TrustError, match="not below the project"):
            drafted(project, "echo ok", extra=f"pins: ['{pattern}']")

    def test_linked_directories_are_not_entered(self, project: Path) -> None:
        (project / "loop").symlink_to(".")
        put(project / "a.py")
        found = drafted(project, "echo ok", extra="pins: ['**/*.py']")
        assert relative(found.pinned, project) == ["a.py"]

    def test_too_many_files_are_refused(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(reading, "MAX_FILES", 3)
        for number in range(4):
            put(project / f"lib/{number}.py")
        with pytest.raises(TrustError, match="more than 3 files"):
            drafted(project, "echo ok", extra="pins: ['lib/*']")

    def test_too_much_to_look_at_is_refused(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pins, "MAX_LOOKED_AT", 3)
        for number in range(4):
            put(project / f"lib/{number}.txt")
        with pytest.raises(TrustError, match="look at more than 3 files"):
            drafted(project, "echo ok", extra="pins: ['**/*.py']")

    def test_too_many_bytes_are_refused(self, project: Path) -> None:
        with put(project / "big.bin").open("ab") as file:
            file.truncate(reading.MAX_BYTES + 1)
        with pytest.raises(TrustError, match="more than 20,000,000 bytes"):
            drafted(project, "sh ./big.bin")


class TestDraft:
    def test_a_config_that_is_wrong_cannot_be_drafted(self, project: Path) -> None:
        config = put(project / "hookline.yaml", "version: 1\nhoks: []\nfoo: 1\n")
        with pytest.raises(ConfigError) as caught:
            draft(str(config), KIT)
        assert len(caught.value.problems) == 2

    def test_one_that_is_missing_or_no_file_cannot_either(self, project: Path) -> None:
        with pytest.raises(ConfigError, match="No such file"):
            draft(str(project / "hookline.yaml"), KIT)
        (project / "hookline.yaml").mkdir()
        with pytest.raises(ConfigError, match="not a regular file"):
            draft(str(project / "hookline.yaml"), KIT)

    def test_a_pinned_file_that_cannot_be_read_is_said(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        script = put(project / "check.sh")
        real_open = os.open

        def refusing(path: str, *args: int) -> int:
            if path == str(script):
                raise PermissionError(13, "Permission denied")
            return real_open(path, *args)

        monkeypatch.setattr(os, "open", refusing)
        with pytest.raises(ConfigError, match=r"check\.sh` cannot be read: Permission denied"):
            drafted(project, "./check.sh")


class Runner:
    """A trusted project, and the files of its first hook as the handler gets them."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.store = TrustStore(str(project.parent / "home"))
        self.drafted: Draft | None = None

    def trust(self, hook: str) -> None:
        config = write_config(self.project, hook)
        self.drafted = draft(str(config), KIT)
        self.store.trust(self.drafted.config, self.drafted.readings)

    @property
    def files(self) -> HookFiles:
        assert self.drafted is not None
        trusted = self.store.find(self.drafted.config)
        assert trusted is not None
        return HookFiles(self.drafted.hooks[0].hook, trusted)

    def stand_in(self, name: str) -> str | None:
        return self.files.stand_in(os.path.join(self.project, name))


@pytest.fixture
def runner(project: Path) -> Runner:
    put(project / "check.sh", "#!/bin/sh\necho trusted\n")
    put(project / "lib/helper.sh", "echo helped\n", 0o644)
    runner = Runner(project)
    runner.trust("on: stop\nrun: ./check.sh\npins: ['lib/*.sh']")
    return runner


def output_of(path: str | None) -> str:
    assert path is not None
    return subprocess.run([path], capture_output=True, text=True, check=True).stdout


class TestStandIn:
    def test_while_all_is_as_trusted_the_file_itself_runs(self, runner: Runner) -> None:
        files = runner.files
        assert files.stand_in(str(runner.project / "check.sh")) is None
        assert files.changed == ()

    def test_an_edited_script_runs_as_it_was_trusted(self, runner: Runner) -> None:
        put(runner.project / "check.sh", "#!/bin/sh\necho evil\n")
        assert output_of(runner.stand_in("check.sh")) == "trusted\n"

    def test_the_change_is_reported(self, runner: Runner) -> None:
        put(runner.project / "check.sh", "#!/bin/sh\necho evil\n")
        files = runner.files
        files.stand_in(str(runner.project / "check.sh"))
        assert files.changed == (str(runner.project / "check.sh"),)

    def test_when_any_file_of_the_hook_changed_all_run_from_the_copy(self, runner: Runner) -> None:
        put(runner.project / "lib/helper.sh", "echo evil\n")
        copy = runner.stand_in("check.sh")
        assert output_of(copy) == "trusted\n"
        assert copy is not None
        helper = Path(copy).parent / "lib/helper.sh"
        assert helper.read_text() == "echo helped\n"

    def test_a_new_file_that_a_pattern_finds_is_a_change(self, runner: Runner) -> None:
        new = put(runner.project / "lib/new.sh")
        files = runner.files
        copy = files.stand_in(str(runner.project / "check.sh"))
        assert copy is not None
        assert files.changed == (str(new),)
        assert not (Path(copy).parent / "lib/new.sh").exists()

    def test_a_file_that_no_hook_named_does_not_matter(self, runner: Runner) -> None:
        put(runner.project / "other.sh")
        assert runner.stand_in("check.sh") is None
        assert runner.stand_in("other.sh") is None

    def test_modes_are_kept_and_nobody_can_write_the_copy(self, runner: Runner) -> None:
        (runner.project / "check.sh").unlink()
        copy = runner.stand_in("check.sh")
        assert copy is not None
        assert os.stat(copy).st_mode & 0o777 == 0o500
        assert os.stat(Path(copy).parent / "lib/helper.sh").st_mode & 0o777 == 0o400
        assert os.stat(Path(copy).parent).st_mode & 0o777 == 0o700

    def test_a_relative_word_with_dots_is_the_same_file(self, runner: Runner) -> None:
        put(runner.project / "check.sh", "#!/bin/sh\necho evil\n")
        assert output_of(runner.stand_in("./lib/../check.sh")) == "trusted\n"

    def test_dots_behind_a_link_are_refused(self, runner: Runner) -> None:
        (runner.project / "link").symlink_to("/usr/bin")
        with pytest.raises(HandlerUnavailable, match="goes through a link and back"):
            runner.stand_in("link/../check.sh")

    def test_a_file_the_hook_names_that_came_later_is_refused(
        self, runner: Runner, project: Path
    ) -> None:
        runner.trust("on: stop\nrun: sh ./later.sh build")
        assert runner.stand_in("later.sh") is None
        put(project / "later.sh")
        with pytest.raises(HandlerUnavailable, match="was not there when the config was trusted"):
            runner.stand_in("./later.sh")
        put(project / "build")
        assert runner.stand_in("build") is None

    def test_files_outside_the_project_are_left_alone(self, runner: Runner) -> None:
        assert runner.stand_in("/bin/sh") is None

    @pytest.mark.parametrize("run", ["cd lib && ./g.sh", "$HOOKLINE_PROJECT_DIR/lib/g.sh"])
    def test_a_word_that_leads_elsewhere_is_that_file(
        self, runner: Runner, project: Path, run: str
    ) -> None:
        put(project / "lib/g.sh", "#!/bin/sh\necho trusted\n")
        runner.trust(f"on: stop\nrun: {run}")
        put(project / "lib/g.sh", "#!/bin/sh\necho evil\n")
        assert output_of(runner.stand_in("lib/./g.sh")) == "trusted\n"

    @pytest.mark.parametrize(
        "run", ["$HOOKLINE_PROJECT_DIR/lib/g.sh", "cd $HOOKLINE_PROJECT_DIR/lib && ./g.sh"]
    )
    def test_in_another_project_our_variable_names_nothing_that_was_trusted(
        self, runner: Runner, project: Path, run: str
    ) -> None:
        put(project / "lib/g.sh")
        put(project / "inner/lib/g.sh")
        runner.trust(f"on: stop\nrun: {run}")
        for other in (project / "inner", project.parent):
            put(other / "lib/g.sh")
            with pytest.raises(
                HandlerUnavailable, match=r"name it `lib/g\.sh`, from the directory"
            ):
                runner.stand_in(str(other / "lib/g.sh"))
        assert runner.stand_in("lib/g.sh") is None
        assert runner.stand_in(str(project / "nowhere/lib/g.sh")) is None

    def test_nor_anything_that_was_vouched_for(self, runner: Runner, project: Path) -> None:
        put(project / "lib/g.sh")
        put(project.parent / "lib/g.sh")
        runner.trust("on: stop\nrun: $HOOKLINE_PROJECT_DIR/lib/g.sh")
        assert runner.drafted is not None
        digest = sha256((project / "lib/g.sh").read_bytes()).hexdigest()
        files = VouchedFiles(runner.drafted.hooks[0].hook, frozenset([digest]))
        assert files.stand_in(str(project / "lib/g.sh")) is None
        with pytest.raises(HandlerUnavailable, match="which nobody has trusted"):
            files.stand_in(str(project.parent / "lib/g.sh"))

    def test_a_linked_script_keeps_its_layout(self, runner: Runner, project: Path) -> None:
        put(project / "lib/real.sh", '#!/bin/sh\n. "$(dirname "$(realpath "$0")")/helper.sh"\n')
        (project / "linked.sh").symlink_to("lib/real.sh")
        runner.trust("on: stop\nrun: ./linked.sh\npins: [lib/helper.sh]")
        assert runner.stand_in("linked.sh") is None
        put(project / "lib/real.sh", "#!/bin/sh\necho evil\n")
        assert output_of(runner.stand_in("linked.sh")) == "helped\n"

    def test_a_link_that_leads_elsewhere_now_is_a_change(
        self, runner: Runner, project: Path
    ) -> None:
        put(project / "lib/real.sh", "#!/bin/sh\necho trusted\n")
        put(project / "twin.sh", "#!/bin/sh\necho trusted\n")
        (project / "linked.sh").symlink_to("lib/real.sh")
        runner.trust("on: stop\nrun: ./linked.sh")
        (project / "linked.sh").unlink()
        (project / "linked.sh").symlink_to("twin.sh")
        assert output_of(runner.stand_in("linked.sh")) == "trusted\n"
        assert runner.stand_in("linked.sh") is not None

    def test_a_link_out_of_the_project_keeps_its_direction(
        self, runner: Runner, project: Path
    ) -> None:
        (project / "tool").symlink_to("/bin/echo")
        runner.trust("on: stop\nrun: ./tool")
        assert runner.stand_in("tool") is None
        (project / "tool").unlink()
        put(project / "tool", "#!/bin/sh\necho evil\n")
        assert output_of(runner.stand_in("tool")) == "\n"


class TestTheCopy:
    @pytest.fixture
    def copy(self, runner: Runner) -> Path:
        put(runner.project / "check.sh", "#!/bin/sh\necho evil\n")
        found = runner.stand_in("check.sh")
        assert found is not None
        return Path(found)

    def test_it_is_used_again(self, runner: Runner, copy: Path) -> None:
        before = copy.stat()
        assert runner.stand_in("check.sh") == str(copy)
        assert copy.stat().st_ino == before.st_ino

    def alter(self, copy: Path) -> None:
        copy.chmod(0o700)
        copy.write_text("#!/bin/sh\necho evil\n")

    def remove(self, copy: Path) -> None:
        copy.unlink()

    def put_link(self, copy: Path) -> None:
        copy.unlink()
        copy.symlink_to("/bin/true")

    def put_directory(self, copy: Path) -> None:
        copy.unlink()
        copy.mkdir()

    def take_bit(self, copy: Path) -> None:
        copy.chmod(0o400)

    @pytest.mark.parametrize("change", [alter, remove, put_link, put_directory, take_bit])
    def test_it_is_checked_and_mended_every_time(
        self, runner: Runner, copy: Path, change: Callable[["TestTheCopy", Path], None]
    ) -> None:
        change(self, copy)
        assert output_of(runner.stand_in("check.sh")) == "trusted\n"

    def test_what_else_got_there_is_removed(self, runner: Runner, copy: Path) -> None:
        put(copy.parent / "lib/extra.sh")
        put(copy.parent / "__pycache__/check.pyc")
        (copy.parent / "link").symlink_to("/etc")
        runner.stand_in("check.sh")
        assert sorted(path.name for path in copy.parent.iterdir()) == [
            "check.sh",
            "hookline.yaml",
            "lib",
        ]
        assert [path.name for path in (copy.parent / "lib").iterdir()] == ["helper.sh"]
        assert Path("/etc").is_dir()

    def test_a_link_in_it_is_mended_too(self, runner: Runner, project: Path) -> None:
        put(project / "lib/real.sh", "#!/bin/sh\necho trusted\n")
        (project / "linked.sh").symlink_to("lib/real.sh")
        runner.trust("on: stop\nrun: ./linked.sh")
        put(project / "lib/real.sh", "#!/bin/sh\necho evil\n")
        copy = runner.stand_in("linked.sh")
        assert copy is not None
        Path(copy).unlink()
        Path(copy).symlink_to(project / "lib/real.sh")
        assert output_of(runner.stand_in("linked.sh")) == "trusted\n"

    def test_without_the_stored_bytes_there_is_none(self, runner: Runner, copy: Path) -> None:
        for blob in Path(runner.store.directory, "blobs").iterdir():
            blob.unlink()
        with pytest.raises(HandlerUnavailable, match="no trusted copy"):
            runner.stand_in("check.sh")

    def test_where_it_cannot_be_written_there_is_none(self, runner: Runner) -> None:
        Path(runner.store.directory, "run").write_text("in the way")
        put(runner.project / "check.sh", "#!/bin/sh\necho evil\n")
        with pytest.raises(HandlerUnavailable, match="no trusted copy"):
            runner.stand_in("check.sh")

    def test_trusting_again_removes_it(self, runner: Runner, copy: Path) -> None:
        runner.trust("on: stop\nrun: ./check.sh")
        assert not copy.exists()


def test_files_that_need_no_trust_run_as_they_are() -> None:
    assert FreeFiles().stand_in("/any") is None


def test_files_that_nobody_trusted_do_not_run() -> None:
    with pytest.raises(HandlerUnavailable, match="not trusted"):
        UntrustedFiles().stand_in("/any")
