"""The log never grows beyond its limit, follows no link, and holds no secret."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

from hookline.daemon.log import Log, log_path


def test_a_line_says_when_and_who(tmp_path: Path) -> None:
    log = Log()
    log.note("before it has a place")
    log.at(str(tmp_path))
    log.note("one")
    log.note("two\nlines")
    file = Path(log_path(str(tmp_path)))
    lines = file.read_text().splitlines()
    assert re.fullmatch(rf"\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\dZ {os.getpid()} one", lines[0])
    assert lines[1].endswith(" two")
    assert lines[2] == "  lines"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_it_is_turned_over_once_it_is_large(tmp_path: Path) -> None:
    log = Log()
    log.at(str(tmp_path))
    for number in range(400):
        log.note(f"{number} " + "x" * 10_000)
    file = Path(log_path(str(tmp_path)))
    before = Path(f"{file}.1")
    assert sorted(os.listdir(file.parent)) == ["daemon.log", "daemon.log.1"]
    assert file.stat().st_size <= 1 << 20
    assert before.stat().st_size <= 1 << 20
    assert " 399 x" in file.read_text()


def test_its_descriptor_stays_the_same_when_it_is_turned_over(tmp_path: Path) -> None:
    log = Log()
    assert log.number is None
    log.at(str(tmp_path))
    number = log.number
    assert number is not None
    for _ in range(120):
        log.note("x" * 10_000)
    file = Path(log_path(str(tmp_path)))
    assert Path(f"{file}.1").exists()
    assert log.number == number
    assert os.path.samestat(os.fstat(number), file.stat())
    assert not os.get_inheritable(number)


def test_two_processes_turn_it_over_once(tmp_path: Path) -> None:
    script = (
        "import sys; from hookline.daemon.log import Log\n"
        "log = Log(); log.at(sys.argv[1])\n"
        "for number in range(150): log.note('y' * 10_000)\n"
    )
    others = [subprocess.Popen([sys.executable, "-c", script, str(tmp_path)]) for _ in range(3)]
    for each in others:
        assert each.wait(60) == 0
    assert sorted(os.listdir(tmp_path / "logs")) == ["daemon.log", "daemon.log.1"]
    for line in (tmp_path / "logs/daemon.log").read_text().splitlines():
        assert re.fullmatch(r"\S+Z \d+ y{10000}", line)


def test_secrets_are_taken_out_of_every_line(tmp_path: Path) -> None:
    log = Log(redact=lambda text: text.replace("hunter2", "***"))
    log.at(str(tmp_path))
    log.note("the password is hunter2")
    assert Path(log_path(str(tmp_path))).read_text().endswith("the password is ***\n")


def test_a_link_is_not_followed_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "precious").write_text("keys")
    (tmp_path / "logs/daemon.log").symlink_to(tmp_path / "precious")
    log = Log()
    log.at(str(tmp_path))
    log.note("lost")
    assert (tmp_path / "precious").read_text() == "keys"
    nowhere = Log()
    nowhere.at("/proc/nowhere")
    nowhere.note("lost, too")


def test_half_characters_can_be_written_down(tmp_path: Path) -> None:
    log = Log()
    log.at(str(tmp_path))
    log.note("name \udcff")
    assert Path(log_path(str(tmp_path))).read_text().endswith(" name \\udcff\n")
