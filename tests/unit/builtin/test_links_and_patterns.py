"""What paths and patterns stand for on disk, told with fewer looks than the library takes."""

import os
import subprocess
from glob import iglob
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.builtin._globbing import Looks, TooManyError, matches
from hookline.builtin._links import Links, resolved, spellings
from hookline.builtin._paths import END, Anywhere, Globs, Places, Roots, spelled

LOOKS = Looks(10**9)
NAMES = ("a", "b", "c d", ".x", "file.py", "link", "up", "loop", "nowhere", "deep")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Directories, files, and links of every kind among them."""
    root = Path(os.path.realpath(tmp_path_factory.mktemp("tree")))
    for folder in ("a/b/c d", "a/.x", "b/deep/deep", ".x/a"):
        (root / folder).mkdir(parents=True)
    for file in ("a/file.py", "a/b/file.py", "b/deep/file.py", ".x/file.py", "file.py"):
        (root / file).write_text("x", encoding="utf-8")
    for link, target in {
        "link": "a",
        "a/link": "../b/deep",
        "b/up": "..",
        "a/b/loop": "loop",
        "nowhere": "gone/for/good",
        "a/nowhere": str(root / "b" / "new"),
        "b/link": str(root / "a" / "b" / ".." / "link"),
        "b/deep/link": "../../file.py",
    }.items():
        (root / link).symlink_to(target)
    return root


parts = st.lists(st.sampled_from((*NAMES, "..", ".", "")), max_size=6)


@settings(max_examples=400, deadline=None)
@given(st.lists(parts, min_size=1, max_size=4), st.lists(parts, max_size=2))
def test_links_are_followed_as_the_library_follows_them(
    tree: Path, paths: list[list[str]], known: list[list[str]]
) -> None:
    links = Links([str(tree), *("/".join([str(tree), *each]) for each in known)])
    for each in paths:
        path = "/".join([str(tree), *each])
        assert links.followed(path) == os.path.realpath(path)


def test_what_is_no_path_is_followed_to_nowhere() -> None:
    assert Links().followed("/x/\0") == ""
    assert Links(["/x\0"]).followed("/a") == "/a"


def test_a_link_that_is_turned_elsewhere_is_followed_there(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    for name in ("one", "two", "one"):
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / name)
        assert spellings([str(link)]) == (str(link), os.path.realpath(tmp_path / name))


def test_a_directory_that_was_moved_and_linked_back_is_found_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "here").mkdir()
    here = str(tmp_path / "here")
    assert spellings([here]) == (os.path.realpath(here),)
    (tmp_path / "here").rename(tmp_path / "there")
    (tmp_path / "here").symlink_to("there")
    assert spellings([here])[-1] == os.path.realpath(tmp_path / "there")


def test_a_directory_whose_parent_was_moved_and_linked_back_is_found_where_it_is(
    tmp_path: Path,
) -> None:
    (tmp_path / "build" / "x" / "sub").mkdir(parents=True)
    (tmp_path / "link").symlink_to("build/x")
    below = str(tmp_path / "link" / "sub")
    assert spellings([below])[-1] == os.path.realpath(tmp_path / "build" / "x" / "sub")
    (tmp_path / "build" / "x").rename(tmp_path / "x")
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("x")
    moved = os.path.realpath(tmp_path / "x" / "sub")
    assert spellings([below])[-1] == moved
    assert Links([below]).followed(f"{below}/file") == f"{moved}/file"


patterns = st.lists(
    st.sampled_from((*NAMES, "*", "**", "?", "*.py", "[ab]", ".*", "l*k", "[!a]*")),
    min_size=1,
    max_size=4,
).filter(lambda parts: any(sign in part for part in parts for sign in "*?["))


@settings(max_examples=300, deadline=None)
@given(patterns, st.booleans())
def test_patterns_stand_for_what_the_library_finds(
    tree: Path, parts: list[str], folders: bool
) -> None:
    pattern = "/".join([str(tree), *parts]) + "/" * folders
    found = {each.path: each for each in matches(pattern, LOOKS)}
    assert set(found) == set(iglob(pattern))
    for path, each in found.items():
        assert each.is_link == os.path.islink(path)
        assert each.is_folder == os.path.isdir(path)


def test_a_pattern_where_no_directory_is_stands_for_nothing(tree: Path) -> None:
    assert list(matches(f"{tree}/gone/*", LOOKS)) == []
    assert list(matches(f"{tree}/file.py/*", LOOKS)) == []


@pytest.mark.parametrize(
    "pattern",
    [
        "[^a]",
        "[^]a]",
        "fil[[:lower:]].py",
        "fil[^[:upper:]].py",
        "[[=f=]]ile.py",
        ".[[.x.]]",
        "[^b]/[[:lower:]]/fi*",
        "[[:lower:]",
    ],
)
def test_brackets_stand_for_no_less_than_in_a_shell(tree: Path, pattern: str) -> None:
    script = f"cd '{tree}'; shopt -s nullglob; printf '%s\\n' {pattern}"
    shell = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    expected = {f"{tree}/{line}" for line in shell.stdout.splitlines() if line}
    assert expected <= {each.path for each in matches(f"{tree}/{pattern}", LOOKS)}
    assert expected or pattern == "[[:lower:]"


def test_loose_patterns_stand_for_hidden_names_and_any_case(tree: Path) -> None:
    assert f"{tree}/.x" in {each.path for each in matches(f"{tree}/*", LOOKS, loose=True)}
    assert [each.path for each in matches(f"{tree}/FILE.P?", LOOKS, loose=True)] == [
        f"{tree}/file.py"
    ]


# Some of these match the signs that stand for home and the project, alone or with what follows.
globs = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(("", "", "/", "~/", "./", "**/", "**/**/", "~", "b/")),
        st.lists(
            st.sampled_from(
                ("a", ".x", "*", "?", "*~", ".*", "?*", "[.~]", "[!a]", "[+-9]", "**", "é", "\\\\.")
            ),
            min_size=1,
            max_size=3,
        ).map("/".join),
        st.sampled_from(("", "", "/", "[.-0]a", "\\\\/a", "/**")),
    ),
)
places = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(("/", "/home/", "/home/b/", "/home/b/a/", "", "~/", "./")),
        st.lists(
            st.sampled_from(("a", "A", ".x", "b", "~", "é", "e\u0301", "\ud800")), max_size=4
        ).map("/".join),
    ),
)


@settings(max_examples=2_000, deadline=None)
@given(globs, st.lists(places, min_size=1, max_size=3))
def test_what_a_pattern_protects_could_be_found_wherever_home_and_the_project_are(
    glob: str, spots: list[str]
) -> None:
    try:
        protected = Globs([glob])
    except ValueError:
        return
    anywhere = Anywhere([glob, "never/at/all"])
    for projects, homes in ((("/home/b/a",), ("/home/b",)), (("/",), ("/home",)), ((), ())):
        here = Places((), Roots(projects, homes))
        if any(protected.matches(here.forms(spot)) for spot in spots):
            assert anywhere.may_match(spelled("".join(spot + END for spot in spots)))


def test_looks_that_find_nothing_count_too(tmp_path: Path) -> None:
    for number in range(50):
        (tmp_path / str(number)).mkdir()
    assert list(matches(f"{tmp_path}/*/*", Looks(5_000))) == []
    with pytest.raises(TooManyError):
        list(matches(f"{tmp_path}/*/*", Looks(500)))
    spent = Looks(10)
    for _ in range(2):
        with pytest.raises(TooManyError):
            list(matches(f"{tmp_path}/nothing*", spent))


def test_a_pattern_with_signs_in_too_many_names_is_not_looked_up(tree: Path) -> None:
    with pytest.raises(TooManyError):
        list(matches(f"{tree}{'/*/..' * 500}/*", LOOKS))


def test_a_directory_that_moves_is_seen_where_it_is(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    link = tmp_path / "link"
    for name in ("a", "b"):
        link.unlink(missing_ok=True)
        link.symlink_to(name)
        assert resolved(str(link)) == os.path.realpath(tmp_path / name)
