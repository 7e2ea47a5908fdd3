"""An agent that edits, deletes or shadows its guard, or leaves the directory, changes nothing.

Each test trusts a project whose config denies by rule and by script, lets an agent do its worst
with the files, and fires the same events again.
"""

import asyncio
import os
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from msgspec.structs import replace

from hookline.app import App
from hookline.config import reading
from hookline.model.answers import Verdict
from hookline.model.errors import TrustError
from hookline.model.outcome import Outcome
from hookline.pipeline.judge import judge
from hookline.testing import shell

CONFIG = """\
version: 1
hooks:
  - name: by rule
    on: pre_tool_use
    match: {tool: shell, command: "rule*"}
    deny: The rule says no.
  - name: by script
    on: pre_tool_use
    match: {tool: shell, command: "script*"}
    run: ./scripts/guard.sh
  - name: by list
    on: pre_tool_use
    match: {tool: shell, command: "list*"}
    run: [sh, scripts/guard.sh]
"""
GUARD = "#!/bin/sh\necho 'The script says no.' >&2\nexit 2\n"
WEAK = "#!/bin/sh\nexit 0\n"
EMPTY = "version: 1\n"


class Project:
    """A trusted project, and an agent session in it."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "work/project"
        (self.root / ".git").mkdir(parents=True)
        self.dot = self.root / ".hookline"
        self.dot.mkdir()
        self.config = self.dot / "hookline.yaml"
        self.config.write_text(CONFIG)
        self.guard = self.root / "scripts/guard.sh"
        self.guard.parent.mkdir()
        self.guard.write_text(GUARD)
        self.guard.chmod(0o755)
        self.home = base / "home"
        self.app().loader.trust(str(self.config))

    def app(self) -> App:
        """A new process, as each event of an agent may be."""
        return App(
            env={"PATH": os.defpath, "HOME": str(self.base / "person")},
            cwd=str(self.root),
            home=str(self.home),
            managed=str(self.base / "no/managed.yaml"),
            remember=True,
        )

    def fire(
        self, command: str, *, session: str = "s1", cwd: str | Path = "", app: App | None = None
    ) -> Outcome:
        event = replace(shell(command), session_id=session, cwd=str(self.root / cwd))
        return asyncio.run(judge(event, app or self.app()))

    def hold(self, *commands: str, session: str = "s1", cwd: str | Path = "") -> None:
        """Every guard still denies, for its own reason."""
        for command in commands or ("rule", "script"):
            outcome = self.fire(command, session=session, cwd=cwd)
            assert outcome.verdict is Verdict.DENY
            source = "rule" if command == "rule" else "script"
            assert f"The {source} says no." in outcome.reason


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project(tmp_path.resolve())
    project.hold("rule")
    return project


def test_the_guards_are_in_force_to_begin_with(project: Project) -> None:
    project.hold("rule", "script", "list")
    assert project.fire("other").verdict is Verdict.PASS


# What an agent can do to the config.


def edit(project: Project) -> None:
    project.config.write_text(EMPTY)


def edit_in_place(project: Project) -> None:
    stamps = project.config.stat()
    project.config.write_text(CONFIG.replace("no.", "ok."))
    os.utime(project.config, ns=(stamps.st_atime_ns, stamps.st_mtime_ns))


def allow_everything(project: Project) -> None:
    project.config.write_text("version: 1\nhooks:\n  - {on: pre_tool_use, allow: fine}\n")


def break_it(project: Project) -> None:
    project.config.write_text("version: 1\nhooks: [}")


def grow_it(project: Project) -> None:
    with project.config.open("ab") as file:
        file.truncate(50_000_000)


def empty_it(project: Project) -> None:
    project.config.write_bytes(b"")


def delete(project: Project) -> None:
    project.config.unlink()


def delete_directory(project: Project) -> None:
    shutil.rmtree(project.dot)


def make_unreadable(project: Project) -> None:
    # For root no mode is unreadable; a directory is, for everybody.
    project.config.unlink()
    project.config.mkdir()


def forbid_reading(project: Project) -> None:
    project.config.chmod(0)


def forbid_entering(project: Project) -> None:
    project.dot.chmod(0)


def put_pipe(project: Project) -> None:
    project.config.unlink()
    os.mkfifo(project.config)


def link_elsewhere(project: Project) -> None:
    other = project.base / "elsewhere.yaml"
    other.write_text(EMPTY)
    project.config.unlink()
    project.config.symlink_to(other)


def link_to_nothing(project: Project) -> None:
    project.config.unlink()
    project.config.symlink_to("nowhere")


def link_to_itself(project: Project) -> None:
    project.config.unlink()
    project.config.symlink_to(project.config.name)


def link_directory(project: Project) -> None:
    other = project.base / "elsewhere"
    other.mkdir()
    (other / "hookline.yaml").write_text(EMPTY)
    project.dot.rename(project.root / "hidden")
    project.dot.symlink_to(other)


def put_file_for_directory(project: Project) -> None:
    shutil.rmtree(project.dot)
    project.dot.write_text("in the way")


def shadow_with_a_sibling(project: Project) -> None:
    (project.root / "hookline.yaml").write_text("version: 1\ndisable: [by rule, by script]\n")


def shadow_with_a_nearer_one(project: Project) -> None:
    (project.root / "src").mkdir()
    (project.root / "src/hookline.yaml").write_text(EMPTY)


def shadow_with_a_nearer_repository(project: Project) -> None:
    (project.root / "src/.git").mkdir(parents=True)
    (project.root / "src/hookline.yaml").write_text(EMPTY)


def remove_git(project: Project) -> None:
    shutil.rmtree(project.root / ".git")


def move_root_away(project: Project) -> None:
    project.root.rename(project.base / "work/moved")
    project.root.mkdir()


def replace_root_by_a_link(project: Project) -> None:
    project.root.rename(project.base / "work/moved")
    (project.base / "evil").mkdir()
    project.root.symlink_to(project.base / "evil")


def replace_a_parent_by_a_link(project: Project) -> None:
    project.root.parent.rename(project.base / "moved")
    (project.base / "evil/project").mkdir(parents=True)
    project.root.parent.symlink_to(project.base / "evil")


def trade_places_with_a_trusted_config(project: Project) -> None:
    other = project.base / "other"
    other.mkdir()
    (other / "hookline.yaml").write_text(EMPTY)
    project.app().loader.trust(str(other / "hookline.yaml"))
    project.config.unlink()
    project.config.symlink_to(other / "hookline.yaml")


@pytest.mark.parametrize(
    "attack",
    [
        edit,
        edit_in_place,
        allow_everything,
        break_it,
        grow_it,
        empty_it,
        delete,
        delete_directory,
        make_unreadable,
        forbid_reading,
        forbid_entering,
        put_pipe,
        link_elsewhere,
        link_to_nothing,
        link_to_itself,
        link_directory,
        put_file_for_directory,
        shadow_with_a_sibling,
        shadow_with_a_nearer_one,
        shadow_with_a_nearer_repository,
        remove_git,
        move_root_away,
        replace_root_by_a_link,
        replace_a_parent_by_a_link,
        trade_places_with_a_trusted_config,
    ],
)
class TestTheConfig:
    def test_the_session_goes_on_under_its_guards(
        self, project: Project, attack: Callable[[Project], None]
    ) -> None:
        attack(project)
        project.hold()

    def test_so_does_a_process_that_has_loaded_it_already(
        self, project: Project, attack: Callable[[Project], None]
    ) -> None:
        running = project.app()
        assert project.fire("rule", app=running).verdict is Verdict.DENY
        attack(project)
        assert project.fire("rule", app=running).verdict is Verdict.DENY

    def test_a_new_session_starts_under_them(
        self, project: Project, attack: Callable[[Project], None]
    ) -> None:
        attack(project)
        project.hold(session="s2")

    def test_a_new_session_that_starts_below_does_too(
        self, project: Project, attack: Callable[[Project], None]
    ) -> None:
        attack(project)
        project.hold(session="s3", cwd="src")


# What an agent can do to the script.


def edit_script(project: Project) -> None:
    project.guard.write_text(WEAK)


def delete_script(project: Project) -> None:
    project.guard.unlink()


def delete_scripts(project: Project) -> None:
    shutil.rmtree(project.guard.parent)


def forbid_reading_the_script(project: Project) -> None:
    project.guard.chmod(0)


def take_the_bit(project: Project) -> None:
    project.guard.chmod(0o644)


def link_script_elsewhere(project: Project) -> None:
    weak = project.base / "weak.sh"
    weak.write_text(WEAK)
    weak.chmod(0o755)
    project.guard.unlink()
    project.guard.symlink_to(weak)


def link_script_inside(project: Project) -> None:
    weak = project.root / "weak.sh"
    weak.write_text(WEAK)
    weak.chmod(0o755)
    project.guard.unlink()
    project.guard.symlink_to(weak)


def link_scripts(project: Project) -> None:
    weak = project.base / "weak"
    weak.mkdir()
    (weak / "guard.sh").write_text(WEAK)
    (weak / "guard.sh").chmod(0o755)
    project.guard.parent.rename(project.root / "hidden")
    project.guard.parent.symlink_to(weak)


def put_directory_for_script(project: Project) -> None:
    project.guard.unlink()
    project.guard.mkdir()


def put_pipe_for_script(project: Project) -> None:
    project.guard.unlink()
    os.mkfifo(project.guard)


def edit_script_and_tamper_with_the_copy(project: Project) -> None:
    edit_script(project)
    project.hold()
    for copy in (project.home / "trust/run").rglob("guard.sh"):
        copy.chmod(0o700)
        copy.write_text(WEAK)


@pytest.mark.parametrize(
    "attack",
    [
        edit_script,
        delete_script,
        delete_scripts,
        forbid_reading_the_script,
        take_the_bit,
        link_script_elsewhere,
        link_script_inside,
        link_scripts,
        put_directory_for_script,
        put_pipe_for_script,
        edit_script_and_tamper_with_the_copy,
    ],
)
def test_the_script_runs_as_it_was_trusted(
    project: Project, attack: Callable[[Project], None]
) -> None:
    attack(project)
    project.hold("script", "list")
    project.hold("script", "list", session="s2", cwd="src")


# Leaving.


@pytest.mark.parametrize("place", ["/", "/tmp", "..", "../..", "../sibling", "/no/such/place"])
def test_leaving_the_directory_changes_nothing(project: Project, place: str) -> None:
    project.hold(cwd=place)


def test_a_repository_of_its_own_elsewhere_changes_nothing(project: Project) -> None:
    (project.base / "fresh/.git").mkdir(parents=True)
    project.hold(cwd=project.base / "fresh")


# What a hostile repository can do before it is trusted.


def test_a_repository_that_links_to_a_trusted_config_borrows_no_trust(project: Project) -> None:
    hostile = project.base / "hostile"
    (hostile / "scripts").mkdir(parents=True)
    (hostile / ".hookline").symlink_to(project.dot)
    (hostile / "scripts/guard.sh").write_text("#!/bin/sh\ntouch ran\n")
    (hostile / "scripts/guard.sh").chmod(0o755)
    outcome = project.fire("script", session="s9", cwd=hostile)
    assert outcome.verdict is Verdict.PASS
    assert not (hostile / "ran").exists()


def test_a_copy_of_a_trusted_project_is_not_trusted(project: Project) -> None:
    copy = project.base / "copy"
    shutil.copytree(project.root, copy)
    outcome = project.fire("rule", session="s9", cwd=copy)
    assert outcome.verdict is Verdict.PASS
    assert any("not trusted" in text for text in outcome.answer.notice)


def test_a_script_that_appears_after_trust_does_not_run(project: Project) -> None:
    late = project.root / "hookline.yaml"
    late.write_text(
        "version: 1\nhooks:\n  - {name: late, on: pre_tool_use, run: sh ./scripts/late.sh}\n"
    )
    project.app().loader.trust(str(late))
    (project.root / "scripts/late.sh").write_text("touch ran; exit 0\n")
    outcome = project.fire("other")
    assert outcome.verdict is Verdict.DENY
    assert "was not there when the config was trusted" in outcome.reason
    assert not (project.root / "ran").exists()


# The store.


@pytest.mark.parametrize("pattern", ["*.json", "blobs/*"])
def test_a_store_that_was_tampered_with_closes_the_gate(project: Project, pattern: str) -> None:
    for path in (project.home / "trust").glob(pattern):
        path.write_text("{}")
    with pytest.raises(TrustError, match="damaged"):
        project.fire("other")


def test_an_older_version_does_not_come_back_when_the_newer_one_is_edited(
    project: Project,
) -> None:
    project.config.write_text(CONFIG.replace("The rule says no.", "Stricter."))
    project.app().loader.trust(str(project.config))
    project.config.write_text(CONFIG)
    assert "Stricter." in project.fire("rule").reason


# The moment of trust.


def test_a_file_swapped_while_it_is_being_trusted_is_stored_as_it_was_seen(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file is opened once, so there is no second reading to swap it for."""
    loader = project.app().loader
    opened: list[str] = []
    original = reading.read_file

    def swapping(path: str, *, limit: int) -> tuple[bytes, bool]:
        seen = original(path, limit=limit)
        opened.append(path)
        Path(path).write_text("version: 1\n# swapped\n")
        return seen

    with monkeypatch.context() as patched:
        patched.setattr(reading, "read_file", swapping)
        draft = loader.draft(str(project.config))
    trusted = loader.store.trust(draft.config, draft.readings)
    assert opened == [str(project.config), str(project.guard)]
    assert trusted.read(str(project.config)) == CONFIG.encode()
    assert trusted.read(str(project.guard)) == GUARD.encode()
    project.hold()


class TestVouchedByHash:
    """HOOKLINE_TRUST with hashes trusts those bytes and no others."""

    CONFIG = b"version: 1\nhooks:\n  - {name: g, on: pre_tool_use, run: ./g.sh}\n"
    DENIES = b"#!/bin/sh\necho no >&2; exit 2\n"

    def verdict(self, project: Path, *vouched: bytes) -> tuple[str, str]:
        hashes = ",".join(sha256(content).hexdigest() for content in vouched)
        env = {"HOME": str(project), "PATH": "/usr/bin:/bin"}

        async def fire() -> Outcome:
            app = App(env=env, cwd=str(project), home=str(project / "state"), trust=hashes)
            return await judge(shell("ls"), app)

        outcome = asyncio.run(fire())
        return outcome.verdict.value, outcome.reason

    def project(self, tmp_path: Path, script: bytes) -> Path:
        (tmp_path / "hookline.yaml").write_bytes(self.CONFIG)
        (tmp_path / "g.sh").write_bytes(script)
        (tmp_path / "g.sh").chmod(0o755)
        return tmp_path

    def test_a_config_and_its_script_run_when_both_are_named(self, tmp_path: Path) -> None:
        project = self.project(tmp_path, self.DENIES)
        verdict, reason = self.verdict(project, self.CONFIG, self.DENIES)
        assert verdict == "deny"
        assert reason == "no"

    def test_a_script_that_was_changed_closes_the_gate(self, tmp_path: Path) -> None:
        project = self.project(tmp_path, b"#!/bin/sh\nexit 0\n")
        verdict, reason = self.verdict(project, self.CONFIG, self.DENIES)
        assert verdict == "deny"
        assert "HOOKLINE_TRUST does not name" in reason
