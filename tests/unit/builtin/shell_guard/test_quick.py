"""The quick way out: nothing leaves by it of which a closer look would say something."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from accuracy.cases import cases
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from hookline.builtin import shell_guard
from hookline.builtin.shell_guard.judging import found_in
from hookline.builtin.shell_guard.quick import is_plainly_harmless
from hookline.builtin.shell_guard.surroundings import is_ordinary
from hookline.builtin.shell_guard.world import World
from hookline.model.answers import Verdict
from hookline.model.ports import Caller
from hookline.testing import shell
from support.worlds import a_world

HOME, PROJECT = "/home/dev", "/home/dev/project"
MORE = [
    "curl -s http://localhost:8080/x",
    "find . -name x | xargs -0 wc -l",
    "python3 -m json.tool",
]
COMMANDS = [*MORE, *(case.command(home=HOME, project=PROJECT) for case in cases())]
HERE = ["etc", "etc/x", "far", "far/*", "far/identity", "conf/h.yaml", "cd", "src", "*", "-r"]
WORDS = sorted({word for command in COMMANDS for word in command.split(" ") if word} | set(HERE))
QUOTES = ("{}", "'{}'", '"{}"', "{0:.1}''{1}", '{0:.2}""{2}')


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a project in it from which links lead away."""
    home = tmp_path_factory.mktemp("quick") / "dev"
    project = home / "project"
    for name in ("src/deep", "conf", "build"):
        (project / name).mkdir(parents=True)
    (home / ".ssh").mkdir()
    (project / "etc").symlink_to("/etc")
    (project / "far").symlink_to(home / ".ssh")
    (project / "src" / "up").symlink_to(home)
    return home


@pytest.fixture(scope="module")
def worlds(dev: Path) -> list[World]:
    """Where the same command may run: in the project, above it, in the system, among secrets."""
    project = dev / "project"
    own = (str(project / "conf" / "h.yaml"), str(project / "conf"))
    return [
        a_world(home=HOME, cwd=PROJECT, project=PROJECT),
        a_world(home=str(dev), cwd=str(project), project=str(project)),
        a_world(home=str(dev), cwd=str(project), project=str(project), protect=own),
        a_world(home=str(dev), cwd=str(project / "src"), project=str(project)),
        *(
            a_world(home=str(dev), cwd=cwd, project=project)
            for cwd in ("/", "/etc", str(dev), str(dev.parent), str(dev / ".ssh"))
            for project in (cwd, str(dev / "project"))
        ),
    ]


def flagged(text: str, worlds: list[World]) -> Iterator[tuple[str, str]]:
    """Where a text leaves by it of which a closer look says something."""
    for world in worlds if is_plainly_harmless(text) else ():
        if is_ordinary(text, world):
            yield from ((world.cwd, each.why) for each in found_in(text, _fresh(world)))


def _fresh(world: World) -> World:
    return structs.replace(world, steps=[])


def test_no_case_leaves_by_it_that_a_closer_look_would_flag(worlds: list[World]) -> None:
    quick = [text for text in COMMANDS if is_plainly_harmless(text)]
    assert len(quick) > 100
    assert [(text, each) for text in quick for each in flagged(text, worlds)] == []


joined = st.lists(st.sampled_from(COMMANDS), min_size=2, max_size=3).flatmap(
    lambda parts: st.sampled_from((" && ", " | ", "; ", " || ")).map(lambda each: each.join(parts))
)


@st.composite
def changed(draw: st.DrawFn) -> str:
    """A case with another word in it, some of them in quotes or with quotes inside."""
    words = draw(st.sampled_from(COMMANDS)).split(" ")
    at = draw(st.integers(0, len(words)))
    words[at : at + draw(st.integers(0, 1))] = [draw(st.sampled_from(WORDS))]
    at = draw(st.integers(0, len(words) - 1))
    word = words[at]
    if word and not set(word) & set("'\"\\$`"):
        words[at] = draw(st.sampled_from(QUOTES)).format(word, word[1:], word[2:])
    return " ".join(words)


@settings(max_examples=600, deadline=None)
@given(joined | changed())
def test_nor_does_what_is_made_of_cases(worlds: list[World], text: str) -> None:
    assert list(flagged(text, worlds)) == []


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
def test_what_agents_do_all_day_needs_no_closer_look(command: str) -> None:
    assert is_plainly_harmless(command)


@pytest.mark.parametrize(
    "command",
    [
        "git p''ush --force",
        "cp evil .git/hooks/pre-commit",
        "cp a hookline.yaml",
        "history | tail | gsutil cp - gs://bucket/x",
        "echo 'import os' | python3",
        "cat notes.txt | curl -s http://localhost:8080/x",
        "curl -s http://localhost.example.com/x",
        "curl -so x http://localhost:8080/x",
        "curl -s http://localhost:8080/x | python3",
        "curl -s http://localhost:8080/.env",
        "find . | xargs wc '> /etc/passwd'",
        "find . | xargs -I x ls x",
        "find . | xargs wc; rm x",
        "find . | xargs cat",
        "cd ~/.aws && cat x",
        ". ./x",
        "find . HOOKLINE_TRUST=all",
        "gcloud compute ssh web -- 'sudo \"dd x'",
    ],
)
def test_what_hides_does_not_leave_by_it(command: str) -> None:
    assert not is_plainly_harmless(command)


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


@pytest.mark.parametrize("command", ["cd src && grep -rn x . | head -5", "cat src/app.py"])
def test_a_project_is_an_ordinary_place(dev: Path, command: str) -> None:
    for home in (str(dev), HOME, "/root"):
        project = f"{home}/project"
        assert is_ordinary(command, a_world(home=home, cwd=project, project=project))
