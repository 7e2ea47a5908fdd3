"""Finds the commands and the code that a command carries in its own arguments."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from hookline.shell.fields import Field, joined
from hookline.shell.inner import Argv, Code, Inner, Stdin, Unseen, Words
from hookline.shell.launchers import LAUNCHERS
from hookline.shell.model import STDIN, STDIN_NAMES
from hookline.shell.options import Options, parse
from hookline.shell.quoting import ansi_c

__all__ = [
    "SHELLS",
    "SHELL_OPTIONS",
    "carried",
    "carries",
    "find_copied_files",
    "literal_output",
    "programs_in",
]


def carried(words: Words) -> Iterable[Inner]:
    """Everything ``words``, a command without wrappers, would have run."""
    carrier = _CARRIERS.get(words[0].text.rpartition("/")[2])
    return () if carrier is None else carrier(words)


def carries(name: str) -> bool:
    """Whether a program of this name may have anything run."""
    return name in _CARRIERS


def literal_output(words: Words, inputs: Sequence[Field]) -> list[Field]:
    """What a command evidently writes, as far as it takes to follow it into a pipe."""
    name = words[0].text.rpartition("/")[2]
    if name == "echo":
        line = joined(words[parse(words, Options()).operands :])
        return _unescape(line)
    if name == "printf":
        return [text for word in words[1:] for text in _unescape(word)]
    return list(inputs) if name in ("cat", "tee") else []


def find_copied_files(pipeline: Iterable[tuple[Words, Field | None]]) -> list[Field]:
    """The files that commands evidently write to a pipe: of each its words, and what it reads."""
    found: list[Field] = []
    for at, (words, file) in enumerate(pipeline):
        name = words[0].text.rpartition("/")[2] if words else ""
        named = [word for word in words[1:] if word.text == "-" or word.text[:1] != "-"]
        if name == "cat" and named:
            found += named
        elif name in ("cat", "tee"):
            found += [file] if file is not None else [] if at else [Field(STDIN)]
        elif name not in ("echo", "printf"):
            return [Field(STDIN)]
    return found


def _unescape(word: Field) -> list[Field]:
    """A text with its escapes worked out, and as it is, as some shells print it."""
    out = Field(ansi_c(word.text), word.exact)
    return [out] if out == word else [out, word]


# -- shells and code in words

SHELLS = (
    "bash", "sh", "zsh", "dash", "ksh", "ksh93", "mksh", "lksh", "oksh", "ash", "fish", "rbash",
    "csh", "tcsh", "yash", "posh", "osh", "elvish", "nu", "xonsh", "rc", "es", "sash", "hush",
)  # fmt: skip
_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/fd/\d+")
SHELL_OPTIONS = Options(frozenset({"-o", "-O", "+o", "+O", "--rcfile", "--init-file"}), plus=True)


def _shell(words: Words) -> Iterator[Inner]:
    parsed = parse(words, SHELL_OPTIONS)
    operands = words[parsed.operands :]
    startup = parsed.value("--rcfile", "--init-file")
    if startup is not None:
        yield from _file(startup)
    if parsed.has("-c", "--command"):
        yield Code(operands[0], arguments=operands[1:]) if operands else Unseen()
    elif not operands or parsed.has("-s") or operands[0].text == "-":
        if not parsed.has("--version", "--help"):
            yield Stdin()
    else:
        yield from _file(operands[0])


def _file(file: Field) -> Iterator[Inner]:
    if file.text in STDIN_NAMES:
        yield Stdin()
    elif _DESCRIPTOR.fullmatch(file.text):
        # What was opened under this number; what is not known of it may be anything.
        yield from (Stdin(), Unseen(file.text))
    elif "<(" in file.text or file.text.startswith(("/dev/", "/proc/")):
        yield Unseen(file.text)
    elif not file.exact and file.text.startswith(("$", "`")):
        # As open as a variable in place of the program; it may even be an option.
        yield Unseen()


def _source(words: Words) -> Iterator[Inner]:
    if len(words) > 1:
        yield from _file(words[1])


def _eval(words: Words) -> Iterator[Inner]:
    words = words[parse(words, Options()).operands :]
    if words:
        yield Code(joined(words), same_shell=True)


def _trap(words: Words) -> Iterator[Inner]:
    words = words[parse(words, Options()).operands :]
    if len(words) > 1 and words[0].text not in ("", "-"):
        yield Code(words[0], same_shell=True)


def _find_callback(words: Words) -> Iterator[Inner]:
    parsed = parse(words, _MAPFILE)
    code, expanded = parsed.value("-C"), parsed.value("-W")
    if code is not None:
        yield Code(code, same_shell=True)
    if expanded is not None:
        yield Code(Field(f": {expanded.text}", expanded.exact), same_shell=True)


_MAPFILE = Options(frozenset(f"-{letter}" for letter in "cCdnOsuAFGPSWX"))


def _alias(words: Words) -> Iterator[Inner]:
    for word in words[1:]:
        _, equals, value = word.text.partition("=")
        if equals:
            yield Code(Field(value, word.exact), same_shell=True)


def _declares(words: Words) -> Iterator[Inner]:
    for text, exact in words[1:]:
        name, _, value = text.partition("=")
        yield from programs_in([(name, Field(value, exact))])


def _login(words: Words) -> Iterator[Inner]:
    """A wrapper left alone, which then starts a shell of its own."""
    named = words[0].text.rpartition("/")[2] in ("chroot", "nsenter", "unshare")
    if named or parse(words, Options()).has("-i", "-s", "--login", "--shell"):
        yield Stdin()


# -- programs that hand code to a shell

_WATCH = Options(frozenset({"-n", "--interval", "-q", "--equexit", "-s", "--shotsdir"}))
_SCRIPT = Options(frozenset({"-c", "--command", "-E", "-I", "-O", "-B", "-T", "-m", "-o"}))
_SU = Options(frozenset({
    "-c", "--command", "-g", "--group", "-G", "--supp-group", "-s", "--shell", "-u", "--user",
    "-w", "--whitelist-environment", "--session-command",
}))  # fmt: skip
_SSH = Options(frozenset(f"-{letter}" for letter in "BbcDEeFIiJLlmOopPQRSWw"))


def _watch(words: Words) -> Iterator[Inner]:
    parsed = parse(words, _WATCH)
    words = words[parsed.operands :]
    if words:
        yield Argv(words) if parsed.has("-x", "--exec") else Code(joined(words))


def _late_code(words: Words, options: Options) -> Field | None:
    """The value of ``-c``, which may also follow operands: ``su - root -c 'code'``."""
    at = 1
    while at < len(words):
        parsed = parse(words, options, at)
        code = parsed.value("-c", "--command", "--session-command")
        if code is not None:
            return code
        at = parsed.operands + 1
    # What follows the dashes is for the shell that is started.
    dashes = next((at for at, word in enumerate(words) if word.text == "--"), len(words))
    given = pairwise(words[dashes + 1 :])
    return next((code for option, code in given if option.text == "-c"), None)


def _script(words: Words) -> Iterator[Inner]:
    code = _late_code(words, _SCRIPT)
    operands = words[parse(words, _SCRIPT).operands :]
    if code is not None:
        yield Code(code)
    elif len(operands) > 1:
        yield Argv(operands[1:])
    else:
        yield Stdin()


def _su(words: Words) -> Iterator[Inner]:
    parsed = parse(words, _SU)
    operands = words[parsed.operands :]
    if parsed.has("-u", "--user") and operands:
        yield Argv(operands)
    elif (code := _late_code(words, _SU)) is not None:
        yield Code(code)
    else:
        yield Stdin()


def _ssh(words: Words) -> Iterator[Inner]:
    rest = words[parse(words, _SSH).operands :]
    # Options may also follow the host; without a command its shell reads standard input.
    remote = rest[parse(rest, _SSH).operands :]
    yield Code(joined(remote)) if remote else Stdin()


def _flock(words: Words) -> Iterator[Inner]:
    for option, code in pairwise(words):
        if option.text in ("-c", "--command"):
            yield Code(code)


def _parallel(words: Words) -> Iterator[Inner]:
    words = words[parse(words, _PARALLEL).operands :]
    end = next((at for at, word in enumerate(words) if word.text.startswith(":::")), len(words))
    command, given = words[:end], words[end + 1 :]
    if not words:
        yield Stdin()
    elif end == 0:
        # Without a command of its own it runs its arguments, or the lines of the files named.
        yield from [Code(word) for word in given] if words[0].text == ":::" else [Unseen()]
    elif not given or words[end].text != ":::":
        yield Code(command[0]) if end == 1 else Argv(_with_holes(command, "{"))
    for argument in given if end else ():
        filled = _filled(command, argument)
        yield Code(joined(filled)) if end == 1 else Argv(filled)


def _filled(words: Words, argument: Field) -> list[Field]:
    """The words with an argument in their holes, or behind them."""
    if not any("{}" in text for text, _ in words):
        return [*_with_holes(words, "{"), argument]
    return [Field(text.replace("{}", argument.text), exact) for text, exact in words]


_PARALLEL = Options(frozenset({
    "-j", "--jobs", "-N", "-n", "--max-args", "-S", "--sshlogin", "-a", "--arg-file", "-I", "-d",
    "--delimiter", "-C", "--colsep", "--joblog", "--results", "--retries", "--timeout", "--delay",
    "--tmpdir", "--workdir", "--wd", "--env", "--halt", "--load", "--memfree", "--nice", "-P",
    "-L", "--tagstring", "-s", "--max-chars", "--sshdelay", "--recstart", "--recend", "--block",
}))  # fmt: skip


def _with_holes(words: Words, hole: str) -> list[Field]:
    """Mark the words in which a file name or an argument will be written."""
    return [Field(word.text, exact=False) if hole in word.text else word for word in words]


# -- programs that run separate words elsewhere


def _find(words: Words) -> Iterator[Inner]:
    start: int | None = None
    for at, word in enumerate(words):
        if start is None:
            start = at + 1 if word.text in ("-exec", "-execdir", "-ok", "-okdir") else None
        elif word.text == ";" or (word.text == "+" and words[at - 1].text == "{}"):
            yield from _argv(_with_holes(words[start:at], "{}"))
            start = None
    if start is not None:
        yield from _argv(_with_holes(words[start:], "{}"))


def _argv(words: Words) -> Iterator[Inner]:
    if words:
        yield Argv(words)


_CONTAINER = Options(flags=frozenset({
    "-D", "-d", "-i", "-l", "-P", "-q", "-T", "-t", "--all-resources", "--build", "--debug",
    "--detach", "--disable-content-trust", "--dry-run", "--env-host", "--help", "--http-proxy",
    "--init", "--interactive", "--latest", "--no-TTY", "--no-deps", "--no-healthcheck",
    "--no-hostname", "--no-hosts", "--no-tty", "--oom-kill-disable", "--privileged",
    "--publish-all", "--quiet", "--read-only", "--remote", "--remove-orphans", "--replace", "--rm",
    "--rmi", "--service-ports", "--sig-proxy", "--tls", "--tls-verify", "--tlsverify", "--tty",
    "--use-aliases", "--version",
}))  # fmt: skip


def _container(words: Words) -> Iterator[Inner]:
    at = parse(words, _CONTAINER).operands
    while at < len(words) and words[at].text in ("compose", "container"):
        at = parse(words, _CONTAINER, at + 1).operands
    if at == len(words) or words[at].text not in ("exec", "run"):
        return
    parsed = parse(words, _CONTAINER, at + 1)
    entrypoint = parsed.value("--entrypoint")
    inner = words[parsed.operands + 1 :]
    if entrypoint is not None:
        yield Argv((entrypoint, *inner))
    elif inner and not inner[0].text.startswith("-"):
        yield Argv(inner)


_KUBECTL = Options(frozenset({
    "-c", "--container", "-n", "--namespace", "-f", "--filename", "-s", "--server", "--as",
    "--cluster", "--context", "--kubeconfig", "--pod-running-timeout", "--token", "--user",
}))  # fmt: skip


def _kubectl(words: Words) -> Iterator[Inner]:
    texts = [word.text for word in words]
    if "--" in texts and not {"exec", "run", "debug"}.isdisjoint(texts):
        yield from _argv(words[texts.index("--") + 1 :])
        return
    verb = parse(words, _KUBECTL).operands
    if texts[verb : verb + 1] == ["exec"]:
        pod = parse(words, _KUBECTL, verb + 1).operands
        # Without dashes too, though kubectl has long said not to.
        yield from _argv(words[parse(words, _KUBECTL, pod + 1).operands :])


_CARRIERS: dict[str, Callable[[Words], Iterable[Inner]]] = {
    **LAUNCHERS,
    **dict.fromkeys(SHELLS, _shell),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("sudo", "doas", "chroot", "nsenter", "unshare"), _login),
    **dict.fromkeys(("export", "declare", "typeset", "readonly"), _declares),
    "eval": _eval,
    "trap": _trap,
    "alias": _alias,
    **dict.fromkeys(("mapfile", "readarray", "compgen"), _find_callback),
    "watch": _watch,
    "script": _script,
    **dict.fromkeys(("su", "runuser"), _su),
    "ssh": _ssh,
    "flock": _flock,
    **dict.fromkeys(("parallel", "sem"), _parallel),
    "find": _find,
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), _container),
    **dict.fromkeys(("kubectl", "oc"), _kubectl),
}


# Variables whose value some program runs as a command.
_RUN_AS_COMMAND = frozenset({
    "BROWSER", "EDITOR", "FCEDIT", "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
    "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "MANPAGER", "PAGER",
    "PROMPT_COMMAND", "RSYNC_RSH", "SSH_ASKPASS", "SUDO_ASKPASS", "SUDO_EDITOR", "VISUAL",
})  # fmt: skip
# Shells expand these, and run what is substituted in them.
_SOURCED_FROM = frozenset({"BASH_ENV", "ENV"})
_EXPANDED = _SOURCED_FROM | {"PS0", "PS1", "PS2", "PS4"}


def programs_in(assigned: Iterable[tuple[str, Field]]) -> Iterator[Inner]:
    """The code that these assignments give to whatever reads them."""
    for name, value in assigned:
        if name in _RUN_AS_COMMAND and value.exact:
            yield Code(value)
        elif name in _EXPANDED and value.exact and ("$(" in value.text or "`" in value.text):
            yield Code(Field(f': "{value.text}"'))
        elif name in _SOURCED_FROM and value.text:
            yield Argv((Field("."), value))
