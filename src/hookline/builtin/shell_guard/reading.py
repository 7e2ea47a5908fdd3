"""Turns shell text into acts: each simple command with its directory, its input and its place."""

import base64
import binascii
import os
import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, structs

from hookline.builtin.shell_guard.model import Act
from hookline.builtin.shell_guard.targets import targets
from hookline.builtin.shell_guard.world import Where, World
from hookline.shell import Redirection, ShellText, SimpleCommand
from hookline.shell.splitting import split

__all__ = ["MAX_REDIRECTS", "Story", "Traces", "read", "trace"]


_LOOP = re.compile(r"\bfor\s+([A-Za-z_]\w*)\s+in\s+([^;\n]*?)\s*(?:;|\n)\s*do\b")
# Redirections of one text that are looked at; one more tells that there are more.
MAX_REDIRECTS = 500


class Traces(Struct, frozen=True, kw_only=True):
    """Everything beside the commands of one text and of the code inside it."""

    redirects: tuple[Redirection, ...] = ()
    """Those that write."""
    sources: tuple[str, ...] = ()
    """Files that are read by ``<``."""
    read_by: Mapping[int, tuple[str, ...]] = {}
    """The same by the number of the command that reads them."""
    assigned: tuple[tuple[str, str], ...] = ()
    inputs: Mapping[int, tuple[str, ...]] = {}
    """Here-documents by the number of the command they are for."""
    variables: Mapping[str, tuple[str, ...]] = {}
    aliases: Mapping[str, tuple[str, ...]] = {}

    def aliased(self, words: tuple[str, ...]) -> tuple[str, ...]:
        """The words with an alias at their head put out."""
        return (*self.aliases[words[0]], *words[1:]) if words[0] in self.aliases else words


_NOTHING = Traces()


def trace(text: str, shell: ShellText) -> Traces:
    """The traces of a text and of the code in its commands."""
    aliases = _aliases(shell)
    # Most texts have none of all this.
    if not (aliases or shell.redirections or shell.assigned or shell.inputs or "for" in text):
        return _NOTHING
    reads = [each for each in shell.redirections if each.operator == "<"]
    read_by: dict[int, tuple[str, ...]] = {}
    for each in reads:
        read_by[each.number] = (*read_by.get(each.number, ()), each.target)
    return Traces(
        redirects=tuple(each for each in shell.redirections if each.writes),
        sources=tuple(each.target for each in reads),
        read_by=read_by,
        assigned=shell.assigned,
        inputs=shell.inputs,
        variables=_variables(text, shell.assigned),
        aliases=aliases,
    )


def _variables(text: str, assigned: Sequence[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    """Sources of the values that variables may have by the time they are used."""
    found: dict[str, list[str]] = {}
    for name, value in assigned:
        found.setdefault(name, []).append(value.strip('"'))
    for name, words in _LOOP.findall(text):
        found.setdefault(name, []).extend(word.strip("\"'") for word in words.split())
    return {name: tuple(values) for name, values in found.items()}


def _aliases(shell: ShellText) -> Mapping[str, tuple[str, ...]]:
    found = {}
    for command in shell.commands:
        if command.words[0].endswith("alias") and command.name == "alias":
            for word in command.words[1:]:
                name, _, value = word.partition("=")
                if value.split():
                    found[name] = tuple(value.split())
    return found


# Variables that are the same for every command, so the text is read with them set.
_KNOWN = re.compile(r"\$\{?(HOME|USER|LOGNAME|TMPDIR)\b")
_MOVERS = frozenset({"cd", "chdir", "pushd"})
_ELSEWHERE = frozenset({
    "ssh", "docker", "podman", "nerdctl", "kubectl", "oc", "docker-compose", "lxc", "incus",
    "vagrant", "chroot", "multipass", "adb", "mosh", "pssh", "parallel-ssh", "pdsh", "clush", "dsh",
    "salt", "gcloud",
})  # fmt: skip
_PIPE = re.compile(r"(?<!\|)\|&?(?!\|)")
_DECODERS = frozenset({"base64", "gbase64", "base32"})
_MAX_DECODED = 16_384
# More commands than anybody writes in one text; what is beyond them is not looked at.
_MAX_ACTS = 1_000
# Characters of a path that are looked up in one step.
_PER_STEP = 16


class Story(Struct, frozen=True):
    """Everything that a text would do, in order."""

    text: str
    source: str
    """The text with what is known about variables in front: what spans are counted in."""
    acts: tuple[Act, ...]
    traces: Traces
    shell: ShellText
    decoded: tuple[str, ...] = ()
    """Texts that were written down in base64."""

    @property
    def complete(self) -> bool:
        """Whether every command of the text is among the acts."""
        return not self.shell.incomplete and len(self.acts) == len(self.shell.commands)


def read(text: str, world: World) -> Story:
    """The story of a text. Never raises for any text."""
    source = _settings(text, world) + text if "$" in text else text
    shell = split(source)
    traces = trace(source, shell)
    acts = _acts(source, shell, traces, world)
    return Story(text, source, acts, traces, shell, tuple(_decoded(acts)))


def _settings(text: str, world: World) -> str:
    """Assignments to put in front, so that words come with their values in place."""
    values = {
        "HOME": world.home,
        "USER": world.env.get("USER", ""),
        "LOGNAME": world.env.get("LOGNAME", ""),
        "TMPDIR": world.env.get("TMPDIR", ""),
    }
    wanted = sorted(set(_KNOWN.findall(text)))
    lines = [f"{name}='{values[name]}'\n" for name in wanted if _is_plain(values[name])]
    return "".join(lines)


def _is_plain(value: str) -> bool:
    return bool(re.fullmatch(r"[\w./+@:,-]+", value))


def _acts(text: str, shell: ShellText, traces: Traces, world: World) -> tuple[Act, ...]:
    commands = shell.commands[:_MAX_ACTS]
    if len(commands) == 1 and not commands[0].depth:
        return (_alone(commands[0], traces, world),)
    source = text.encode("utf-8", "surrogatepass")
    piped = _piped(source, commands)
    places = _Places(source, world)
    acts: list[Act] = []
    carriers: list[tuple[int, str, int]] = []
    for at, command in enumerate(commands):
        while carriers and carriers[-1][0] >= command.depth:
            carriers.pop()
        words = traces.aliased(command.words)
        act = Act(
            words=words,
            exact=command.exact,
            wrappers=command.wrappers,
            runs_in=places.before(command),
            elsewhere=next((name for _, name, _ in carriers if name in _ELSEWHERE), ""),
            carrier=carriers[-1][1] if carriers else "",
            producers=_chain(acts, piped[at]),
            inputs=_given(at, carriers, traces),
            variables=traces.variables,
            start=command.start,
            end=command.end,
            depth=command.depth,
        )
        acts.append(_with_literal_input(act))
        places.after(command, act)
        inside = next((each for each in command.wrappers if each in _ELSEWHERE), "")
        if inside:
            acts[-1] = structs.replace(act, elsewhere=inside)
        carriers.append((command.depth, command.name, at))
    return tuple(acts)


def _chain(acts: Sequence[Act], number: int) -> tuple[Act, ...]:
    """The commands that write what one behind this number reads, with those it has run."""
    if number < 0:
        return ()
    first = acts[number]
    carried = (each for each in acts[number + 1 :] if each.start == first.start)
    return (first, *carried, *first.producers)


def _alone(command: SimpleCommand, traces: Traces, world: World) -> Act:
    """The act of a text that is one command, as most are."""
    wrappers = command.wrappers
    return Act(
        words=traces.aliased(command.words) if traces.aliases else command.words,
        exact=command.exact,
        wrappers=wrappers,
        runs_in=world.where,
        elsewhere=next((each for each in wrappers if each in _ELSEWHERE), "") if wrappers else "",
        inputs=traces.inputs.get(0, ()),
        variables=traces.variables,
        start=command.start,
        end=command.end,
    )


def _piped(source: bytes, commands: Sequence[SimpleCommand]) -> list[int]:
    """Of each command, the number of the one whose output it reads; -1 for none."""
    found = [-1]
    for at, after in enumerate(commands[1:], start=1):
        number = at - 1
        while (inside := commands[number]).depth > after.depth and inside.end <= after.start:
            # Substitutions in the words of a command stand between it and what reads it.
            around = number - 1
            while around >= 0 and commands[around].depth >= inside.depth:
                around -= 1
            if around < 0 or not commands[around].start <= inside.start < commands[around].end:
                break
            number = around
        before = commands[number]
        if before.start == after.start or after.start < before.end:
            # Code inside code has no place of its own: the pipe may be there.
            is_piped = before.depth == after.depth and before.depth > 0
        else:
            gap = source[before.end : after.start].decode("utf-8", "replace")
            is_piped = bool(_PIPE.search(gap)) and before.depth <= after.depth
        found.append(number if is_piped else -1)
    return found


def _given(at: int, carriers: Sequence[tuple[int, str, int]], traces: Traces) -> tuple[str, ...]:
    """Here-documents for a command; ``docker exec`` and ``ssh`` hand theirs on."""
    if at not in traces.inputs and carriers and carriers[-1][1] in _ELSEWHERE:
        at = carriers[-1][2]
    return traces.inputs.get(at, ())


def _with_literal_input(act: Act) -> Act:
    """What ``echo`` and ``printf`` write is there to be read."""
    if act.inputs or not act.producers or act.producers[0].name not in ("echo", "printf", "cat"):
        return act
    first = act.producers[0]
    if first.name == "cat":
        return structs.replace(act, inputs=first.inputs)
    words = [word for word in first.words[1:] if not word.startswith("-")]
    return structs.replace(act, inputs=(" ".join(words).replace("\\n", "\n"),))


def _decoded(acts: Iterable[Act]) -> Iterable[str]:
    """What base64 hides in the text itself."""
    for act in acts:
        if act.name not in _DECODERS or not act.inputs:
            continue
        for text in act.inputs:
            if len(text) <= _MAX_DECODED:
                try:
                    yield base64.b64decode(text.strip(), validate=False).decode()
                except (binascii.Error, ValueError):
                    continue


class _Places:
    """Follows ``cd`` through a text, into subshells and out of them."""

    def __init__(self, source: bytes, world: World) -> None:
        self._source = source
        self._world = world
        self._at = 0
        self._cwd: str | Where = world.where
        self._outer: list[str | Where] = []
        # Code inside code begins where its carrier is, and leaves that as it was.
        self._inner: list[tuple[int, str | Where]] = []

    def before(self, command: SimpleCommand) -> str | Where:
        """The directory a command runs in."""
        while self._inner and self._inner[-1][0] > command.depth:
            self._cwd = self._inner.pop()[1]
        if command.start >= self._at:
            gap = self._source[self._at : command.start]
            if b"(" in gap or b")" in gap:
                self._cross(gap)
            self._at = command.end
        return self._cwd

    def _cross(self, gap: bytes) -> None:
        for mark in gap:
            if mark == ord("("):
                self._outer.append(self._cwd)
            elif mark == ord(")") and self._outer:
                self._cwd = self._outer.pop()

    def after(self, command: SimpleCommand, act: Act) -> None:
        """Move if it moves."""
        if act.name == "popd" or (act.name == "env" and "-C" in act.words):
            self._cwd = ""
        if act.name not in _MOVERS:
            return
        if command.depth and (not self._inner or self._inner[-1][0] < command.depth):
            self._inner.append((command.depth, self._cwd))
        operands = [word for word in act.words[1:] if word != "--" and not _is_option(word)]
        self._cwd = self._moved(operands[0] if operands else "~", act)

    def _moved(self, word: str, act: Act) -> str:
        found = targets(word, act, self._world)
        if len(found) != 1 or not found[0].known or found[0].pattern:
            return ""
        if not found[0].path:
            # A directory that ``mktemp`` made: whatever is in it is temporary, too.
            return "/tmp/made" if found[0].place.name == "TEMP" else ""  # noqa: S108
        path = found[0].path
        # To follow links takes a look at every directory on the way.
        return os.path.realpath(path) if self._world.spend(1 + len(path) // _PER_STEP) else ""


def _is_option(word: str) -> bool:
    return len(word) > 1 and word[0] == "-"
