"""What is in force changes under a running daemon: the very next event is judged by it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.faults import World
from support.person import command_line

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="these look into /proc")

PROJECT = """\
version: 1
hooks:
  - name: nothing is deployed
    on: pre_tool_use
    match: {command: "deploy *"}
    deny: Nothing is deployed here.
"""


def hookline(place: World, *words: str) -> None:
    """``hookline WORDS`` as the person of this world calls it."""
    env = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(place.base),
        "XDG_CONFIG_HOME": str(place.user_dir),
        "HOOKLINE_HOME": str(place.state),
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        [str(place.python), *command_line(*words, says="yes")[1:]],
        cwd=place.project,
        env=env,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


def test_an_edited_config_counts_from_the_very_next_event(place: World) -> None:
    daemon = place.daemon()
    text = place.user_file.read_text()
    for number in range(60):
        word = f"w{number:02}"
        place.user_file.write_text(text.replace("rm *", f"{word} *"))
        assert place.ask(f"{word} x").blocks, number
        assert not place.ask(f"w{(number - 1) % 100:02} x").blocks, number
    assert place.daemon().pid == daemon.pid


def test_an_edit_that_keeps_size_and_time_counts_too(place: World) -> None:
    place.daemon()
    before = place.user_file.stat()
    text = place.user_file.read_text()
    for number in range(30):
        word = f"w{number:02}"
        place.user_file.write_text(text.replace("rm *", f"{word} *"))
        size = place.user_file.stat().st_size
        os.utime(place.user_file, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert place.ask(f"{word} x").blocks, number
        assert not place.ask(f"w{(number - 1) % 100:02} x").blocks, number
        assert place.user_file.stat().st_size == size
        assert place.user_file.stat().st_mtime_ns == before.st_mtime_ns


def test_a_config_put_in_place_by_a_rename_counts_from_the_very_next_event(place: World) -> None:
    place.daemon()
    text = place.user_file.read_text()
    before = place.user_file.stat()
    for number in range(30):
        word = f"w{number:02}"
        fresh = place.user_file.with_name("fresh")
        fresh.write_text(text.replace("rm *", f"{word} *"))
        os.utime(fresh, ns=(before.st_atime_ns, before.st_mtime_ns))
        os.replace(fresh, place.user_file)
        assert place.ask(f"{word} x").blocks, number


def test_a_config_that_comes_goes_or_breaks_counts_from_the_very_next_event(place: World) -> None:
    place.daemon()
    text = place.user_file.read_text()
    for _ in range(5):
        place.user_file.unlink()
        assert not place.ask().blocks
        place.user_file.write_text("hooks: [")
        assert place.ask("ls").blocks
        place.user_file.write_text(text)
        assert place.ask().blocks
        assert not place.ask("ls").blocks


def test_trust_and_its_end_count_from_the_very_next_event(place: World) -> None:
    daemon = place.daemon()
    config = place.project / "hookline.yaml"
    for _ in range(3):
        config.write_text(PROJECT)
        assert not place.ask("deploy now").blocks
        hookline(place, "trust")
        assert place.ask("deploy now").blocks
        config.write_text(PROJECT.replace("deploy *", "launch *"))
        # Until somebody trusts the new one, the old one is in force.
        assert place.ask("deploy now").blocks
        assert not place.ask("launch now").blocks
        hookline(place, "trust")
        assert place.ask("launch now").blocks
        assert not place.ask("deploy now").blocks
        hookline(place, "trust", "--revoke")
        assert not place.ask("launch now").blocks
    assert place.daemon().pid == daemon.pid


def test_a_script_that_was_changed_after_it_was_trusted_never_runs(place: World) -> None:
    place.daemon()
    script = place.project / "check.sh"
    script.write_text("#!/bin/sh\necho No. >&2; exit 2\n")
    script.chmod(0o755)
    (place.project / "hookline.yaml").write_text(
        "version: 1\nhooks:\n  - {name: checks, on: pre_tool_use, run: ./check.sh}\n"
    )
    hookline(place, "trust")
    assert place.ask("deploy now").blocks
    before = script.stat()
    script.write_text("#!/bin/sh\necho No. >&2; exit 0\n")
    os.utime(script, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert script.stat().st_size == before.st_size
    assert place.ask("deploy now").blocks


def test_where_the_daemon_caches_and_a_new_process_does_not_they_agree(place: World) -> None:
    daemon = place.daemon()
    rules = Path(place.user_file)
    text = rules.read_text()
    for word in ("rm", "mv", "cp"):
        rules.write_text(text.replace("rm *", f"{word} *"))
        warm = [place.ask(f"{each} a b").blocks for each in ("rm", "mv", "cp")]
        os.kill(daemon.pid, 9)
        cold = [place.ask(f"{each} a b").blocks for each in ("rm", "mv", "cp")]
        assert warm == cold == [each == word for each in ("rm", "mv", "cp")]
        daemon = place.daemon()
