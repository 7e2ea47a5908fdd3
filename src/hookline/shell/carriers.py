"""Finds the commands and the code that a command carries in its own arguments."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from hookline.shell.fields import Field
from hookline.shell.options import Options, parse
from hookline.shell.quoting import ansi_c

__all__ = ["Argv", "Code", "Inner", "Stdin", "Unseen", "carried", "literal_output"]


class Argv(NamedTuple):
    """A command given as separate words."""

    words: Sequence[Field]


class Code(NamedTuple):
    """Shell code given as text; ``same_shell`` when it sees the variables set around it."""

    text: Field
    same_shell: bool = False


class Stdin(NamedTuple):
    """Shell code read from standard input."""


class Unseen(NamedTuple):
    """Shell code from somewhere the text does not show."""


Inner = Argv | Code | Stdin | Unseen
_Words = Sequence[Field]


def carried(words: _Words) -> Iterator[Inner]:
    """Everything ``words``, a command without wrappers, would have run."""
    carrier = _CARRIERS.get(words[0].text.rpartition("/")[2])
    if carrier is not None:
        yield from carrier(words)


def literal_output(words: _Words, inputs: Sequence[Field]) -> list[Field]:
    """What a command evidently writes, as far as it takes to follow it into a pipe."""
    name = words[0].text.rpartition("/")[2]
    if name == "echo":
        line = _joined(words[parse(words, Options()).operands :])
        return [Field(ansi_c(line.text), line.exact)]
    if name == "printf":
        return [Field(ansi_c(word.text), word.exact) for word in words[1:]]
    return list(inputs) if name in ("cat", "tee") else []


def _joined(words: _Words) -> Field:
    return Field(" ".join(word.text for word in words), all(word.exact for word in words))


# -- shells and code in words

_SHELL = Options(frozenset({"-o", "-O", "+o", "+O", "--rcfile", "--init-file"}), plus=True)


def _shell(words: _Words) -> Iterator[Inner]:
    parsed = parse(words, _SHELL)
    operands = words[parsed.operands :]
    startup = parsed.value("--rcfile", "--init-file")
    if startup is not None:
        yield from _file(startup)
    if parsed.has("-c", "--command"):
        yield Code(operands[0]) if operands else Unseen()
    elif not operands or parsed.has("-s") or operands[0].text == "-":
        if not parsed.has("--version", "--help"):
            yield Stdin()
    else:
        yield from _file(operands[0])


def _file(file: Field) -> Iterator[Inner]:
    if file.text in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        yield Stdin()
    elif "<(" in file.text or file.text.startswith(("/dev/", "/proc/")):
        yield Unseen()
    elif not file.exact and file.text.startswith(("$", "`")):
        # As open as a variable in place of the program; it may even be an option.
        yield Unseen()


def _source(words: _Words) -> Iterator[Inner]:
    if len(words) > 1:
        yield from _file(words[1])


def _eval(words: _Words) -> Iterator[Inner]:
    words = words[parse(words, Options()).operands :]
    if words:
        yield Code(_joined(words), same_shell=True)


def _trap(words: _Words) -> Iterator[Inner]:
    words = words[parse(words, Options()).operands :]
    if len(words) > 1 and words[0].text not in ("", "-"):
        yield Code(words[0], same_shell=True)


def _alias(words: _Words) -> Iterator[Inner]:
    for word in words[1:]:
        _, equals, value = word.text.partition("=")
        if equals:
            yield Code(Field(value, word.exact), same_shell=True)


def _login(words: _Words) -> Iterator[Inner]:
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


def _watch(words: _Words) -> Iterator[Inner]:
    parsed = parse(words, _WATCH)
    words = words[parsed.operands :]
    if words:
        yield Argv(words) if parsed.has("-x", "--exec") else Code(_joined(words))


def _late_code(words: _Words, options: Options) -> Field | None:
    """The value of ``-c``, which may also follow operands: ``su - root -c 'code'``."""
    at = 1
    while at < len(words):
        parsed = parse(words, options, at)
        code = parsed.value("-c", "--command", "--session-command")
        if code is not None:
            return code
        at = parsed.operands + 1
    return None


def _script(words: _Words) -> Iterator[Inner]:
    code = _late_code(words, _SCRIPT)
    operands = words[parse(words, _SCRIPT).operands :]
    if code is not None:
        yield Code(code)
    elif len(operands) > 1:
        yield Argv(operands[1:])
    else:
        yield Stdin()


def _su(words: _Words) -> Iterator[Inner]:
    parsed = parse(words, _SU)
    code = _late_code(words, _SU)
    operands = words[parsed.operands :]
    if code is not None:
        yield Code(code)
    elif parsed.has("-u", "--user") and operands:
        yield Argv(operands)
    else:
        yield Stdin()


def _ssh(words: _Words) -> Iterator[Inner]:
    rest = words[parse(words, _SSH).operands :]
    # Options may also follow the host; without a command its shell reads standard input.
    remote = rest[parse(rest, _SSH).operands :]
    yield Code(_joined(remote)) if remote else Stdin()


def _flock(words: _Words) -> Iterator[Inner]:
    for option, code in pairwise(words):
        if option.text in ("-c", "--command"):
            yield Code(code)


def _parallel(words: _Words) -> Iterator[Inner]:
    words = words[parse(words, _PARALLEL).operands :]
    end = next((at for at, word in enumerate(words) if word.text.startswith(":::")), len(words))
    if not words:
        yield Stdin()
    elif end == 0:
        # Without a command of its own it runs its arguments, or the lines of the files named.
        yield from [Code(word) for word in words[1:]] if words[0].text == ":::" else [Unseen()]
    elif end == 1:
        yield Code(words[0])
    else:
        yield Argv(_with_holes(words[:end], "{"))


_PARALLEL = Options(frozenset({
    "-j", "--jobs", "-N", "-n", "--max-args", "-S", "--sshlogin", "-a", "--arg-file", "-I", "-d",
    "--delimiter", "-C", "--colsep", "--joblog", "--results", "--retries", "--timeout", "--delay",
    "--tmpdir", "--workdir", "--wd", "--env", "--halt", "--load", "--memfree", "--nice", "-P",
    "-L", "--tagstring", "-s", "--max-chars", "--sshdelay", "--recstart", "--recend", "--block",
}))  # fmt: skip


def _with_holes(words: _Words, hole: str) -> list[Field]:
    """Mark the words in which a file name or an argument will be written."""
    return [Field(text, exact and hole not in text) for text, exact in words]


# -- programs that run separate words elsewhere


def _find(words: _Words) -> Iterator[Inner]:
    start: int | None = None
    for at, word in enumerate(words):
        if start is None:
            start = at + 1 if word.text in ("-exec", "-execdir", "-ok", "-okdir") else None
        elif word.text == ";" or (word.text == "+" and words[at - 1].text == "{}"):
            yield from _argv(_with_holes(words[start:at], "{}"))
            start = None
    if start is not None:
        yield from _argv(_with_holes(words[start:], "{}"))


def _argv(words: _Words) -> Iterator[Inner]:
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


def _container(words: _Words) -> Iterator[Inner]:
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


def _kubectl(words: _Words) -> Iterator[Inner]:
    texts = [word.text for word in words]
    if "--" in texts and not {"exec", "run", "debug"}.isdisjoint(texts):
        yield from _argv(words[texts.index("--") + 1 :])


_CARRIERS: dict[str, Callable[[_Words], Iterator[Inner]]] = {
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash"), _shell),
    **dict.fromkeys(("source", "."), _source),
    **dict.fromkeys(("sudo", "doas", "chroot", "nsenter", "unshare"), _login),
    "eval": _eval,
    "trap": _trap,
    "alias": _alias,
    "watch": _watch,
    "script": _script,
    **dict.fromkeys(("su", "runuser"), _su),
    "ssh": _ssh,
    "flock": _flock,
    "parallel": _parallel,
    "find": _find,
    **dict.fromkeys(("docker", "podman", "nerdctl", "docker-compose"), _container),
    **dict.fromkeys(("kubectl", "oc"), _kubectl),
}
