"""A hook as configured: when it runs, what runs, and how."""

import os
import re
from collections.abc import Mapping
from enum import IntEnum, StrEnum
from functools import cache, cached_property, lru_cache
from hashlib import sha256
from typing import Any

from msgspec import Struct, json

from hookline.model.errors import IllegalValueError
from hookline.model.events import EVENTS
from hookline.model.ports import Matcher

__all__ = [
    "DEFAULT_PRIORITY",
    "DEFAULT_TIMEOUT",
    "HandlerSpec",
    "Hook",
    "Lane",
    "Layer",
    "Mode",
    "OnError",
    "Source",
    "Start",
    "clean_path",
    "digest",
    "is_enforcing",
    "loads_code",
]

DEFAULT_PRIORITY = 50
DEFAULT_TIMEOUT = 60.0

_FILES = frozenset({"run", "python", "mcp"})
_REFUSING = frozenset({"deny", "ask"})
_CHANGING = frozenset({"input", "env"})


class Layer(IntEnum):
    """Where a hook comes from; a lower number outranks a higher one."""

    MANAGED = 0
    USER = 1
    CODE = 2
    """Registered by a program that embeds the engine."""
    PROJECT = 3
    INCLUDE = 4


class OnError(StrEnum):
    """What a hook's own failure means."""

    IGNORE = "ignore"
    WARN = "warn"
    BLOCK = "block"

    @property
    def strictness(self) -> int:
        """0 for ignore up to 2 for block."""
        return list(OnError).index(self)


class Mode(StrEnum):
    """Whether a hook's answer counts, or is only written down."""

    ENFORCE = "enforce"
    OBSERVE = "observe"


class Source(Struct, frozen=True):
    """The file and line that a hook was written on."""

    file: str = ""
    line: int = 0
    layer: Layer = Layer.CODE

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


class HandlerSpec(Struct, frozen=True):
    """Which handler runs, and the values of the config keys that belong to it."""

    kind: str
    values: Mapping[str, Any]


class Lane(Struct, frozen=True, kw_only=True):
    """Hooks of one priority that run one after another, as their own platform runs them."""

    name: str
    piped: bool = False
    """Each sees the input as those before it left it."""
    deny_ends: bool = False
    """After a deny the rest of the lane does not run."""
    last_counts: bool = False
    """Only what the last one that did not fail has said counts."""
    silence_counts: bool = True
    """Whether saying nothing at all is a last word, too."""
    halt_ends: bool = False
    """After a halt the rest of the lane does not run."""
    first_rewrites: bool = False
    """Of those that rewrite only the first does."""


class Start(Struct, frozen=True, kw_only=True):
    """How a hook's program is started, where its platform does it in another way than we do."""

    interpreter: tuple[str, ...] = ("/bin/sh", "-c")
    directory: str = ""
    """Relative to where it would run otherwise, which it is when empty."""
    in_cwd: bool = False
    """Where the event happened, rather than in the project."""
    variables: Mapping[str, str] = {}
    """Set for the program, over whatever the caller has."""
    answers_to: tuple[str, ...] = ()
    """A command that prints the native event this hook is for; for any other it is not run."""
    background: bool = False
    """Nobody waits for it, so it can say nothing."""
    strict_exit: bool = False
    """Any exit code but 0 and 2 is a failure, whatever it printed."""


class Hook(Struct, frozen=True, kw_only=True, dict=True):
    """One entry of a config."""

    name: str
    events: tuple[str, ...]
    handler: HandlerSpec
    match: Matcher | None = None
    priority: int = DEFAULT_PRIORITY
    timeout: float = DEFAULT_TIMEOUT
    on_error: OnError = OnError.WARN
    guard: bool = False
    """Judges the final input again when another hook rewrote it."""
    always: bool = False
    """Runs even after a deny or halt ended the chain."""
    mode: Mode = Mode.ENFORCE
    source: Source = Source()
    project_dir: str = ""
    """Where the hook runs: the project directory of the config it stands in."""
    env: tuple[str, ...] = ()
    """Caller's variables that this hook asked for by name."""
    speaks: str = "canonical"
    """The dialect in which its program answers."""
    pins: tuple[str, ...] = ()
    """Globs of further files that are trusted, and checked, together with this hook."""
    native_names: Mapping[str, str] = {}
    """The names in its file that are a platform's, and the canonical events they stand for."""
    native: str = ""
    """The event of its own platform that it was written for; empty when it is one of ours."""
    run_by: frozenset[str] = frozenset()
    """The dialects of clients that run it by themselves: for their events it is not run here."""
    start: Start | None = None
    lane: Lane | None = None

    def __post_init__(self) -> None:
        if not self.events:
            raise IllegalValueError(f"hook `{self.name}` names no event")
        if self.timeout <= 0:
            raise IllegalValueError(f"hook `{self.name}`: timeout must be more than 0 seconds")

    @property
    def is_piped(self) -> bool:
        """Whether it sees what hooks of the same priority before it made of the input."""
        return self.lane is not None and self.lane.piped

    @property
    def directory(self) -> str:
        """Where the names that it gives to files are looked up."""
        inner = self.start.directory if self.start is not None else ""
        return os.path.join(self.project_dir, inner) if inner else self.project_dir

    @property
    def runs_files(self) -> bool:
        """Whether what it does depends on what lies in files."""
        return not _FILES.isdisjoint(self.handler.values)

    def doing(self) -> str:
        """A digest of what it does and how, whenever that is and whatever its failure means."""
        return self._doing

    @cached_property
    def _doing(self) -> str:
        # Every event that it runs on has it written down.
        entry = {
            "kind": self.handler.kind,
            "values": self.handler.values,
            "env": self.env,
            "speaks": self.speaks,
            "start": self.start,
            "native": self.native,
            # Guards lose some variables, and one that was cut off may have had more to say.
            "guard": self.guard,
            "timeout": self.timeout,
        }
        return digest(entry)

    def identity(self) -> tuple[object, ...]:
        """Two hooks with the same identity would do the same thing: one of them is enough."""
        return (
            self.events,
            self.handler.kind,
            tuple(sorted((key, repr(value)) for key, value in self.handler.values.items())),
            self.match.identity() if self.match is not None else None,
            self.priority,
            self.project_dir,
            self.env,
            self.speaks,
            # Platforms differ in what they take for twice the same, so their files decide it.
            (self.native, self.source, self.name) if self.native else None,
        )


def digest(value: object) -> str:
    """A short name for a value: equal for equal values, in every process and every version."""
    try:
        text = json.encode(value, enc_hook=_plain, order="sorted")
    except UnicodeEncodeError:  # half a character, which no JSON can hold
        text = repr(value).encode("utf-8", "surrogatepass")
    return sha256(text).hexdigest()[:12]


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else repr(value)


# The variables that a hook may ask for

# Each of these makes some program load code, or says where it looks for code.
_LOADER = r"""
      LD_.* | DYLD_.* | GLIBC_TUNABLES | GCONV_PATH | LOCPATH | NLSPATH | MALLOC_TRACE | HOSTALIASES
    | ENV | BASH_ENV | BASH_FUNC_.* | BASH_LOADABLES_PATH | BASH_XTRACEFD | SHELLOPTS | BASHOPTS
    | PS4 | IFS | CDPATH | GLOBIGNORE | ZDOTDIR | FPATH | KSH_ENV
    | PYTHON.* | PERL5.* | PERLLIB | RUBYLIB | RUBYOPT | RUBYSHELL | GEM_HOME | GEM_PATH
    | BUNDLE_GEMFILE | PHPRC | PHP_INI_SCAN_DIR | LUA_.* | R_PROFILE.* | R_ENVIRON.* | R_LIBS.*
    | JULIA_.* | ERL_.* | ELIXIR_ERL_OPTIONS
    | NODE_OPTIONS | NODE_PATH | NODE_REPL_EXTERNAL_MODULE | NODE_EXTRA_CA_CERTS | TS_NODE_.*
    | BUN_.* | DENO_.* | (?i:NPM_CONFIG_.*)
    | JAVA_TOOL_OPTIONS | _JAVA_OPTIONS | JDK_JAVA_OPTIONS | CLASSPATH | MAVEN_OPTS | GRADLE_OPTS
    | DOTNET_STARTUP_HOOKS | DOTNET_ADDITIONAL_DEPS | DOTNET_SHARED_STORE | CORECLR_.* | COR_.*
    | GIT_(?!AUTHOR_|COMMITTER_).*
    | OPENSSL_CONF | OPENSSL_ENGINES | OPENSSL_MODULES
    | MAKEFLAGS | GNUMAKEFLAGS | MAKEFILES | GOFLAGS | RUSTC_WRAPPER | RUSTFLAGS | TAR_OPTIONS
    | RIPGREP_CONFIG_PATH | GREP_OPTIONS | AWKPATH | AWKLIBPATH | LESSOPEN | LESSCLOSE | WGETRC
    | CURL_HOME
    """


@lru_cache(maxsize=1024)
def loads_code(name: str) -> bool:
    """Whether a variable of this name chooses code."""
    return _loader().fullmatch(name) is not None


@cache
def _loader() -> re.Pattern[str]:
    # Slow to compile, and most events start no program.
    return re.compile(_LOADER, re.VERBOSE | re.DOTALL)


def clean_path(path: str) -> str:
    """Only absolute entries: any other would find programs in the directory we run in."""
    return ":".join(entry for entry in path.split(":") if entry.startswith("/")) or os.defpath


def is_enforcing(hook: Hook, *, judges: bool = True) -> bool:
    """Whether the hook can block what an agent does; one that cannot is advisory.

    An inline rule blocks by ``deny`` and ``ask``, and by a rewrite of input, which is a question
    where it cannot be applied. Any other hook blocks on a gate event, by its answer or by its own
    failure. ``judges`` is false for one whose answers never do: a builtin that only adds, or a hook
    of a platform that does not let it block there.
    """
    values, start = hook.handler.values, hook.start
    if hook.mode is Mode.OBSERVE or (start is not None and start.background):
        return False
    if hook.handler.kind == "rule":
        return not _REFUSING.isdisjoint(values) or not _CHANGING.isdisjoint(
            values.get("rewrite", ())
        )
    # One of kind ``native`` is certain to fail: it is there to say why it cannot run.
    refuses = judges and hook.handler.kind != "native"
    closes = refuses or hook.on_error is OnError.BLOCK
    return closes and any(EVENTS[event].gate for event in hook.events)
