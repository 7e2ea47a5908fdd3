"""The process in which a project's Python hooks run: it loads functions, calls them and replies.

Started by ``_workers.py``. Knows one request at a time; must not know deadlines or pools. This is
the one handler that may change its own environment: hooks expect to find the caller's there.
"""

import importlib
import inspect
import os
import select
import signal
import socket
import sys
from collections.abc import Awaitable, Callable
from hashlib import blake2b
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from threading import Thread
from types import CodeType, ModuleType
from typing import Any

import msgspec

from hookline.handlers._environment import RUN_MARK
from hookline.handlers._functions import as_answer, crash
from hookline.handlers._worker_protocol import REPLY_CAP, Reply, Request
from hookline.model.errors import HandlerAnswerError, HandlerUnavailable, nearest
from hookline.model.events import Event

__all__ = ["Library", "encoded", "main", "reply_to", "serve"]


# Before installed packages, yet behind Python's own: a file called `json.py` that nobody has
# trusted must not take the place of what a trusted hook imports.
_PAST_STDLIB = next(
    (at for at, path in enumerate(sys.path) if path.endswith(("site-packages", "dist-packages"))),
    len(sys.path),
)


class _ExactLoader(SourceFileLoader):
    """Runs the bytes it was given, and no compiled copy that somebody put beside the file."""

    def __init__(self, name: str, path: str, source: bytes) -> None:
        super().__init__(name, path)
        self._source = source

    def get_code(self, fullname: str) -> CodeType:
        return self.source_to_code(self._source, self.path)

    def is_package(self, fullname: str) -> bool:
        return os.path.basename(self.path) == "__init__.py"


class Library:
    """The modules that hooks are taken from, loaded again when a file of theirs has changed."""

    def __init__(self) -> None:
        self._ours = frozenset(sys.modules)
        self._sources: dict[str, bytes] = {}
        self._stamps: dict[str, tuple[int, ...]] = {}
        self._seen = len(sys.modules)

    def find(self, request: Request) -> tuple[Callable[[Event], Any], str]:
        """The function and the file it is from. Raises HandlerUnavailable, or what loading did."""
        self._drop_changed()
        for folder in reversed(request.folders):
            if folder not in sys.path:
                sys.path.insert(_PAST_STDLIB, folder)
        module = self._module(request)
        function = getattr(module, request.function, None)
        if not callable(function):
            names = [name for name, value in vars(module).items() if callable(value)]
            hint = nearest(request.function, names)
            what = f"`{request.shown}` has no function `{request.function}`"
            raise HandlerUnavailable(f"{what}; {hint}" if hint else what)
        return function, getattr(module, "__file__", None) or ""

    def remember(self, request: Request) -> None:
        """Note what the hook has imported from its own folders, to see it change."""
        if len(sys.modules) == self._seen:
            return
        self._seen = len(sys.modules)
        for name, file in self._borrowed():
            if name not in self._sources and file.startswith(request.folders):
                self._stamps.setdefault(file, _stamp(file))

    def _module(self, request: Request) -> ModuleType:
        if request.file:
            name = request.module or f"hookline_hook_{_digest(request.file)}"
            return self._from_file(name, request)
        try:
            return importlib.import_module(request.module)
        except ModuleNotFoundError as error:
            if error.name and f"{request.module}.".startswith(f"{error.name}."):
                raise HandlerUnavailable(f"there is no module `{request.module}`") from error
            raise

    def _from_file(self, name: str, request: Request) -> ModuleType:
        if name in self._ours:
            raise HandlerUnavailable(
                f"`{name}` is a module of Python or hookline itself: name the file instead"
            )
        try:
            with open(request.file, "rb") as opened:
                source = opened.read()
        except OSError as error:
            raise HandlerUnavailable(f"cannot read `{request.shown}`: {error.strerror}") from error
        if name in sys.modules and self._sources.get(name) == source:
            return sys.modules[name]
        parent = name.rpartition(".")[0]
        if parent:
            importlib.import_module(parent)
        spec = spec_from_file_location(
            name, request.file, loader=_ExactLoader(name, request.file, source)
        )
        assert spec is not None
        return self._executed(spec, source)

    def _executed(self, spec: ModuleSpec, source: bytes) -> ModuleType:
        assert spec.loader is not None
        module = module_from_spec(spec)
        sys.modules[spec.name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(spec.name, None)
            raise
        self._sources[spec.name] = source
        return module

    def _drop_changed(self) -> None:
        if all(_stamp(file) == stamp for file, stamp in self._stamps.items()):
            return
        # All of them: one that did not change may hold objects of one that did.
        stale = set(self._stamps)
        for name, file in self._borrowed():
            if file in stale or name in self._sources:
                del sys.modules[name]
        self._sources.clear()
        self._stamps.clear()
        self._seen = 0
        importlib.invalidate_caches()

    def _borrowed(self) -> list[tuple[str, str]]:
        return [
            (name, file)
            for name, module in list(sys.modules.items())
            if name not in self._ours and isinstance(file := getattr(module, "__file__", None), str)
        ]


def reply_to(request: Request, library: Library, mark: str = "") -> Reply:
    """Do what one request asks; whatever the hook raises is a reply too."""
    file = request.file
    try:
        _settle_in(request, mark)
        function, file = library.find(request)
        try:
            said = function(request.event)
            if inspect.isawaitable(said):
                said = _awaited(said)
        finally:
            library.remember(request)
        return Reply(id=request.id, answer=as_answer(said, request.event))
    except HandlerAnswerError as error:
        return Reply(id=request.id, failed="answer", text=str(error))
    except HandlerUnavailable as error:
        return Reply(id=request.id, failed="unavailable", text=str(error))
    except BaseException as error:
        text = crash(error, file, request.shown if request.file else file)
        return Reply(id=request.id, failed="crashed", text=text)


def encoded(reply: Reply) -> bytes:
    """The reply as one line; one that cannot be sent becomes a failure that can."""
    try:
        line = msgspec.json.encode(reply)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        text = f"the answer cannot be written as JSON: {error}"
        return encoded(Reply(id=reply.id, failed="answer", text=ascii(text)))
    if len(line) >= REPLY_CAP:
        text = f"the answer is longer than {REPLY_CAP:,} bytes"
        return encoded(Reply(id=reply.id, failed="answer", text=text))
    return line + b"\n"


def main() -> None:
    """Serve requests on the socket that is our stdin, until it closes."""
    channel = socket.socket(fileno=os.dup(0))
    # What the hook reads must not be requests. What it prints is stderr's: the parent saw to it.
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    sys.dont_write_bytecode = True
    Thread(target=_end_with_parent, args=(channel.fileno(),), daemon=True).start()
    serve(channel, os.environ.get(RUN_MARK, ""))
    # Not a normal exit: threads that a hook left running would hold it up.
    os._exit(0)


def serve(channel: socket.socket, mark: str) -> None:
    """Answer each line on the channel with a line."""
    library = Library()
    decoder = msgspec.json.Decoder(Request)
    me = os.getpid()
    with channel.makefile("rb") as lines:
        for line in lines:
            reply = encoded(reply_to(decoder.decode(line), library, mark))
            if os.getpid() != me:
                os._exit(0)  # a child that the hook forked and let return; one answer is enough
            channel.sendall(reply)


def _settle_in(request: Request, mark: str) -> None:
    try:
        os.chdir(request.cwd)
    except OSError as error:
        reason = f"cannot enter `{request.cwd}`: {error.strerror}"
        raise HandlerUnavailable(reason) from error
    os.environ.clear()
    os.environ.update(request.env)
    if request.umask >= 0:
        os.umask(request.umask)
    if mark:
        outer = request.env.get(RUN_MARK)
        os.environ[RUN_MARK] = f"{outer}.{mark}" if outer else mark


def _awaited(said: Awaitable[Any]) -> Any:
    import asyncio

    async def wait() -> Any:
        return await said

    return asyncio.run(wait())


def _end_with_parent(channel: int) -> None:
    """Kill our whole group when the other end of the channel is gone, whatever the hook is at."""
    watch = select.poll()
    watch.register(channel, 0)  # nothing but the hang-up, which cannot be declined
    watch.poll()
    os.killpg(0, signal.SIGKILL)


def _stamp(file: str) -> tuple[int, ...]:
    try:
        found = os.stat(file)
    except OSError:
        return (0, 0, 0, 0)
    return (found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns)


def _digest(file: str) -> str:
    return blake2b(os.fsencode(file), digest_size=8).hexdigest()
