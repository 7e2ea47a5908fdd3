"""Plays scripts: the model's server, the client's settings, the client itself, and the evidence."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b

from msgspec.structs import replace

from hookline.lab.isolation import Place, place
from hookline.lab.ports import Client, Program, Room, Session, Wish
from hookline.lab.rooms import MARK
from hookline.lab.running import run
from hookline.lab.script import Script
from hookline.lab.server import ModelServer

__all__ = ["Stage", "changes", "play", "snapshot", "stage"]


class Stage:
    """One client in one room, furnished: scripts are played in it one after another."""

    def __init__(self, client: Client, room: Room, program: Program, held: Place) -> None:
        self.client = client
        self.room = room
        self.program = program
        self.place = held
        self.url = f"http://127.0.0.1:{held.port}"
        """Where the model is, in all the scripts that are played here."""

    def play(self, script: Script, *, wish: Wish | None = None, timeout: float = 0.0) -> Session:
        """One session. Raises HooklineError when the client cannot be started."""
        client, room, held = self.client, self.room, self.place
        assert held.listener is not None
        launch = client.launch(room, self.url, self.program.argv, script, wish or Wish())
        if timeout:
            launch = replace(launch, timeout=timeout)
        launch = replace(launch, env={**launch.env, MARK: room.env[MARK]})
        before = snapshot(room.project)
        with (
            # Its own handle on the socket, which it closes: the port stays for the next script.
            held.listener.dup() as listener,
            ModelServer(script, say=client.call, listener=listener) as server,
        ):
            ran = run(held, launch, room.project)
            asked = tuple(server.asked)
        return Session(
            client=client.id,
            version=self.program.version,
            exit_code=ran.exit_code,
            stdout=ran.stdout,
            stderr=ran.stderr,
            asked=asked,
            seconds=ran.seconds,
            isolated=held.isolated,
            changed=changes(before, snapshot(room.project)),
            cut=ran.cut,
        )


@contextmanager
def stage(
    client: Client,
    *,
    room: Room,
    program: Program,
    isolate: bool = True,
    prepare: Callable[[Room], None] | None = None,
) -> Iterator[Stage]:
    """A furnished stage; nothing of the sessions played on it runs when it is left.

    ``prepare`` is called once the client's settings are written, and may add to them.
    """
    with place(isolate=isolate) as held:
        set_up = Stage(client, room, program, held)
        client.furnish(room, set_up.url)
        if prepare is not None:
            prepare(room)
        yield set_up


def play(
    client: Client,
    script: Script,
    *,
    room: Room,
    program: Program,
    isolate: bool = True,
    timeout: float = 0.0,
    wish: Wish | None = None,
    prepare: Callable[[Room], None] | None = None,
) -> Session:
    """One session from beginning to end; nothing of it runs when this returns.

    ``timeout`` in seconds takes the place of the client's own.
    """
    with stage(client, room=room, program=program, isolate=isolate, prepare=prepare) as set_up:
        return set_up.play(script, wish=wish, timeout=timeout)


_CHUNK = 1 << 20


def snapshot(project: str) -> dict[str, str]:
    """A fingerprint of every file of the project by its path; git's own files are left out."""
    found: dict[str, str] = {}
    for folder, folders, files in os.walk(project):
        if ".git" in folders:
            folders.remove(".git")
        linked = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        for name in (*files, *linked):
            path = os.path.join(folder, name)
            found[os.path.relpath(path, project)] = _fingerprint(path)
    return found


def changes(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    """Each path that is not as it was, and whether it was ``added``, ``changed``, ``removed``."""
    said = {
        path: "added" if path not in before else "removed" if path not in after else "changed"
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
    }
    return dict(sorted(said.items()))


def _fingerprint(path: str) -> str:
    try:
        if os.path.islink(path):
            return f"link {os.readlink(path)}"
        if not os.path.isfile(path):
            return "special"  # a pipe or socket: reading it would wait
        mode = os.stat(path).st_mode & 0o777
        digest = blake2b(digest_size=16)
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        return f"unreadable: {error.strerror}"
    return f"{mode:o} {digest.hexdigest()}"
