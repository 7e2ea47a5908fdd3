"""What tests on the real clients have shown of each platform: ``evidence.toml`` in its dialect.

The interop suite writes these files when it is asked to, from the tests that passed; nobody edits
them. As a program this prints every cell of a platform and how it is known:

    python tools/evidence.py claude-code
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import marks
import msgspec
from msgspec import Struct

from hookline import registry
from hookline.cli import matrix
from hookline.cli.matrix import FIRES, TOPICS, Proof, Proofs
from hookline.model.errors import HooklineError
from hookline.model.support import Support

ROOT = Path(__file__).resolve().parent.parent
TESTS = "tests/interop"
REWRITE = "run `pytest -m interop --write-evidence tests/interop`, then `make generate`"

_BROKEN = f"take it back to what was committed, or delete it and {REWRITE}"
_HEAD = f"""# What tests have shown on the real client. Made from those that passed, never edited:
# {REWRITE}.
"""


class Fact(Struct, frozen=True, order=True):
    """One test showed one claim on one version of a client."""

    dialect: str
    claim: str
    client: str
    version: str
    test: str


class Ran(Struct, frozen=True, order=True):
    """A client that ran in a test; the version is what its own program says."""

    client: str
    dialect: str
    version: str
    pinned: str


class Result(Struct, frozen=True):
    """A test that was run to its end, what it is marked with, and the clients it ran."""

    test: str
    passed: bool
    claims: tuple[marks.Claim, ...]
    ran: tuple[Ran, ...]

    def facts(self) -> Iterator[Fact]:
        """What it has shown. A test with marks for several platforms shows those it ran."""
        for dialect, claim in self.claims if self.passed else ():
            for each in self.ran:
                if each.dialect == dialect:
                    yield Fact(dialect, claim, each.client, each.version, self.test)

    @property
    def strangers(self) -> tuple[Ran, ...]:
        """The clients that ran at another version than the pinned one: they prove nothing."""
        return tuple(each for each in self.ran if each.version != each.pinned)


# ── files ──


def place(root: Path, dialect: str) -> Path:
    """The evidence of a dialect."""
    return root / "src" / "hookline" / "dialects" / dialect.replace("-", "_") / "evidence.toml"


def committed(root: Path) -> set[Fact]:
    """All that the files under ``root`` say. Raises HooklineError naming the file and key."""
    found = set()
    for dialect in registry.dialect_names():
        path = place(root, dialect)
        if not path.is_file():
            continue
        try:
            proofs = msgspec.toml.decode(path.read_bytes(), type=Proofs)
        except msgspec.DecodeError as error:
            raise HooklineError(f"{path.relative_to(root)}: {error}; {_BROKEN}") from None
        for proof in (*proofs.proven, *proofs.also):
            found |= {
                Fact(dialect, proof.claim, proof.client, proof.version, test)
                for test in proof.tests
            }
    return found


def rendered(facts: Iterable[Fact], support: Support) -> str:
    """One platform's file, sorted."""
    tests: dict[tuple[str, str, str], list[str]] = {}
    for fact in sorted(facts):
        tests.setdefault((fact.claim, fact.client, fact.version), []).append(fact.test)
    proofs = [
        Proof(claim=claim, client=client, version=version, tests=tuple(found))
        for (claim, client, version), found in tests.items()
    ]
    cells = [_entry("proven", proof) for proof in proofs if is_cell(proof.claim, support)]
    others = [_entry("also", proof) for proof in proofs if not is_cell(proof.claim, support)]
    return "\n".join([_HEAD, *cells, *others]).rstrip("\n") + "\n"


def _entry(name: str, proof: Proof) -> str:
    tests = "".join(f"  {_quoted(test)},\n" for test in proof.tests)
    said = (f"{key} = {_quoted(getattr(proof, key))}" for key in ("claim", "client", "version"))
    return "\n".join([f"[[{name}]]", *said, f"tests = [\n{tests}]\n"])


def _quoted(text: str) -> str:
    """A string of JSON is one of TOML too, but for a delete character, which no id has."""
    return msgspec.json.encode(text).decode()


# ── claims ──


@cache
def supports() -> Mapping[str, Support]:
    """The support table of every platform."""
    names = [name for name in registry.dialect_names() if name != "canonical"]
    return {name: registry.dialect(name).support for name in names}


def pinned() -> dict[str, str]:
    """The version of each of the lab's clients that the suite installs."""
    package = import_module("hookline.lab.clients")
    names = [each.name for each in iter_modules(package.__path__) if each.name[0] != "_"]
    clients = [import_module(f"hookline.lab.clients.{name}").CLIENT for name in names]
    return {client.id: client.package.version for client in clients}


def is_cell(claim: str, support: Support) -> bool:
    """Whether a claim is about an event of the platform, rather than a topic of its own."""
    return claim.partition(".")[0] in support.events


def wrong(claim: marks.Claim, known: Mapping[str, Support]) -> str:
    """Why a claim can be proven by no test, with what to write instead; empty when it can."""
    dialect, said = claim
    if dialect not in known:
        return f"no platform is called `{dialect}`; {_near(dialect, known)}"
    head, _, rest = said.partition(".")
    row = known[dialect].events.get(head)
    if row is None and head in TOPICS:
        right = re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rest)
        return "" if right else f"`{said}`: behind the topic come small letters and `-`"
    if row is None:
        return f"{dialect} has no event `{head}`; {_near(head, [*known[dialect].events, *TOPICS])}"
    cells = {FIRES: "yes", **row.cells}
    cell, _, value = rest.partition("=")
    if cell not in cells:
        return f"{dialect} claims no `{cell}` for {head}; {_near(cell, cells)}"
    if (value or "yes") == cells[cell]:
        return ""
    meant = cell if cells[cell] == "yes" else f"{cell}={cells[cell]}"
    return f"{dialect} says `{cells[cell]}` at {head}.{cell}: write `{head}.{meant}`"


def _near(word: str, known: Iterable[str]) -> str:
    """The closest known word whatever its case, or all of them."""
    words = {each.lower(): each for each in known}
    found = get_close_matches(word.lower(), words, n=1, cutoff=0.5)
    return f"did you mean `{words[found[0]]}`?" if found else f"known: {', '.join(words.values())}"


# ── a run, and what is committed ──


def merged(old: Iterable[Fact], results: Iterable[Result], known: marks.Marks) -> set[Fact]:
    """What is to be committed after a run: its tests as they went, the others as they were.

    Of those that did not run only what they still carry a mark for is kept.
    """
    results = list(results)
    again = {result.test for result in results if not result.strangers}
    kept = {
        fact
        for fact in old
        if fact.test not in again and known.carries(fact.test, (fact.dialect, fact.claim))
    }
    return kept | {fact for result in results if result.test in again for fact in result.facts()}


def contradicted(old: Iterable[Fact], results: Iterable[Result]) -> list[str]:
    """What is committed as proven and a run has not shown, although it ran the very test."""
    ran = {result.test: result for result in results if not result.strangers}
    shown = {fact for result in ran.values() for fact in result.facts()}
    return [
        f"{fact.dialect}: {fact.claim} is said to be proven with {fact.client} {fact.version} by "
        f"{fact.test}, which {'did not show that' if ran[fact.test].passed else 'did not pass'}"
        for fact in sorted(old)
        if fact.test in ran and fact not in shown
    ]


def problems(
    facts: Iterable[Fact],
    known: marks.Marks,
    tables: Mapping[str, Support],
    pins: Mapping[str, str],
) -> list[str]:
    """Everything that is said to be proven and is not, or not any more; and every wrong mark."""
    found = list(known.unread)
    for test, claims in sorted(known.tests.items()):
        found += [f"{test}: {why}" for claim in sorted(claims) if (why := wrong(claim, tables))]
    for fact in sorted(facts):
        why = _unfounded(fact, known, tables, pins)
        found += [f"{fact.dialect}: {fact.claim} is not proven: {why}; {REWRITE}"] if why else []
    return found


def _unfounded(
    fact: Fact, known: marks.Marks, tables: Mapping[str, Support], pins: Mapping[str, str]
) -> str:
    claim = (fact.dialect, fact.claim)
    if why := wrong(claim, tables):
        return why
    if marks.function(fact.test) not in known.tests:
        return f"there is no test {fact.test}"
    if not known.carries(fact.test, claim):
        return f"{fact.test} is not marked with it"
    if fact.client not in pins:
        return f"the lab has no client `{fact.client}`"
    if fact.version != pins[fact.client]:
        return f"it was shown with {fact.version}, and {pins[fact.client]} is pinned now"
    return ""


def main(words: list[str]) -> int:
    """Prints every cell of the named platforms, or of all."""
    for platform in matrix.platforms():
        if words and platform.support.id not in words:
            continue
        print(f"{platform.support.client}: {platform.counts()}")
        for native, name, cell in platform.cells():
            assert cell.evidence is not None
            print(f"  {native}.{name} = {cell}  {cell.evidence.test or cell.evidence.source}")
        for proof in platform.proofs.also:
            print(f"  {proof.claim} ✓  {proof.tests[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
