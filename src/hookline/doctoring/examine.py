"""Examines every platform, and joins what is found; the only module here that knows all parts."""

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from errno import EISDIR
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType

from msgspec import structs

from hookline import registry
from hookline.app import App
from hookline.config.discover import MANAGED_FILE
from hookline.doctoring.own import ID, own_config
from hookline.files import read_regular
from hookline.installing.changes import known_targets
from hookline.installing.records import Records
from hookline.installing.status import Standing, standing
from hookline.model.findings import Checkup, Finding, Seen, Severity
from hookline.model.hook import Layer
from hookline.model.installing import Inactive, Installed, Installer, Machine, Scope, Target
from hookline.model.native import NativePlace, Where
from hookline.model.ports import NativeFiles
from hookline.model.support import Support
from hookline.model.tools import CANONICAL_TOOLS, ToolKind

__all__ = ["Report", "examine", "platforms"]

Findings = Callable[[Checkup], Iterator[Finding]]
_RANK = {severity: number for number, severity in enumerate(Severity)}


@dataclass(frozen=True, slots=True)
class Report:
    """What was found, the worst first, and which files were looked at."""

    findings: tuple[Finding, ...]
    files: Mapping[str, tuple[str, ...]]
    """By platform; only files that hold hooks."""

    @property
    def has_errors(self) -> bool:
        """Whether some hook does not fire, or some guard is open."""
        return any(each.severity is Severity.ERROR for each in self.findings)


def platforms() -> tuple[str, ...]:
    """Every platform that can be examined."""
    folders = ((name, name.replace("-", "_")) for name in registry.native_files())
    return tuple(name for name, folder in folders if find_spec(_module(folder)))


def examine(
    app: App,
    machine: Machine,
    *,
    dialects: Sequence[str] = (),
    root: str = "/",
    managed: str = MANAGED_FILE,
    debug: bool = False,
) -> Report:
    """Everything that keeps hooks from firing on this machine; ``dialects`` for only those.

    ``root`` and ``managed`` are where the machine's own settings are; elsewhere in tests. With
    ``debug`` a mistake of ours is raised, and no finding.
    """
    # Nothing is started, also no client that could be asked.
    patient = replace(machine, converse=None, test_line=None)
    examination = _Examination(patient, root, Records(app.home), debug=debug)
    examination.look()
    wanted = tuple(dialects) or platforms()
    for name in wanted:
        with examination.part(name):
            examination.platform(name, named=bool(dialects))
    if not dialects:
        with examination.part(ID):
            examination.found += own_config(app, machine.project, managed=managed)
    findings = sorted(_once(examination.found), key=lambda each: _RANK[each.severity])
    looked = {name: _holding(examination.seen[name]) for name in wanted}
    return Report(tuple(findings), {name: paths for name, paths in looked.items() if paths})


class _Examination:
    """One look at one machine: every platform's files first, since several are read by more."""

    def __init__(self, machine: Machine, root: str, records: Records, *, debug: bool) -> None:
        self.found: list[Finding] = []
        self.files = {name: registry.native_files()[name] for name in platforms()}
        self.seen: dict[str, tuple[Seen, ...]] = dict.fromkeys(self.files, ())
        self._unread: dict[str, list[Finding]] = {name: [] for name in self.files}
        self._machine = machine
        self._where = Where(project=machine.project, home=machine.home, env=machine.env, root=root)
        self._records = records
        self._debug = debug

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """An examination that fails is a finding, and no end of the others."""
        try:
            yield
        except Exception as error:
            if self._debug:
                raise
            self.found.append(_stumbled(name, error))

    def look(self) -> None:
        """Read the files of every platform."""
        for name, files in self.files.items():
            with self.part(name):
                named = self._named(name)
                seen = _see(files, self._where, named, self.files, self._unread[name])
                self.seen[name] = tuple(seen)

    def _named(self, name: str) -> tuple[str, ...]:
        """Files in no fixed place: those that a person names, or that an installation was for."""
        if name not in registry.installer_names():
            return self._machine.named
        known = known_targets(registry.installer(name), self._machine, self._records)
        return (*self._machine.named, *(target.file for target in known))

    def platform(self, name: str, *, named: bool) -> None:
        """Examine one platform; ``named`` when a person asked for this one."""
        self.found += self._unread[name]
        dialect = registry.dialect(name)
        checkup = Checkup(
            dialect=name,
            support=dialect.support,
            tools=dialect.tools,
            where=self._where,
            machine=self._machine,
            seen=self.seen[name],
            readers=_readers(name, self.seen),
            events=_events(),
            kinds=_kinds(),
            named=named,
        )
        if name in registry.installer_names():
            installer = registry.installer(name)
            stands = standing(installer, self._machine, self._records)
            checkup = structs.replace(
                checkup,
                inactive=_blocking(installer, self._machine, stands, checkup.own),
                installed=bool(stands.installed or stands.inactive),
            )
        self.found += _findings(name)(checkup)


def _blocking(
    installer: Installer, machine: Machine, standing: Standing, seen: Sequence[Seen]
) -> tuple[Inactive, ...]:
    """Why hooks do not run: what the installer says of our entries and of everybody else's."""
    ours = {each.target.file for each in standing.installed}
    others = [
        Installed(_target(each), (), each.content)
        for each in seen
        if each.file.entries
        and each.file.path.endswith(".json")
        and each.file.path not in ours
        and each.place.layer is not Layer.MANAGED
    ]
    if not others and not ours:
        return standing.inactive
    known = installer.inactive(machine, [*standing.installed, *others])
    return tuple(dict.fromkeys((*standing.inactive, *known)))


def _target(seen: Seen) -> Target:
    scope = Scope.USER if seen.place.layer is Layer.USER else Scope.PROJECT
    return Target(file=seen.file.path, scope=scope)


def _findings(name: str) -> Findings:
    found: Findings = import_module(_module(name.replace("-", "_"))).findings
    return found


def _module(folder: str) -> str:
    return f"hookline.dialects.{folder}.doctor"


def _readers(name: str, seen: Mapping[str, tuple[Seen, ...]]) -> Mapping[str, tuple[Support, ...]]:
    """Which other platforms read the same files as their own."""
    found: dict[str, tuple[Support, ...]] = {}
    for other, files in seen.items():
        if other != name:
            for each in files:
                if each.place.dialect in {"", other}:
                    support = registry.dialect(other).support
                    found[each.file.path] = (*found.get(each.file.path, ()), support)
    return found


@cache
def _events() -> Mapping[str, str]:
    """Every platform's names of events, and the canonical ones for them."""
    named: dict[str, str] = {}
    for name in registry.dialect_names():
        for native, row in registry.dialect(name).support.events.items():
            named.setdefault(native, row.event)
    return MappingProxyType(named)


@cache
def _kinds() -> Mapping[str, ToolKind]:
    """Every platform's names of tools, and what kind each is."""
    named = {name: row.kind for name, row in CANONICAL_TOOLS.rows.items()}
    for dialect in registry.dialect_names():
        for name, row in registry.tools(dialect).rows.items():
            named.setdefault(name, row.kind)
    return MappingProxyType(named)


def _once(found: Sequence[Finding]) -> Iterator[Finding]:
    """Two agents of one maker say the same of the same line: once is enough."""
    told: set[tuple[object, ...]] = set()
    for each in found:
        same = (each.id, each.file or each.dialect, each.line, each.what, each.fix)
        if same not in told:
            told.add(same)
            yield each


def _holding(seen: Sequence[Seen]) -> tuple[str, ...]:
    return tuple(each.file.path for each in seen if each.file.entries or each.file.flaws)


def _stumbled(name: str, error: Exception) -> Finding:
    return Finding(
        id="not-examined",
        dialect=name,
        severity=Severity.ERROR,
        what=f"hookline could not examine this: {type(error).__name__}: {error}",
        fix="please report it; `hookline --debug doctor` shows where",
    )


# More than any reader takes: what is longer is told by the reader itself.
_LARGEST = 2_000_000
_ABSENT = (FileNotFoundError, NotADirectoryError)


def _see(
    files: NativeFiles,
    where: Where,
    named: tuple[str, ...],
    owners: Mapping[str, NativeFiles],
    found: list[Finding],
) -> Iterator[Seen]:
    """A platform's files, each once; what cannot be read goes to ``found``.

    Files of another platform that it runs too are read as their owner reads them.
    """
    read: set[str] = set()
    for place in (*files.places(where), *_named(files, named)):
        for path in _paths(files, place, found):
            if path in read:
                continue
            read.add(path)
            content = _content(files, path, found)
            if content is not None:
                file = owners.get(place.dialect, files).read(path, content)
                yield Seen(place=place, file=file, content=content)


def _named(files: NativeFiles, named: tuple[str, ...]) -> Iterator[NativePlace]:
    """Files that a person, or an installation, named: those of this platform."""
    for path in named:
        try:
            owned = files.owns(path, read_regular(path, _LARGEST))
        except OSError:
            continue  # whoever named it is told elsewhere
        if owned:
            yield NativePlace(path=path, layer=Layer.PROJECT, scope="named")


def _paths(files: NativeFiles, place: NativePlace, found: list[Finding]) -> list[str]:
    """The files at a place, which may be a folder of them."""
    try:
        names = sorted(os.listdir(place.path))
    except _ABSENT:
        return [place.path]  # no folder: a file, or nothing
    except OSError as error:
        found.append(_unreadable(files, place.path, error))
        return []
    members = files.members(place.path, names)
    if members is None and place.path.endswith((".json", ".toml", ".yaml")):
        found.append(_unreadable(files, place.path, IsADirectoryError(EISDIR, os.strerror(EISDIR))))
    paths = [os.path.join(place.path, name) for name in members or ()]
    return [path for path in paths if not os.path.isdir(path)]


def _content(files: NativeFiles, path: str, found: list[Finding]) -> bytes | None:
    try:
        return read_regular(path, _LARGEST)
    except _ABSENT as error:
        if os.path.islink(path):
            found.append(_unreadable(files, path, error))
    except OSError as error:
        found.append(_unreadable(files, path, error))
    return None


def _unreadable(files: NativeFiles, path: str, error: OSError) -> Finding:
    fix = f"make it a file that you can read: chmod u+r {shlex.quote(path)}"
    if os.path.islink(path) and not os.path.exists(path):
        fix = f"it is a link to nothing: make {os.path.realpath(path)}, or remove the link"
    elif os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        fix = "put a regular file in its place"
    elif os.path.isdir(path):
        fix = "put a file in the place of the folder, or make the folder readable"
    return Finding(
        id="file-unreadable",
        dialect=files.dialect,
        severity=Severity.ERROR,
        file=path,
        what=f"this cannot be read ({error.strerror}), so nothing of it is active",
        fix=fix,
    )
