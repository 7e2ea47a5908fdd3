"""One config file: what it compiles to, and that every mistake in it is reported with its line."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace

from hookline.config.compile import MAX_INCLUDES, compile_file
from hookline.config.types import ConfigFile, Kit
from hookline.handlers import rule
from hookline.model.answers import PASS
from hookline.model.errors import ConfigError, TrustError, UnknownNameError
from hookline.model.events import PreToolUse
from hookline.model.hook import Hook, Layer, Mode, OnError, Source
from hookline.model.ports import NOBODY, KeyProblem, Services
from hookline.model.tools import tool


class _NoOptions(Struct):
    pass


def _no_problems(values: Mapping[str, Any], hook: Hook, services: Services) -> list[KeyProblem]:
    return []


def _shy(values: Mapping[str, Any], hook: Hook, services: Services) -> Sequence[KeyProblem]:
    return [KeyProblem("run", "`run` runs nothing", "try `true`")] if values["run"] == "" else []


GUARD = SimpleNamespace(
    __doc__="A guard.",
    EVENTS=("pre_tool_use", "permission_request"),
    PRIORITY=20,
    GUARD=True,
    Options=_NoOptions,
    make=lambda options: lambda event, caller: PASS,
)
LISTENER = SimpleNamespace(**{**vars(GUARD), "EVENTS": ("pre_tool_use", "stop"), "GUARD": False})


def builtin(name: str) -> Any:
    found = {"shell-guard": GUARD, "listener": LISTENER}
    if name not in found:
        raise UnknownNameError("builtin", name, found)
    return found[name]


def codec(name: str) -> Any:
    if name not in {"canonical", "claude-code"}:
        raise UnknownNameError("dialect", name, ["canonical", "claude-code"])
    return None


def module(keys: dict[str, Any], extra: dict[str, Any], check: Any = _no_problems) -> Any:
    return SimpleNamespace(KEYS=keys, EXTRA_KEYS=extra, COMBINES=False, check=check, make=None)


NATIVE_EVENTS = {
    "PreToolUse": {"pre_tool_use": ("claude-code", "codex")},
    "Halt": {"stop": ("gemini",), "session_end": ("codex", "vscode")},
}
KIT = Kit(
    {
        "rule": rule,
        "command": module({"run": str | list[str]}, {"shell": str}, _shy),
        "http": module({"http": str}, {"headers": dict[str, str]}),
        "builtin": module({"use": str}, {"with": dict[str, Any]}),
    },
    Services(codec=codec, builtin=builtin, pins=lambda hook: None),  # type: ignore[arg-type,return-value]
    known_tools=frozenset({"wibble"}),
    native_events=lambda: NATIVE_EVENTS,
    dialects=lambda: ("claude-code", "codex"),
    clock=lambda: datetime(2026, 6, 1, tzinfo=UTC),
)


def from_disk(path: str) -> bytes:
    return Path(path).read_bytes()


def load(text: str, file: str = "/srv/app/hookline.yaml") -> ConfigFile:
    return compile_file(
        text.encode(),
        file=file,
        layer=Layer.PROJECT,
        project_dir="/srv/app",
        kit=KIT,
        read=from_disk,
    )


def only(text: str) -> Hook:
    """The one hook of a file with this entry."""
    lines = text.strip("\n").splitlines()
    body = "\n".join([f"  - {lines[0]}", *(f"    {line}" for line in lines[1:])])
    (hook,) = load(f"version: 1\nhooks:\n{body}\n").hooks
    return hook


def problems(text: str) -> list[str]:
    """Every problem of the file, as `line: message (hint)`."""
    with pytest.raises(ConfigError) as caught:
        load(text)
    return [
        f"{each.line}: {each.message}" + (f" ({each.hint})" if each.hint else "")
        for each in caught.value.problems
    ]


def problem(entry: str) -> str:
    """The only problem of a file with this entry."""
    lines = entry.strip("\n").splitlines()
    body = "\n".join([f"  - {lines[0]}", *(f"    {line}" for line in lines[1:])])
    (found,) = problems(f"version: 1\nhooks:\n{body}\n")
    return found


def shell(command: str) -> PreToolUse:
    return PreToolUse(tool=tool("Bash", command=command), cwd="/srv/app")


def test_a_hook_keeps_everything_that_was_written() -> None:
    hook = only(
        """
name: production is off limits
on: [pre_tool_use, permission_request]
match: {tool: shell, command: "*kubectl*--context prod*"}
run: ./tell.sh
priority: 10
timeout: 500ms
on_error: warn
guard: false
always: true
mode: observe
env: [KUBECONFIG]
pins: [scripts/**]
speaks: claude-code
"""
    )
    assert hook.match is not None
    assert hook == Hook(
        name="production is off limits",
        events=("pre_tool_use", "permission_request"),
        handler=hook.handler,
        match=hook.match,
        priority=10,
        timeout=0.5,
        on_error=OnError.WARN,
        guard=False,
        always=True,
        mode=Mode.OBSERVE,
        source=Source("/srv/app/hookline.yaml", 3, Layer.PROJECT),
        project_dir="/srv/app",
        env=("KUBECONFIG",),
        speaks="claude-code",
        pins=("scripts/**",),
    )
    assert hook.handler.kind == "command"
    assert hook.handler.values == {"run": "./tell.sh"}
    assert hook.match.find(shell("kubectl get pods --context prod"), NOBODY) is not None
    assert hook.match.find(shell("kubectl get pods"), NOBODY) is None


def test_a_hook_on_a_gate_event_is_a_guard_that_fails_closed() -> None:
    hook = only("on: pre_tool_use\ndeny: no")
    assert (hook.guard, hook.on_error, hook.priority, hook.timeout) == (True, OnError.BLOCK, 50, 60)


def test_a_hook_on_another_event_is_no_guard_and_warns() -> None:
    hook = only("on: post_tool_use\nrun: ruff format")
    assert (hook.guard, hook.on_error) == (False, OnError.WARN)


def test_a_guard_may_be_told_not_to_be_one() -> None:
    hook = only("on: pre_tool_use\nguard: false\nrun: ./log.sh")
    assert (hook.guard, hook.on_error) == (False, OnError.WARN)


def test_a_builtin_brings_its_name_events_priority_and_guard() -> None:
    hook = only("use: shell-guard")
    assert hook.name == "shell-guard"
    assert hook.events == ("pre_tool_use", "permission_request")
    assert (hook.priority, hook.guard, hook.on_error) == (20, True, OnError.BLOCK)
    assert hook.handler.values == {"use": "shell-guard"}


def test_what_is_written_beside_a_builtin_counts_more_than_its_own() -> None:
    hook = only("use: listener\non: stop\npriority: 5\nguard: true")
    assert (hook.events, hook.priority, hook.guard) == (("stop",), 5, True)


def test_hooks_without_a_name_get_one_of_their_own() -> None:
    file = load(
        """
version: 1
hooks:
  - {on: stop, run: a}
  - {on: stop, run: b}
  - {on: [pre_tool_use, permission_request], shell: zsh, run: c}
  - {use: shell-guard}
  - {use: shell-guard, on: pre_tool_use}
  - {name: run on turn_end, on: stop, run: d}
  - {on: turn_end, run: e}
"""
    )
    assert [hook.name for hook in file.hooks] == [
        "run on stop",
        "run on stop (line 5)",
        "run on pre_tool_use, permission_request",
        "shell-guard",
        "shell-guard (line 8)",
        "run on turn_end",
        "run on turn_end (line 10)",
    ]


@pytest.mark.parametrize(
    ("written", "seconds"),
    [("5", 5), ("0.5", 0.5), ("500ms", 0.5), ("10s", 10), ("2m", 120), ("1.5h", 5400)],
)
def test_a_timeout_is_a_number_of_seconds_or_has_a_unit(written: str, seconds: float) -> None:
    assert only(f"on: stop\nrun: x\ntimeout: {written}").timeout == seconds


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("0", "more than 0 seconds"),
        ("-1", "more than 0 seconds"),
        ("0ms", "more than 0 seconds"),
        ("soon", "`soon` is no length of time"),
        ("10 days", "`10 days` is no length of time"),
    ],
)
def test_any_other_timeout_is_a_problem(written: str, said: str) -> None:
    found = problem(f"on: stop\nrun: x\ntimeout: {written}")
    assert found.startswith("5: ")
    assert said in found
    assert "500ms" in found


def test_a_file_may_say_nothing_but_its_version() -> None:
    file = load("version: 1\n")
    empty = ConfigFile(file="/srv/app/hookline.yaml", layer=Layer.PROJECT, project_dir="/srv/app")
    assert replace(file, digest="") == empty


def test_a_file_with_another_content_has_another_digest() -> None:
    contents = ["version: 1\n", "version: 1\n# more\n", "version: 1\n"]
    first, other, same = (load(content).digest for content in contents)
    assert first == same != other


def test_the_keys_of_a_file_are_kept() -> None:
    file = load("version: 1\ndisable: [a, b]\nproject_allow: true\n")
    assert (file.disable, file.project_allow) == (("a", "b"), True)


def test_a_name_with_exceptions_alone_narrows_a_hook_elsewhere() -> None:
    file = load("version: 1\nhooks:\n  - {name: shell-guard, except: [git push -f]}\n")
    (narrowing,) = file.narrowings
    assert (narrowing.name, narrowing.line, file.hooks) == ("shell-guard", 3, ())
    (exception,) = narrowing.exceptions
    assert exception.find(shell("git push -f"), NOBODY) is not None


def test_a_narrowing_may_be_called_like_a_hook_of_its_file() -> None:
    text = "version: 1\nhooks:\n  - {name: a, on: stop, run: x}\n  - {name: a, except: b}\n"
    assert len(load(text).narrowings) == 1


def test_exceptions_leave_a_part_out() -> None:
    hook = only(
        """
on: pre_tool_use
match: {tool: shell, command: "git push*"}
except:
  - git push origin scratch*
  - {command: git push backup*, until: 2026-07-01}
  - {command: git push old*, until: 2026-05-01}
deny: no
"""
    )
    assert hook.match is not None
    denied = {
        command
        for command in ["git push", "git push origin scratch/x", "git push backup", "git push old"]
        if hook.match.find(shell(command), NOBODY)
    }
    assert denied == {"git push", "git push old"}


def test_every_mistake_is_reported_at_once_in_the_order_of_lines() -> None:
    found = problems(
        """version: 2
hooks:
  - name: one
    on: pre_tool_us
    run: x
    timeout: never
  - name: one
    on: session_start
    match: {command: ls, tol: shell, tool: Bsh}
    context: hello
  - just text
  - on: stop
    run: x
    nme: y
    env: [1A]
includes: [x.yaml]
disable: x
"""
    )
    expected = [
        "1: .*version.*",
        "4: .*pre_tool_us`.*did you mean `pre_tool_use`.*",
        "6: `never` is no length of time .write 500ms, 10s or 2m.",
        "7: the hook on line 3 is already called `one` .*",
        "9: .*`tol`.*did you mean `tool`.*",
        "9: `session_start` never has a `tool` .events that have one: permission_decided, .*",
        "9: `session_start` never has a `command` .*post_tool_use, .*prompt_expansion, .*",
        "9: no tool is called `Bsh` .did you mean `bash`. `/.name./` matches a platform's own .*",
        "11: .*just text.*",
        "14: .*`nme`.*did you mean `name`.*",
        "15: `1A` is not the name of a variable .*",
        "16: .*`includes`.*did you mean `include`.*",
        "17: .*`disable`.*",
    ]
    assert len(found) == len(expected)
    for told, pattern in zip(found, expected, strict=True):
        assert re.fullmatch(pattern, told), told


def test_a_file_that_is_no_yaml_is_reported_as_such() -> None:
    (found,) = problems("version: 1\nhooks: [\n")
    assert "not valid YAML" in found


def test_hooks_that_are_no_list_are_one_problem() -> None:
    (found,) = problems("version: 1\nhooks: {on: stop}\n")
    assert found.startswith("2: `hooks` must be a list")


def test_the_version_must_be_said() -> None:
    (found,) = problems("hooks: []\n")
    assert "`version` is missing" in found


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("on: stop", "3: the hook has no handler (it takes one of deny, ask, allow, context, rewrite, run, http, use)"),
        ("run: x", "3: the key `on` is missing (say which event it is for, such as `on: pre_tool_use`)"),
        ("on: stop\nrun: x\ndeny: y", "5: `deny` and `run` are two handlers, and a hook has one (split it into two hooks)"),
        ("on: stop\nrun: x\nheaders: {a: b}", "5: `headers` means nothing beside `run` (it goes with `http`)"),
        ("on: pre_tool_use\ndeny: x\ntimeout: 5s", "5: `timeout` means nothing beside `deny`: it answers at once (leave it out)"),
        ("on: pre_tool_use\nask: x\nenv: [A]", "5: `env` means nothing beside `ask`"),
        ("on: pre_tool_use\ncontext: x\npins: ['*']", "5: `pins` means nothing beside `context`: it runs no file"),
        ("on: pre_tool_use\ndeny: x\nspeaks: claude-code", "5: `speaks` means nothing beside `deny`"),
        ("use: shell-guard\npins: ['*']", "4: `pins` means nothing beside `use`"),
        ("on: stop\nrun: ''", "4: `run` runs nothing (try `true`)"),
        ("use: shel-guard", "3: no builtin is called `shel-guard` (did you mean `shell-guard`?)"),
        ('on: stop\nrun: x\nenv: ["A\\n"]', "5: `A\\n` is not the name of a variable"),
        ("on: stop\nrun: x\nspeaks: claude", "5: no dialect is called `claude` (did you mean `claude-code`?)"),
        ("on: stop\nrun: x\nname: ' '", "5: `name` must be a line of text that one can read"),
        ('on: stop\nrun: x\nname: "a\\nb"', "5: `name` must be a line of text that one can read"),
        ("except: [x]", "3: `except` alone says not of which hook (add the name of the hook that it narrows, or a handler)"),
        ("on: stop\nrun: x\npriority: 101", "5: `hooks[0].priority`"),
        ("on: session_start\ndeny: x", "4: `deny` can do nothing on `session_start`"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_what_was_expected(entry: str, expected: str) -> None:
    assert problem(entry).startswith(expected)


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("{tool: shell, path: x}", "4: the tool `shell` never has a `path` (kinds of tools that have one: delete, edit, mcp, other, plan, read, search, write)"),
        ("{tool: [edit, Bash], path: x}", "4: the tool `Bash` never has a `path`"),
        ("{tool: fetch, mcp: github}", "4: the tool `fetch` never has a `mcp`"),
        ("{tool: Shell_Run}", "4: no tool is called `Shell_Run`"),
        ("{tool: zzzzzz}", "4: no tool is called `zzzzzz` (a kind is one of shell, read,"),
        ("{source: startup}", "4: `pre_tool_use` never has a `source` (events that have one: agent_switch, before_compaction, config_change,"),
        ("{command: [ls, /(/]}", "4: `/(/` is not a regex: missing )"),
        ("{command: ''}", "4: a pattern cannot be empty"),
        ("{tool: ''}", "4: a pattern cannot be empty"),
        ("{path: '!x'}", "4: `!x`: a path is left out with `except:`"),
        ("{path: /etc/nginx/}", "4: `/etc/nginx/` would be searched as a regex; write `/etc/nginx/**`"),
        ("{tool: []}", "4: `hooks[0].match.tool`"),
    ],
)  # fmt: skip
def test_a_match_that_can_never_hold_is_a_problem(match: str, expected: str) -> None:
    assert problem(f"on: pre_tool_use\nmatch: {match}\ndeny: x").startswith(expected)


@pytest.mark.parametrize(
    "match",
    [
        "{tool: wibble}",
        "{tool: mcp__github__merge}",
        "{tool: 'Web*'}",
        "{tool: /^Frobnicate$/}",
        "{tool: [shell, PowerShell], command: x}",
        "{path: /secret/}",
        "{agent: root, dialect: codex, native: PreToolUse}",
    ],
)
def test_a_match_that_can_hold_is_none(match: str) -> None:
    assert only(f"on: pre_tool_use\nmatch: {match}\ndeny: x").match is not None


def test_a_grant_may_not_rest_on_a_regex_that_looks_like_a_directory() -> None:
    found = problem("on: pre_tool_use\nmatch: {tool: read, path: /srv/}\nallow: true")
    assert "`/srv/` would be searched as a regex" in found


def test_of_a_builtins_own_events_one_that_can_match_is_enough() -> None:
    assert only("use: listener\nmatch: {tool: shell}").match is not None
    assert "`source`" in problem("use: listener\nmatch: {source: x}")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{until: 2026-12-01}", "an exception without a condition"),
        ("{command: /(/}", "`/(/` is not a regex"),
        ("{command: x, until: later}", "`later` is no day such as 2026-12-01"),
        ("{command: x, until: 2026-12-01T10:00:00}", "is no day such as 2026-12-01 and no time"),
        ("{tool: Bsh}", "no tool is called `Bsh`"),
        ("{source: x}", "`pre_tool_use` never has a `source`"),
        ("{dialect: cdx}", "no dialect is called `cdx`"),
        ("/(/", "`/(/` is not a regex"),
        ("/etc/", "`/etc/` would be searched as a regex"),
    ],
)
def test_a_broken_exception_is_a_problem_on_its_line(entry: str, expected: str) -> None:
    found = problem(f"on: pre_tool_use\ndeny: x\nexcept:\n  - fine\n  - {entry}")
    assert found.startswith("7: ")
    assert expected in found


def test_an_exception_that_is_alone_needs_no_list() -> None:
    assert only("on: pre_tool_use\ndeny: x\nexcept: git *").match is not None
    assert only("on: pre_tool_use\ndeny: x\nexcept: {command: git *}").match is not None


def test_what_can_be_read_of_a_broken_entry_is_checked_too() -> None:
    deny, command, tool_name, run = problems(
        """version: 1
hooks:
  - on: pre_tool_use
    deny: [no]
    match: {command: 5, tool: Bsh}
    run: x
"""
    )
    assert deny.startswith("4: `hooks[0].deny`")
    assert command.startswith("5: `hooks[0].match.command`")
    assert tool_name.startswith("5: no tool is called `Bsh`")
    assert run.startswith("6: `run` and `deny` are two handlers")


def test_a_misspelt_handler_is_one_problem_and_not_two() -> None:
    (found,) = problems("version: 1\nhooks:\n  - {on: stop, rnu: x}\n")
    assert "did you mean `run`" in found


def test_names_are_told_apart_even_on_one_line() -> None:
    hook = "{on: stop, run: x}"
    file = load(f"version: 1\nhooks: [{hook}, {hook}, {hook}, {hook}]\n")
    assert len({each.name for each in file.hooks}) == 4
    (found,) = problems(f"version: 1\nhooks: [{', '.join(['{name: a, on: stop, run: x}'] * 2)}]\n")
    assert found.startswith("2: the hook on line 2 is already called `a`")


def test_a_dialect_that_does_not_exist_is_a_problem() -> None:
    entry = "on: pre_tool_use\nmatch: {dialect: [codex, claude_code, 'c*', /x/]}\ndeny: x"
    assert problem(entry) == ("4: no dialect is called `claude_code` (did you mean `claude-code`?)")


def test_a_platforms_name_of_an_event_stands_for_the_canonical_one() -> None:
    found = only("on: [PreToolUse, stop, pre_tool_use]\nrun: x")
    assert found.events == ("pre_tool_use", "stop")
    assert found.native_names == {"PreToolUse": "pre_tool_use"}


def test_a_name_that_means_two_events_is_a_problem_that_lists_both() -> None:
    assert problem("on: Halt\nrun: x") == (
        "3: `Halt` means `session_end` (codex, vscode) or `stop` (gemini) "
        "(write the one that is meant)"
    )


def test_a_mistyped_event_is_a_problem_with_the_nearest_name_of_any_platform() -> None:
    assert (
        problem("on: [pre_tool_us]\nrun: x")
        == "3: no event is called `pre_tool_us` (did you mean `pre_tool_use`?)"
    )
    assert problem("on: Haltt\nrun: x") == "3: no event is called `Haltt` (did you mean `Halt`?)"


def test_an_event_is_missed_only_when_none_was_written() -> None:
    (found,) = problems("version: 1\nhooks:\n  - {on: 5, run: x}\n")
    assert "`hooks[0].on`" in found


class TestIncludes:
    """`include:` adds further files of this format."""

    def write(self, directory: Path, files: dict[str, str]) -> ConfigFile:
        for name, text in files.items():
            path = directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        main = directory / "hookline.yaml"
        return load(main.read_text(encoding="utf-8"), str(main))

    def test_included_files_are_found_beside_the_file_that_includes_them(
        self, tmp_path: Path
    ) -> None:
        file = self.write(
            tmp_path,
            {
                "hookline.yaml": "version: 1\ninclude: [more/a.yaml]\n",
                "more/a.yaml": "version: 1\ninclude: [./b.yml]\n",
                "more/b.yml": "version: 1\nhooks:\n  - {on: stop, run: x}\n",
            },
        )
        (first,) = file.includes
        (second,) = first.includes
        assert second.file == str(tmp_path / "more/b.yml")
        assert second.layer is Layer.INCLUDE
        assert second.hooks[0].source == Source(second.file, 3, Layer.INCLUDE)
        assert second.project_dir == second.hooks[0].project_dir == "/srv/app"

    def test_a_file_counts_once_however_often_it_is_included(self, tmp_path: Path) -> None:
        file = self.write(
            tmp_path,
            {
                "hookline.yaml": "version: 1\ninclude: [a.yaml, ./a.yaml, b.yaml]\n",
                "a.yaml": "version: 1\n",
                "b.yaml": "version: 1\ninclude: [a.yaml]\n",
            },
        )
        assert [Path(each.file).name for each in file.includes] == ["a.yaml", "b.yaml"]
        assert file.includes[1].includes == ()

    def test_problems_name_the_file_they_are_in(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError) as caught:
            self.write(
                tmp_path,
                {
                    "hookline.yaml": "version: 1\ninclude: [a.yaml, b.yaml]\nhooks:\n  - on: stop\n",
                    "a.yaml": "version: 3\n",
                    "b.yaml": "version: [\n",
                },
            )
        found = [(Path(each.file).name, each.line) for each in caught.value.problems]
        assert found == [("hookline.yaml", 4), ("a.yaml", 1), ("b.yaml", 2)]

    def test_a_circle_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"itself \(hookline.yaml → a.yaml → hookline.yaml\)"):
            self.write(
                tmp_path,
                {
                    "hookline.yaml": "version: 1\ninclude: [a.yaml]\n",
                    "a.yaml": "version: 1\ninclude: [hookline.yaml]\n",
                },
            )

    @pytest.mark.parametrize(("levels", "fits"), [(MAX_INCLUDES, True), (MAX_INCLUDES + 1, False)])
    def test_files_include_each_other_only_so_deep(
        self, tmp_path: Path, levels: int, fits: bool
    ) -> None:
        files = {f"{n}.yaml": f"version: 1\ninclude: [{n + 1}.yaml]\n" for n in range(1, levels)}
        files[f"{levels}.yaml"] = "version: 1\n"
        files["hookline.yaml"] = "version: 1\ninclude: [1.yaml]\n"
        if fits:
            self.write(tmp_path, files)
        else:
            with pytest.raises(ConfigError, match="more than 8 levels deep"):
                self.write(tmp_path, files)

    def test_what_is_no_hookline_file_says_what_can_be_included(self) -> None:
        (found,) = problems("version: 1\ninclude:\n  - /etc/hostname\n")
        assert found == (
            "3: cannot include `/etc/hostname`: it is no hookline file, and no other platform's by "
            "its name (a file in this format ends in .yaml or .yml; for another platform's, say "
            "`speaks:` too)"
        )

    def test_a_file_that_is_not_there_is_a_problem(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"`gone.yaml`: No such file"):
            self.write(tmp_path, {"hookline.yaml": "version: 1\ninclude: [gone.yaml]\n"})

    def test_a_file_that_may_not_be_read_is_a_problem(self) -> None:
        def refuse(path: str) -> bytes:
            raise TrustError("not among the trusted files")

        with pytest.raises(ConfigError, match="not among the trusted files"):
            compile_file(
                b"version: 1\ninclude: [a.yaml]\n",
                file="/srv/app/hookline.yaml",
                layer=Layer.PROJECT,
                project_dir="/srv/app",
                kit=KIT,
                read=refuse,
            )
