"""Which directories count for an event, and under which name a config is known."""

import os
import pwd
from pathlib import Path

import pytest

from hookline.config.discover import (
    candidates,
    config_dirs,
    home_dir,
    is_within,
    managed_flaw,
    place_of,
    project_dir_of,
    project_root,
    resolved,
    user_file,
)
from hookline.model.errors import ConfigError


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def below(dirs: tuple[str, ...], base: Path) -> list[str]:
    """The directories at or below ``base``, relative to it."""
    return [os.path.relpath(each, base) for each in dirs if is_within(each, str(base))]


class TestProjectRoot:
    def test_the_platforms_variable_counts_when_it_contains_the_cwd(self, base: Path) -> None:
        (base / "a/b").mkdir(parents=True)
        assert project_root(f"{base}/a/b", project_var=f"{base}/a") == f"{base}/a"

    def test_a_variable_that_names_the_cwd_itself_counts(self, base: Path) -> None:
        assert project_root(str(base), project_var=str(base)) == str(base)

    def test_a_variable_that_points_elsewhere_does_not_count(self, base: Path) -> None:
        (base / "a/.git").mkdir(parents=True)
        (base / "ab").mkdir()
        assert project_root(f"{base}/a", project_var=f"{base}/ab") == f"{base}/a"

    @pytest.mark.parametrize("variable", [None, "", "a", "./a"])
    def test_a_variable_that_is_no_absolute_path_does_not_count(
        self, base: Path, variable: str | None
    ) -> None:
        (base / "a").mkdir()
        assert project_root(f"{base}/a", project_var=variable) == f"{base}/a"

    def test_the_nearest_git_directory_above_is_the_root(self, base: Path) -> None:
        (base / "repo/.git").mkdir(parents=True)
        (base / "repo/src/deep").mkdir(parents=True)
        assert project_root(f"{base}/repo/src/deep", project_var=None) == f"{base}/repo"

    def test_a_git_file_as_in_a_worktree_marks_the_root_too(self, base: Path) -> None:
        (base / "tree/src").mkdir(parents=True)
        (base / "tree/.git").write_text("gitdir: /elsewhere\n")
        assert project_root(f"{base}/tree/src", project_var=None) == f"{base}/tree"

    def test_without_git_the_cwd_is_the_root(self, base: Path) -> None:
        assert project_root(str(base), project_var=None) == str(base)

    def test_links_are_resolved_so_that_moving_one_later_changes_nothing(self, base: Path) -> None:
        (base / "real").mkdir()
        (base / "link").symlink_to("real")
        assert project_root(f"{base}/link", project_var=None) == f"{base}/real"
        assert project_root(f"{base}/real", project_var=f"{base}/link") == f"{base}/real"

    def test_a_cwd_that_is_gone_still_has_a_root(self, base: Path) -> None:
        (base / ".git").mkdir()
        assert project_root(f"{base}/gone/away", project_var=None) == str(base)

    @pytest.mark.parametrize("cwd", ["", "relative", "/with\0nul", "/half\ud800"])
    def test_without_a_usable_cwd_everything_may_count(self, cwd: str) -> None:
        assert project_root(cwd, project_var=None) == "/"

    def test_without_a_usable_cwd_the_variable_decides(self, base: Path) -> None:
        assert project_root("", project_var=str(base)) == str(base)


class TestConfigDirs:
    def test_every_directory_from_the_top_down_to_the_root_comes_first(self) -> None:
        assert config_dirs("/a/b/c", "/a/b/c") == ("/", "/a", "/a/b", "/a/b/c")

    def test_the_filesystem_root_can_be_the_project(self) -> None:
        assert config_dirs("/", "/") == ("/",)
        assert config_dirs("/", "/a/b") == ("/", "/a", "/a/b")

    def test_with_and_without_links_on_the_way_the_names_count_alike(self, base: Path) -> None:
        plain = base / "real/a/b"
        plain.mkdir(parents=True)
        (base / "link").symlink_to(base / "real")
        root = str(base / "real")
        assert config_dirs(root, str(plain))[-2:] == (f"{base}/real/a", f"{base}/real/a/b")
        linked = config_dirs(root, f"{base}/link/a/b")
        assert {f"{base}/real/a/b", f"{base}/link/a/b"} <= {*linked}

    def test_a_link_put_in_the_way_later_is_seen(self, base: Path) -> None:
        place, other = base / "proj/a", base / "other"
        for each in (place, other):
            each.mkdir(parents=True)
        before = config_dirs(str(base), str(place))
        place.rmdir()
        place.symlink_to(other)
        after = config_dirs(str(base), str(place))
        assert {*before} | {str(other)} == {*after}

    def test_directories_on_the_way_to_the_cwd_follow(self, base: Path) -> None:
        dirs = config_dirs(str(base), f"{base}/a/b")
        assert below(dirs, base) == [".", "a", "a/b"]

    def test_directories_on_the_way_to_each_path_follow(self, base: Path) -> None:
        dirs = config_dirs(str(base), str(base), [f"{base}/a/x.py", "b/c/y.py"])
        assert below(dirs, base) == [".", "a", "b", "b/c"]

    def test_a_path_that_is_a_directory_counts_itself(self, base: Path) -> None:
        (base / "a/b").mkdir(parents=True)
        assert below(config_dirs(str(base), str(base), ["a/b"]), base) == [".", "a", "a/b"]

    def test_paths_outside_the_root_add_nothing(self, base: Path) -> None:
        root = f"{base}/project"
        outside = config_dirs(root, root, [f"{base}/other/x", "/etc/passwd", "../sibling/y"])
        assert outside == config_dirs(root, root)

    def test_a_cwd_outside_the_root_adds_nothing(self, base: Path) -> None:
        root = f"{base}/project"
        assert config_dirs(root, f"{base}/elsewhere/deep") == config_dirs(root, root)

    def test_a_sibling_with_the_same_prefix_is_outside(self, base: Path) -> None:
        root = f"{base}/app"
        assert config_dirs(root, f"{base}/app-2/src") == config_dirs(root, root)

    def test_a_link_counts_where_it_is_and_where_it_leads(self, base: Path) -> None:
        (base / "real/deep").mkdir(parents=True)
        (base / "alias").symlink_to("real")
        dirs = config_dirs(str(base), str(base), ["alias/deep/x.py"])
        assert below(dirs, base) == [".", "real", "real/deep", "alias", "alias/deep"]

    def test_a_root_replaced_by_a_link_still_counts_under_its_own_name(self, base: Path) -> None:
        (base / "evil").mkdir()
        (base / "project").symlink_to("evil")
        assert f"{base}/project" in config_dirs(f"{base}/project", f"{base}/project")

    def test_the_spelling_of_the_cwd_counts_beside_what_it_resolves_to(self, base: Path) -> None:
        (base / "evil").mkdir()
        (base / "project").symlink_to("evil")
        root = project_root(f"{base}/project", project_var=None)
        assert below(config_dirs(root, f"{base}/project"), base) == [".", "evil", "project"]

    @pytest.mark.parametrize("path", ["", "\0", "a\0b", "\ud800"])
    def test_what_cannot_be_a_path_adds_nothing_and_harms_nothing(
        self, base: Path, path: str
    ) -> None:
        assert config_dirs(str(base), str(base), [path]) == config_dirs(str(base), str(base))

    def test_without_a_cwd_only_absolute_paths_count(self, base: Path) -> None:
        dirs = config_dirs(str(base), "", ["a/x", f"{base}/b/y"])
        assert below(dirs, base) == [".", "b"]

    def test_dots_and_doubled_slashes_make_no_new_directories(self, base: Path) -> None:
        spelled = f"/{base}/./a/../a//b"
        assert config_dirs(str(base), spelled) == config_dirs(str(base), f"{base}/a/b")


def test_a_directory_has_two_places_for_a_config() -> None:
    assert list(candidates(["/", "/a"])) == [
        "/hookline.yaml",
        "/.hookline/hookline.yaml",
        "/a/hookline.yaml",
        "/a/.hookline/hookline.yaml",
    ]


@pytest.mark.parametrize(
    ("config", "directory"),
    [
        ("/a/hookline.yaml", "/a"),
        ("/a/.hookline/hookline.yaml", "/a"),
        ("/hookline.yaml", "/"),
        ("/.hookline/hookline.yaml", "/"),
        ("/a/other.yaml", "/a"),
        ("/a/x.hookline/hookline.yaml", "/a/x.hookline"),
    ],
)
def test_a_config_speaks_for_the_directory_that_owns_it(config: str, directory: str) -> None:
    assert project_dir_of(config) == directory


class TestPlace:
    def test_links_on_the_way_are_resolved(self, base: Path) -> None:
        (base / "real").mkdir()
        (base / "alias").symlink_to("real")
        assert place_of(f"{base}/alias/hookline.yaml") == f"{base}/real/hookline.yaml"

    def test_a_link_in_place_of_the_file_is_still_that_place(self, base: Path) -> None:
        (base / "hookline.yaml").symlink_to("/etc/passwd")
        assert place_of(f"{base}/hookline.yaml") == f"{base}/hookline.yaml"

    def test_a_link_in_place_of_the_dot_directory_is_still_that_place(self, base: Path) -> None:
        (base / ".hookline").symlink_to("/etc")
        place = f"{base}/.hookline/hookline.yaml"
        assert place_of(place) == place


class TestHomes:
    def test_the_xdg_directories_are_used(self) -> None:
        env = {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s", "HOME": "/h"}
        assert user_file(env) == "/c/hookline/hookline.yaml"
        assert home_dir(env) == "/s/hookline"

    @pytest.mark.parametrize("bad", ["", "relative"])
    def test_an_invalid_xdg_directory_is_ignored(self, bad: str) -> None:
        env = {"XDG_CONFIG_HOME": bad, "XDG_STATE_HOME": bad, "HOME": "/h"}
        assert user_file(env) == "/h/.config/hookline/hookline.yaml"
        assert home_dir(env) == "/h/.local/state/hookline"

    def test_without_home_the_user_database_is_asked(self) -> None:
        home = pwd.getpwuid(os.getuid()).pw_dir
        assert user_file({}) == f"{home}/.config/hookline/hookline.yaml"
        assert home_dir({"HOME": "not/absolute"}) == f"{home}/.local/state/hookline"

    def test_a_user_without_any_home_is_told_to_set_one(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def unknown(_uid: int) -> pwd.struct_passwd:
            raise KeyError

        monkeypatch.setattr(pwd, "getpwuid", unknown)
        with pytest.raises(ConfigError, match="set HOME"):
            home_dir({})


class TestManagedFile:
    @pytest.fixture
    def managed(self, base: Path) -> Path:
        directory = base / "etc"
        directory.mkdir(mode=0o755)
        path = directory / "hookline.yaml"
        path.write_text("version: 1\n")
        path.chmod(0o644)
        return path

    def test_one_that_only_its_owner_can_write_counts(self, managed: Path) -> None:
        assert managed_flaw(str(managed), owner=os.getuid()) is None

    def test_one_that_belongs_to_somebody_else_does_not(self, managed: Path) -> None:
        flaw = managed_flaw(str(managed), owner=os.getuid() + 1)
        assert flaw is not None
        assert "belongs to user" in flaw

    @pytest.mark.parametrize("mode", [0o664, 0o646])
    def test_one_that_others_can_write_does_not(self, managed: Path, mode: int) -> None:
        managed.chmod(mode)
        flaw = managed_flaw(str(managed), owner=os.getuid())
        assert flaw == f"`{managed}` can be written by others than its owner"

    def test_one_in_a_directory_that_others_can_write_does_not(self, managed: Path) -> None:
        managed.parent.chmod(0o775)
        flaw = managed_flaw(str(managed), owner=os.getuid())
        assert flaw == f"`{managed.parent}` can be written by others than its owner"

    def test_a_link_counts_by_what_it_leads_to(self, managed: Path, base: Path) -> None:
        loose = base / "loose"
        loose.mkdir()
        loose.chmod(0o777)
        managed.rename(loose / "hookline.yaml")
        managed.symlink_to(loose / "hookline.yaml")
        flaw = managed_flaw(str(managed), owner=os.getuid())
        assert flaw == f"`{loose}` can be written by others than its owner"


def test_resolving_never_looks_at_this_process() -> None:
    assert resolved("") == resolved(".") == resolved("x") == ""
