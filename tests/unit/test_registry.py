"""Parts are found by their names, and a plug-in by its entry point."""

from importlib import metadata
from pathlib import Path
from types import ModuleType

import pytest

import hookline
from hookline import registry
from hookline.model.errors import ConfigError, UnknownNameError
from hookline.model.tools import CANONICAL_TOOLS

SRC = Path(hookline.__file__).parent


def folders(part: str) -> set[str]:
    return {
        path.name.removesuffix(".py")
        for path in (SRC / part).iterdir()
        if not path.name.startswith("_")
    }


def test_every_dialect_is_a_folder() -> None:
    assert set(registry.dialect_names()) == {name.replace("_", "-") for name in folders("dialects")}
    for name in registry.dialect_names():
        assert registry.dialect(name).id == name


def test_every_handler_is_a_module_with_keys_of_its_own() -> None:
    assert set(registry.handlers()) == folders("handlers")
    keys = [key for module in registry.handlers().values() for key in module.KEYS]
    assert len(keys) == len(set(keys))


def test_every_builtin_is_a_module_and_may_be_written_either_way() -> None:
    assert set(registry.builtin_names()) == {name.replace("_", "-") for name in folders("builtin")}
    for name in registry.builtin_names():
        assert registry.builtin(name) is registry.builtin(name.replace("-", "_"))


def test_the_tools_of_a_dialect() -> None:
    assert registry.tools("canonical") is CANONICAL_TOOLS


@pytest.mark.parametrize("find", [registry.dialect, registry.builtin, registry.tools])
@pytest.mark.parametrize("name", ["", "_git", "__init__", "..", "canonical.codec", "Canonical"])
def test_a_name_that_is_none_is_an_error(find: object, name: str) -> None:
    assert callable(find)
    with pytest.raises(UnknownNameError):
        find(name)


def test_a_misspelt_name_is_told_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no dialect is called `canonicl` \(did you mean"):
        registry.dialect("canonicl")
    with pytest.raises(ConfigError, match=r"no builtin is called `add-dat` \(did you mean"):
        registry.builtin("add-dat")


def test_a_name_like_none_is_told_all() -> None:
    with pytest.raises(ConfigError, match=r"known: .*canonical"):
        registry.dialect("xyzzy")


def test_a_plug_in_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = ModuleType("plugin")
    asked: list[tuple[str, str]] = []

    class Entry:
        def load(self) -> ModuleType:
            return plugin

    def entry_points(*, group: str, name: str) -> list[Entry]:
        asked.append((group, name))
        return [Entry()]

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    try:
        assert registry.dialect("from-elsewhere") is plugin
        assert registry.builtin("from-elsewhere") is plugin
        assert registry.dialect("canonical") is not plugin
    finally:
        registry.dialect.cache_clear()
        registry.builtin.cache_clear()
    assert asked == [
        ("hookline.dialects", "from-elsewhere"),
        ("hookline.builtin", "from-elsewhere"),
    ]


def test_native_names_of_events_are_those_of_the_support_tables() -> None:
    known = registry.native_events()
    for name in registry.dialect_names():
        if name != "canonical":
            for native, row in registry.dialect(name).support.events.items():
                assert name in known[native][row.event]
    assert "session_start" in known["SessionStart"]
    assert len(known) > 100
