"""Examines every platform, and joins what is found; the only module here that knows all parts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType

from msgspec import structs

from hookline import registry
from hookline.app import App
from hookline.config.discover import MANAGED_FILE
from hookline.doctoring.installed import blocking, installed
from hookline.doctoring.own import own_config
from hookline.doctoring.reading import see
from hookline.installing.records import Records
from hookline.installing.status import standing
from hookline.model.findings import Checkup, Finding, Seen, Severity
from hookline.model.installing import Machine
from hookline.model.native import Where
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
) -> Report:
    """Everything that keeps hooks from firing on this machine; ``dialects`` for only those.

    ``root`` and ``managed`` are where the machine's own settings are; elsewhere in tests.
    """
    # Nothing is started, also no client that could be asked.
    machine = replace(machine, converse=None)
    where = Where(project=machine.project, home=machine.home, env=machine.env, root=root)
    records = Records(app.home)
    files = {name: registry.native_files()[name] for name in platforms()}
    unread: dict[str, list[Finding]] = {name: [] for name in files}
    seen: dict[str, tuple[Seen, ...]] = {}
    found: list[Finding] = []
    for name, each in files.items():
        named = (*machine.named, *(r.file for r in records.all() if r.dialect == name))
        try:
            seen[name] = tuple(see(each, where, named, files, unread[name]))
        except Exception as error:  # whatever a file does to a reader, the others are examined
            found.append(_stumbled(name, error))
            seen[name] = ()
    for name in dialects or files:
        found += unread[name]
        found += _platform(name, machine, where, records, seen, named=bool(dialects))
    if not dialects:
        found += own_config(app, machine.project, managed=managed)
    unique = dict.fromkeys(found)
    ordered = sorted(_once(unique), key=lambda each: _RANK[each.severity])
    looked = {name: _holding(seen[name]) for name in dialects or files}
    return Report(tuple(ordered), {name: paths for name, paths in looked.items() if paths})


def _platform(
    name: str,
    machine: Machine,
    where: Where,
    records: Records,
    seen: Mapping[str, tuple[Seen, ...]],
    *,
    named: bool,
) -> list[Finding]:
    dialect = registry.dialect(name)
    checkup = Checkup(
        dialect=name,
        support=dialect.support,
        tools=dialect.tools,
        where=where,
        machine=machine,
        seen=seen[name],
        readers=_readers(name, seen),
        events=_events(),
        kinds=_kinds(),
        named=named,
    )
    found: list[Finding] = []
    try:
        if name in registry.installer_names():
            installer = registry.installer(name)
            stands = standing(installer, machine, records)
            checkup = structs.replace(
                checkup,
                inactive=blocking(installer, machine, stands, checkup.own),
                installed=bool(stands.installed or stands.inactive),
            )
            found += installed(installer, machine, stands, records)
        found += _findings(name)(checkup)
    except Exception as error:  # an examination that fails is a finding, and no end of the others
        found.append(_stumbled(name, error))
    return found


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


def _once(found: Mapping[Finding, None]) -> Iterator[Finding]:
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
