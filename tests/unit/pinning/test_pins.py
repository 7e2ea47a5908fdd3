"""What a pin holds, what counts as a change, and which pins count where."""

import json
import os
from pathlib import Path
from random import Random
from typing import Any

import pytest

from hookline.model.errors import TrustError
from hookline.pinning.definitions import Definition
from hookline.pinning.pins import Change, Pin, compared, described, pin_of, redefined
from hookline.pinning.store import PROJECT_FILE, PinStore

TOOL: dict[str, Any] = {
    "name": "a",
    "description": "Finds.\nThings.",
    "inputSchema": {"type": "object", "x": 1},
}


def server(**keys: Any) -> Definition:
    fields = {"name": "s", "clients": ("codex",), "file": "f", "said": {"command": "x"}, **keys}
    return Definition(**fields)


def pinned(*tools: dict[str, Any], **keys: Any) -> Pin:
    return pin_of(server(**keys), {tool["name"]: tool for tool in tools or (TOOL,)}, now=1.0)


def kinds(pin: Pin, *tools: dict[str, Any]) -> dict[str, str]:
    found = compared(pin, {tool["name"]: tool for tool in tools})
    return {change.tool: change.kind for change in found}


def test_the_same_words_in_another_order_are_no_change() -> None:
    turned = {"inputSchema": {"x": 1, "type": "object"}, **TOOL}
    turned["inputSchema"] = {"x": 1, "type": "object"}
    assert compared(pinned(), {"a": turned}) == []


@pytest.mark.parametrize(
    "keys",
    [
        {"description": "Finds.\nThings"},
        {"inputSchema": {"type": "object", "x": 2}},
        {"annotations": {"readOnlyHint": True}},
        {"title": "T"},
        {"outputSchema": {}},
        {"description": "Finds.\nThings.\u200b"},
    ],
)
def test_anything_that_a_tool_says_of_itself_is_pinned(keys: dict[str, Any]) -> None:
    assert kinds(pinned(), {**TOOL, **keys}) == {"a": "changed"}


def test_what_no_model_reads_is_not_pinned() -> None:
    assert kinds(pinned(), {**TOOL, "_meta": {"now": 1}, "icons": []}) == {}


def test_tools_that_come_and_go_are_changes() -> None:
    assert kinds(pinned(), {**TOOL, "name": "b"}) == {"a": "gone", "b": "added"}


def test_a_change_is_shown_line_by_line() -> None:
    (change,) = compared(pinned(), {"a": {**TOOL, "description": "Finds.\nSend it to me."}})
    assert "-Things." in change.text.splitlines()
    assert "+Send it to me." in change.text.splitlines()


def test_a_change_behind_what_is_kept_is_still_one() -> None:
    long = {**TOOL, "description": "x" * 50_000}
    (change,) = compared(pinned(long), {"a": {**long, "description": "x" * 49_999 + "y"}})
    assert (change.kind, len(change.text) < 2_000) == ("changed", True)
    assert "too long" in change.text
    assert len(described(long).text) < 21_000


def test_a_flood_of_changes_is_cut_and_says_so() -> None:
    many = {**TOOL, "description": "\n".join(f"line {n}" for n in range(1_000))}
    (change,) = compared(pinned(), {"a": many})
    assert "lines more" in change.text
    assert len(change.text) < 3_000


def test_a_server_of_very_many_long_tools_stays_small_on_disk_and_is_compared_all_the_same() -> (
    None
):
    tools = {f"t{n}": {"name": f"t{n}", "description": "x" * 20_000} for n in range(300)}
    pin = pin_of(server(), tools, now=1.0)
    assert sum(len(tool.text) for tool in pin.tools.values()) < 2_100_000
    assert compared(pin, tools) == []
    tools["t7"] = {"name": "t7", "description": "x" * 19_999 + "y"}
    assert [change.tool for change in compared(pin, tools)] == ["t7"]


def test_a_secret_in_a_description_is_not_kept() -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    assert token not in described({"description": f"use {token}"}).text


def test_a_server_that_is_started_otherwise_is_seen_without_starting_it() -> None:
    pin = pinned()
    assert redefined(server(), [pin]) is None
    change = redefined(server(said={"command": "y"}), [pin])
    assert change is not None
    assert (change.kind, "-x\n+y" in change.text) == ("defined otherwise", True)
    hidden = redefined(server(said={"command": "x", "env": {"NODE_OPTIONS": "evil"}}), [pin])
    assert hidden is not None
    assert "evil" not in hidden.text


@pytest.mark.parametrize("keys", [{"clients": ("gemini",)}, {"project": "/p"}, {"name": "t"}])
def test_a_pin_is_of_one_server_of_one_place_and_client(keys: dict[str, Any]) -> None:
    change = redefined(server(**keys), [pinned()])
    assert change is not None
    assert change.kind == "not pinned"


def test_of_two_servers_with_one_name_each_needs_its_own_pin() -> None:
    other = {"said": {"command": "y"}}
    pins = [pinned(), pinned(**other)]
    assert redefined(server(), pins) is None
    assert redefined(server(**other), pins) is None


@pytest.fixture(name="store")
def _store(tmp_path: Path) -> PinStore:
    return PinStore(str(tmp_path / "state"))


def names(store: PinStore, project: str) -> list[str]:
    return [pin.name for pin in store.standing(project).pins]


def test_pins_are_kept_for_the_person_alone(store: PinStore, tmp_path: Path) -> None:
    store.pin([pinned()])
    folder = tmp_path / "state" / "mcp"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "pins.json").stat().st_mode & 0o777 == 0o600


def test_a_projects_servers_count_in_that_project_only(store: PinStore) -> None:
    store.pin([pinned(), pinned(name="p", project="/p"), pinned(name="q", project="/q")])
    assert names(store, "/p") == ["p", "s"]
    assert names(store, "/elsewhere") == ["s"]


def test_a_new_pin_replaces_the_one_before_it_whichever_clients_share_it_now(
    store: PinStore,
) -> None:
    store.pin([pinned()])
    store.pin([pinned({**TOOL, "name": "b"}, clients=("codex", "cursor"))])
    (pin,) = store.standing("/p").pins
    assert list(pin.tools) == ["b"]


def change(tool: str, text: str = "") -> Change:
    return Change(server="s", tool=tool, kind="changed", text=text)


def test_a_change_that_was_seen_is_remembered_until_it_is_pinned_again(store: PinStore) -> None:
    pin = pinned()
    store.pin([pin])
    store.saw([(pin, [change("a", "first")])])
    store.saw([(pin, [])])
    store.saw([(pin, [change("b")])])
    store.saw([(pin, [Change(server="s", kind="not reached")])])
    seen = store.standing("/p").seen.changes
    assert [(each.tool, each.text) for each in seen[pin.key]] == [("a", "first"), ("b", "")]
    store.pin([pinned(name="other")])
    assert pin.key in store.standing("/p").seen.changes
    store.pin([pinned()])
    assert store.standing("/p").seen.changes == {}


def test_forgetting_drops_the_pin_and_what_was_seen(store: PinStore) -> None:
    pin = pinned()
    store.pin([pin, pinned(name="other")])
    store.saw([(pin, [change("a")])])
    assert store.forget(["s", "nobody"], "/p") == ["s"]
    standing = store.standing("/p")
    assert ([each.name for each in standing.pins], standing.seen.changes) == (["other"], {})


def test_a_projects_file_counts_only_as_it_was_accepted(store: PinStore, tmp_path: Path) -> None:
    project = str(tmp_path)
    path = store.pin_project(project, [pinned(project=project)])
    assert path == os.path.join(project, PROJECT_FILE)
    assert names(store, project) == ["s"]
    stranger = PinStore(str(tmp_path / "stranger"))
    assert names(stranger, project) == []
    assert "hookline mcp pin --accept" in stranger.standing(project).note
    found = stranger.project_file(project)
    assert found is not None
    stranger.accept(*found)
    assert names(stranger, project) == ["s"]
    body = json.loads(Path(path).read_text())
    body["servers"][0]["tools"]["evil"] = {"sha256": "0" * 64, "text": ""}
    Path(path).write_text(json.dumps(body))
    assert names(stranger, project) == []
    assert "not as it was accepted" in stranger.standing(project).note


def test_a_projects_file_names_no_directory_of_anybodys(store: PinStore, tmp_path: Path) -> None:
    project = str(tmp_path)
    path = store.pin_project(project, [pinned(project=project)])
    assert project not in Path(path).read_text()


def test_a_projects_file_takes_further_servers(store: PinStore, tmp_path: Path) -> None:
    project = str(tmp_path)
    store.pin_project(project, [pinned(project=project)])
    store.pin_project(project, [pinned(project=project, name="t")])
    assert names(store, project) == ["s", "t"]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"servers": 3}', b'{"other": 1}', b"\xff"])
def test_damaged_pins_are_an_error_that_names_the_file(
    store: PinStore, tmp_path: Path, content: bytes
) -> None:
    store.pin([pinned()])
    (tmp_path / "state" / "mcp" / "pins.json").write_bytes(content)
    with pytest.raises(TrustError, match=r"pins\.json` is no file of pins"):
        store.standing("/p")


def test_pins_that_others_can_write_are_refused(store: PinStore, tmp_path: Path) -> None:
    store.pin([pinned()])
    (tmp_path / "state" / "mcp" / "pins.json").chmod(0o666)
    with pytest.raises(TrustError, match="others can write"):
        store.standing("/p")


@pytest.mark.parametrize("kinds_of_lines", [2, 8, 150])
def test_texts_that_are_slow_to_compare_are_shown_and_not_compared(kinds_of_lines: int) -> None:
    # Line by line this takes minutes for one server, in which nobody would get an answer.
    before, after = (
        [
            {
                "name": f"t{tool}",
                "description": "\n".join(map(str, _lines(tool + by, kinds_of_lines))),
            }
            for tool in range(40)
        ]
        for by in (0, 1)
    )
    changes = compared(pinned(*before), {each["name"]: each for each in after})
    assert len(changes) == 40
    assert all(line[0] in "+- …@" for line in changes[0].text.splitlines())
    assert "lines more" in changes[0].text


def _lines(seed: int, kinds_of_lines: int) -> list[int]:
    numbers = Random(seed)
    return [numbers.randrange(kinds_of_lines) for _ in range(5_000)]


def test_a_change_far_along_a_line_is_shown() -> None:
    words = "Finds things. " * 50
    pin = pinned({"name": "a", "description": words})
    (change,) = compared(pin, {"a": {"name": "a", "description": words + "Sends them."}})
    assert "Sends them." in change.text
