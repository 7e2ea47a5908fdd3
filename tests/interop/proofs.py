"""Which claims about the real clients a run has proved, and whether the committed ones are among them.

A plug-in of pytest: ``tests/interop/conftest.py`` registers it. A test says what it proves by
``@pytest.mark.proves("claude-code", "PreToolUse.deny")`` and tells by ``record_client`` which
client it runs; the version is what that client's own program says. ``--write-evidence`` commits
what passed to each dialect's ``evidence.toml``. Without it a run fails when one of its tests has
not shown what is committed of it.
"""

import sys
from collections.abc import Callable, Generator, Iterable
from functools import cache
from pathlib import Path

import pytest

from hookline.lab.finding import version_of
from hookline.lab.ports import Client, Program
from hookline.lab.rooms import furnished_room
from hookline.model.errors import HooklineError

# The tools are scripts of their own, so a test needs a road to them.
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
import evidence
import marks

__all__ = [
    "Run",
    "pytest_addoption",
    "pytest_configure",
    "pytest_runtest_call",
    "pytest_runtest_setup",
    "record_client",
]

# A test's properties travel with its reports, also from the processes of a run in parallel.
_CLAIMS = "hookline.proves"
_RAN = "hookline.ran"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The switch without which nothing is written."""
    parser.addoption(
        "--write-evidence",
        action="store_true",
        help="Write what the tests of this run prove into each dialect's evidence.toml.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Reports come together in one process: not in those that only run tests for it."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Run(config), "hookline-evidence")


@pytest.fixture
def record_client(request: pytest.FixtureRequest) -> Callable[[Client, Program], str]:
    """Call it with the client a test is about to run; gives the version its program tells."""

    def record(client: Client, program: Program) -> str:
        version = _told(program.argv)
        ran = [client.id, client.dialect, version, client.package.version]
        request.node.user_properties.append((_RAN, ran))
        return version

    return record


@cache
def _told(argv: tuple[str, ...]) -> str:
    """Asked once in a run: some clients take seconds to say it."""
    with furnished_room() as room:
        return version_of(argv, room)


def _claims(item: pytest.Item) -> list[marks.Claim]:
    found = [mark.args for mark in item.iter_markers("proves")]
    return sorted({(dialect, claim) for dialect, *claims in found for claim in claims})


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A mark that no test can prove is a mistake in the test."""
    claims = _claims(item)
    if claims:
        item.user_properties.append((_CLAIMS, [list(claim) for claim in claims]))
        tables = evidence.supports()
        mistakes = [why for claim in claims if (why := evidence.wrong(claim, tables))]
        if mistakes:
            pytest.fail("\n".join(mistakes), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """What ran no client proves nothing of one."""
    done = yield
    dialects = {dialect for dialect, _ in _claims(item)}
    ran = _ran(item.user_properties)
    if dialects and not any(each.dialect in dialects and each.version for each in ran):
        said = [f"{each.client} {each.version or 'of no version'}" for each in ran]
        pytest.fail(
            f"marked as a proof for {', '.join(sorted(dialects))}, but what ran was "
            f"{', '.join(said) or 'no client'}: call record_client(client, program)",
            pytrace=False,
        )
    return done


def _ran(properties: Iterable[tuple[str, object]]) -> tuple[evidence.Ran, ...]:
    found = [value for name, value in properties if name == _RAN]
    return tuple(sorted({evidence.Ran(*map(str, each)) for each in found}))  # type: ignore[call-overload]


class Run:
    """All the reports of one run, and what follows from them when it is over."""

    def __init__(self, config: pytest.Config) -> None:
        self._root = config.rootpath
        try:
            self._old = evidence.committed(self._root)
        except HooklineError as error:
            raise pytest.UsageError(str(error)) from None
        self._write = bool(config.getoption("write_evidence", default=False))
        self._reports: dict[str, list[pytest.TestReport]] = {}
        self._told: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """One of a test's three steps is done."""
        self._reports.setdefault(report.nodeid, []).append(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Writes what was proved, or fails the run when something committed was not."""
        results = [result for each in self._reports if (result := self._result(each))]
        self._told += [
            f"{result.test}: ran {each.client} {each.version}, and {each.pinned} is pinned; "
            "this counts for nothing"
            for result in results
            if result.claims
            for each in result.strangers
        ]
        if self._write:
            self._put(results)
        else:
            self._compare(session, results)

    def _result(self, test: str) -> evidence.Result | None:
        """How a test went; None when it was skipped or was not over."""
        reports = self._reports[test]
        expected = any(hasattr(each, "wasxfail") for each in reports)
        failed = expected or any(each.failed for each in reports)
        if not failed and (any(each.skipped for each in reports) or reports[-1].when != "teardown"):
            return None
        properties = reports[-1].user_properties
        claims = [value for name, value in properties if name == _CLAIMS]
        return evidence.Result(
            test=test,
            passed=not failed,
            claims=tuple((dialect, claim) for each in claims for dialect, claim in each),  # type: ignore[attr-defined]
            ran=_ran(properties),
        )

    def _put(self, results: list[evidence.Result]) -> None:
        old = self._old
        known = marks.under(self._root / evidence.TESTS, self._root)
        facts = evidence.merged(old, results, known)
        tables = evidence.supports()
        for dialect in sorted({fact.dialect for fact in old | facts}):
            own = {fact for fact in facts if fact.dialect == dialect}
            text = evidence.rendered(own, tables[dialect])
            evidence.place(self._root, dialect).write_text(text, encoding="utf-8")
        new, gone = len(facts - old), len(old - facts)
        self._told.append(f"{new} proofs written, {gone} taken back: run `make generate`")

    def _compare(self, session: pytest.Session, results: list[evidence.Result]) -> None:
        contradicted = evidence.contradicted(self._old, results)
        self._told += contradicted
        if contradicted and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        counted = [result for result in results if not result.strangers]
        fresh = {fact for result in counted for fact in result.facts()} - self._old
        if fresh:
            self._told.append(f"{len(fresh)} new proofs are not committed: {evidence.REWRITE}")
        elif contradicted:
            self._told.append(f"if that is right now, {evidence.REWRITE}")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Says it where people look."""
        if self._told:
            terminalreporter.section("evidence")
            for line in self._told:
                terminalreporter.write_line(line)
