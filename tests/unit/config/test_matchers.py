"""Which events a `match` holds for, which an `except` takes back, and what that costs."""

import os
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec
import pytest

from hookline.config.exceptions import Except, compile_exception, subjects
from hookline.config.matchers import CARRIED_BY, compile_match
from hookline.config.schema import ExceptEntry, MatchEntry
from hookline.model.errors import HandlerError, IllegalValueError
from hookline.model.events import (
    Agent,
    CompactionEvent,
    ConfigChange,
    CwdChanged,
    Elicitation,
    Event,
    FileChanged,
    Notification,
    Other,
    PostToolBatch,
    PreCompact,
    PreToolUse,
    PromptExpansion,
    SessionEnd,
    SessionStart,
    SteeringSubmit,
    StopFailure,
    UserPromptSubmit,
)
from hookline.model.ports import NOBODY, Caller, Match, Matcher
from hookline.model.tools import Mcp, Tool, ToolKind, tool
from support.hostile_git import git

HOME = Caller(env={"HOME": "/home/dev"}, project_dir="/srv/app")


def matcher(*, every: bool = False, project_dir: str = "/srv/app", **keys: Any) -> Matcher:
    found = compile_match(msgspec.convert(keys, MatchEntry), every=every, project_dir=project_dir)
    assert found is not None
    return found


def holds(event: Event, *, caller: Caller = HOME, every: bool = False, **keys: Any) -> bool:
    return matcher(every=every, **keys).find(event, caller) is not None


def shell(command: str) -> PreToolUse:
    return PreToolUse(tool=tool("Bash", command=command), cwd="/srv/app")


def write(path: str, cwd: str = "/srv/app") -> PreToolUse:
    return PreToolUse(tool=tool("Write", file_path=path), cwd=cwd)


def test_a_match_without_keys_is_none() -> None:
    assert compile_match(MatchEntry(), every=False, project_dir="") is None


class TestPrompt:
    """`prompt` is about what the person typed."""

    def test_a_glob_is_over_the_whole_prompt_and_crosses_lines(self) -> None:
        event = UserPromptSubmit(prompt="please deploy\nto production now")
        assert holds(event, prompt="*production*")
        assert not holds(event, prompt="production*")
        assert holds(event, prompt=r"/\bdeploy\b/")

    def test_of_several_steering_messages_one_is_enough_unless_all_are_asked_for(self) -> None:
        event = SteeringSubmit(prompts=("go on", "deploy it"))
        assert holds(event, prompt="deploy*")
        assert not holds(event, prompt="deploy*", every=True)
        assert holds(event, prompt=["deploy*", "go*"], every=True)

    def test_every_event_of_the_prompt_family_has_one_and_no_tool_call(self) -> None:
        assert {"user_prompt_submit", "steering_submit", "follow_up_submit"} <= CARRIED_BY["prompt"]
        assert not {"pre_tool_use", "stop"} & CARRIED_BY["prompt"]


class TestWorkspace:
    """`mode`, `repository` and `branch` are about where and how the agent works."""

    def test_the_mode_is_the_platforms_own_word(self) -> None:
        for event in (PreToolUse(permission_mode="plan"), SessionStart(permission_mode="plan")):
            assert holds(event, mode="plan")
            assert holds(event, mode=["auto", "/^PLAN$|^plan$/"])
            assert not holds(event, mode="accept*")
        assert not holds(PreToolUse(), mode="plan")

    def test_repository_and_branch_are_those_of_the_project(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q", "-b", "release/2.0")
        git(tmp_path, "remote", "add", "origin", "https://github.com/acme/app.git")
        caller = Caller(project_dir=str(tmp_path))
        for event in (shell("ls"), SessionStart(cwd="/")):
            assert holds(event, caller=caller, repository="acme/*", branch="release/*")
            assert holds(event, caller=caller, branch=["main", r"/^release\b/"])
            assert not holds(event, caller=caller, repository="acme/other")
            assert not holds(event, caller=caller, branch="main")

    def test_outside_of_any_repository_no_name_matches(self, tmp_path: Path) -> None:
        caller = Caller(project_dir=str(tmp_path))
        for every in (False, True):
            assert not holds(
                SessionStart(cwd=str(tmp_path)), caller=caller, branch="m*", every=every
            )
            assert not holds(SessionStart(), caller=caller, repository="*/*", every=every)

    def test_leaving_the_project_leaves_no_guard_of_its_branch(self, tmp_path: Path) -> None:
        for name in ("main", "wild"):
            (tmp_path / name).mkdir()
            git(tmp_path / name, "init", "-q", "-b", name)
        caller = Caller(project_dir=str(tmp_path / "main"))
        away = PreToolUse(cwd=str(tmp_path / "wild"))
        assert holds(away, caller=caller, branch="main")
        assert holds(away, caller=caller, branch="wild")
        # What grants asks for both.
        assert not holds(away, caller=caller, branch="wild", every=True)
        assert holds(away, caller=caller, branch=["wild", "main"], every=True)

    def test_a_branch_that_cannot_be_read_is_a_failure(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q")
        (tmp_path / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")  # as reftables have it
        with pytest.raises(HandlerError, match="reftable"):
            holds(shell("ls"), caller=Caller(project_dir=str(tmp_path)), branch="main")

    def test_why_not_names_what_is_there(self, tmp_path: Path) -> None:
        git(tmp_path, "init", "-q", "-b", "main")
        caller = Caller(project_dir=str(tmp_path))
        found = compile_match(MatchEntry(branch="dev", mode="plan"), every=False, project_dir="")
        assert found is not None
        said = found.why_not(PreToolUse(permission_mode="auto"), caller)
        assert "`mode` is `auto`, not `plan`" in said
        assert "`branch` is `main`, not `dev`" in said
        assert "has no `branch`" in found.why_not(PreToolUse(), NOBODY)


class TestTool:
    """`tool` is a kind, a native name, a glob or a regex."""

    def test_a_kind_covers_every_platforms_tool_of_it(self) -> None:
        for name in ("Bash", "run_in_terminal", "exec_command"):
            assert holds(PreToolUse(tool=tool(name, command="ls")), tool="shell")
        assert not holds(write("a"), tool="shell")
        assert holds(write("a"), tool=["shell", "write"])

    def test_a_native_name_covers_only_itself(self) -> None:
        assert holds(shell("ls"), tool="Bash")
        assert not holds(PreToolUse(tool=tool("exec_command", command="ls")), tool="Bash")

    def test_globs_and_regexes_are_about_the_native_name(self) -> None:
        event = PreToolUse(tool=tool("mcp__github__merge_pr"))
        assert holds(event, tool="mcp__github__*")
        assert holds(event, tool="/^mcp__.*merge/")
        assert not holds(event, tool="/^mcp$/")

    def test_an_event_without_a_tool_never_matches(self) -> None:
        assert not holds(SessionStart(), tool="*")
        assert not holds(SessionStart(), url="*")
        assert not holds(SessionStart(), mcp="*")
        assert not holds(SessionStart(), command="*")
        assert not holds(SessionStart(), path="*")

    def test_a_tool_without_the_field_never_matches(self) -> None:
        event = PreToolUse(tool=Tool(kind=ToolKind.OTHER, name="x"))
        for every in (False, True):
            assert not holds(event, every=every, command="*")
            assert not holds(event, every=every, path="*")
            assert not holds(event, every=every, url="*")
            assert not holds(event, every=every, mcp="*")

    def test_all_keys_have_to_hold(self) -> None:
        event = shell("git push")
        assert holds(event, tool="shell", command="git *", dialect="canonical")
        assert not holds(event, tool="shell", command="git *", dialect="codex")
        assert not holds(event, tool="write", command="git *")


class TestWords:
    """Keys about the event itself."""

    @pytest.mark.parametrize(
        ("event", "word"),
        [
            (SessionStart(source="resume"), "resume"),
            (SessionEnd(reason="clear"), "clear"),
            (PreCompact(trigger="auto"), "auto"),
            (Notification(kind="idle"), "idle"),
            (ConfigChange(source="user_settings"), "user_settings"),
            (FileChanged(change="added"), "added"),
            (StopFailure(error="rate_limit"), "rate_limit"),
        ],
    )
    def test_source_is_the_events_own_word_for_where_it_came_from(
        self, event: Event, word: str
    ) -> None:
        assert holds(event, source=word)
        assert not holds(event, source="something else")

    def test_an_event_without_such_a_word_has_an_empty_one(self) -> None:
        assert not holds(CwdChanged(), source="x")

    def test_agent_dialect_and_native_name(self) -> None:
        event = Other(agent=Agent(name="reviewer"), dialect="codex", native_event="Wibble")
        assert holds(event, agent="rev*", dialect="codex", native="/^Wib/")
        assert not holds(event, agent="root")

    def test_urls(self) -> None:
        event = PreToolUse(tool=tool("WebFetch", url="https://example.com/a/b"))
        assert holds(event, url="https://example.com/*")
        assert not holds(event, url="example.com")

    @pytest.mark.parametrize(
        "url",
        [
            "https://evil.com/x",
            "HTTPS://EVIL.COM/x",
            "https://evil.com:443/x",
            "https://evil.com:0443",
            "http://evil.com:80/",
            "https://evil.com./x",
            "https://a@evil.com/x",
            "https://good.com:x@evil.com",
            "https://evil%2ecom/x",
            "https://evil.com",
            "https://evil.com?x",
            "https://evil.com#x",
            "https:evil.com",
            "https:///evil.com",
            "https:\\\\evil.com\\x",
            "https://good.com\\@evil.com/",
            "https://ev\til.com/",
            "https://ev\nil.com/",
            "https://\uff45vil\u3002com/",
            "//evil.com/x",
            "evil.com/x",
            "Evil.com",
            "https://good.com/x HTTPS://EVIL.COM",
            "(https://EVIL.com)",
        ],
    )
    def test_no_spelling_of_a_url_hides_its_host_from_a_guard(self, url: str) -> None:
        event = PreToolUse(tool=tool("WebFetch", url=url))
        assert holds(event, url="*://evil.com/*")
        assert not holds(event, url="*://other.com/*")

    @pytest.mark.parametrize(
        ("pattern", "url"),
        [
            ("https://evil.com", "https://evil.com/"),
            ("https://evil.com", "HTTPS://EVIL.COM:443/#top"),
            ("https://evil.com/a", "https://evil.com/a#b"),
            ("*://evil.com/admin/*", "https://evil.com/x/../admin/y"),
            ("*://evil.com/admin/*", "https://evil.com/x/%2e%2e/%61dmin/./y"),
            ("*://evil.com/a/", "https://evil.com/a/b/.."),
            ("*://evil.com/?q=a", "https://evil.com?q=%61"),
            ("*://127.0.0.1/*", "http://2130706433/x"),
            ("*://127.0.0.1/*", "http://0x7f.1"),
            ("*://127.0.0.1:8080/*", "http://0177.0.0.1:8080"),
            (r"http://\[::1]/*", "HTTP://[::1]:80"),
            ("*://999999999999/*", "http://999999999999"),
            ("file://*", "file:/etc/passwd"),
            ("file:///etc/*", "FILE://localhost/etc/passwd"),
            ("s3://bucket/*", "S3://bucket/Key"),
            ("*%2Fx", "https://evil.com/a%2fx"),
        ],
    )
    def test_a_guard_tries_a_url_as_its_server_would_see_it(self, pattern: str, url: str) -> None:
        assert holds(PreToolUse(tool=tool("WebFetch", url=url)), url=pattern)

    @pytest.mark.parametrize(
        "url",
        [
            "https://good.com@evil.com/",
            "https://good.com:x@evil.com/",
            "https://good.com\\@evil.com/",
            "https://good.com/../admin",
            "https://good.com/docs/../admin",
            "https://good.com/docs/%2e%2e/admin",
            "https://good.com/docs https://evil.com/",
            "https://evil.com/ https://good.com/docs",
            "HTTPS://GOOD.COM/docs/x",
            "   ",
        ],
    )
    def test_a_grant_needs_every_reading_of_every_url(self, url: str) -> None:
        patterns = ["https://good.com/docs*", "https://good.com@*", "https://good.com:*"]
        patterns += ["https://good.com\\\\*", "https://good.com/..*"]
        assert not holds(PreToolUse(tool=tool("WebFetch", url=url)), url=patterns, every=True)

    @pytest.mark.parametrize(
        ("pattern", "url"),
        [
            ("https://good.com", "https://good.com"),
            ("https://good.com/*", "https://good.com/a?b=c#d"),
            ("https://good.com/*", "https://good.com/a https://good.com/b"),
            ("https://good.com/*", "https://good.com/a\nhttps://good.com/b"),
            ("good.com/*", "good.com/x"),
            ("http://localhost:8080/*", "http://localhost:8080/x"),
        ],
    )
    def test_a_url_written_plainly_is_granted(self, pattern: str, url: str) -> None:
        assert holds(PreToolUse(tool=tool("WebFetch", url=url)), url=pattern, every=True)

    def test_no_url_makes_that_take_long(self) -> None:
        start = monotonic()
        for url in ("https://x/" + "../" * 200_000, "%41" * 200_000, "a@" * 300_000, "a " * 50_000):
            assert not holds(PreToolUse(tool=tool("WebFetch", url=url)), url="*://evil.com/*")
        assert monotonic() - start < 10

    def test_the_command_of_a_prompt_is_text_and_not_shell(self) -> None:
        event = PromptExpansion(command="deploy; now")
        assert holds(event, command="deploy*")
        assert holds(event, command="deploy*", every=True)
        assert not holds(event, command="now")

    def test_the_table_of_fields_covers_every_key(self) -> None:
        assert set(CARRIED_BY) == set(MatchEntry.__struct_fields__)
        assert "elicitation" in CARRIED_BY["mcp"]
        assert "prompt_expansion" in CARRIED_BY["command"]
        assert "worktree_create" in CARRIED_BY["path"]
        assert issubclass(PreCompact, CompactionEvent)
        assert "pre_compact" in CARRIED_BY["source"]
        assert "stop" not in CARRIED_BY["source"]


class TestMcp:
    """`mcp` is a server, or one of its tools."""

    EVENT = PreToolUse(tool=tool("mcp__github__merge_pr"))

    @pytest.mark.parametrize(
        "pattern",
        ["github", "git*", "github.merge_pr", "github.*", "*.merge_*", "github__merge_pr",
         "mcp__github__merge_pr", "/[.]merge/"],
    )  # fmt: skip
    def test_every_way_to_write_it(self, pattern: str) -> None:
        assert holds(self.EVENT, mcp=pattern)

    def test_another_server_or_tool_does_not_match(self) -> None:
        assert not holds(self.EVENT, mcp="gitlab")
        assert not holds(self.EVENT, mcp="github.delete_repo")
        assert not holds(shell("github"), mcp="github")

    def test_a_question_of_a_server_counts_as_its(self) -> None:
        assert holds(Elicitation(server="github"), mcp="github")
        assert not holds(Elicitation(), mcp="*")

    def test_the_platform_may_name_the_server_apart_from_the_tool(self) -> None:
        event = PreToolUse(tool=Tool(name="merge", mcp=Mcp("github", "merge")))
        assert holds(event, mcp="github.merge")


class TestCommand:
    """`command` is tried on the whole text and on each simple command in it."""

    @pytest.mark.parametrize(
        "text",
        [
            "git push --force",
            "cd x && git push --force",
            'git "push" --force',
            "sudo git push --force",
            "A=1 git push --force",
            "bash -c 'git push --force'",
            "echo $(git push --force)",
            "ls; git push --force | cat",
        ],
    )
    def test_one_simple_command_that_matches_is_enough(self, text: str) -> None:
        assert holds(shell(text), command="git push --force")

    def test_wrappers_can_be_asked_for(self) -> None:
        assert holds(shell("ls && sudo rm x"), command="sudo *")

    def test_a_command_inside_quotes_is_none(self) -> None:
        assert not holds(shell("echo 'git push --force'"), command="git push --force")

    def test_text_that_cannot_be_read_is_tried_as_a_whole(self) -> None:
        assert holds(shell("rm -rf / 'unclosed"), command="rm -rf*")

    def test_a_regex_searches_the_whole_text_and_each_command(self) -> None:
        assert holds(shell("ls && git push"), command="/^git push$/")
        assert holds(shell("ls && git push"), command="/ls.*push/")

    @pytest.mark.parametrize("text", ["ls \ud800; rm x", "ls \0; rm x", "rm x\0"])
    def test_broken_characters_do_not_raise(self, text: str) -> None:
        assert holds(shell(text), command="*rm x*")
        holds(shell(text), command="rm x", every=True)

    @pytest.mark.parametrize("pattern", ["/(a+)+$/", "*a*a*a*a*a*b"])
    def test_a_megabyte_stays_fast(self, pattern: str) -> None:
        start = monotonic()
        with pytest.raises(HandlerError, match="too long to be read"):
            holds(shell("echo " + "a" * 1_000_000 + "c"), command=pattern)
        assert monotonic() - start < 10

    @pytest.mark.parametrize("text", ["rm x; : {pad}", "{pad}; rm x", "bash -c 'rm x' # {pad}"])
    def test_padding_does_not_hide_a_command_from_a_rule(self, text: str) -> None:
        assert holds(shell(text.format(pad="x" * 100)), command="rm x")
        with pytest.raises(HandlerError, match="too long to be read"):
            holds(shell(text.format(pad="x" * 70_000)), command="rm x")

    def test_a_long_command_that_matches_as_a_whole_needs_no_reading(self) -> None:
        assert holds(shell("rm " + "x" * 70_000), command="rm *")

    def test_a_regex_over_its_time_fails_the_hook(self) -> None:
        with pytest.raises(HandlerError, match="ran for more than"):
            holds(shell("a" * 60 + "b"), command="/(?=a)(a|aa)+$/")


class TestEveryCommand:
    """For allow and rewrite all of the text has to be accounted for."""

    def test_each_simple_command_has_to_match(self) -> None:
        assert holds(shell("git status"), every=True, command="git *")
        assert holds(shell("git status && git diff | cat"), every=True, command=["git *", "cat"])
        assert not holds(shell("git status; rm -rf /"), every=True, command="git *")

    @pytest.mark.parametrize(
        "text",
        [
            "git log $(rm -rf /)",
            "git log `rm x`",
            "git diff > ~/.bashrc",
            "git log 'unclosed",
            "",
            "# git status",
            "sudo git status",
            "LD_PRELOAD=/tmp/x.so git status",
            "PATH=/tmp git status",
            "PATH=/tmp:$PATH; git status",
            "export PATH=/tmp; git status",
            "git() { rm -rf /; }; git status",
            "alias git=rm; git status",
            "eval 'git status; rm x'",
            "git status & rm x",
            "git status\nrm x",
            "git status || rm x",
            "env -S 'rm x' git status",
            "git log <(rm x)",
            "cat <<< $(rm x); git status",
            "if true; then git status; fi; rm x",
            "for PATH in /tmp; do git status; done",
            "((PATH=0)); git status",
            "git log $((PATH=0)); git status",
            "git log $[PATH=0]; git status",
            "git log ${PATH:=/tmp}; git status",
            "git log ${X:-${PATH=/tmp}}; git status",
            "<in PATH=/tmp git status",
            "2>&1 PATH=/tmp git status",
            "PATH+=:/tmp git status",
            "A[0]=1 git status",
            "[[ -f x ]] && git status",
            "git status; X=1",
            "git log ${!a}",
            "git log ${!a*}",
            'git log "${a@P}"',
            "git log ${a[b]}",
            "git log ${#a[b]}",
            "git log ${a:b}",
            "git log ${a:0:b}",
            "git log ${(e)a}",
        ],
    )
    def test_nothing_may_hide_in_the_text(self, text: str) -> None:
        assert not holds(shell(text), every=True, command="git *")

    @pytest.mark.parametrize(
        "text",
        [
            "git status",
            "  git status  ",
            "git status # all of it",
            "# first\ngit status\n",
            "git status 2>&1 | cat",
            "git log > /dev/null",
            "git status && (git diff; git log) || { git stash; }",
            "if git diff; then git log; fi",
            "while ! git pull; do git fetch; done",
            "git \\\n status \\\n  -s",
            "git add *.py ${FILES} --author=me",
            "git commit -m 'a=b'",
            "make CC=gcc",
            "git commit -m 'ä ö ü' && git push",
        ],
    )
    def test_what_hides_nothing_is_granted(self, text: str) -> None:
        assert holds(shell(text), every=True, command=["git *", "cat", "make *"])

    @pytest.mark.parametrize(
        "text",
        [
            "[ -v 'a[$(rm x)]' ]",
            "test -v 'a[`rm x`]'",
            "test 'a[$(rm x)]' -eq 0",
            "command test -v 'a[$(rm x)]'",
            "time [ -v 'a[$(rm x)]' ]",
            "if [ -v 'a[$(rm x)]' ]; then ls; fi",
            "[ -v $a ]",
            '[ -v "$a" ]',
            "[ $a ]",
            "bash -c '[ \"$a\" ]'",
            "printf -v 'a[$(rm x)]' y",
            "printf $a y",
            "read 'a[$(rm x)]'",
            "unset 'a[$(rm x)]'",
            "let 'a[$(rm x)]'",
            "declare 'a[$(rm x)]=1'",
            "declare $a",
            "exit 'a[$(rm x)]'",
        ],
    )
    def test_a_builtin_that_runs_what_its_words_hide_is_never_granted(self, text: str) -> None:
        assert not holds(shell(text), every=True, command="*")

    @pytest.mark.parametrize(
        "text",
        [
            "printf -v PATH /tmp; git status",
            "printf -vPATH /tmp && git status",
            "wait -n -p PATH; git status",
            "read PATH; git status",
            "export PATH=/tmp; git status",
            "declare PATH=/tmp; git status",
            "unset PATH; git status",
            "hash -p /tmp/x git; git status",
            "alias git=rm; git status",
        ],
    )
    def test_a_command_that_changes_what_others_mean_is_not_granted_beside_them(
        self, text: str
    ) -> None:
        assert not holds(shell(text), every=True, command="*")

    @pytest.mark.parametrize(
        "text",
        [
            "[ -f x ] && ls",
            '[ -n "$CI" ] || exit 1',
            "test -d a",
            "printf '%s\\n' -v \"$a\"",
            "wait",
            "export A=$B",
            "unset A",
            "ls; exit 0",
            "echo ${a} ${a:-b} ${a:+b} ${#a} ${a%.py} ${a##*/} ${a/x/y} ${a^^} ${a:0:3} ${1} ${@}",
        ],
    )
    def test_a_builtin_in_its_plain_use_is_granted(self, text: str) -> None:
        assert holds(shell(text), every=True, command="*")

    @pytest.mark.parametrize(
        "text",
        ["#;;;;;;;;\n" * 500 + "git x; =", "${" * 20_000 + "git x", "0" * 60_000, "git x;" * 9_000],
    )
    def test_no_text_makes_that_take_long(self, text: str) -> None:
        start = monotonic()
        assert not holds(shell(text), every=True, command="git *y")
        assert monotonic() - start < 10

    def test_a_whole_text_that_looks_right_is_not_enough(self) -> None:
        assert not holds(shell("git status; git x; rm y"), every=True, command="git status*")


class TestPath:
    """`path` is tried as given, absolute, resolved, and from the project."""

    def test_the_match_names_the_absolute_path(self) -> None:
        found = matcher(path="**/*.py").find(write("src/../a.py"), HOME)
        assert found == Match("/srv/app/a.py")

    def test_other_conditions_name_none(self) -> None:
        assert matcher(tool="write").find(write("a.py"), HOME) == Match()

    @pytest.mark.parametrize(
        ("path", "cwd"),
        [
            ("src/a.py", "/srv/app"),
            ("./src/a.py", "/srv/app"),
            ("/srv/app/src/a.py", "/elsewhere"),
            ("//srv/app/src/a.py", "/elsewhere"),
            ("a.py", "/srv/app/src"),
            ("../app/src/a.py", "/srv/app"),
            ("src/a.py", "/elsewhere"),
        ],
    )
    def test_a_pattern_with_a_slash_counts_from_the_project(self, path: str, cwd: str) -> None:
        assert holds(write(path, cwd), path="src/*.py")

    @pytest.mark.parametrize(
        ("pattern", "path"),
        [
            ("secrets", "secrets/key"),
            ("secrets", "a/secrets/b/key"),
            ("secrets", "/elsewhere/secrets/key"),
            ("src", "src/a.py"),
            ("./src", "src/deep/a.py"),
            ("src/gen", "src/gen/a.py"),
            ("src/*", "src/deep/a.py"),
            ("**/src/gen", "lib/src/gen/a.py"),
            (".*", ".cache/x"),
            ("/etc/nginx", "/etc/nginx/sites/x"),
            ("~/.ssh", "/home/dev/.ssh/id"),
            (".", "deep/a.py"),
        ],
    )
    def test_a_guard_for_a_directory_is_one_for_all_below_and_a_grant_is_not(
        self, pattern: str, path: str
    ) -> None:
        assert holds(write(path), path=pattern)
        assert not holds(write(path), path=pattern, every=True)

    @pytest.mark.parametrize("pattern", ["app", "srv", "**/srv/app", "**/srv/*"])
    @pytest.mark.parametrize("path", ["a.py", "/srv/app/src/a.py", "~/x"])
    def test_the_name_of_a_directory_around_the_project_means_nothing_in_it(
        self, pattern: str, path: str
    ) -> None:
        assert not holds(write(path), path=pattern)

    def test_an_exception_for_a_directorys_name_excuses_nothing_below_it(self) -> None:
        match = Except(matcher(path="*.md"), [exception({"path": "docs"})])
        assert match.find(write("docs/a.md"), HOME) is not None

    def test_a_doubled_slash_hides_nothing(self) -> None:
        assert holds(write("//etc/passwd"), path="/etc/**")

    def test_home_is_the_callers_and_the_accounts(self) -> None:
        import pwd

        own = pwd.getpwuid(os.getuid()).pw_dir
        assert holds(write("/home/dev/.ssh/id"), path="~/.ssh/**")
        assert holds(write("~/.ssh/id"), path="~/.ssh/**")
        assert holds(write(f"{own}/.ssh/id"), path="~/.ssh/**")
        assert not holds(write(f"{own}/.ssh/id"), path="~/.ssh/**", every=True)

    def test_links_are_followed(self, tmp_path: Path) -> None:
        (tmp_path / "secret").mkdir()
        (tmp_path / "secret/key").touch()
        (tmp_path / "innocent").symlink_to(tmp_path / "secret/key")
        (tmp_path / "door").symlink_to(tmp_path / "secret")
        project = str(tmp_path)
        for path in ("innocent", "door/key", "door/../secret/key", "secret/key"):
            assert holds(write(path, project), project_dir=project, path="secret/*"), path
        assert holds(write("x/../innocent", project), project_dir=project, path="innocent")

    def test_a_project_behind_a_link_is_the_same_project(self, tmp_path: Path) -> None:
        (tmp_path / "real/src").mkdir(parents=True)
        (tmp_path / "link").symlink_to(tmp_path / "real")
        for root in ("link", "real"):
            for base in ("link", "real"):
                event = write(str(tmp_path / base / "src/a.py"))
                for every in (False, True):
                    assert holds(
                        event, every=every, project_dir=str(tmp_path / root), path="src/*.py"
                    )

    def test_all_paths_of_a_tool_are_tried(self) -> None:
        patch = "*** Begin Patch\n*** Update File: a.txt\n*** Add File: b.py\n*** End Patch"
        event = PreToolUse(tool=tool("apply_patch", input=patch), cwd="/srv/app")
        assert matcher(path="*.py").find(event, HOME) == Match("/srv/app/b.py")
        assert not holds(event, every=True, path="*.py")
        assert holds(event, every=True, path=["*.py", "*.txt"])

    def test_events_that_are_no_tools_have_their_own_path(self) -> None:
        assert holds(FileChanged(path="/srv/app/.env"), path=".env")
        assert not holds(FileChanged(), path="*")

    def test_a_grant_for_a_directory_does_not_follow_a_link_out_of_it(self, tmp_path: Path) -> None:
        (tmp_path / "docs").mkdir()
        (tmp_path / "secret").touch()
        (tmp_path / "docs/link").symlink_to(tmp_path / "secret")
        (tmp_path / "docs/up").symlink_to(tmp_path)
        project = str(tmp_path)

        def granted(path: str, cwd: str = project) -> bool:
            return holds(write(path, cwd), every=True, project_dir=project, path="docs/**")

        assert granted("docs/new.md")
        assert not granted("docs/link")
        assert not granted("docs/up/secret")
        assert not granted("docs/../secret")
        assert not granted("docs/up/../docs/x")
        assert not granted("docs/x", cwd="/etc")
        assert not granted("~/docs/x")

    def test_a_path_of_which_nobody_knows_the_start_is_never_granted(self) -> None:
        event = PreToolUse(tool=tool("Write", file_path="docs/x"))
        loose = matcher(project_dir="", path="docs/**")
        strict = matcher(project_dir="", path="docs/**", every=True)
        assert loose.find(event, NOBODY) == Match("docs/x")
        assert strict.find(event, NOBODY) is None

    def test_hooks_written_in_code_count_from_the_callers_project(self) -> None:
        caller = Caller(project_dir="/srv/app")
        event = PreToolUse(tool=tool("Write", file_path="src/x"))
        assert holds(event, caller=caller, project_dir="", path="/srv/app/src/*")
        assert holds(event, caller=caller, project_dir="", path="src/*", every=True)

    @pytest.mark.parametrize("path", ["a\0/.env", "\ud800/.env", "x/" * 500_000 + ".env"])
    def test_what_can_be_no_file_raises_nothing_and_is_never_granted(self, path: str) -> None:
        start = monotonic()
        assert holds(write(path), path=".env")
        assert not holds(write(path), every=True, path=".env")
        assert monotonic() - start < 10


class TestBatch:
    """A batch of calls matches like one of them, or for a grant like all of them."""

    EVENT = PostToolBatch(
        calls=(tool("Bash", command="ls"), tool("Write", file_path="a.py")), cwd="/srv/app"
    )

    def test_one_call_that_matches_is_enough(self) -> None:
        assert matcher(tool="write", path="*.py").find(self.EVENT, HOME) == Match("/srv/app/a.py")

    def test_the_keys_have_to_hold_for_the_same_call(self) -> None:
        assert not holds(self.EVENT, tool="shell", path="*.py")

    def test_for_a_grant_all_calls_have_to_match(self) -> None:
        assert not holds(self.EVENT, every=True, tool="write")
        assert holds(self.EVENT, every=True, tool=["write", "shell"])


class TestIdentity:
    """Equal conditions are equal, so that hooks that do the same run once."""

    def test_order_of_alternatives_and_lists_of_one_do_not_matter(self) -> None:
        assert matcher(tool=["a*", "b*"]).identity() == matcher(tool=["b*", "a*"]).identity()
        assert matcher(tool="a*").identity() == matcher(tool=["a*"]).identity()
        assert hash(matcher(tool="a*").identity()) == hash(matcher(tool=["a*"]).identity())

    def test_anything_else_matters(self) -> None:
        base = matcher(command="a*").identity()
        assert base != matcher(command="b*").identity()
        assert base != matcher(url="a*").identity()
        assert base != matcher(command="a*", every=True).identity()

    def test_the_project_matters_only_for_paths(self) -> None:
        def pair(**keys: Any) -> set[object]:
            return {matcher(project_dir=root, **keys).identity() for root in ("/a", "/b")}

        assert len(pair(command="x")) == 1
        assert len(pair(path="x")) == 2


def exception(entry: str | dict[str, Any], **options: Any) -> Matcher:
    converted = entry if isinstance(entry, str) else msgspec.convert(entry, ExceptEntry)
    about = options.pop("about", ("command", "path"))
    return compile_exception(converted, about=about, project_dir="/srv/app", **options)


class TestExcept:
    """`except` takes back what `match` found."""

    def test_without_a_condition_everything_else_still_matches(self) -> None:
        match = Except(None, [exception({"command": "git push backup*"})])
        assert match.find(shell("git push backup main"), HOME) is None
        assert match.find(shell("git push origin"), HOME) == Match()

    def test_an_exception_has_to_hold_for_the_whole_command(self) -> None:
        match = Except(matcher(command="*rm*"), [exception("rm -rf build*")])
        assert match.find(shell("rm -rf build"), HOME) is None
        assert match.find(shell("rm -rf build; rm -rf /"), HOME) is not None
        assert match.find(shell("rm -rf build $(rm x)"), HOME) is not None
        assert match.find(shell("ls"), HOME) is None

    def test_a_bare_glob_is_about_the_command_or_else_the_path(self) -> None:
        match = Except(None, [exception("docs/**")])
        assert match.find(write("docs/a.md"), HOME) is None
        assert match.find(shell("docs/tool.sh"), HOME) is None
        assert match.find(write("src/a.md"), HOME) is not None

    def test_a_bare_glob_never_excuses_a_command_by_a_path(self) -> None:
        both = PreToolUse(
            tool=tool("mystery", command="rm -rf /", path="docs/a.md"), cwd="/srv/app"
        )
        assert Except(None, [exception("docs/**")]).find(both, HOME) is not None
        batch = PostToolBatch(calls=(both.tool,), cwd="/srv/app")
        assert Except(None, [exception("docs/**")]).find(batch, HOME) is not None

    def test_a_bare_glob_beside_a_match_is_about_the_same_thing(self) -> None:
        assert subjects(MatchEntry(path="x")) == ("path",)
        assert subjects(MatchEntry(command="x")) == ("command",)
        assert subjects(MatchEntry(tool="x")) == ("command", "path")
        assert (
            exception("a", about=("path",)).identity() == matcher(path="a", every=True).identity()
        )

    def test_a_bare_glob_that_can_be_no_path_is_a_command(self) -> None:
        found = exception("../run.sh")
        assert found.identity() == matcher(command="../run.sh", every=True).identity()

    def test_an_exception_ends_at_its_time(self) -> None:
        now = [datetime(2026, 11, 30, 23, 59, tzinfo=UTC)]
        day = exception({"command": "x", "until": "2026-12-01"}, clock=lambda: now[0])
        hour = exception(
            {"command": "x", "until": "2026-12-01T02:00:00+01:00"}, clock=lambda: now[0]
        )
        assert [each.find(shell("x"), HOME) for each in (day, hour)] == [Match(), Match()]
        now[0] = datetime(2026, 12, 1, tzinfo=UTC)
        assert [each.find(shell("x"), HOME) for each in (day, hour)] == [None, Match()]
        now[0] = datetime(2026, 12, 1, 1, tzinfo=UTC)
        assert hour.find(shell("x"), HOME) is None

    def test_by_default_the_clock_is_the_machines(self) -> None:
        assert exception({"command": "x", "until": "2000-01-01"}).find(shell("x"), HOME) is None
        assert exception({"command": "x", "until": "9000-01-01"}).find(shell("x"), HOME)

    def test_an_exception_needs_a_condition(self) -> None:
        with pytest.raises(IllegalValueError, match="for good"):
            exception({"until": "2026-12-01"})

    def test_equal_exceptions_make_equal_conditions(self) -> None:
        def build(*entries: Any) -> object:
            return Except(matcher(tool="shell"), [exception(each) for each in entries]).identity()

        until = {"command": "x", "until": "2026-12-01"}
        assert build("a", until) == build(until, "a")
        assert build("a") != build("b")
        assert build(until) != build({"command": "x"})
        assert hash(Except(None, [exception("a")]).identity())


def test_a_tool_of_another_kind_costs_next_to_nothing() -> None:
    match = matcher(tool="shell", command="*kubectl*", path="**/*.py")
    event = write("a.py")
    start = monotonic()
    for _ in range(100_000):
        match.find(event, HOME)
    assert monotonic() - start < 5
