"""Large tool results: all of it into a file that is the person's own, a part of it to the model."""

import os
import stat
from contextlib import suppress
from shutil import rmtree
from tempfile import mkstemp
from urllib.parse import quote

from msgspec import Struct

from hookline.model.ports import Caller

__all__ = ["Limits", "forget", "spilled"]

_FOLDER = "docker-agent-tool-results"


class Limits(Struct, frozen=True, kw_only=True):
    """How much of a result the model is shown."""

    bytes: int = 51_200
    lines: int = 2_000
    head: bool = False
    """Show its beginning instead of its end."""


def spilled(output: str, limits: Limits, caller: Caller, session: str) -> str | None:
    """What stands in place of a large output; None when it is not large, or cannot be kept.

    Nothing is ever cut that was not written down whole.
    """
    raw = output.encode("utf-8", "surrogatepass")
    lines = output.count("\n") + (not output.endswith("\n"))
    if len(raw) <= limits.bytes and lines <= limits.lines:
        return None
    try:
        path = _written(raw, _session_folder(caller, session))
    except (OSError, ValueError):
        return None
    which = "first" if limits.head else "last"
    return (
        f"The result has {len(raw)} bytes in {lines} lines, more than the limit of {limits.bytes} "
        f"bytes or {limits.lines} lines. All of it is in {path}\n"
        f"Its {which} lines:\n{_part(raw, limits)}"
    )


def forget(caller: Caller, session: str) -> None:
    """Removes what was kept for a session."""
    with suppress(OSError, ValueError):
        folder = _session_folder(caller, session)
        if _is_ours(os.path.dirname(folder)) and _is_ours(folder):
            rmtree(folder)


def _part(raw: bytes, limits: Limits) -> str:
    ended = raw.removesuffix(b"\n")
    if limits.head:
        kept = b"\n".join(ended.split(b"\n", limits.lines)[: limits.lines])[: limits.bytes]
        return kept.decode("utf-8", "ignore")
    kept = b"\n".join(ended.rsplit(b"\n", limits.lines)[-limits.lines :])[-limits.bytes :]
    # Where a character was cut in two, its rest goes as well.
    return kept.lstrip(bytes(range(0x80, 0xC0))).decode("utf-8", "ignore")


def _session_folder(caller: Caller, session: str) -> str:
    base = caller.env.get("TMPDIR") or "/tmp"  # noqa: S108 - checked below to be ours alone
    if not os.path.isabs(base):
        raise ValueError("TMPDIR is no whole path")
    # One word whatever it holds: a session called `..` is none.
    name = quote(session or "unknown", safe="").replace(".", "%2E")
    return os.path.join(base, _FOLDER, name)


def _written(raw: bytes, folder: str) -> str:
    for each in (os.path.dirname(folder), folder):
        with suppress(FileExistsError):
            os.mkdir(each, 0o700)
        if not _is_ours(each):
            raise PermissionError(f"{each} is somebody else's")
    handle, path = mkstemp(prefix="tool-result-", suffix=".txt", dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(raw)
    except BaseException:
        with suppress(OSError):
            os.unlink(path)
        raise
    return path


def _is_ours(folder: str) -> bool:
    """Whether it is a directory that nobody else can put anything into, or look into."""
    found = os.lstat(folder)
    others = stat.S_IRWXG | stat.S_IRWXO
    return (
        stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & others
    )
