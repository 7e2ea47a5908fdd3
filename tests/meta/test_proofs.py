"""Runs of pytest on made-up interop tests: what they prove, what is written, when a run fails.

The clients are small programs of the tests' own that answer ``--version``.
"""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import evidence

pytest_plugins = ["pytester"]

TESTS = Path(__file__).resolve().parents[1]
FILE = "tests/interop/test_made_up.py"

CONFIG = """
[pytest]
addopts = --strict-markers --import-mode=importlib
xfail_strict = true
markers = proves(dialect, *claims): what is shown
"""

CONFTEST = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from interop import proofs


def pytest_addoption(parser, pluginmanager):
    pluginmanager.register(proofs, "hookline-proofs")
"""

HEAD = """
import pytest
from hookline.lab.ports import Package, Program


class Client:
    def __init__(self, name, version):
        self.id = self.dialect = name
        self.package = Package(packages=(f"{name}@{version}",), program=name)


CLAUDE, CODEX = Client("claude-code", "2.1.325"), Client("codex", "0.166.0")


@pytest.fixture
def run(request, record_client):
    def run(client):
        # What the test says of the version is not believed.
        program = request.config.rootpath / client.id
        return record_client(client, Program(argv=(str(program),), version="9.9.9"))

    return run


deny = pytest.mark.proves("claude-code", "PreToolUse.deny")
"""


class Suite:
    """A project with interop tests, two clients, and nothing committed yet."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self._pytester = pytester
        self.root = root = pytester.path
        self.file = evidence.place(root, "claude-code")
        for name in ("claude-code", "codex"):
            evidence.place(root, name).parent.mkdir(parents=True)
        (root / FILE).parent.mkdir(parents=True)
        (root / "pytest.ini").write_text(CONFIG, encoding="utf-8")
        (root / "tests/interop/conftest.py").write_text(CONFTEST, encoding="utf-8")
        self.client("claude-code", "2.1.325 (Claude Code)")
        self.client("codex", "codex-cli 0.166.0")

    def client(self, name: str, says: str) -> None:
        """A program that says this of its version."""
        path = self.root / name
        path.write_text(f"#!/bin/sh\necho '{says}'\n", encoding="utf-8")
        path.chmod(0o755)

    def tests(self, text: str) -> None:
        """What the made-up tests are."""
        (self.root / FILE).write_text(HEAD + text, encoding="utf-8")

    def commit(self, *facts: evidence.Fact) -> None:
        """As an earlier run has left it."""
        text = evidence.rendered(facts, evidence.supports()["claude-code"])
        self.file.write_text(text, encoding="utf-8")

    def run(self, *words: str, code: int = 0) -> str:
        """A run of pytest that ends like this; what it printed."""
        done = self._pytester.runpytest("tests/interop", "-p", "no:cacheprovider", *words)
        assert done.ret == code
        return done.stdout.str()

    def proven(self) -> set[evidence.Fact]:
        """What is committed."""
        return evidence.committed(self.root)


@pytest.fixture
def suite(pytester: pytest.Pytester) -> Suite:
    return Suite(pytester)


COMMITTED = evidence.Fact(
    "claude-code", "PreToolUse.deny", "claude-code", "2.1.325", f"{FILE}::test_it"
)


@pytest.mark.parametrize("words", [(), ("--numprocesses", "2")], ids=["alone", "in-parallel"])
def test_what_passes_is_written_with_the_version_that_the_program_tells(
    suite: Suite, words: tuple[str, ...]
) -> None:
    suite.tests(
        """
@pytest.mark.proves("claude-code", "PreToolUse.deny", "PreToolUse.fires", "untrusted.silent")
@pytest.mark.proves("codex", "PreToolUse.deny")
@pytest.mark.parametrize("client", [CLAUDE, CODEX], ids=["claude-code", "codex"])
def test_it(run, client):
    run(client)
"""
    )
    shown = suite.run("--write-evidence", *words)
    assert "4 proofs written, 0 taken back: run `make generate`" in shown
    assert {(each.client, each.version, each.claim, each.test) for each in suite.proven()} == {
        ("claude-code", "2.1.325", "PreToolUse.deny", f"{FILE}::test_it[claude-code]"),
        ("claude-code", "2.1.325", "PreToolUse.fires", f"{FILE}::test_it[claude-code]"),
        ("claude-code", "2.1.325", "untrusted.silent", f"{FILE}::test_it[claude-code]"),
        ("codex", "0.166.0", "PreToolUse.deny", f"{FILE}::test_it[codex]"),
    }
    assert "evidence" not in suite.run(*words)


def test_nothing_is_written_unless_it_is_asked_for(suite: Suite) -> None:
    suite.tests("@deny\ndef test_it(run):\n    assert run(CLAUDE) == '2.1.325'\n")
    shown = suite.run()
    assert f"1 new proofs are not committed: {evidence.REWRITE}" in shown
    assert not suite.file.exists()


@pytest.mark.parametrize(
    ("now", "code"),
    [
        ("@deny\ndef test_it(run):\n    run(CLAUDE)\n    assert 0\n", 1),
        ("@pytest.mark.xfail\n@deny\ndef test_it(run):\n    run(CLAUDE)\n    assert 0\n", 0),
        ("@pytest.fixture\ndef ends(run):\n    yield run\n    assert 0\n@deny\n"
         "def test_it(ends):\n    ends(CLAUDE)\n", 1),
        ("def test_it(run):\n    run(CLAUDE)\n", 0),
    ],
    ids=["failed", "expected-to-fail", "failed-at-its-end", "no-mark"],
)  # fmt: skip
def test_a_run_that_does_not_show_what_is_committed_fails_and_a_written_one_takes_it_back(
    suite: Suite, now: str, code: int
) -> None:
    suite.commit(COMMITTED)
    suite.tests(now)
    assert "claude-code: PreToolUse.deny is said to be proven" in suite.run(code=1)
    assert suite.proven() == {COMMITTED}
    assert "0 proofs written, 1 taken back" in suite.run("--write-evidence", code=code)
    assert suite.proven() == set()


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ("@pytest.mark.skip\n@deny\ndef test_it(run): ...\n", ()),
        ("@deny\ndef test_it(run):\n    pytest.skip('no npm')\n", ()),
        ("@deny\ndef test_it(run):\n    assert 0\ndef test_other(): ...\n", ("-k", "other")),
    ],
    ids=["skipped", "skips-itself", "deselected"],
)
def test_what_did_not_run_is_neither_missed_nor_taken_back(
    suite: Suite, now: str, words: tuple[str, ...]
) -> None:
    suite.commit(COMMITTED)
    suite.tests(now)
    assert "is said to be proven" not in suite.run(*words)
    assert "0 proofs written, 0 taken back" in suite.run("--write-evidence", *words)
    assert suite.proven() == {COMMITTED}


def test_a_broken_file_of_evidence_is_said_before_any_client_runs(suite: Suite) -> None:
    suite.file.write_text("[[proven]]\n", encoding="utf-8")
    suite.tests("def test_it(): ...\n")
    assert "passed" not in suite.run(code=pytest.ExitCode.USAGE_ERROR)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("@deny\ndef test_it(): ...\n", "what ran was no client: call record_client"),
        ("@deny\ndef test_it(run):\n    run(CODEX)\n", "what ran was codex 0.166.0: call"),
        (
            '@pytest.mark.proves("claude-code", "PreTolUse.deny")\ndef test_it(run): ...\n',
            "claude-code has no event `PreTolUse`; did you mean `PreToolUse`?",
        ),
    ],
    ids=["no-client", "other-client", "no-such-event"],
)
def test_a_test_that_cannot_prove_what_it_says_fails(suite: Suite, text: str, why: str) -> None:
    suite.tests(text)
    assert why in suite.run("--write-evidence", code=1)
    assert suite.proven() == set()


@pytest.mark.parametrize(
    ("says", "code", "why"),
    [
        ("2.1.999 (Claude Code)", 0, "ran claude-code 2.1.999, and 2.1.325 is pinned; this counts"),
        ("hello", 1, "what ran was claude-code of no version"),
    ],
    ids=["newer", "silent"],
)
def test_another_version_than_the_pinned_one_proves_nothing(
    suite: Suite, says: str, code: int, why: str
) -> None:
    suite.client("claude-code", says)
    suite.tests("@deny\ndef test_it(run):\n    run(CLAUDE)\n")
    assert why in suite.run("--write-evidence", code=code)
    assert suite.proven() == set()
