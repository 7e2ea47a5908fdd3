"""What a git command does to which branch, by its own words."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

__all__ = ["ALL", "HEAD", "Act", "Deed", "acts", "moves_to"]

Deed = Literal["commit", "push", "force-push", "merge", "rebase", "reset", "delete"]

HEAD = "HEAD"
"""Whichever branch is checked out."""
ALL = "*"
"""Every branch there is."""


class Act(NamedTuple):
    """One thing done to one branch."""

    deed: Deed
    branch: str
    source: str = ""
    """What is brought into it, when that is one branch."""


_VALUED = frozenset({
    "-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix",
    "--config-env",
})  # fmt: skip
# Options of `push` that take a word of their own.
_PUSH_VALUED = frozenset({
    "-o", "--push-option", "--repo", "--receive-pack", "--exec",
})  # fmt: skip
_MODES = frozenset({
    "--hard", "--soft", "--keep", "--merge", "--mixed",
})  # fmt: skip
_COMMITS = frozenset({
    "commit", "cherry-pick", "revert", "am", "commit-tree",
})  # fmt: skip
# Nothing of these is done, or it is only taken back.
_IDLE = frozenset({
    "--abort", "--quit", "--dry-run", "--help", "-h", "--show-current-patch", "--edit-todo",
})  # fmt: skip


def acts(words: Sequence[str]) -> Iterator[Act]:
    """What the words after ``git`` do; nothing for what only looks."""
    verb, rest = _verb(words)
    if not verb or not _IDLE.isdisjoint(rest):
        return
    if verb in _COMMITS:
        yield Act("commit", HEAD)
    elif verb in {"merge", "pull"}:
        operands = _operands(rest)
        sources = operands[1:] if verb == "pull" else operands
        # A pull of nothing in particular brings the branch up to date.
        yield from (Act("merge", HEAD, each) for each in sources)
        if verb == "merge" and not sources:
            yield Act("merge", HEAD)
    elif verb in _READERS:
        yield from _READERS[verb](rest)


def moves_to(words: Sequence[str]) -> tuple[str, bool] | None:
    """The branch that the command checks out, and whether that is beyond doubt; else None."""
    verb, rest = _verb(words)
    if verb not in {"checkout", "switch"} or "--" in rest:
        return None
    made = any(re.match(r"-[bBcC]$|--(?:force-)?create|--orphan", each) for each in rest)
    operands = _operands(rest)
    if not operands or (not made and len(operands) > 1):
        return None
    return operands[0], made or verb == "switch"


def _verb(words: Sequence[str]) -> tuple[str, list[str]]:
    rest = list(words)
    aliases: dict[str, str] = {}
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        value = rest.pop(0) if option in _VALUED and rest else ""
        if option == "-c" and value.startswith("alias."):
            name, _, meant = value.removeprefix("alias.").partition("=")
            aliases[name] = meant
    verb = rest.pop(0) if rest else ""
    if verb in aliases:
        # `-c alias.x='push -f'` is that command under another name.
        verb, *first = aliases[verb].split() or [""]
        rest = [*first, *rest]
    return verb, rest


def _operands(words: Sequence[str]) -> list[str]:
    return [each for each in words if not each.startswith("-")]


def _has(words: Sequence[str], letters: str, *names: str) -> bool:
    """Whether one of these options is given, short ones in a bundle too."""
    for each in words:
        if each.startswith("--"):
            if each.partition("=")[0] in names:
                return True
        elif letters and re.match(rf"-[a-zA-Z]*[{letters}]", each):
            return True
    return False


def _rebase(words: Sequence[str]) -> Iterator[Act]:
    operands = _operands(
        [each for at, each in enumerate(words) if words[at - 1 : at] != ["--onto"]]
    )
    yield Act("rebase", operands[1] if len(operands) > 1 else HEAD)


def _reset(words: Sequence[str]) -> Iterator[Act]:
    moved = [each for each in _operands(words) if each not in {"HEAD", "@"}]
    back = len(moved) == 1 and re.match(r"(?:HEAD|@)[~^@]", moved[0]) and "--" not in words
    # Without a mode other words are files to unstage; to HEAD the branch stays where it is.
    if back or (moved and not _MODES.isdisjoint(words)):
        yield Act("reset", HEAD)


def _branch(words: Sequence[str]) -> Iterator[Act]:
    operands = _operands(words)
    if _has(words, "rR", "--remotes") and _has(words, "dD", "--delete"):
        return
    if _has(words, "dD", "--delete"):
        yield from (Act("delete", each) for each in operands)
    elif _has(words, "mM", "--move"):
        yield Act("delete", operands[0] if len(operands) > 1 else HEAD)
        yield from (Act("reset", each) for each in operands[-1:] if _has(words, "M"))
    elif _has(words, "fC", "--force"):
        yield from (Act("reset", each) for each in operands[:1])


def _checkout(words: Sequence[str]) -> Iterator[Act]:
    for key, value in pairwise(words):
        if key in {"-B", "-C", "--force-create"}:
            yield Act("reset", value)


def _update_ref(words: Sequence[str]) -> Iterator[Act]:
    deed: Deed = "delete" if "-d" in words or "--delete" in words else "reset"
    yield from (
        Act(deed, _short(each)) for each in words if each.startswith("refs/heads/") or each == HEAD
    )


def _fetch(words: Sequence[str]) -> Iterator[Act]:
    for each in _operands(words)[1:]:
        source, colon, target = each.partition(":")
        if colon and target:
            yield Act("reset" if source.startswith("+") else "merge", _short(target))


def _push(words: Sequence[str]) -> Iterator[Act]:
    if _has(words, "n", "--dry-run"):
        return
    kept = [
        each
        for at, each in enumerate(words)
        if words[at - 1 : at] not in [[v] for v in _PUSH_VALUED]
    ]
    refs = _operands(kept)[1:]
    forced = _has(words, "f", "--force", "--force-with-lease", "--mirror")
    deletes = _has(words, "d", "--delete")
    everything = _has(words, "", "--all", "--branches", "--mirror")
    if everything:
        yield Act("force-push" if forced else "push", ALL)
    if not refs and not everything and not _has(words, "", "--tags"):
        refs = [HEAD]
    for ref in refs:
        source, colon, target = ref.removeprefix("+").partition(":")
        if ref == "tag" or source.startswith("refs/tags/"):
            return
        name = _short(target if colon else source)
        if deletes or (colon and not source):
            yield Act("delete", name)
        elif forced or ref.startswith("+"):
            yield Act("force-push", name)
        else:
            yield Act("push", name)


def _short(ref: str) -> str:
    return HEAD if ref == "@" else ref.removeprefix("+").removeprefix("refs/heads/")


_READERS: dict[str, Callable[[Sequence[str]], Iterator[Act]]] = {
    "rebase": _rebase,
    "reset": _reset,
    "branch": _branch,
    "checkout": _checkout,
    "switch": _checkout,
    "update-ref": _update_ref,
    "fetch": _fetch,
    "push": _push,
}
