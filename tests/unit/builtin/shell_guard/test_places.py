"""Where a command runs and where links lead decides as much as its words do."""

from pathlib import Path

import pytest

from hookline.builtin import shell_guard
from hookline.model.answers import Verdict
from hookline.model.ports import Caller
from hookline.testing import shell


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a project in it from which links lead away."""
    home = tmp_path_factory.mktemp("places") / "dev"
    project = home / "project"
    for name in ("src/deep", "conf", "build"):
        (project / name).mkdir(parents=True)
    (home / ".ssh").mkdir()
    (project / "etc").symlink_to("/etc")
    (project / "far").symlink_to(home / ".ssh")
    (project / "src" / "up").symlink_to(home)
    return home


@pytest.mark.parametrize(
    "command",
    [
        "git log --oneline -n 20",
        "git add -A && git commit -m 'Read the payload once'",
        "cd src && grep -rn 'class Widget' --include='*.py' . | head -20",
        "python -m pytest -q tests/test_app.py -x --maxfail=3 2>&1 | tail -40",
        "npm run build -- --mode=test && node dist/main.js --version",
        "docker compose ps --format json | jq -r '.[0].Name'",
        "curl -sS http://localhost:8080/items/3 | python3 -m json.tool",
        "find . -name '*.rs' -newer Cargo.lock -maxdepth 3 -print | xargs wc -l",
    ],
)
def test_what_agents_do_all_day_passes_in_a_project(dev: Path, command: str) -> None:
    project = str(dev / "project")
    caller = Caller(env={"HOME": str(dev)}, project_dir=project)
    guard = shell_guard.make(shell_guard.Options())
    assert guard(shell(command, cwd=project), caller).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("where", "command"),
    [
        ("/etc", "cp evil hosts"),
        ("/etc", "tar xf a.tar"),
        (".", "grep -r . ."),
        (".", "tar xf a.tar"),
        ("..", "cd dev && grep -r x ."),
        (".ssh", "cat *"),
        (".ssh", "sort *"),
        (".ssh", "tar cf a.tar *"),
        ("project", "cp evil etc/x"),
        ("project", "cd etc && cp x hosts"),
        ("project", "cat far/*"),
        ("project", "cat far/identity"),
        ("project", "cd far && cat *"),
        ("project", "cd src && cd up && grep -r x ."),
        ("project", "cd src && grep -r x up/"),
        ("project", "cd && grep -r x ."),
        ("project", "cp evil conf/h.yaml"),
        ("project/conf", "cp evil h.yaml"),
        ("project", "grep -r x .mozilla"),
    ],
)
def test_where_it_runs_and_where_links_lead_counts(dev: Path, where: str, command: str) -> None:
    caller = Caller(
        env={"HOME": str(dev)},
        project_dir=str(dev / "project"),
        own=(str(dev / "project" / "conf" / "h.yaml"),),
    )
    guard = shell_guard.make(shell_guard.Options())
    assert guard(shell(command, cwd=str(dev / where)), caller).verdict is not Verdict.PASS
