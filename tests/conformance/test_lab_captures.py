"""The recordings that `hookline lab capture` made and hookline comes with are fit to compare with."""

import re
from pathlib import Path

import pytest

import hookline
from hookline.lab.naming import client
from hookline.lab.recordings import read_recordings
from hookline.lab.scenarios import scenarios_for

DIALECTS = Path(hookline.__file__).parent / "dialects"
FOLDERS = sorted(DIALECTS.glob("*/captures/lab"))
BY_CLIENT = [pytest.param(folder, id=folder.parent.parent.name) for folder in FOLDERS]


def test_there_are_some() -> None:
    names = {folder.parent.parent.name for folder in FOLDERS}
    assert names == {"claude_code", "codex", "copilot", "gemini"}


@pytest.mark.parametrize("folder", BY_CLIENT)
def test_they_are_of_the_pinned_version_and_say_when_they_were_made(folder: Path) -> None:
    pinned = client(folder.parent.parent.name.replace("_", "-")).package.version
    for each in read_recordings(str(folder)):
        assert each.version == pinned, f"{each.name}: record again with the pinned version"
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", each.recorded), each.name


@pytest.mark.parametrize("folder", BY_CLIENT)
def test_every_scenario_was_played_and_can_be_played_again(folder: Path) -> None:
    recordings = read_recordings(str(folder))
    played = {name for each in recordings for name in each.scenarios}
    assert played == {each.name for each in scenarios_for(recordings[0].client)}


@pytest.mark.parametrize("folder", BY_CLIENT)
def test_they_name_no_machine(folder: Path) -> None:
    elsewhere = re.compile(
        r"/(?:home|Users)/(?!dev\b|lab\b)\w+|/ro{2}t/|/hl-\w|sk-ant-|lab-dummy-key"
    )
    for path in folder.glob("*.json"):
        found = elsewhere.search(path.read_text(encoding="utf-8"))
        assert found is None, f"{path.name}: {found}"
