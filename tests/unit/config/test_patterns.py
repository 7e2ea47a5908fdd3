"""Patterns: what a glob, a path glob and a regex match, and that none of them can hang."""

from time import monotonic

import pytest

from hookline.config.patterns import (
    is_regex,
    looks_like_directory,
    path_patterns,
    text_patterns,
)
from hookline.config.regexes import Limit, LimitedRegex, LinearRegex, compile_regex
from hookline.config.sight import Spot
from hookline.model.errors import HandlerError, IllegalValueError


def matches(pattern: str, text: str) -> bool:
    return text_patterns([pattern]).holds(text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("git push", "git push"),
        ("git *", "git push"),
        ("*kubectl*--context prod*", "sudo kubectl get pods --context prod-eu"),
        ("*", ""),
        ("*", "a/b\nc"),
        ("a*b", "ab"),
        ("a*b*c", "a b b c"),
        ("rm ?", "rm x"),
        ("rm ?", "rm \n"),
        ("rm [a-c]", "rm b"),
        ("rm [!a-c]", "rm d"),
        ("rm [^a-c]", "rm d"),
        ("[]x]", "]"),
        ("[a-]", "-"),
        ("[ -f *", "[ -f x ]"),
        ("a[", "a["),
        (r"a\*b", "a*b"),
        (r"a\\b", "a\\b"),
        (r"\[a]*", "[a] x"),
        ("a.b*", "a.b"),
        ("héllo*", "héllo wörld"),
        ("[à-ü]?", "éx"),
    ],
)
def test_a_glob_matches_the_whole_text(pattern: str, text: str) -> None:
    assert matches(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("git push", "git push -f"),
        ("git *", "sudo git push"),
        ("git *", "GIT push"),
        ("aba*aba", "aba"),
        ("a*b*c", "a c b"),
        ("*x", "x "),
        ("rm ?", "rm xy"),
        ("rm [a-c]", "rm d"),
        ("rm [!a-c]", "rm a"),
        (r"a\*b", "axb"),
        ("a.b*", "axb"),
    ],
)
def test_a_glob_matches_nothing_else(pattern: str, text: str) -> None:
    assert not matches(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "empty"),
        ("a\\", "backslash"),
        ("[z-a]*", "empty"),
        ("[[:alpha:]]", "named classes"),
        ("\ud800?", "half a character"),
        ("//", "match everything"),
        ("/(/", "not a regex"),
        ("/\ud800/", "half a character"),
    ],
)
def test_what_is_no_pattern_is_refused(pattern: str, said: str) -> None:
    with pytest.raises(IllegalValueError, match=said):
        text_patterns([pattern])


def test_a_regex_searches() -> None:
    assert matches("/push.*--force/", "git push origin --force")
    assert matches("/(?i)PUSH/", "git push")
    assert not matches("/^push/", "git push")


def test_a_regex_is_written_between_slashes() -> None:
    assert is_regex("/a/")
    assert is_regex("//")
    assert not is_regex("/")
    assert not is_regex("/a")


def test_any_alternative_will_do() -> None:
    patterns = text_patterns(["ls", "git *", "/^cat /", "/(?=pwd)pwd/"])
    assert all(map(patterns.holds, ["ls", "git x", "cat y", "pwd"]))
    assert not patterns.holds("rm")
    assert patterns.each(["ls", "git x", "pwd"])
    assert not patterns.each(["ls", "rm"])
    assert patterns.some(["rm", "pwd"])
    assert not patterns.some(["rm", "mv"])


def test_regexes_go_to_re2_unless_it_cannot_take_them() -> None:
    assert isinstance(compile_regex("(a+)+$"), LinearRegex)
    for source in ["(?=a)a", r"(a)\1", r"a\Z", "x{2000}"]:
        assert isinstance(compile_regex(source), LimitedRegex), source


@pytest.mark.parametrize(
    "pattern", ["/(a+)+$/", "/(a|a)*b$/", "*a*a*a*a*a*a*a*b", "?*a*a*a*a*a*a*a*b", "/(.*a){20}b/"]
)
def test_a_megabyte_of_bad_luck_takes_no_time(pattern: str) -> None:
    start = monotonic()
    assert not matches(pattern, "a" * 1_000_000 + "c")
    assert monotonic() - start < 5


def test_a_regex_that_runs_away_is_a_failure_and_not_a_hang() -> None:
    start = monotonic()
    with pytest.raises(HandlerError, match=r"more than 0\.25 s"):
        matches("/(?=a)(a|aa)+$/", "a" * 60 + "b")
    assert monotonic() - start < 5


def test_the_time_limit_holds_for_all_texts_together() -> None:
    texts = [f"{'a' * 24}b{number}" for number in range(1000)]
    start = monotonic()
    with pytest.raises(HandlerError):
        text_patterns(["/(?=a)(a|aa)+$/"]).some(texts)
    assert monotonic() - start < 5


def test_a_limit_that_is_over_stays_over() -> None:
    limit = Limit()
    assert limit.left() > 0
    limit._end = 0.001
    with pytest.raises(HandlerError):
        text_patterns(["/(?=a)(a|aa)+$/"]).matches("a" * 60 + "b", limit)


@pytest.mark.parametrize("text", ["\ud800 rm x", "rm \udfff", "rm \0 x", "\ud83d\ude00 rm"])
@pytest.mark.parametrize("pattern", ["*rm*", "/rm/", "/(?=r)rm/", "*r[m]*", "*?rm*", "?*"])
def test_broken_characters_hide_nothing(pattern: str, text: str) -> None:
    assert matches(pattern, text) or (pattern == "*?rm*" and text.startswith("rm"))


def spot(path: str, *, project: str = "/srv/app", home: str = "/home/dev") -> Spot:
    def inside(root: str) -> tuple[str, ...]:
        return (path.removeprefix(f"{root}/"),) if path.startswith(f"{root}/") else ()

    return Spot(path, inside(project), inside(home))


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/srv/app/.env"),
        (".env", "/srv/app/deep/down/.env"),
        (".env", "/elsewhere/.env"),
        ("*.py", "/srv/app/a/b.py"),
        ("**/*.py", "/srv/app/b.py"),
        ("**/*.py", "/srv/app/a/b/c.py"),
        ("**/*.py", "/elsewhere/c.py"),
        ("src/*.py", "/srv/app/src/a.py"),
        ("./src/*.py", "/srv/app/src/a.py"),
        ("src//*.py", "/srv/app/src/a.py"),
        ("src/**", "/srv/app/src/a/b.py"),
        ("src/**", "/srv/app/src"),
        ("src/**/b.py", "/srv/app/src/b.py"),
        ("src/**/b.py", "/srv/app/src/x/y/b.py"),
        ("src/**/**/b.py", "/srv/app/src/x/b.py"),
        ("src/a?.py", "/srv/app/src/ab.py"),
        ("src/[!x].py", "/srv/app/src/a.py"),
        ("src/[a-c]/**", "/srv/app/src/b/x"),
        ("src/a**b", "/srv/app/src/axb"),
        (r"src/\*.py", "/srv/app/src/*.py"),
        ("node_modules/", "/srv/app/a/node_modules/x/y.js"),
        ("node_modules/", "/srv/app/node_modules"),
        ("src/gen/", "/srv/app/src/gen/x.py"),
        ("**", "/anything/at/all"),
        ("/etc/**", "/etc/passwd"),
        ("/etc/passwd", "/etc/passwd"),
        ("/", "/etc/passwd"),
        ("/**/id_rsa", "/srv/dev/.ssh/id_rsa"),
        ("~/.ssh/**", "/home/dev/.ssh/id_rsa"),
        ("~/.netrc", "/home/dev/.netrc"),
        ("~/", "/home/dev/x/y"),
        ("./", "/srv/app/x"),
        ("**/secrets/**", "/srv/app/a/secrets/b/c"),
        (r"/\.py$/", "/srv/app/a.py"),
        (r"/^src\//", "/srv/app/src/a.py"),
        ("a\nb/*", "/srv/app/a\nb/c"),
    ],
)
def test_a_path_glob_matches_as_in_a_gitignore(pattern: str, path: str) -> None:
    assert path_patterns([pattern]).some([spot(path)])


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/srv/app/.envrc"),
        (".env", "/srv/app/.env/x"),
        ("*.py", "/srv/app/a.pyc"),
        ("src/*.py", "/srv/app/src/deep/a.py"),
        ("src/*.py", "/srv/app/lib/src/a.py"),
        ("src/*.py", "/elsewhere/src/a.py"),
        ("src/?.py", "/srv/app/src//.py"),
        ("src/[!x]y", "/srv/app/src//y"),
        ("src/**", "/srv/app/srcs/a"),
        ("src/**", "/elsewhere/src/a"),
        ("SRC/**", "/srv/app/src/a"),
        ("/etc/**", "/srv/app/etc/passwd"),
        ("/etc/**", "etc/passwd"),
        ("~/.ssh/**", "/srv/app/.ssh/id_rsa"),
        (".", "/srv/app/x"),
        ("node_modules/", "/srv/app/node_modules.txt"),
    ],
)
def test_a_path_glob_matches_no_other_path(pattern: str, path: str) -> None:
    assert not path_patterns([pattern]).some([spot(path)])


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/srv/app/.env/x"),
        (".env", "/srv/app/a/.env/x/y"),
        ("*.d", "/srv/app/conf.d/x"),
        ("*.d", "/elsewhere/conf.d/x"),
        ("src", "/srv/app/src"),
        ("src/gen", "/srv/app/src/gen/x"),
        ("src/*", "/srv/app/src/a/b/c"),
        ("src/[a-c]", "/srv/app/src/b/x"),
        ("**/a/b", "/srv/app/x/a/b/c"),
        ("**/a/b", "/elsewhere/a/b/c"),
        ("src/**/gen", "/srv/app/src/x/gen/y"),
        ("/etc", "/etc/passwd"),
        ("~/.ssh", "/home/dev/.ssh/id_rsa"),
        ("~", "/home/dev/x"),
        (".", "/srv/app/x"),
        ("src/**", "/srv/app/src/a"),
        ("build/", "/srv/app/build/x"),
    ],
)
def test_with_all_below_it_a_path_glob_covers_what_lies_in_a_directory(
    pattern: str, path: str
) -> None:
    assert path_patterns([pattern], below=True).some([spot(path)])


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (".env", "/srv/app/.envrc/x"),
        ("src", "/srv/app/srcs/x"),
        ("app", "/srv/app/x"),
        ("s*", "/srv/app/x"),
        ("**/srv/app", "/srv/app/x"),
        ("src/*.py", "/srv/app/src/deep/a.py"),
        ("src/gen", "/srv/app/lib/src/gen/x"),
        ("/etc", "/etcetera/x"),
        ("~/.ssh", "/srv/app/.ssh/x"),
    ],
)
def test_with_all_below_it_a_path_glob_still_matches_no_other_path(pattern: str, path: str) -> None:
    assert not path_patterns([pattern], below=True).some([spot(path)])


def test_the_project_and_home_directories_themselves_can_be_meant() -> None:
    assert path_patterns(["."]).some([Spot("/srv/app", ("",))])
    assert path_patterns(["~"]).some([Spot("/home/dev", (), ("",))])


def test_each_spot_may_match_another_alternative() -> None:
    patterns = path_patterns(["*.py", "docs/**", "/[.]md$/"])
    assert patterns.each([spot("/x/a.py"), spot("/srv/app/docs/x"), spot("/x/b.md")])
    assert not patterns.each([spot("/x/a.py"), spot("/x/c.txt")])


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "empty"),
        ("!src/**", "except:"),
        ("../x", "never match"),
        ("*.{js,ts}", "write a list"),
        ("src/[z-a]/**", "empty"),
        ("/(/", "not a regex"),
    ],
)
def test_what_cannot_work_as_a_path_is_refused(pattern: str, said: str) -> None:
    with pytest.raises(IllegalValueError, match=said):
        path_patterns([pattern])


def test_a_brace_that_is_escaped_or_alone_is_itself() -> None:
    assert path_patterns([r"\{a,b}"]).some([spot("/x/{a,b}")])
    assert path_patterns(["{a}"]).some([spot("/x/{a}")])


def test_a_directory_between_slashes_can_be_told_from_a_regex() -> None:
    assert looks_like_directory("/etc/nginx/")
    assert not looks_like_directory("/etc/nginx")
    assert not looks_like_directory(r"/\.env$/")
