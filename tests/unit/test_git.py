"""What git says through a private directory is what it says in the repository itself."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import hookline.git
from hookline.git import GitError, find_repository, open_view
from support.hostile_git import PATH, configure, git

QUESTIONS = (
    ("status", "--short", "--branch"),
    ("diff",),
    ("diff", "--stat"),
    ("diff", "--cached"),
    ("log", "--oneline", "-n", "10"),
    ("ls-files", "--others", "--exclude-standard", "--full-name"),
    ("ls-files", "--stage"),
)


class Place:
    """A person's home and the repositories in it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.env = {"HOME": str(base), "PATH": PATH, "LC_ALL": "C.UTF-8"}

    def git(self, directory: Path, *words: str) -> str:
        return git(directory, *words, **self.env)

    def make(self, name: str = "work", *options: str) -> Path:
        """A repository with two commits and changes of every kind."""
        root = self.base / name
        root.mkdir()
        self.git(root, "init", "-q", "-b", "main", *options)
        for number in range(2):
            (root / "a.txt").write_text(f"one\ntwo\n{number}\n")
            (root / "b.txt").write_text(f"b{number}\n")
            self.git(root, "add", ".")
            self.git(root, "commit", "-qm", f"change {number}")
        self.change(root)
        return root

    def change(self, root: Path) -> None:
        (root / "a.txt").write_text("one\ntwo\nthree\n")
        (root / "staged.txt").write_text("staged\n")
        self.git(root, "add", "staged.txt")
        (root / "b.txt").unlink()
        (root / "new dir").mkdir(exist_ok=True)
        (root / "new dir/ünd.txt").write_text("new")

    def same(self, directory: Path) -> None:
        """Plain git and we say the same there, and nothing of the repository is changed by it."""
        with open_view(str(directory), self.env) as view:
            assert view is not None
            for words in QUESTIONS:
                said = view.ask(*words, cap=1 << 20)
                plain = ["git", "-C", str(directory), "--no-optional-locks", *words]
                done = subprocess.run(plain, env=self.env, capture_output=True, check=False)
                assert (said.code, said.output) == (done.returncode, done.stdout), words
                assert said.complaint == done.stderr.decode().strip(), words


@pytest.fixture(name="place")
def _place(tmp_path: Path) -> Place:
    return Place(tmp_path.resolve())


def an_ordinary_one(place: Place) -> Path:
    return place.make()


def below_its_root(place: Place) -> Path:
    return place.make() / "new dir"


def without_commits(place: Place) -> Path:
    root = place.base / "work"
    root.mkdir()
    place.git(root, "init", "-q", "-b", "trunk")
    (root / "b.txt").touch()
    place.change(root)
    return root


def on_no_branch(place: Place) -> Path:
    root = place.make()
    place.git(root, "checkout", "-q", "--detach")
    return root


def with_packed_references_and_objects(place: Place) -> Path:
    root = place.make()
    place.git(root, "pack-refs", "--all")
    place.git(root, "gc", "-q")
    assert not (root / ".git/refs/heads/main").exists()
    return root


def ahead_of_a_branch_of_a_remote(place: Place) -> Path:
    origin = place.make("origin")
    place.git(place.base, "clone", "-q", str(origin), "work")
    root = place.base / "work"
    place.git(root, "checkout", "-q", "-b", 'a=b"c', "--track", "origin/main")
    place.git(root, "commit", "-q", "--allow-empty", "-m", "mine")
    place.change(root)
    assert "[ahead 1]" in place.git(root, "status", "-sb")
    return root


def shallow(place: Place) -> Path:
    origin = place.make("origin")
    place.git(place.base, "clone", "-q", "--depth=1", f"file://{origin}", "work")
    place.change(place.base / "work")
    return place.base / "work"


def a_partial_clone(place: Place) -> Path:
    origin = place.make("origin")
    place.git(origin, "config", "uploadpack.allowFilter", "true")
    words = ("clone", "-q", "--filter=blob:none", f"file://{origin}", "work")
    place.git(place.base, *words)
    place.change(place.base / "work")
    return place.base / "work"


def one_that_shares_objects(place: Place) -> Path:
    place.make("origin")
    place.git(place.base, "clone", "-q", "--shared", "origin", "work")
    (place.base / "work/.git/objects/info/alternates").write_text("../../../origin/.git/objects\n")
    place.change(place.base / "work")
    return place.base / "work"


def a_linked_work_tree(place: Place) -> Path:
    main = place.make("main")
    place.git(main, "worktree", "add", "-q", "-b", "other", "../work")
    place.change(place.base / "work")
    place.git(place.base / "work", "update-ref", "refs/worktree/mine", "HEAD~1")
    return place.base / "work"


def one_with_submodules(place: Place, *names: str) -> Path:
    place.make("module")
    root = place.make()
    for name in names or ("moved", "gone"):
        words = ("submodule", "add", "-q", "../module", name)
        place.git(root, "-c", "protocol.file.allow=always", *words)
    place.git(root, "commit", "-qm", "modules")
    place.git(root / "moved", "commit", "-q", "--allow-empty", "-m", "mine")
    if not names:
        place.git(root, "submodule", "deinit", "-q", "gone")
    return root


def a_submodule_itself(place: Place) -> Path:
    root = one_with_submodules(place, "moved") / "moved"
    place.change(root)
    return root


def one_inside_another(place: Place) -> Path:
    root = place.make()
    place.make("work/inner")
    return root


def with_long_names_of_objects(place: Place) -> Path:
    return place.make("work", "--object-format=sha256")


def sparse(place: Place) -> Path:
    root = place.make()
    for name in ("in", "out"):
        (root / name).mkdir()
        (root / name / "file").write_text("x\n")
    place.git(root, "add", "in", "out")
    place.git(root, "commit", "-qm", "directories")
    place.git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert not (root / "out").exists()
    return root


def with_a_split_index(place: Place) -> Path:
    root = place.make()
    place.git(root, "update-index", "--split-index")
    assert list((root / ".git").glob("sharedindex.*"))
    return root


def with_other_ends_of_lines(place: Place) -> Path:
    root = place.make()
    place.git(root, "config", "core.autocrlf", "true")
    (root / "a.txt").write_bytes(b"one\r\ntwo\r\n1\r\n")
    (root / "mixed.txt").write_bytes(b"one\r\n")
    place.git(root, "add", "mixed.txt")
    (root / "mixed.txt").write_bytes(b"two\r\n")
    assert "a.txt" not in place.git(root, "diff")
    return root


def with_modes_that_mean_nothing(place: Place) -> Path:
    root = place.make()
    place.git(root, "config", "core.fileMode", "false")
    place.git(root, "checkout", "a.txt", "b.txt")
    (root / "a.txt").chmod(0o755)
    return root


def with_attributes(place: Place) -> Path:
    root = place.make()
    (root / ".gitattributes").write_text("a.txt -diff\n*.py diff=python\n")
    (root / ".git/info/attributes").write_text("staged.txt binary\n")
    return root


def with_rules_for_what_is_ignored(place: Place) -> Path:
    root = place.make()
    (root / ".git/info/exclude").write_text("*.own\n")
    (place.base / "everywhere").write_text("*.all\n")
    (place.base / ".gitconfig").write_text("[core]\nexcludesFile = ~/everywhere\n")
    for name in ("x.own", "x.all", "x.seen"):
        (root / name).touch()
    return root


def with_what_is_always_ignored(place: Place) -> Path:
    root = place.make()
    (place.base / ".config/git").mkdir(parents=True)
    (place.base / ".config/git/ignore").write_text("*.all\n")
    (root / "x.all").touch()
    return root


def with_habits_of_its_person(place: Place) -> Path:
    root = place.make()
    (place.base / ".gitconfig").write_text(
        "[diff]\nnoprefix\ncontext = 1\n[status]\nshowUntrackedFiles = all\n[core]\nquotePath = no\n"
    )
    return root


def with_a_name_of_every_kind(place: Place) -> Path:
    return place.make('a "b" \\ #c;\n $x')


def in_the_middle_of_a_merge(place: Place) -> Path:
    root = place.make()
    place.git(root, "stash", "-q", "-u")
    place.git(root, "checkout", "-q", "-b", "other", "HEAD~1")
    (root / "a.txt").write_text("else\n")
    place.git(root, "commit", "-qam", "else")
    git(root, "merge", "-q", "main", fails=True, **place.env)
    assert "UU a.txt" in place.git(root, "status", "-s")
    return root


def with_renames(place: Place) -> Path:
    root = place.make()
    place.git(root, "mv", "a.txt", "c.txt")
    return root


KINDS = [
    *(an_ordinary_one, below_its_root, without_commits, on_no_branch, shallow, a_partial_clone),
    *(with_packed_references_and_objects, ahead_of_a_branch_of_a_remote, one_that_shares_objects),
    *(a_linked_work_tree, one_with_submodules, a_submodule_itself, one_inside_another, sparse),
    *(with_long_names_of_objects, with_a_split_index, with_other_ends_of_lines, with_attributes),
    *(with_modes_that_mean_nothing, with_rules_for_what_is_ignored, with_what_is_always_ignored),
    *(with_habits_of_its_person, with_a_name_of_every_kind, in_the_middle_of_a_merge, with_renames),
]


@pytest.mark.parametrize("kind", KINDS)
def test_the_answers_are_plain_gits(place: Place, kind: Callable[[Place], Path]) -> None:
    directory = kind(place)
    place.same(directory)


def test_a_repository_whose_references_are_tables(place: Place) -> None:
    root = place.base / "work"
    root.mkdir()
    words = ["git", "-C", str(root), "init", "-q", "--ref-format=reftable"]
    if subprocess.run(words, env=place.env, capture_output=True, check=False).returncode:
        pytest.skip("this git does not know them")
    (root / "b.txt").touch()
    place.git(root, "add", ".")
    place.git(root, "commit", "-qm", "first")
    place.change(root)
    place.same(root)
    place.git(root, "worktree", "add", "-q", "-b", "other", "../linked")
    place.same(place.base / "linked")


def test_a_file_changed_in_the_moment_the_index_was_written_is_seen(place: Place) -> None:
    root = place.make()
    moment = (1_700_000_000, 1_700_000_000)
    os.utime(root / "a.txt", moment)
    place.git(root, "add", "a.txt")
    (root / "a.txt").write_text("one\ntwo\nTHREE\n"[: (root / "a.txt").stat().st_size])
    os.utime(root / "a.txt", moment)
    os.utime(root / ".git/index", moment)
    with open_view(str(root), place.env) as view:
        assert view is not None
        assert b"THREE" in view.ask("diff", cap=4096).output


def test_what_a_filter_stores_in_place_of_a_file_is_no_change(place: Place) -> None:
    """As of git-lfs: nobody runs the filter, and nobody needs to where the file is untouched."""
    root = place.make()
    (root / ".gitattributes").write_text("*.bin filter=upper\n")
    configure(root, {"filter.upper.clean": "tr a-z A-Z", "filter.upper.smudge": "tr A-Z a-z"})
    (root / "x.bin").write_text("large")
    old = (1_700_000_000, 1_700_000_000)
    os.utime(root / "x.bin", old)
    place.git(root, "add", ".gitattributes", "x.bin")
    place.git(root, "commit", "-qm", "large")
    with open_view(str(root), place.env) as view:
        assert view is not None
        assert b"x.bin" not in view.ask("status", "--short", cap=4096).output


@pytest.mark.parametrize(
    "name",
    ["index", "HEAD", "shallow", "info/exclude", "commondir", "config", "packed-refs"],
)
def test_a_pipe_in_the_place_of_a_file_holds_nobody_up(place: Place, name: str) -> None:
    root = place.make()
    (root / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(root / ".git" / name)
    with open_view(str(root), place.env) as view:
        assert (view is None) is (name == "HEAD")
        assert view is None or view.ask("status", cap=4096).code == 0


def test_a_repository_too_large_to_copy_is_an_error(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = place.make()
    monkeypatch.setattr(hookline.git, "LARGEST_FILE", 100)
    with pytest.raises(GitError, match="too large"), open_view(str(root), place.env):
        pass


def test_many_files_are_no_larger_together_than_one_may_be(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = place.make()
    monkeypatch.setattr(hookline.git, "LARGEST_FILE", 1 << 20)
    for number in range(3):
        with (work / f".git/sharedindex.{number:040}").open("wb") as file:
            file.truncate(400_000)
    with pytest.raises(GitError, match="too large"), open_view(str(work), place.env):
        pass


def test_settings_that_cannot_be_read_are_an_error(place: Place) -> None:
    root = place.make()
    (root / ".git/config").write_text("[core\n")
    with pytest.raises(GitError, match="settings"), open_view(str(root), place.env):
        pass


@pytest.mark.parametrize("name", ["elsewhere", "elsewhere ", " elsewhere"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n\n"])
def test_a_file_names_the_repository_that_git_finds_by_it(
    place: Place, name: str, end: str
) -> None:
    root = place.make()
    for each in ("elsewhere", "elsewhere ", " elsewhere"):
        shutil.copytree(root / ".git", place.base / each)
    shutil.rmtree(root / ".git")
    (root / ".git").write_bytes(f"gitdir: ../{name}{end}".encode())
    found = find_repository(str(root))
    assert found is not None
    assert found.git_dir == place.git(root, "rev-parse", "--absolute-git-dir").removesuffix("\n")


def test_nothing_is_left_behind(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    root = place.make()
    (place.base / "tmp").mkdir()
    monkeypatch.setattr(hookline.git, "_MEMORY", str(place.base / "tmp"))
    monkeypatch.setattr(hookline.git, "LARGEST_FILE", 1 << 20)
    with open_view(str(root), place.env):
        (private,) = (place.base / "tmp").iterdir()
        assert private.stat().st_mode & 0o777 == 0o700
    assert not list((place.base / "tmp").iterdir())
    assert (root / ".git/refs/heads/main").exists()


def test_what_only_looks_like_a_repository_is_none(place: Place) -> None:
    root = place.make()
    for name in ("empty/.git", "half/.git/refs", "half/.git/objects"):
        (root / name).mkdir(parents=True)
    (root / "file").mkdir()
    (root / "file/.git").write_text("gitdir: nowhere\n")
    for name in ("empty", "half", "file", ".git/info", "no/such/place"):
        found = find_repository(str(root / name))
        assert found is not None, name
        assert found.root == str(root)
    shutil.rmtree(root / ".git")
    assert find_repository(str(root / "file")) is None
    assert find_repository("a\0b") is None


@pytest.mark.parametrize("name", [".gitignore", ".gitattributes", ".gitmodules"])
def test_git_is_not_asked_where_it_would_wait_for_a_pipe(place: Place, name: str) -> None:
    inner = place.make() / "new dir"
    os.mkfifo(inner / name)
    with pytest.raises(GitError, match="is not a file"), open_view(str(inner), place.env):
        pass
