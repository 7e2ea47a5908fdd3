"""What one shell command would do to files, where the program's own way of doing it matters.

Which words are paths, and what is done to them, is known for all guards in one place; here is told
what that comes to: a move out of the project is a removal, a copy of nothing empties a file.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import pairwise

from msgspec import structs

from hookline.builtin._touch_code import Right, Use
from hookline.builtin._touch_programs import uses
from hookline.builtin._touch_special import operands
from hookline.builtin.no_workarounds.doings import RIGHTS, Deed, Doing, Ground, on_paths

__all__ = ["file_doings", "patched"]

_NOTHING = frozenset({"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"})
_PACKERS = frozenset({"tar", "bsdtar", "zip", "7z", "rsync", "scp", "cp"})
# What these change they show, or put elsewhere.
_ALSO_READ = frozenset({
    "bzip2", "ed", "emacs", "ex", "gzip", "nano", "nvim", "pico", "vi", "vim", "xz", "zstd",
})  # fmt: skip
_REMOVERS = frozenset({"rm", "unlink", "rmdir", "shred", "trash"})
_PATCHED = re.compile(r"(?m)^(?:\+\+\+|---) (?:[ab]/)?([^\t\n]+)")

Acts = Callable[[Sequence[str], Use, tuple[str, ...], Ground], Iterator[tuple[Deed, bool]]]


def file_doings(
    words: Sequence[str], bases: tuple[str, ...], ground: Ground, *, exact: bool
) -> Iterator[Doing]:
    """Everything that a command does to files by its own words."""
    words = _as_rm(words)
    name = words[0].rpartition("/")[2]
    special = _SPECIAL.get(name)
    cleans = name == "git" and "clean" in words[1:]
    for use in uses(words) if not cleans else ():
        if use.right is Right.USE or use.word in {"", "-", "{}"} or getattr(use, "made", False):
            continue
        if use.inside and not _is_in_directory(use.word, bases, ground):
            continue
        meant = special(words, use, bases, ground) if special else ((RIGHTS[use.right], use.sure),)
        # What a search looks for is a pattern, whatever its quotes.
        glob = not exact or name == "find"
        if use.right is Right.READ and _packs_away(name, words):
            yield from on_paths(Deed.DELETE, use.word, ground, bases, deep=True, glob=glob)
        if use.right is Right.WRITE and name in _ALSO_READ:
            yield from on_paths(Deed.READ, use.word, ground, bases, glob=glob)
        for did, certain in meant:
            sure = certain and use.sure
            yield from on_paths(did, use.word, ground, bases, deep=use.deep, sure=sure, glob=glob)
    if name == "rsync" and any(each.startswith("--del") for each in words):
        yield from _mirrored([*operands(words[1:])], bases, ground)
    if name in {"cp", "rsync"}:
        yield from _filled(words, bases, ground)
    if cleans:
        yield from _cleaned(words, bases, ground)


def _as_rm(words: Sequence[str]) -> Sequence[str]:
    """The words of a program that removes what it is given, as those of the best known one."""
    rest = list(words)
    if rest[0] in {"npx", "bunx", "pnpx"}:
        rest = [each for each in rest[1:] if not each.startswith("-")]
    if rest[:1] in (["fd"], ["fdfind"]) and "-x" in rest[2:-1]:
        at = rest.index("-x")
        whole = rest[1] == "." and rest[at + 1] in _REMOVERS
        return ["rm", "-r", *(rest[2:at] or ["."])] if whole else words
    if rest[:1] in (["rimraf"], ["del-cli"]):
        return ["rm", "-r", *rest[1:]]
    return ["rm", "-r", *rest[2:]] if rest[:2] == ["gio", "trash"] else words


def _packs_away(name: str, words: Sequence[str]) -> bool:
    """Whether what is packed is removed after that."""
    if name in {"tar", "bsdtar"}:
        return "--remove-files" in words
    return name == "zip" and any(
        re.fullmatch(r"-[a-zA-Z]*m[a-zA-Z]*|--move", each) for each in words
    )


def _is_in_directory(word: str, bases: tuple[str, ...], ground: Ground) -> bool:
    places = structs.replace(ground.places, bases=bases)
    return any(map(os.path.isdir, places.absolute(os.path.dirname(word))))


# ── what a use comes to ─────────────────────────────────────────────────────────────────────────


def _truncate(
    words: Sequence[str], use: Use, bases: tuple[str, ...], ground: Ground
) -> Iterator[tuple[Deed, bool]]:
    yield Deed.EMPTY, True


def _copy(
    words: Sequence[str], use: Use, bases: tuple[str, ...], ground: Ground
) -> Iterator[tuple[Deed, bool]]:
    sources = {each.partition("=")[2] or each for each in words}
    if use.right is Right.READ:
        # Of a whole tree nobody says that this one file is meant.
        yield (Deed.TAKE, False) if use.deep and words[0] in _PACKERS else (Deed.READ, True)
    else:
        yield (Deed.WRITE if _NOTHING.isdisjoint(sources) else Deed.EMPTY), True


def _move(
    words: Sequence[str], use: Use, bases: tuple[str, ...], ground: Ground
) -> Iterator[tuple[Deed, bool]]:
    if use.right is not Right.DELETE:
        yield Deed.WRITE, True
        return
    yield Deed.TAKE, True
    named = [value for key, value in pairwise(words) if key in {"-t", "--target-directory"}]
    for target in (named or [*operands(words[1:])])[-1:]:
        if _leaves(use.word, target, bases, ground):
            yield Deed.DELETE, True


def _leaves(word: str, target: str, bases: tuple[str, ...], ground: Ground) -> bool:
    """Whether what is moved is gone from where it belongs, and not only named otherwise."""
    places = structs.replace(ground.places, bases=bases)
    projects = [each.rstrip("/") + "/" for each in places.projects]
    for before, after in zip(places.spots(word), places.spots(target), strict=False):
        beside = os.path.dirname(before) in {os.path.dirname(after), after}
        together = any(f"{before}/".startswith(p) and f"{after}/".startswith(p) for p in projects)
        if not beside and not together:
            return True
    return False


def _link(
    words: Sequence[str], use: Use, bases: tuple[str, ...], ground: Ground
) -> Iterator[tuple[Deed, bool]]:
    if use.word in [*operands(words[1:])][-1:]:
        yield Deed.WRITE, True
    else:
        yield Deed.LINK, True
        yield Deed.TAKE, True  # a second name for it is a way to read it, too


def _mode(
    words: Sequence[str], use: Use, bases: tuple[str, ...], ground: Ground
) -> Iterator[tuple[Deed, bool]]:
    yield Deed.MODE, True


def _git(
    words: Sequence[str], use: Use, bases: tuple[str, ...], ground: Ground
) -> Iterator[tuple[Deed, bool]]:
    if "mv" in words[1:3]:
        yield from _move(words, use, bases, ground)
    elif use.right is Right.WRITE and {"checkout", "restore"} & {*words}:
        yield Deed.RESTORE, True
    else:
        yield RIGHTS[use.right], True


def _pack(
    words: Sequence[str], use: Use, bases: tuple[str, ...], ground: Ground
) -> Iterator[tuple[Deed, bool]]:
    # A tree is packed for many reasons; a file by its own name for what is in it.
    whole = use.right is Right.READ and _is_directory(use.word, bases, ground)
    yield (Deed.TAKE, False) if whole else (RIGHTS[use.right], True)


def _is_directory(word: str, bases: tuple[str, ...], ground: Ground) -> bool:
    places = structs.replace(ground.places, bases=bases)
    return any(map(os.path.isdir, places.absolute(word)))


_SPECIAL: dict[str, Acts] = {
    "truncate": _truncate,
    **dict.fromkeys(("cp", "install", "dd", "tee", "rsync", "scp"), _copy),
    **dict.fromkeys(("mv", "rename"), _move),
    **dict.fromkeys(("chmod", "chown", "chgrp", "setfacl", "chattr", "chflags"), _mode),
    "git": _git,
    **dict.fromkeys(("ln", "link"), _link),
    **dict.fromkeys(("tar", "bsdtar", "zip"), _pack),
}


# ── what more than one word says ────────────────────────────────────────────────────────────────


def _filled(words: Sequence[str], bases: tuple[str, ...], ground: Ground) -> Iterator[Doing]:
    """A directory whose files are put over those of another one."""
    given = [*operands(words[1:])]
    places = structs.replace(ground.places, bases=bases)
    for source in given[:-1]:
        into = given[-1]
        if not source.endswith(("/", "/.")) and _is_directory(into, bases, ground):
            into = os.path.join(into, os.path.basename(source))
        for folder in places.spots(source):
            if os.path.isdir(folder):
                for doing in on_paths(Deed.WRITE, into, ground, bases):
                    yield structs.replace(doing, filled_from=folder)


def _mirrored(given: Sequence[str], bases: tuple[str, ...], ground: Ground) -> Iterator[Doing]:
    """``rsync --delete`` removes what is not in its source; from an empty one, everything."""
    places = structs.replace(ground.places, bases=bases)
    sources = [spot for each in given[:-1] for spot in places.spots(each)]
    empty = not any(map(_holds_something, sources))
    for target in given[-1:]:
        yield from on_paths(Deed.DELETE, target, ground, bases, deep=True, sure=empty)


def _holds_something(folder: str) -> bool:
    with suppress(OSError, ValueError), os.scandir(folder) as entries:
        return next(entries, None) is not None
    return False


def _cleaned(words: Sequence[str], bases: tuple[str, ...], ground: Ground) -> Iterator[Doing]:
    """``git clean`` removes what the index does not know, and with ``-x`` what is ignored."""
    rest = words[list(words).index("clean") + 1 :]
    flags = "".join(each[1:] for each in rest if re.fullmatch(r"-[a-zA-Z]+", each))
    if "n" in flags or "--dry-run" in rest or not ("f" in flags or "--force" in rest):
        return
    for target in [*operands(rest)] or ["."]:
        for doing in on_paths(Deed.DELETE, target, ground, bases, deep=True):
            yield structs.replace(doing, sure="x" in flags.lower(), untracked=True)


def patched(text: str, bases: tuple[str, ...], ground: Ground) -> Iterator[Doing]:
    """The files that a patch changes, from whichever directory it is applied."""
    for path in dict.fromkeys(_PATCHED.findall(text)):
        if path != "/dev/null":
            yield from on_paths(Deed.WRITE, path.strip(), ground, bases)
