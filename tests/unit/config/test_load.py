"""Which configs are in force for an event, in which bytes, and from when on a change counts."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from hookline import registry
from hookline.config import layers
from hookline.config.compile import compile_file
from hookline.config.copies import FreeFiles, HookFiles, UntrustedFiles
from hookline.config.load import Loader
from hookline.config.pause import start_pause
from hookline.config.types import Config, ConfigFile, Kit
from hookline.model.errors import ConfigError, TrustError
from hookline.model.hook import HandlerSpec, Hook, Layer, Source
from hookline.model.ports import Services


class World:
    """A machine with a user, a project and a managed file, all in one directory."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.home = base / "home"
        self.project = base / "project"
        self.project.mkdir()
        self.managed = base / "etc/hookline.yaml"
        self.user = base / "config/hookline/hookline.yaml"
        # Ahead of every stamp, so that nothing is too young to be kept.
        self.ahead = 60.0

    def loader(self, **options: object) -> Loader:
        def services() -> Services:
            return Services(
                codec=registry.dialect,
                builtin=registry.builtin,
                pins=lambda hook: loader.pins_for(hook),
            )

        loader: Loader = Loader(
            Kit(registry.handlers(), services()),
            str(self.home),
            {"XDG_CONFIG_HOME": str(self.base / "config")},
            managed=str(self.managed),
            managed_owner=os.getuid(),
            clock=lambda: time.time() + self.ahead,
            **options,  # type: ignore[arg-type]
        )
        return loader

    def load(self, loader: Loader, cwd: str = "", *paths: str) -> Config:
        root = str(self.project)
        return loader.load(root, os.path.join(root, cwd).rstrip("/"), paths)


def put(path: Path, *names: str, more: str = "") -> Path:
    """A config with one rule for each name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o755)  # whatever the umask, a managed file has to be safe
    rules = [f"  - name: {name}\n    on: pre_tool_use\n    deny: no\n" for name in names]
    path.write_text(
        f"version: 1\n{more}\nhooks:\n{''.join(rules)}" if rules else f"version: 1\n{more}"
    )
    path.chmod(0o644)
    return path


def names(config: Config) -> list[str]:
    return [hook.name for hook in config.hooks]


def kinds(config: Config) -> list[tuple[str, str]]:
    return [(os.path.basename(note.file), note.kind) for note in config.notes]


def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are compiled from now on."""
    compiled: list[str] = []

    def counting(raw: bytes, *, file: str, **options: Any) -> ConfigFile:
        compiled.append(file)
        return compile_file(raw, file=file, **options)

    monkeypatch.setattr(layers, "compile_file", counting)
    return compiled


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path.resolve())


class TestLayers:
    def test_nothing_configured_is_no_hooks_and_no_notes(self, world: World) -> None:
        config = world.load(world.loader())
        assert (config.hooks, config.notes) == ((), ())

    def test_managed_comes_first_then_user_then_project_from_outer_to_inner(
        self, world: World
    ) -> None:
        put(world.managed, "managed")
        put(world.user, "user")
        loader = world.loader()
        for path, name in (
            (world.project / "sub/hookline.yaml", "inner"),
            (world.project / ".hookline/hookline.yaml", "dot"),
            (world.project / "hookline.yaml", "plain"),
            (world.base / "hookline.yaml", "outer"),
        ):
            loader.trust(str(put(path, name)))
        assert names(world.load(loader, "sub")) == [
            "managed",
            "user",
            "outer",
            "plain",
            "dot",
            "inner",
        ]

    def test_files_below_the_root_count_only_while_the_event_is_there(self, world: World) -> None:
        loader = world.loader()
        loader.trust(str(put(world.project / "sub/hookline.yaml", "inner")))
        assert names(world.load(loader)) == []
        assert names(world.load(loader, "sub/deep")) == ["inner"]
        assert names(world.load(loader, "", "sub/x.py")) == ["inner"]
        assert names(world.load(loader, "other", "other/x.py")) == []

    def test_the_users_file_is_not_a_project_file_too(self, world: World) -> None:
        put(world.user, "user")
        loader = world.loader()
        config = loader.load(str(world.base), str(world.user.parent))
        assert names(config) == ["user"]
        assert config.notes == ()

    def test_the_managed_file_is_not_a_project_file_too(self, world: World) -> None:
        put(world.managed, "managed")
        config = world.loader().load("/", str(world.managed.parent))
        assert names(config) == ["managed"]
        assert config.notes == ()

    @pytest.mark.parametrize("which", ["user", "managed"])
    def test_a_wrong_file_that_needs_no_trust_is_an_error(self, world: World, which: str) -> None:
        put(getattr(world, which), more="hoks: []")
        with pytest.raises(ConfigError, match="hoks"):
            world.load(world.loader())

    @pytest.mark.parametrize("which", ["user", "managed"])
    def test_one_that_cannot_be_read_is_an_error(self, world: World, which: str) -> None:
        getattr(world, which).mkdir(parents=True)
        getattr(world, which).parent.chmod(0o755)
        getattr(world, which).chmod(0o755)
        with pytest.raises(ConfigError, match="cannot be read"):
            world.load(world.loader())

    def test_a_managed_file_that_cannot_even_be_looked_at_is_an_error(self, world: World) -> None:
        world.managed.parent.mkdir(mode=0o755)
        world.managed.symlink_to(world.managed.name)
        with pytest.raises(ConfigError, match="cannot be read"):
            world.load(world.loader())

    def test_a_managed_file_that_others_can_write_is_ignored_loudly(self, world: World) -> None:
        put(world.managed, "managed").chmod(0o666)
        config = world.load(world.loader())
        assert names(config) == []
        assert kinds(config) == [("hookline.yaml", "ignored")]
        assert "can be written by others" in config.notes[0].message

    def test_what_the_managed_file_includes_must_be_as_safe(self, world: World) -> None:
        put(world.managed, more="include: [more.yaml]")
        more = put(world.managed.parent / "more.yaml", "more")
        loader = world.loader()
        assert names(world.load(loader)) == ["more"]
        more.chmod(0o666)
        with pytest.raises(ConfigError, match="can be written by others"):
            world.load(loader)

    def test_what_the_user_includes_is_read_from_the_disk(self, world: World) -> None:
        put(world.user, more="include: [more.yaml]")
        put(world.user.parent / "more.yaml", "more")
        loader = world.loader()
        assert names(world.load(loader)) == ["more"]
        put(world.user.parent / "more.yaml", "changed")
        assert names(world.load(loader)) == ["changed"]
        (world.user.parent / "more.yaml").unlink()
        with pytest.raises(ConfigError, match=r"more\.yaml"):
            world.load(loader)


class TestTrust:
    def test_a_project_never_trusted_contributes_nothing_and_says_so(self, world: World) -> None:
        config = put(world.project / "hookline.yaml", "mine")
        loaded = world.load(world.loader())
        assert names(loaded) == []
        (note,) = loaded.notes
        assert (note.file, note.kind) == (str(config), "untrusted")
        assert "hookline trust" in note.message

    def test_not_even_a_wrong_one_does_anything(self, world: World) -> None:
        (world.project / "hookline.yaml").write_text("}{")
        assert kinds(world.load(world.loader())) == [("hookline.yaml", "untrusted")]

    def test_a_trusted_one_is_in_force_without_a_word(self, world: World) -> None:
        loader = world.loader()
        loader.trust(str(put(world.project / "hookline.yaml", "mine")))
        config = world.load(loader)
        assert names(config) == ["mine"]
        assert config.notes == ()
        assert loader.is_trusted(str(world.project / "hookline.yaml"))
        assert not loader.is_trusted(str(world.project / "other/hookline.yaml"))

    def test_trusting_takes_effect_at_the_next_event_in_a_running_process(
        self, world: World
    ) -> None:
        path = put(world.project / "hookline.yaml", "mine")
        running = world.loader()
        assert names(world.load(running)) == []
        world.loader().trust(str(path))
        assert names(world.load(running)) == ["mine"]
        world.loader().store.revoke(str(path))
        assert names(world.load(running)) == []

    def test_an_edited_one_stays_in_force_as_it_was_trusted(self, world: World) -> None:
        loader = world.loader()
        path = put(world.project / "hookline.yaml", "mine")
        loader.trust(str(path))
        put(path, "weaker")
        config = world.load(loader)
        assert names(config) == ["mine"]
        assert kinds(config) == [("hookline.yaml", "changed")]

    def test_an_edited_one_counts_once_it_is_trusted_again(self, world: World) -> None:
        loader = world.loader()
        path = put(world.project / "hookline.yaml", "mine")
        loader.trust(str(path))
        world.load(loader)
        loader.trust(str(put(path, "other")))
        config = world.load(loader)
        assert names(config) == ["other"]
        assert config.notes == ()

    def test_includes_stay_in_force_as_they_were_trusted(self, world: World) -> None:
        loader = world.loader()
        included = put(world.project / "conf/more.yaml", "more")
        loader.trust(str(put(world.project / "hookline.yaml", more="include: [conf/more.yaml]")))
        put(included, "weaker")
        config = world.load(loader)
        assert names(config) == ["more"]
        assert kinds(config) == [("more.yaml", "changed")]
        included.unlink()
        config = world.load(loader)
        assert names(config) == ["more"]
        assert kinds(config) == [("more.yaml", "missing")]

    def test_a_script_that_is_not_as_it_was_trusted_is_noted(self, world: World) -> None:
        loader = world.loader()
        script = world.project / "check.sh"
        script.write_text("exit 0\n")
        rule = "hooks:\n  - {on: stop, run: sh ./check.sh}"
        loader.trust(str(put(world.project / "hookline.yaml", more=rule)))
        assert world.load(loader).notes == ()
        script.write_text("exit 1\n")
        assert kinds(world.load(loader)) == [("check.sh", "changed")]

    def test_what_was_trusted_is_not_read_from_the_disk_again(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loader = world.loader()
        loader.trust(str(put(world.project / "hookline.yaml", "mine")))
        world.load(loader)
        compiled = compilations(monkeypatch)
        put(world.project / "hookline.yaml", "weaker")
        assert names(world.load(loader)) == ["mine"]
        assert compiled == []

    def test_a_damaged_set_closes_the_gate_instead_of_opening_it(self, world: World) -> None:
        loader = world.loader()
        loader.trust(str(put(world.project / "hookline.yaml", "mine")))
        for path in (world.home / "trust").glob("*.json"):
            path.write_text("{")
        with pytest.raises(TrustError, match="damaged"):
            world.load(world.loader())


class TestOverride:
    def test_it_replaces_the_project_layer_and_needs_no_trust(self, world: World) -> None:
        put(world.user, "user")
        world.loader().trust(str(put(world.project / "hookline.yaml", "mine")))
        other = put(world.base / "other.yaml", "other")
        config = world.load(world.loader(config_override=str(other)))
        assert names(config) == ["user", "other"]

    def test_one_that_is_missing_is_an_error(self, world: World) -> None:
        with pytest.raises(ConfigError, match="no such file"):
            world.load(world.loader(config_override=str(world.base / "none.yaml")))

    def test_it_may_be_named_from_where_one_is(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(world.base / "other.yaml", "other")
        monkeypatch.chdir(world.base)
        (hook,) = world.load(world.loader(config_override="other.yaml")).hooks
        assert hook.project_dir == str(world.base)

    def test_its_edits_count_at_the_next_event(self, world: World) -> None:
        other = put(world.base / "other.yaml", "one")
        loader = world.loader(config_override=str(other))
        assert names(world.load(loader)) == ["one"]
        put(other, "two")
        assert names(world.load(loader)) == ["two"]


class TestEdited:
    def test_project_files_count_as_they_are_on_disk(self, world: World) -> None:
        path = put(world.project / "hookline.yaml", "mine")
        world.loader().trust(str(path))
        put(path, "edited")
        config = world.load(world.loader(edited=True))
        assert names(config) == ["edited"]
        assert config.notes == ()

    def test_one_that_is_gone_is_gone(self, world: World) -> None:
        path = put(world.project / "hookline.yaml", "mine")
        world.loader().trust(str(path))
        path.unlink()
        assert names(world.load(world.loader(edited=True))) == []


class TestTrustOfOneProcess:
    def test_all_trusts_every_config_and_stores_nothing(self, world: World) -> None:
        put(world.project / "hookline.yaml", "mine")
        assert names(world.load(world.loader(trust_env="all"))) == ["mine"]
        assert names(world.load(world.loader())) == []
        assert not (world.home / "trust").exists()

    @pytest.mark.parametrize("form", ["{}", "{},", "{} " + "0" * 64, "0" * 64 + ",{}"])
    def test_hashes_trust_exactly_those_bytes(self, world: World, form: str) -> None:
        path = put(world.project / "hookline.yaml", "mine")
        loader = world.loader(trust_env=form.format(sha256(path.read_bytes()).hexdigest()))
        assert names(world.load(loader)) == ["mine"]
        put(path, "other")
        config = world.load(loader)
        assert names(config) == []
        assert kinds(config) == [("hookline.yaml", "untrusted")]

    def test_what_such_a_config_includes_must_be_named_too(self, world: World) -> None:
        path = put(world.project / "hookline.yaml", more="include: [more.yaml]")
        more = put(world.project / "more.yaml", "more")
        hashes = [sha256(each.read_bytes()).hexdigest() for each in (path, more)]
        with pytest.raises(ConfigError, match="HOOKLINE_TRUST does not name it"):
            world.load(world.loader(trust_env=hashes[0]))
        assert names(world.load(world.loader(trust_env=" ".join(hashes)))) == ["more"]

    def test_a_stored_set_stays_in_force_where_the_hash_says_nothing(self, world: World) -> None:
        path = put(world.project / "hookline.yaml", "mine")
        world.loader().trust(str(path))
        put(path, "edited")
        assert names(world.load(world.loader(trust_env="0" * 64))) == ["mine"]

    def test_a_stored_set_stays_in_force_when_the_file_is_gone(self, world: World) -> None:
        path = put(world.project / "hookline.yaml", "mine")
        world.loader().trust(str(path))
        path.unlink()
        assert names(world.load(world.loader(trust_env="all"))) == ["mine"]

    @pytest.mark.parametrize("words", ["1", "yes", "ALL", "abc", "0" * 63])
    def test_any_other_word_is_an_error(self, world: World, words: str) -> None:
        with pytest.raises(TrustError, match="HOOKLINE_TRUST"):
            world.loader(trust_env=words)


class TestPause:
    def test_only_managed_hooks_stay_in_force(self, world: World) -> None:
        put(world.managed, "managed")
        put(world.user, "user")
        loader = world.loader()
        loader.trust(str(put(world.project / "hookline.yaml", "mine")))
        assert names(world.load(loader)) == ["managed", "user", "mine"]
        start_pause(str(world.home), 600, now=time.time())
        config = world.load(loader)
        assert names(config) == ["managed"]
        assert [note.kind for note in config.notes] == ["paused"]

    def test_it_ends_by_itself_in_a_running_process(self, world: World) -> None:
        put(world.user, "user")
        loader = world.loader()
        start_pause(str(world.home), 600, now=time.time())
        assert names(world.load(loader)) == []
        world.ahead += 600
        assert names(world.load(loader)) == ["user"]

    def test_it_ends_when_the_clock_is_put_back(self, world: World) -> None:
        put(world.user, "user")
        loader = world.loader()
        start_pause(str(world.home), 600, now=time.time() + world.ahead)
        assert names(world.load(loader)) == []
        world.ahead -= 30
        assert names(world.load(loader)) == ["user"]


class TestFreshness:
    def test_the_same_object_comes_back_while_nothing_changes(self, world: World) -> None:
        put(world.user, "user")
        loader = world.loader()
        assert world.load(loader) is world.load(loader)

    def test_it_also_does_while_files_are_too_young_to_be_sure(self, world: World) -> None:
        put(world.user, "user")
        world.ahead = 0
        loader = world.loader()
        assert world.load(loader) is world.load(loader)

    def test_unchanged_files_are_not_opened(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(world.user, "user")
        loader = world.loader()
        loader.trust(str(put(world.project / "hookline.yaml", "mine")))
        world.load(loader)

        def refuse(*_args: object, **_kwargs: object) -> int:
            raise AssertionError("opened")

        monkeypatch.setattr(os, "open", refuse)
        monkeypatch.setattr("builtins.open", refuse)
        assert names(world.load(loader)) == ["user", "mine"]

    def edit(self, world: World) -> None:
        put(world.user, "other")

    def replace(self, world: World) -> None:
        os.replace(put(world.base / "new.yaml", "later"), world.user)

    def edit_and_put_the_time_back(self, world: World) -> None:
        before = world.user.stat()
        put(world.user, "abcd")
        os.utime(world.user, ns=(before.st_atime_ns, before.st_mtime_ns))

    @pytest.mark.parametrize("change", [edit, replace, edit_and_put_the_time_back])
    def test_an_edit_counts_at_the_very_next_event(
        self, world: World, change: Callable[["TestFreshness", World], None]
    ) -> None:
        put(world.user, "user")
        loader = world.loader()
        assert names(world.load(loader)) == ["user"]
        change(self, world)
        assert names(world.load(loader)) not in ([], ["user"])

    def test_an_edit_in_the_same_tick_of_the_clock_counts_too(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        stamps: dict[str, tuple[int, ...]] = {}
        frozen = time.time_ns()

        def coarse(path: str) -> tuple[int, ...]:
            return stamps.setdefault(path, (frozen, 0) if os.path.exists(path) else (2,))

        monkeypatch.setattr("hookline.config.layers.stamp_of", coarse)
        monkeypatch.setattr("hookline.config.load.stamp_of", coarse)
        world.ahead = 0
        put(world.user, "user")
        loader = world.loader()
        assert names(world.load(loader)) == ["user"]
        put(world.user, "same")
        assert names(world.load(loader)) == ["same"]

    def test_files_that_appear_and_vanish_count_at_the_next_event(self, world: World) -> None:
        loader = world.loader()
        assert names(world.load(loader)) == []
        put(world.user, "user")
        assert names(world.load(loader)) == ["user"]
        put(world.managed, "managed")
        assert names(world.load(loader)) == ["managed", "user"]
        world.user.unlink()
        assert names(world.load(loader)) == ["managed"]

    def test_a_managed_file_that_becomes_unsafe_is_ignored_at_the_next_event(
        self, world: World
    ) -> None:
        put(world.managed, "managed")
        loader = world.loader()
        assert names(world.load(loader)) == ["managed"]
        world.managed.parent.chmod(0o777)
        assert names(world.load(loader)) == []

    def test_a_broken_file_that_is_mended_counts_again(self, world: World) -> None:
        put(world.user, more="hoks: 1")
        loader = world.loader()
        with pytest.raises(ConfigError):
            world.load(loader)
        put(world.user, "user")
        assert names(world.load(loader)) == ["user"]

    def test_only_the_files_that_changed_are_compiled_again(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(world.managed, "managed")
        put(world.user, "user")
        loader = world.loader()
        world.load(loader)
        compiled = compilations(monkeypatch)
        put(world.user, "other")
        assert names(world.load(loader)) == ["managed", "other"]
        assert compiled == [str(world.user)]

    def test_what_is_kept_is_bounded(self, world: World) -> None:
        loader = world.loader()
        for number in range(100):
            world.load(loader, f"dir{number}")
        assert len(loader._kept) <= 64


class TestPins:
    def hook(self, loader: Loader, world: World) -> Hook:
        (hook,) = world.load(loader).hooks
        return hook

    def test_hooks_of_a_trusted_project_run_in_trusted_bytes(self, world: World) -> None:
        loader = world.loader()
        loader.trust(str(put(world.project / "hookline.yaml", "mine")))
        assert isinstance(loader.pins_for(self.hook(loader, world)), HookFiles)

    def test_so_do_hooks_of_what_it_includes(self, world: World) -> None:
        loader = world.loader()
        put(world.project / "more.yaml", "more")
        loader.trust(str(put(world.project / "hookline.yaml", more="include: [more.yaml]")))
        hook = self.hook(loader, world)
        assert hook.source.layer is Layer.INCLUDE
        assert isinstance(loader.pins_for(hook), HookFiles)

    def test_hooks_of_the_user_and_of_what_he_includes_need_none(self, world: World) -> None:
        put(world.user, more="include: [more.yaml]")
        put(world.user.parent / "more.yaml", "more")
        loader = world.loader()
        assert isinstance(loader.pins_for(self.hook(loader, world)), FreeFiles)
        put(world.user, "user")
        assert isinstance(loader.pins_for(self.hook(loader, world)), FreeFiles)

    @pytest.mark.parametrize("options", [{"edited": True}, {"trust_env": "all"}])
    def test_hooks_that_a_person_vouched_for_need_none(
        self, world: World, options: dict[str, object]
    ) -> None:
        put(world.project / "hookline.yaml", "mine")
        loader = world.loader(**options)
        assert isinstance(loader.pins_for(self.hook(loader, world)), FreeFiles)

    def test_a_project_hook_from_nowhere_gets_nothing(self, world: World) -> None:
        hook = Hook(
            name="forged",
            events=("stop",),
            handler=HandlerSpec("command", {"run": "./x.sh"}),
            source=Source("/elsewhere/hookline.yaml", 1, Layer.PROJECT),
        )
        assert isinstance(world.loader().pins_for(hook), UntrustedFiles)


class TestStandings:
    def test_each_config_that_counts_is_listed_with_its_state(self, world: World) -> None:
        loader = world.loader()
        paths = {
            name: put(world.project / name / "hookline.yaml", name)
            for name in ("a", "a/b", "a/b/c", "a/b/c/d")
        }
        for name in ("a/b", "a/b/c", "a/b/c/d"):
            loader.trust(str(paths[name]))
        put(paths["a/b/c"], "edited")
        paths["a/b/c/d"].unlink()
        standings = loader.standings(str(world.project), str(world.project / "a/b/c/d"))
        assert [(each.config, each.state) for each in standings] == [
            (str(paths["a"]), "untrusted"),
            (str(paths["a/b"]), "trusted"),
            (str(paths["a/b/c"]), "changed"),
            (str(paths["a/b/c/d"]), "missing"),
        ]

    def test_one_may_be_named_through_a_link(self, world: World) -> None:
        loader = world.loader()
        loader.trust(str(put(world.project / "hookline.yaml", "mine")))
        (world.base / "alias").symlink_to(world.project)
        assert loader.standing(str(world.base / "alias/hookline.yaml")).state == "trusted"

    def test_a_damaged_one_is_listed_as_such(self, world: World) -> None:
        loader = world.loader()
        loader.trust(str(put(world.project / "hookline.yaml", "mine")))
        for path in (world.home / "trust").glob("*.json"):
            path.write_text("{")
        (standing,) = loader.standings(str(world.project), str(world.project))
        assert standing.state == "damaged"
        assert "damaged" in standing.damage


def test_a_name_that_the_locale_cannot_say_is_explained(world: World) -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_ASCII, str(world.base)],
        env={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "HOME": "/"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "no file can be called so while the names of files are in ascii" in done.stdout
    assert "LC_ALL=C.UTF-8" in done.stdout


IN_ASCII = """\
import sys
from hookline.app import App
from hookline.model.errors import ConfigError
try:
    App(env={}, cwd="/", home=sys.argv[1]).loader.load("/caf\\xe9", "/caf\\xe9")
except ConfigError as error:
    print(ascii(str(error)))
"""
