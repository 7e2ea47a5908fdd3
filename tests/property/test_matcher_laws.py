"""Laws of matching that hold for any pattern and any text."""

import fnmatch
import os
import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import assume, example, given
from hypothesis import strategies as st

from hookline.config.compile import compile_file
from hookline.config.matchers import compile_match, pattern_flaw
from hookline.config.patterns import Screen, path_patterns, text_patterns
from hookline.config.schema import MatchEntry
from hookline.config.sight import Spot
from hookline.config.types import Kit
from hookline.config.urls import normal_forms
from hookline.handlers import rule
from hookline.model.errors import (
    ConfigError,
    HandlerError,
    IllegalValueError,
    Problem,
    UnknownNameError,
)
from hookline.model.events import EVENTS, Agent, PreToolUse, Workspace
from hookline.model.hook import Layer
from hookline.model.ports import NOBODY, Caller, Matcher, Services
from hookline.model.tools import tool

CALLER = Caller(env={"HOME": "/home/dev"}, project_dir="/srv/app")

globs = st.text("ab*?[]!-. /", min_size=1, max_size=12)
texts = st.text("ab!-]. /\n", max_size=16)
words = st.sampled_from(["git status", "git push -f", "rm x", "ls", "echo 'a b'", 'cat "x y"'])
joints = st.sampled_from(["; ", " && ", " || ", " | ", "\n"])
command_globs = st.sampled_from(["git *", "*", "rm ?", "ls", "* x*", "/^git/", "[ce]*", "echo*"])
path_globs = st.sampled_from(
    ["*.py", "src/**", "src/*", "**/a*", "/srv/**", "~/x", "docs/", "/src.+a/", "b.py"]
)
paths = st.lists(
    st.sampled_from(["src", "docs", "a.py", "b.py", "..", ".", "", "x"]), min_size=1, max_size=5
).map("/".join)


def matcher(*, every: bool, **keys: Any) -> Matcher:
    found = compile_match(msgspec.convert(keys, MatchEntry), every=every, project_dir="/srv/app")
    assert found is not None
    return found


def screened(patterns: Sequence[str]) -> list[tuple[Matcher, Matcher]]:
    """Each condition as one of many that look together first, and by itself."""
    screen = Screen()
    specs = [msgspec.convert({"command": each}, MatchEntry) for each in patterns]
    made = [
        (compile_match(each, every=False, project_dir="", screen=screen), each) for each in specs
    ]
    return [
        (found, alone)
        for found, each in made
        if found and (alone := compile_match(each, every=False, project_dir=""))
    ]


def shell(command: str) -> PreToolUse:
    return PreToolUse(tool=tool("Bash", command=command), cwd="/srv/app")


def write(path: str) -> PreToolUse:
    return PreToolUse(tool=tool("Write", file_path=path), cwd="/srv/app")


_patterns = st.lists(
    globs
    | command_globs
    | st.sampled_from(
        [
            r"/(?i)GIT/",
            r"/\Qa*b/",
            "/a(?=b)/",
            "\ud800",
            r"/^rm\s+-(rf|fr)/",
            "/(push|reset).*--force/",
            r"/(ls )+|echo\b/",
            "/[r]m|gi?t{1,2} st/",
            "*push -f",
            "r? x",
        ]
    ),
    min_size=1,
    max_size=5,
)
_spellings = st.lists(
    st.sampled_from(
        [
            "rm",
            "r''m",
            '"r"m',
            "r\\m",
            "$'rm'",
            "X=r;",
            "${X}m",
            "r$@m",
            "{r,}m",
            "gi",
            "t",
            "git",
            "push",
            "-f",
            "--force",
            "status",
            " ",
            " ",
            ";",
            "|",
            "&&",
            "(",
            ")",
            "$(",
            "`",
            "eval",
            "sh -c",
            "'",
            '"',
            "xargs",
            "<<A\n",
            "\nA\n",
            "printf '%s%s' r m|sh",
            "r\x00m",
            "K",
            "#",
        ]
    ),
    max_size=10,
).map("".join)


@given(
    _patterns,
    texts
    | st.text(max_size=20)
    | st.lists(words, min_size=1, max_size=3).map("; ".join)
    | _spellings,
)
@example([r"/\Qa/", "b*"], "bc")
@example(["\ud800", "b*"], "b\ud800")
@example(["/^rm/"], "X=r;${X}m x")
@example(["/^rm/"], "printf rm|sh")
@example(["/(?i)kk/"], "\u212ak")
@example(["/^rm/"], "eval " * 12 + "ls")
@example(["/^ls/"], "eval " * 12 + "ls")
def test_a_look_for_many_conditions_at_once_overlooks_nothing(
    patterns: list[str], text: str
) -> None:
    for pattern in patterns:
        assume(not pattern_flaw("command", pattern, every=False))
    for together, alone in screened(patterns):
        assert found_by(together, shell(text)) == found_by(alone, shell(text))


def found_by(matcher: Matcher, event: PreToolUse) -> object:
    try:
        return matcher.find(event, CALLER)
    except HandlerError:
        return "unreadable"


@given(globs, texts)
@example("a*b*", "a b\n")
def test_a_glob_means_what_the_standard_library_says(glob: str, text: str) -> None:
    assume(not (glob.startswith("/") and glob.endswith("/")))
    try:
        patterns = text_patterns([glob])
    except IllegalValueError:
        assume(False)
    assert patterns.holds(text) == bool(re.match(fnmatch.translate(glob), text))


_names = st.lists(st.text("ab*", min_size=1, max_size=3), min_size=2, max_size=4)


@given(_names.map("/".join), st.lists(st.text("ab", min_size=1), min_size=1).map("/".join))
def test_a_star_in_a_path_stays_within_one_name(glob: str, path: str) -> None:
    assume("**" not in glob)
    found = path_patterns([glob]).some([Spot(f"/p/{path}", (path,))])
    assert found == bool(re.fullmatch(glob.replace("*", "[^/]*"), path))


@given(st.text(max_size=30), st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=3))
def test_no_text_makes_a_pattern_raise_anything_of_its_own(text: str, sources: list[str]) -> None:
    for build, subject in ((text_patterns, text), (path_patterns, Spot(text, (text,)))):
        try:
            patterns: Any = build(sources)
        except IllegalValueError:
            continue
        patterns.some([subject])


@given(st.lists(words, min_size=1, max_size=4), joints, st.lists(command_globs, min_size=1))
def test_what_holds_for_every_command_holds_for_one(
    commands: list[str], joint: str, patterns: list[str]
) -> None:
    event = shell(joint.join(commands))
    if matcher(every=True, command=patterns).find(event, CALLER):
        assert matcher(every=False, command=patterns).find(event, CALLER)


@given(paths, st.lists(path_globs, min_size=1))
def test_what_holds_for_every_place_of_a_path_holds_for_one(path: str, globs: list[str]) -> None:
    if matcher(every=True, path=globs).find(write(path), CALLER):
        assert matcher(every=False, path=globs).find(write(path), CALLER)


_hosts = st.sampled_from(
    ["good.com", "GOOD.com", "evil.com", "good.com.", "a@good.com", "%67ood.com"]
)
_urls = st.tuples(
    st.sampled_from(["https://", "HTTP://", "https:", "//", ""]),
    _hosts,
    st.sampled_from(["", ":443", ":8080", ":"]),
    st.sampled_from(["", "/", "/a", "/a/../b", "/%61", "?q", "#f", "\\x"]),
).map("".join)
_url_globs = st.sampled_from(["*", "https://good.com/*", "*://good.com/*", "*good*", "good.com*"])


def fetch(url: str) -> PreToolUse:
    return PreToolUse(tool=tool("WebFetch", url=url))


@given(st.lists(_urls, min_size=1, max_size=3).map(" ".join), st.lists(_url_globs, min_size=1))
def test_what_holds_for_every_reading_of_a_url_holds_for_one(url: str, globs: list[str]) -> None:
    if matcher(every=True, url=globs).find(fetch(url), CALLER):
        assert matcher(every=False, url=globs).find(fetch(url), CALLER)


@given(_urls, _urls, _url_globs)
def test_a_url_cannot_hide_beside_another(one: str, other: str, glob: str) -> None:
    guard, grant = matcher(every=False, url=glob), matcher(every=True, url=glob)
    both = fetch(f"{one} {other}")
    each = [fetch(one), fetch(other)]
    assert bool(guard.find(both, CALLER)) == any(guard.find(url, CALLER) for url in each)
    assert bool(grant.find(both, CALLER)) == all(grant.find(url, CALLER) for url in each)


@given(_urls)
def test_the_normal_form_of_a_url_has_no_other(url: str) -> None:
    for form in normal_forms(url.replace("\\", "/")):
        assert normal_forms(form) == (form,)


@given(st.text(max_size=40), st.sampled_from(["", "https://", "file:"]))
def test_any_text_can_be_read_as_a_url(text: str, scheme: str) -> None:
    assert normal_forms(scheme + text)
    matcher(every=False, url="*x*").find(fetch(scheme + text), CALLER)


@given(paths, path_globs)
def test_a_guard_for_a_path_is_one_for_all_below_it(path: str, glob: str) -> None:
    guard = matcher(every=False, path=glob)
    assume(not glob.startswith("/src"))  # a regex says itself what it is about
    # The project's own directory, and those around it, do not stand for all that is in it.
    assume(".." not in path.split("/") and os.path.normpath(path) != ".")
    if guard.find(write(path), CALLER) and not path.startswith("/"):
        assert guard.find(write(f"{path}/more"), CALLER)


@given(st.lists(words, min_size=1, max_size=4), joints, command_globs)
def test_a_grant_for_a_line_is_a_grant_for_each_command_in_it(
    commands: list[str], joint: str, pattern: str
) -> None:
    grant = matcher(every=True, command=pattern)
    each = [grant.find(shell(command), CALLER) is not None for command in commands]
    assert (grant.find(shell(joint.join(commands)), CALLER) is not None) == all(each)


@given(st.lists(words, min_size=1, max_size=4), joints, command_globs)
def test_a_command_cannot_hide_among_others(commands: list[str], joint: str, pattern: str) -> None:
    guard = matcher(every=False, command=pattern)
    line = shell(joint.join(commands))
    if any(guard.find(shell(command), CALLER) for command in commands):
        assert guard.find(line, CALLER)


@given(words, st.lists(command_globs, min_size=1), command_globs, st.booleans())
def test_another_alternative_never_takes_a_match_away(
    command: str, patterns: list[str], more: str, every: bool
) -> None:
    if matcher(every=every, command=patterns).find(shell(command), CALLER):
        assert matcher(every=every, command=[*patterns, more]).find(shell(command), CALLER)


_names_of_work = st.sampled_from(["", "main", "release/1", "acme/app", "plan"])
_globs_of_work = st.sampled_from(["main", "release/*", "*", "/^(main|plan)$/", "acme/*", "?*"])


@given(
    st.sampled_from(["mode", "repository", "branch"]),
    _names_of_work,
    _globs_of_work,
    st.sampled_from(sorted(EVENTS)),
    st.booleans(),
)
def test_mode_repository_and_branch_follow_the_rules_of_all_texts_on_every_event(
    key: str, word: str, pattern: str, event_id: str, every: bool
) -> None:
    told = Workspace(repository=word, branch=word)
    event = EVENTS[event_id](permission_mode=word, workspace=told)
    found = matcher(every=every, **{key: pattern}).find(event, NOBODY) is not None
    # The agent's name is a text that every event has.
    named = EVENTS[event_id](agent=Agent(name=word))
    assert found == (matcher(every=every, agent=pattern).find(named, NOBODY) is not None)


@given(st.lists(st.sampled_from(["main", "dev", ""]), min_size=1, max_size=2), _globs_of_work)
def test_what_holds_for_every_branch_holds_for_one(branches: list[str], pattern: str) -> None:
    found = tuple(Workspace(branch=branch) for branch in branches)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hookline.config.sight.find_workspaces", lambda event, caller: found)
        grant, guard = (
            matcher(every=every, branch=pattern).find(shell("ls"), CALLER)
            for every in (True, False)
        )
    each = [text_patterns([pattern]).holds(branch) for branch in branches]
    assert (grant is not None, guard is not None) == (all(each), any(each))


@given(st.permutations(["a*", "b*", "c*"]), st.booleans())
def test_identity_knows_no_order(sources: list[str], every: bool) -> None:
    expected = matcher(every=every, tool=["a*", "b*", "c*"]).identity()
    assert matcher(every=every, tool=sources).identity() == expected


def _unknown(name: Any) -> Any:
    raise UnknownNameError("thing", str(name), ["canonical"])


KIT = Kit(
    {
        "rule": rule,
        "builtin": SimpleNamespace(
            KEYS={"use": str},
            EXTRA_KEYS={"with": dict[str, Any]},
            COMBINES=False,
            check=lambda values, hook, services: [],
        ),
    },
    Services(codec=_unknown, builtin=_unknown, pins=_unknown),
)
_leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-5, 200),
    st.sampled_from(["shell", "x", "/(/", "*", "", "stop", "10s", "../a", "[z-a]", "/etc/"]),
)
_match = st.dictionaries(
    st.sampled_from([*MatchEntry.__struct_fields__, "until", "nope"]),
    st.one_of(_leaves, st.lists(_leaves, max_size=2)),
    max_size=3,
)
_hook = st.fixed_dictionaries(
    {},
    optional={
        "name": _leaves,
        "on": st.one_of(_leaves, st.sampled_from(sorted(EVENTS))),
        "match": st.one_of(_leaves, _match),
        "except": st.one_of(_leaves, _match, st.lists(st.one_of(_leaves, _match), max_size=2)),
        "deny": _leaves,
        "allow": _leaves,
        "use": _leaves,
        "with": _leaves,
        "timeout": _leaves,
        "env": st.lists(_leaves, max_size=2),
        "speaks": _leaves,
        "nope": _leaves,
    },
)
_file = st.fixed_dictionaries(
    {"version": st.sampled_from([1, 2])},
    optional={
        "hooks": st.one_of(_leaves, st.lists(st.one_of(_leaves, _hook), max_size=3)),
        "include": st.one_of(_leaves, st.lists(_leaves, max_size=2)),
        "disable": st.one_of(_leaves, st.lists(_leaves, max_size=2)),
    },
)


@given(_file)
def test_any_file_compiles_or_says_on_which_lines_it_is_wrong(data: dict[str, Any]) -> None:
    def missing(path: str) -> bytes:
        raise FileNotFoundError(2, "No such file or directory", path)

    raw = yaml.safe_dump(data).encode()
    problems: Sequence[Problem] = ()
    try:
        compile_file(raw, file="/f.yaml", layer=Layer.USER, project_dir="/p", kit=KIT, read=missing)
    except ConfigError as error:
        problems = error.problems
    lines = [problem.line for problem in problems]
    assert lines == sorted(lines)
    assert all(1 <= line <= raw.count(b"\n") + 1 for line in lines)
    assert all(problem.message for problem in problems)
