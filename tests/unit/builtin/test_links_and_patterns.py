"""What paths and patterns stand for on disk, told with fewer looks than the library takes."""

import os
from glob import iglob
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.builtin._globbing import matches
from hookline.builtin._links import Links, spellings

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
    found = {each.path: each for each in matches(pattern)}
    assert set(found) == set(iglob(pattern))
    for path, each in found.items():
        assert each.is_link == os.path.islink(path)
        assert each.is_folder == os.path.isdir(path)


def test_a_pattern_where_no_directory_is_stands_for_nothing(tree: Path) -> None:
    assert list(matches(f"{tree}/gone/*")) == []
    assert list(matches(f"{tree}/file.py/*")) == []
