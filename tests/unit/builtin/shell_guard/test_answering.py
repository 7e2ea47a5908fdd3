"""What counts beside the text: where directories are now, whose homes there are, what lists say."""

import os
from pathlib import Path
from pwd import getpwuid
from typing import Any

import pytest

from hookline.builtin import shell_guard
from hookline.builtin.shell_guard import Options
from hookline.builtin.shell_guard.world import Place
from hookline.model.answers import Verdict
from hookline.model.ports import Caller
from hookline.testing import shell
from support.worlds import a_world


def verdict(command: str, cwd: Path, home: str, **options: Any) -> Verdict:
    caller = Caller(env={"HOME": home}, project_dir=str(cwd))
    return shell_guard.make(Options(**options))(shell(command, cwd=str(cwd)), caller).verdict


def test_a_directory_that_was_moved_is_found_where_it_is_now(home: Path) -> None:
    project = home / "project"
    (project / "build" / "x" / "sub").mkdir(parents=True)
    link = project / "l"
    link.symlink_to(project / "build" / "x")
    caller = Caller(env={"HOME": str(home)}, project_dir=str(project))
    event = shell("rm -rf ../../Documents", cwd=str(link / "sub"))
    guard = shell_guard.make(Options())
    assert guard(event, caller).verdict is Verdict.PASS  # below build/
    (project / "build" / "x").rename(home / "x")
    link.unlink()
    link.symlink_to(home / "x")
    assert guard(event, caller).verdict is Verdict.DENY


def test_what_is_denied_stays_denied_though_it_is_allowed_too(home: Path) -> None:
    lists = {"allow": ("git *",), "deny": ("git push*",)}
    project = home / "project"
    assert verdict("git push origin x", project, str(home), **lists) is Verdict.DENY
    assert verdict("git reset --hard", project, str(home), **lists) is Verdict.PASS


def test_what_is_protected_stays_so_though_the_command_is_allowed(home: Path) -> None:
    lists = {"allow": ("rm *",), "protect": ("docs",)}
    project = home / "project"
    assert verdict("rm docs/a.md", project, str(home), **lists) is Verdict.DENY
    assert verdict("rm -rf src", project, str(home), **lists) is Verdict.PASS


@pytest.mark.parametrize("given", ["/", "/etc", "/usr", "", "relative"])
def test_no_variable_makes_the_system_somebodys_own(home: Path, given: str) -> None:
    project = home / "project"
    account = getpwuid(os.getuid()).pw_dir
    assert verdict("rm -rf ~", project, given) is Verdict.DENY
    assert verdict("rm /etc/hosts", project, given) is Verdict.DENY
    assert verdict(f"cd {account} && grep -r x .", project, given) is Verdict.ASK


def test_the_accounts_home_is_one_wherever_the_variable_points() -> None:
    world = a_world(
        home="/home/dev", other_homes=("/data/people/dev",), cwd="/srv/app", project="/srv/app"
    )
    assert world.place("/data/people/dev") is Place.HOME
    assert world.place("/data/people/dev/Documents") is Place.PERSONAL
    assert world.place("/data/people") is Place.HOME
    assert world.place("/data/other") is Place.ELSEWHERE


def test_an_account_whose_home_is_the_root_makes_nothing_of_the_system_its_own() -> None:
    world = a_world(home="/home/dev", other_homes=("/",), cwd="/srv/app", project="/srv/app")
    assert world.place("/etc/hosts") is Place.SYSTEM


@pytest.mark.parametrize("given", ["/home/somebody", "/Users/somebody", "/data/somebody"])
def test_what_the_variable_names_is_home_where_that_is_not_the_system(given: str) -> None:
    caller = Caller(env={"HOME": given}, project_dir=f"{given}/project")
    event = shell("rm ~/project/src/a.py", cwd=f"{given}/project")
    assert shell_guard.make(Options())(event, caller).verdict is Verdict.PASS
