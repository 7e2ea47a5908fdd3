"""Code that nobody has read: from the network into a shell, or put together on the way."""

import os
import re
from collections.abc import Iterator, Sequence

from hookline.builtin.shell_guard.families.code import judged_code
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.reading import Traces
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY", "SHELLS", "is_benign", "run_later"]

SHELLS = frozenset(
    {"bash", "sh", "zsh", "dash", "ksh", "fish", "ash", "csh", "tcsh", "source", ".", "eval", "iex"}
)
_INTERPRETERS = frozenset(
    {"python", "python3", "perl", "ruby", "node", "php", "deno", "bun", "osascript", "psql"}
)
_FETCHERS = frozenset(
    {"curl", "wget", "fetch", "http", "https", "xh", "aria2c", "iwr", "nc", "ncat", "lynx"}
)
_NAMERS = frozenset({"cp", "install", "ln", "mv"})
_FETCHED = re.compile(r"(?:\$\(|<\(|`)\s*(?:sudo\s+)?(?:\S*/)?(?:curl|wget|fetch|iwr|nc|ncat)\b")

# Programs whose output shells are meant to run: set-up lines that every manual has.
_SETS_UP = re.compile(
    r"^\"?(?:\$\(|<\(|`)\s*(?:\S*/)?(?:direnv (?:hook|export)|ssh-agent\b|(?:\S*/)?brew shellenv"
    r"|pyenv (?:init|virtualenv-init)"
    r"|rbenv init|nodenv init|goenv init|jenv init|starship init|zoxide init|fnm env"
    r"|mise (?:activate|env)"
    r"|rtx activate|opam env|dircolors\b|conda shell\S*|(?:\S*/)?conda shell\S*|mamba shell\S*"
    r"|minikube docker-env"
    r"|docker-machine env|luarocks path|keychain\b|thefuck\b|hub alias|atuin init|gh completion"
    r"|fzf --\w+"
    r"|register-python-argcomplete\b|asdf exec direnv|nodenv init|volta setup|tmuxifier init"
    r"|register\w+"
    r"|[\w.-]+ completions? (?:-s )?(?:bash|zsh|fish|sh)|[\w.-]+ completion\b"
    r"|_[A-Z_]+_COMPLETE=\w+ \w+"
    r"|poetry env activate|pdm venv activate|cat \S+\.env|aws configure export-credentials"
    r"|gpgconf\b)"
    r"[^;&|]*(?:\)|`)\"?$"
)
_ACTIVATES = re.compile(
    r"(?:/|^)(?:activate(?:\.\w+)?|env|nvm\.sh|env\.sh|cargo/env|sdkman-init\.sh|asdf\.sh"
    r"|setup\.(?:ba|z)?sh|\.env)$"
)
_CONVENTIONAL = re.compile(
    r"\$\{?(?:PYTHON\d?|PY|PIP|CC|CXX|CPP|LD|AR|EDITOR|VISUAL|PAGER|BROWSER|NODE|NPM|GO|CARGO"
    r"|MAKE|JAVA|JAVA_HOME/bin/\w+"
    r"|RUBY|PHP|COMPOSER|DOCKER|KUBECTL|TERRAFORM|UV|PYTEST|BLACK|RUFF|GRADLE|MVN|BAZEL)(?::?-(?:python|pip|node|npm|gcc|cc|clang|vim?|nano|make|go|docker)[\w.]*)?\}?"
)


# These make one text of their words, in which a pattern for file names is no code.
_JOINERS = frozenset({"parallel", "watch", "ssh"})


_READ_BY_THEIR_OWN = frozenset({"pwsh", "powershell", "powershell.exe", "pwsh.exe"})
_MADE = re.compile(r"\$\{?\w+\}?|\$\(.*\)|`.*`", re.DOTALL)


def _shell(act: Act, world: World) -> Iterator[Finding]:
    for word in act.words[1:]:
        if _FETCHED.search(word):
            yield fatal(
                "runs-unseen-code",
                f"{act.name} {word}"[:120],
                "nobody has read what this would run",
            )
            return
    for text in act.inputs:
        # `bash <<< "$(curl …)"`: the whole of what it is given.
        if _FETCHED.match(text.lstrip(" \"'\n")):
            words = f"{act.name} <<< {text}"[:120]
            yield fatal("runs-unseen-code", words, "nobody has read what this would run")
            return
    if act.name in ("deno", "bun") and any(word.startswith("http") for word in act.words[1:]):
        yield risky("runs-unseen-code", act.text, "nobody has read what this would run")
    yield from _piped(act, world)


def _piped(act: Act, world: World) -> Iterator[Finding]:
    operands = [word for word in act.words[1:] if not word.startswith("-")]
    # With a program or file of its own, what comes through the pipe is only data.
    if (
        operands
        and act.name not in ("sudo", "xargs")
        and operands[0] not in ("/dev/stdin", "/dev/fd/0")
    ):
        return
    if any(word in ("-c", "-e", "-m", "-r", "--eval", "-V", "-v") for word in act.words[1:]):
        return
    if act.name in SHELLS and act.producers:
        from hookline.builtin.shell_guard.judging import found_in

        for text in act.inputs:
            yield from found_in(text, world, nested=True)
    fetcher = next((each for each in act.producers if each.name in _FETCHERS), None)
    if fetcher is not None and act.name != "psql":
        words = f"{fetcher.text[:80]} | {act.name}"
        yield fatal("runs-unseen-code", words, "nobody has read what this would run")


def is_benign(act: Act) -> bool:
    """Whether what could not be read is a set-up line that every manual has."""
    if act.name in ("eval", "source", "."):
        rest = " ".join(act.words[1:])
        return bool(_SETS_UP.match(rest)) or (act.name != "eval" and bool(_ACTIVATES.search(rest)))
    if act.name in _READ_BY_THEIR_OWN:
        # Its code is no shell's, and is read as what it is; unless the shell still has to make it.
        return not any(_MADE.fullmatch(word) for word in act.words[1:])
    if act.name in _JOINERS:
        return not act.producers and not act.inputs and not re.search(r"[$`<]", act.text)
    if act.name == "trap":
        names = re.findall(r"\$\{?(\w+)", act.text)
        return "$(" not in act.text and all(name in act.variables for name in names)
    if act.name in SHELLS:
        literal = bool(act.inputs) and bool(act.producers) and len(act.producers) == 1
        return literal and act.producers[0].exact and len(act.words) == 1
    head = act.words[0]
    return bool(_CONVENTIONAL.fullmatch(head)) or bool(re.fullmatch(r"[^`(]*/[\w.-]+", head))


def run_later(acts: Sequence[Act], traces: Traces, world: World) -> Iterator[Finding]:
    """Files that are downloaded or written here, and then run."""
    from hookline.builtin.shell_guard.judging import found_in

    if len(acts) == 1:
        return
    fetched = {_name(word) for act in acts if act.name in _FETCHERS for word in _saved(act)}
    fetched |= {_name(each.target) for each in traces.redirects if _fetches(each.words)}
    bodies = _bodies(acts, traces)
    if not fetched and not bodies:
        return
    is_found = any(name == "PATH" for name, _ in traces.assigned)
    for number, act in enumerate(acts):
        runs = [act.words[0]] if is_found or "/" in act.words[0] else []
        if act.name in _NAMERS:
            _rename(act, bodies)
        if act.name == "hash":
            runs += act.words[1:]
        if act.name in SHELLS or act.name in _INTERPRETERS or act.name in (".", "source"):
            runs += [word for word in act.words[1:] if not word.startswith("-")]
            runs += traces.read_by.get(number, ())
        for word in runs:
            if _name(word) in fetched:
                yield fatal(
                    "runs-unseen-code",
                    act.text,
                    "it was downloaded a moment ago, and nobody has read it",
                )
            for body in bodies.get(os.path.basename(word), ()):
                if act.name in _INTERPRETERS or word.endswith((".py", ".js", ".rb", ".pl", ".php")):
                    yield from judged_code(body, act, world)
                else:
                    yield from found_in(body, world, nested=True)


def _rename(act: Act, bodies: dict[str, tuple[str, ...]]) -> None:
    """Keep in mind by which other names there is what was written here."""
    *sources, target = act.words
    for source in map(os.path.basename, sources):
        if source in bodies:
            bodies.setdefault(os.path.basename(target), bodies[source])


def _fetches(words: tuple[str, ...]) -> bool:
    return bool(words) and words[0].rpartition("/")[2] in _FETCHERS


def _name(word: str) -> str:
    return os.path.normpath(word) if word else ""


def _saved(act: Act) -> Iterator[str]:
    for before, word in zip(act.words, act.words[1:], strict=False):
        if before in ("-o", "--output", "-O", "--output-document"):
            yield word
        if before.startswith(("-o", "--output=")) and len(before) > 2:
            yield before.removeprefix("--output=").removeprefix("-o")
    if act.name == "wget" or {
        "-O",
        "--remote-name",
        "-LO",
        "-OL",
        "-sSLO",
        "-sLO",
        "-fsSLO",
    }.intersection(act.words):
        yield from (word.rpartition("/")[2] for word in act.words[1:] if "://" in word)


def _bodies(acts: Sequence[Act], traces: Traces) -> dict[str, tuple[str, ...]]:
    """What here-documents and echoes put into files, by their names wherever they are."""
    found: dict[str, tuple[str, ...]] = {}
    given = {act.words: act.inputs for act in acts if act.inputs}
    for redirect in traces.redirects:
        name = redirect.words[0] if redirect.words else ""
        texts: tuple[str, ...] = ()
        if name in ("echo", "printf"):
            texts = (" ".join(redirect.words[1:]).replace("\\n", "\n"),)
        else:
            texts = given.get(redirect.words, ())
        if texts:
            key = os.path.basename(redirect.target)
            found[key] = (*found.get(key, ()), *texts)
    for act in acts:
        for word in act.words[1:] if act.name == "tee" else ():
            found[os.path.basename(word)] = act.inputs
    return found


FAMILY: Family = {
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(_INTERPRETERS, _shell),
    **{f"python3.{minor}": _shell for minor in range(6, 20)},
}
