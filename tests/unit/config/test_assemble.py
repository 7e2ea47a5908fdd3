"""Several files as one config: whose hooks run in which order, and who may silence whom."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from hookline.config.assemble import assemble
from hookline.config.matchers import compile_match
from hookline.config.schema import MatchEntry
from hookline.config.types import Config, ConfigFile, Narrowing, Note
from hookline.model.events import PreToolUse
from hookline.model.hook import HandlerSpec, Hook, Layer, Source
from hookline.model.journal import JournalSettings
from hookline.model.models import ModelEntry
from hookline.model.ports import NOBODY, Matcher
from hookline.model.tools import tool

HANDLER = HandlerSpec("rule", {"deny": "no"})


def match(**keys: Any) -> Matcher:
    found = compile_match(msgspec.convert(keys, MatchEntry), every=False, project_dir="")
    assert found is not None
    return found


def file(
    name: str,
    layer: Layer,
    *hooks: str,
    project_dir: str = "",
    narrow: str | None = None,
    **keys: Any,
) -> ConfigFile:
    return ConfigFile(
        file=name,
        layer=layer,
        project_dir=project_dir,
        hooks=tuple(
            Hook(
                name=hook,
                events=("pre_tool_use",),
                handler=HANDLER,
                match=match(tool="Bash"),
                source=Source(name, line, layer),
            )
            for line, hook in enumerate(hooks, 1)
        ),
        narrowings=(Narrowing(narrow, (match(tool="*"),), 9),) if narrow else (),
        **keys,
    )


def managed(*hooks: str, **keys: Any) -> ConfigFile:
    return file("managed.yaml", Layer.MANAGED, *hooks, **keys)


def user(*hooks: str, **keys: Any) -> ConfigFile:
    return file("user.yaml", Layer.USER, *hooks, **keys)


def project(*hooks: str, at: str = "/p", **keys: Any) -> ConfigFile:
    return file(f"{at}/hookline.yaml", Layer.PROJECT, *hooks, project_dir=at, **keys)


def included(*hooks: str, name: str = "more.yaml", **keys: Any) -> ConfigFile:
    return file(name, Layer.INCLUDE, *hooks, **keys)


def names(config: Config) -> list[str]:
    return [hook.name for hook in config.hooks]


def silent(config: Config) -> set[str]:
    """The hooks that no longer match what they matched before."""
    event = PreToolUse(tool=tool("Bash", command="ls"))
    return {hook.name for hook in config.hooks if hook.match and not hook.match.find(event, NOBODY)}


def test_nothing_at_all_is_an_empty_config() -> None:
    assert replace(assemble([]), digest="") == Config()


def test_the_digest_tells_which_files_are_in_force_with_what_in_them() -> None:
    file = project("a")
    same, paused = assemble([file]), assemble([file], paused=True)
    edited = assemble([replace(file, digest="another")])
    more = assemble([file, user("b")])
    digests = [each.digest for each in (same, paused, edited, more)]
    assert len({*digests}) == 4
    assert assemble([file]).digest == same.digest


class TestJournal:
    FULL = JournalSettings(durability="full")
    SHORT = JournalSettings(keep_days=1)

    def test_unless_said_it_is_kept_with_defaults(self) -> None:
        assert assemble([user("a")]).journal == JournalSettings()

    def test_the_managed_file_has_the_say_over_the_users(self) -> None:
        files = [replace(managed("m"), journal=self.FULL), replace(user("u"), journal=self.SHORT)]
        assert assemble(files).journal == self.FULL

    def test_a_project_has_no_say(self) -> None:
        config = assemble([replace(project("p"), journal=JournalSettings(enabled=False))])
        assert config.journal == JournalSettings()
        [note] = config.notes
        assert note.kind == "ignored"
        assert "`journal`" in note.message


class TestModels:
    HERE, THERE = ModelEntry(model="openai/here"), ModelEntry(model="openai/there")

    def test_managed_hooks_know_only_what_the_managed_files_name(self) -> None:
        included = replace(file("more.yaml", Layer.INCLUDE, "i"))
        top = replace(managed("m", models={"b": self.THERE}), includes=(included,))
        config = assemble([user("u", models={"a": self.HERE, "b": self.HERE}), top])
        assert config.managed_models == {"b": self.THERE}
        assert [hook.name for hook in config.hooks[: config.managed]] == ["m", "i"]
        assert set(config.models) == {"a", "b"}

    def test_names_of_all_files_count_and_the_managed_one_has_the_say(self) -> None:
        mine = user(models={"a": self.HERE, "b": self.HERE})
        config = assemble([mine, managed(models={"b": self.THERE})])
        assert config.models == {"a": self.HERE, "b": self.THERE}

    def test_a_project_has_no_say(self) -> None:
        config = assemble([project(models={"a": self.THERE}), user()])
        assert config.models == {}
        message = "`models` in /p/hookline.yaml counts only in the user's own config"
        assert config.notes == (Note("/p/hookline.yaml", "ignored", message),)


def test_layers_come_in_order_and_includes_right_after_their_file() -> None:
    files = [
        project("inner", at="/p/sub", includes=(included("inner-more"),)),
        project("outer", at="/p"),
        user("user", includes=(included("user-more", includes=(included("user-most"),)),)),
        managed("managed"),
    ]
    config = assemble(files)
    assert names(config) == [
        "managed",
        "user",
        "user-more",
        "user-most",
        "outer",
        "inner",
        "inner-more",
    ]
    assert [each.layer for each in config.files] == [0, 1, 3, 3]
    assert config.hooks[2].source.layer is Layer.INCLUDE
    assert config.notes == ()


def test_two_files_of_one_directory_keep_their_order() -> None:
    config = assemble([project("a"), project("b")])
    assert names(config) == ["a", "b"]


class TestDisable:
    """`disable` switches off hooks of the same or a lower rank."""

    def files(self, who: str, **keys: Any) -> list[ConfigFile]:
        """A hook and an include in each layer; ``keys`` stand in the file of ``who``."""
        return [
            managed("m", includes=(included("mi"),), **(keys if who == "managed" else {})),
            user("u", includes=(included("ui"),), **(keys if who == "user" else {})),
            project("p", includes=(included("pi"),), **(keys if who == "project" else {})),
            project("q", at="/p/sub"),
        ]

    @pytest.mark.parametrize(
        ("who", "left"),
        [
            ("managed", []),
            ("user", ["m", "mi"]),
            ("project", ["m", "mi", "u", "ui", "q"]),
        ],
    )
    def test_a_file_reaches_its_own_rank_and_below(self, who: str, left: list[str]) -> None:
        every = ("m", "mi", "u", "ui", "p", "pi", "q")
        config = assemble(self.files(who, disable=every))
        assert names(config) == left
        assert {note.kind for note in config.notes} <= {"ignored"}
        assert len(config.notes) == len(left)

    def test_an_attempt_on_a_higher_layer_is_noted(self) -> None:
        config = assemble([managed("guard"), project(disable=("guard",))])
        assert names(config) == ["guard"]
        assert config.notes == (
            Note(
                "/p/hookline.yaml",
                "ignored",
                "/p/hookline.yaml may not disable `guard` from managed.yaml:1; it stays active",
            ),
        )

    def test_an_unknown_name_is_noted_with_the_nearest(self) -> None:
        (note,) = assemble([project("shell-guard", disable=("shel-guard",))]).notes
        assert note.kind == "ignored"
        assert note.message.endswith("did you mean `shell-guard`?")

    def test_an_included_file_reaches_itself_only(self) -> None:
        inner = included("i", disable=("u", "i", "p"))
        config = assemble([user("u", includes=(inner,)), project("p")])
        assert names(config) == ["u", "p"]
        assert len(config.notes) == 2

    def test_a_name_that_exists_twice_is_switched_off_where_that_is_allowed(self) -> None:
        config = assemble([managed("x"), user("x", disable=("x",))])
        assert [hook.source.file for hook in config.hooks] == ["managed.yaml"]
        assert len(config.notes) == 1


class TestNarrowing:
    """A name with `except` narrows hooks of the same or a lower layer."""

    def test_it_reaches_the_same_and_lower_layers(self) -> None:
        files = [
            managed("guard-m"),
            user("guard", narrow="guard"),
            project("guard", includes=(included("guard"),)),
        ]
        config = assemble(files)
        assert silent(config) == {"guard"}
        assert len([hook for hook in config.hooks if hook.name == "guard"]) == 3
        assert config.notes == ()

    def test_a_project_may_narrow_what_another_project_file_says(self) -> None:
        config = assemble([project("guard"), project(at="/p/sub", narrow="guard")])
        assert silent(config) == {"guard"}

    def test_it_never_reaches_a_higher_layer(self) -> None:
        config = assemble([user("guard"), project(narrow="guard")])
        assert silent(config) == set()
        assert config.notes[0].message == (
            "/p/hookline.yaml may not narrow `guard` from user.yaml:1; it stays active"
        )

    def test_an_included_file_narrows_itself_only(self) -> None:
        config = assemble([user("a", includes=(included("b", narrow="a"),))])
        assert silent(config) == set()
        assert len(config.notes) == 1

    def test_several_narrowings_add_up(self) -> None:
        config = assemble([user("a", narrow="a"), managed(narrow="a")])
        assert silent(config) == {"a"}

    def test_an_unknown_name_is_noted(self) -> None:
        assert assemble([project(narrow="nobody")]).notes[0].kind == "ignored"

    def test_a_users_word_about_a_hook_of_another_project_is_no_mistake(self) -> None:
        assert assemble([user(narrow="elsewhere", disable=("elsewhere",))]).notes == ()


class TestProjectAllow:
    """`project_allow` is for those who own the machine or the account."""

    @pytest.mark.parametrize(
        ("files", "allowed"),
        [
            ([user()], False),
            ([user(project_allow=True)], True),
            ([managed(project_allow=True)], True),
            ([managed(project_allow=False), user(project_allow=True)], False),
            ([managed(project_allow=True), user(project_allow=False)], True),
        ],
    )
    def test_the_highest_layer_that_says_anything_decides(
        self, files: list[ConfigFile], allowed: bool
    ) -> None:
        config = assemble(files)
        assert (config.project_allow, config.notes) == (allowed, ())

    def test_a_project_cannot_give_it_to_itself(self) -> None:
        config = assemble([project(project_allow=True)])
        assert not config.project_allow
        assert config.notes[0].kind == "ignored"

    def test_nor_can_an_included_file(self) -> None:
        config = assemble([user(includes=(included(project_allow=True),))])
        assert not config.project_allow
        assert len(config.notes) == 1


class TestPause:
    """While hookline is paused only managed hooks run."""

    def test_managed_hooks_and_what_they_include_stay(self) -> None:
        files = [managed("m", includes=(included("mi"),)), user("u"), project("p")]
        config = assemble(files, paused=True)
        assert names(config) == ["m", "mi"]
        assert config.notes == (
            Note("", "paused", "hookline is paused: 2 hooks are not run; managed hooks still are"),
        )

    def test_one_hook_is_told_as_one(self) -> None:
        assert "1 hook is not run" in assemble([user("u")], paused=True).notes[0].message
