"""Sets aside programs that only run another one: ``sudo -u root timeout 5 rm x`` is ``rm x``."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from hookline.shell.fields import Field
from hookline.shell.options import Options, Parsed, parse

__all__ = ["Unwrapped", "unwrap"]


class _Wrapper(NamedTuple):
    options: Options
    operands: int = 0
    """Operands of its own before the program it runs."""
    assigns: bool = False
    """True when ``NAME=value`` may stand before the program."""
    not_with: frozenset[str] = frozenset()
    """Options with which it runs no program."""


def _wrapper(
    valued: str = "", *, operands: int = 0, assigns: bool = False, not_with: str = ""
) -> _Wrapper:
    options = Options(frozenset(valued.split()))
    return _Wrapper(options, operands, assigns, frozenset(not_with.split()))


_WRAPPERS = {
    "sudo": _wrapper(
        "-C -D -g -h -p -R -r -T -t -U -u --chdir --chroot --close-from --command-timeout --group"
        " --host --other-user --prompt --role --type --user",
        assigns=True,
        not_with="-e --edit -l --list",
    ),
    "doas": _wrapper("-C -u"),
    "pkexec": _wrapper("--user"),
    "env": _wrapper("-C -S -u --chdir --split-string --unset", assigns=True),
    "timeout": _wrapper("-k -s --kill-after --signal", operands=1),
    "nice": _wrapper("-n --adjustment"),
    "ionice": _wrapper("-c -n -P -p -u --class --classdata --pgid --pid --uid"),
    "chrt": _wrapper("-D -P -T", operands=1, not_with="-p --pid"),
    "taskset": _wrapper(operands=1, not_with="-p --pid"),
    "nohup": _wrapper(),
    "setsid": _wrapper(),
    "stdbuf": _wrapper("-e -i -o --error --input --output"),
    "time": _wrapper("-f -o --format --output", assigns=True),
    "command": _wrapper(not_with="-v -V"),
    "builtin": _wrapper(),
    "exec": _wrapper("-a"),
    "coproc": _wrapper(assigns=True),
    "xargs": _wrapper(
        "-a -d -E -I -J -L -n -P -R -S -s --arg-file --delimiter --max-args --max-chars --max-procs"
        " --process-slot-var"
    ),
    **dict.fromkeys(("and", "or", "not", "noglob", "nocorrect"), _wrapper()),  # fish and zsh
    "repeat": _wrapper(operands=1),
    "chroot": _wrapper(operands=1),
    "unshare": _wrapper("-G -R -S -w --root --setgid --setuid --wd"),
    "nsenter": _wrapper("-G -S -t --setgid --setuid --target"),
    "fakeroot": _wrapper("-b -i -l -s --faked --lib"),
    "unbuffer": _wrapper(),
    "strace": _wrapper("-a -b -E -e -I -O -o -P -p -S -s -U -u -X --env --output --trace --user"),
    "ltrace": _wrapper("-A -a -D -e -F -l -n -o -p -s -u -w -x --output"),
    "caffeinate": _wrapper("-t -w"),
    "busybox": _wrapper(),
    "toybox": _wrapper(),
    "flock": _wrapper("-E -w --conflict-exit-code --timeout --wait", operands=1, not_with="-c"),
    "systemd-run": _wrapper(
        "-E -H -M -p -u --description --gid --host --machine --nice --property --service-type"
        " --setenv --slice --timer-property --uid --unit --working-directory"
        " --on-active --on-boot --on-calendar --on-startup --on-unit-active --on-unit-inactive"
    ),
}  # fmt: skip

# These add words of their own making, which the text does not show.
_FED = frozenset({"xargs"})

_NO_PROGRAM = re.compile(r"[A-Za-z_]\w*=|-\Z", re.ASCII)


class Unwrapped(NamedTuple):
    """A command without its wrappers; never empty, as the last wrapper stays when alone."""

    wrappers: tuple[str, ...]
    words: Sequence[Field]
    fed: bool
    """True when the words will be followed by others we cannot see."""


def unwrap(words: Sequence[Field]) -> Unwrapped:
    """Set aside all the wrappers in front of ``words``."""
    names: list[str] = []
    while words[0].exact:
        name = words[0].text.rpartition("/")[2]
        wrapper = _WRAPPERS.get(name)
        inner = None if wrapper is None else _inside(name, wrapper, words)
        if not inner:
            break
        names.append(name)
        words = inner
    return Unwrapped(tuple(names), words, not _FED.isdisjoint(names))


def _inside(name: str, wrapper: _Wrapper, words: Sequence[Field]) -> Sequence[Field]:
    parsed = parse(words, wrapper.options)
    if parsed.has(*wrapper.not_with):
        return ()
    string = _split_string(parsed) if name == "env" else ()
    rest = (*string, *words[parsed.operands :])
    at = 0
    # A lone ``-`` is an option too: to ``env`` it means ``-i``.
    while wrapper.assigns and at < len(rest) and _NO_PROGRAM.match(rest[at].text):
        at += 1
    inner = rest[at + wrapper.operands :]
    if name == "xargs":
        return _with_holes(inner, parsed)
    if name == "flock" and inner and inner[0].text in ("-c", "--command"):
        return ()
    return inner


def _split_string(parsed: Parsed) -> list[Field]:
    """The words of ``env -S 'string'``."""
    string = parsed.value("-S", "--split-string")
    if string is None:
        return []
    import shlex

    try:
        words = shlex.split(string.text)
    except ValueError:
        words = string.text.split()
    return [Field(word, string.exact) for word in words]


def _with_holes(words: Sequence[Field], parsed: Parsed) -> Sequence[Field]:
    """Mark the words in which ``xargs -I`` will write something else."""
    replaced = parsed.value("-I", "-J", "--replace")
    hole = replaced.text if replaced is not None else "{}"
    return [Field(text, exact and hole not in text) for text, exact in words]
