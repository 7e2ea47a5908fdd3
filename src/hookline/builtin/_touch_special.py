"""Programs whose words have places of their own: copies, downloads, archives, git."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from hookline.builtin._touch_code import Right, Use

__all__ = ["SPECIAL", "operands", "values", "without_loaded"]


_RECURSIVE = re.compile(r"-[a-zA-Z]*[rRa]|--recursive|--archive")
_SETTINGS = re.compile(r"\.env(?:\.[\w-]+)?|\.envrc")
# Certificates and the like: a key beside them in the same file is not shown.
_PUBLIC = frozenset({"x509", "crl", "verify", "s_client", "ocsp"})
_ENV_FILES = frozenset({"--env-file", "--env-file-if-exists"})
_LOADED: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("docker", "podman", "nerdctl", "docker-compose", "podman-compose"), _ENV_FILES
    ),
    **dict.fromkeys(("node", "nodejs", "bun", "deno", "tsx", "uv"), _ENV_FILES),
    **dict.fromkeys(("ssh", "scp", "sftp"), frozenset({"-i", "-F"})),
    **dict.fromkeys(("kubectl", "oc", "helm", "k9s", "flux"), frozenset({"--kubeconfig"})),
}
"""Options by which programs are given files that they load for themselves."""


def operands(arguments: Sequence[str]) -> list[str]:
    """The words that are no options; after `--` all are."""
    if "--" in arguments:
        end = arguments.index("--")
        return [*operands(arguments[:end]), *arguments[end + 1 :]]
    return [each for each in arguments if not each.startswith("-") or each == "-"]


def values(arguments: Sequence[str]) -> list[str]:
    """The operands, and what stands behind `=`, `@` and `:` in a word, or as `HERE:THERE`."""
    found: list[str] = []
    for each in arguments:
        if not each.startswith("-"):
            found.append(each)
            if ":" in each and each[0] in "/.~$":
                found.append(each.partition(":")[0])
        for sign in "=@:":
            if sign in each:
                rest = each.partition(sign)[2]
                if rest and not rest.startswith("//"):
                    found.append(rest.lstrip("@"))
    return found


def _copy(arguments: Sequence[str], taken: Right) -> Iterator[Use]:
    """What is copied or moved, and where to: also the same name in a directory there."""
    given, target = [], ""
    skip = False
    for at, each in enumerate(arguments):
        if skip:
            skip = False
        elif each in {"-t", "--target-directory"}:
            target, skip = (*arguments[at + 1 : at + 2], "")[0], True
        elif each.startswith("--target-directory="):
            target = each.partition("=")[2]
        elif not each.startswith("-"):
            given.append(each)
    if not target and len(given) > 1:
        target = given.pop()
    whole = any(map(_RECURSIVE.match, arguments))
    deep = whole or taken is not Right.READ
    for each in given:
        yield Use(each, taken, deep)
        if target:
            name = each.rstrip("/").rpartition("/")[2]
            yield Use(f"{target.rstrip('/')}/{name}", Right.WRITE, inside=True, source=each)
    if target:
        yield Use(target, Right.WRITE)
    # What is in a directory is put among what is there already.
    if target and whole and any(each.endswith(("/.", "/")) for each in given):
        yield Use(target, Right.WRITE, deep=True, sure=False)


def _link(arguments: Sequence[str]) -> Iterator[Use]:
    # A second name for a file is a way to write to it.
    yield from _copy(arguments, Right.WRITE)
    if any(re.match(r"-[a-zA-Z]*[nT]|--no-", each) for each in arguments):
        # A directory is replaced by the link, and not given one more entry.
        yield from (Use(each, Right.WRITE, deep=True) for each in [*operands(arguments)][-1:])


def _remote_copy(arguments: Sequence[str]) -> Iterator[Use]:
    given = list(operands(arguments))
    deep = any(map(_RECURSIVE.match, arguments))
    yield from (Use(each, Right.READ, deep) for each in given[:-1])
    if "--dry-run" in arguments or any(re.match(r"-[a-zA-Z]*n", each) for each in arguments):
        return
    if given and ":" not in given[-1].partition("/")[0]:
        yield from _copy(arguments, Right.READ)
        if any(each.startswith("--delete") for each in arguments):
            yield Use(given[-1], Right.DELETE, deep=True)


def _dd(arguments: Sequence[str]) -> Iterator[Use]:
    for each in arguments:
        key, _, file = each.partition("=")
        if key in {"if", "of"}:
            yield Use(file, Right.READ if key == "if" else Right.WRITE)


def _transfer(arguments: Sequence[str]) -> Iterator[Use]:
    """curl and wget: files they write, files they send."""
    before = ""
    for each in arguments:
        if before in {"-o", "--output", "-O", "--output-document", "-c", "--cookie-jar", "-D"}:
            yield Use(each, Right.WRITE)
        elif before in {"-T", "--upload-file", "-K", "--config", "--post-file", "--body-file"}:
            yield Use(each, Right.READ)
        elif "@" in each:
            yield Use(each.partition("@")[2].partition(";")[0], Right.READ)
        elif re.match(r"-[a-zA-Z]*o.", each) and not each.startswith("--"):
            yield Use(each.partition("o")[2], Right.WRITE)
        elif each.startswith(("--output=", "--output-document=")):
            yield Use(each.partition("=")[2], Right.WRITE)
        elif each.startswith("file:"):
            yield Use(re.sub(r"^file:(?://(?:localhost)?)?", "", each), Right.READ)
        before = each


def _git(arguments: Sequence[str]) -> Iterator[Use]:
    words = list(arguments)
    while words and words[0].startswith("-"):
        valued = words[0] in {"-C", "-c", "--git-dir", "--work-tree", "--namespace"}
        words = words[2 if valued else 1 :]
    verb, rest = (words[0], words[1:]) if words else ("", [])
    if verb in {"checkout", "restore", "apply", "am"}:
        yield from (Use(each, Right.WRITE) for each in operands(rest))
    elif verb == "rm":
        kept = "--cached" in rest or "-n" in rest or "--dry-run" in rest
        yield from (Use(each, Right.DELETE, deep=True) for each in operands(rest) if not kept)
    elif verb == "mv":
        yield from _copy(rest, Right.DELETE)
    elif verb == "clean" and any(re.match(r"-[a-zA-Z]*[xX]", each) for each in rest):
        # Settings of one person are among what git ignores, and which files it has cannot be told.
        if not any(re.match(r"-[a-zA-Z]*n|--dry-run", each) for each in rest):
            yield from (Use(each, Right.DELETE, True, False) for each in [*operands(rest), "."])
    elif verb in {"show", "diff", "grep", "cat-file", "blame", "log"}:
        yield from (Use(each, Right.READ) for each in values(rest))


def _tar(arguments: Sequence[str]) -> Iterator[Use]:
    """What goes in is read with all below it; the directory that it comes out into is changed."""
    takes_out = any("x" in each for each in arguments[:1]) or "--extract" in arguments
    for at, each in enumerate(arguments):
        value = (*arguments[at + 1 : at + 2], "")[0]
        if takes_out and each in {"-C", "--directory"}:
            yield Use(value, Right.WRITE)
            yield Use(value, Right.WRITE, deep=True, sure=False)
        elif not takes_out and re.fullmatch(r"-?[a-zA-Z]*f|--file", each) and "t" not in each:
            yield Use(value, Right.WRITE)
    moved = {value for key, value in pairwise(arguments) if key in {"-C", "--directory"}}
    for each in operands(arguments):
        if each not in moved:
            yield Use(each, Right.USE) if takes_out else Use(each, Right.READ, deep=True)


def _unzip(arguments: Sequence[str]) -> Iterator[Use]:
    for key, value in pairwise(arguments):
        if key == "-d":
            yield Use(value, Right.WRITE)
            yield Use(value, Right.WRITE, deep=True, sure=False)
    yield from (Use(each, Right.USE) for each in operands(arguments))


def _zip(arguments: Sequence[str]) -> Iterator[Use]:
    archive, *files = *operands(arguments), ""
    yield Use(archive, Right.WRITE)
    yield from (Use(each, Right.READ, deep=True) for each in files)


def _source(arguments: Sequence[str]) -> Iterator[Use]:
    """A shell takes settings in silently; of other files it shows the lines that it cannot run."""
    for each in operands(arguments):
        if not _SETTINGS.fullmatch(each.rpartition("/")[2]):
            yield Use(each, Right.READ)


def _openssl(arguments: Sequence[str]) -> Iterator[Use]:
    """What it reads, unless that can only be something public; and what it writes."""
    if arguments[:1] and arguments[0] not in _PUBLIC:
        yield from (Use(each, Right.READ) for each in operands(arguments[1:]))
    yield from (Use(file, Right.WRITE) for key, file in pairwise(arguments) if key == "-out")


def _mkdir(arguments: Sequence[str]) -> Iterator[Use]:
    yield from (Use(each, Right.WRITE, made=True) for each in operands(arguments))


def without_loaded(name: str, arguments: Sequence[str]) -> Sequence[str]:
    """The words without files that the program takes its own settings from and shows nobody."""
    options = _LOADED.get(name)
    if options is None or options.isdisjoint(each.partition("=")[0] for each in arguments):
        return arguments
    left: list[str] = []
    before = ""
    for each in arguments:
        if before not in options and each.partition("=")[0] not in options:
            left.append(each)
        before = each
    return left


SPECIAL: dict[str, Callable[[Sequence[str]], Iterator[Use]]] = {
    "cp": lambda words: _copy(words, Right.READ),
    "install": lambda words: _copy(words, Right.READ),
    "mv": lambda words: _copy(words, Right.DELETE),
    "rename": lambda words: _copy(words, Right.DELETE),
    "ln": _link,
    "link": _link,
    "scp": _remote_copy,
    "rsync": _remote_copy,
    "dd": _dd,
    "curl": _transfer,
    "wget": _transfer,
    "git": _git,
    "tar": _tar,
    "bsdtar": _tar,
    "unzip": _unzip,
    "zip": _zip,
    "mkdir": _mkdir,
    "openssl": _openssl,
    "source": _source,
    ".": _source,
}
