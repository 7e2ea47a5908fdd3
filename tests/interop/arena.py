"""A real client in a room of its own with hookline installed: sessions are played, effects looked at.

Hooks are written as people write them, into a ``hookline.yaml``, and put in by ``hookline install``.
"""

import asyncio
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

from hookline.cli._lab_files import trust_room
from hookline.lab.hooked import install_hookline
from hookline.lab.hooked import journal as journal_of
from hookline.lab.playing import Stage, stage
from hookline.lab.ports import Asked, Client, Program, Room, Session, Wish
from hookline.lab.rooms import furnished_room
from hookline.lab.script import Script
from hookline.processes import Finished
from hookline.processes import run as run_process
from support.person import command_line

__all__ = ["Arena", "arena", "config", "conversation", "rule", "texts", "witness"]

WITNESSED = "witness"
"""The directory of a room in which `witness` leaves the events it saw."""


class Arena:
    """One client, its room, and hookline as it was installed there."""

    def __init__(self, set_up: Stage) -> None:
        self.stage = set_up
        self._began: list[tuple[int, Session]] = []

    @property
    def client(self) -> Client:
        """The driver of the client."""
        return self.stage.client

    @property
    def room(self) -> Room:
        """Where everything happens."""
        return self.stage.room

    def play(self, script: Script, *, wish: Wish | None = None, timeout: float = 0.0) -> Session:
        """One session, which has to end by itself."""
        began = time.time_ns()
        session = self.stage.play(script, wish=wish, timeout=timeout)
        self._began.append((began, session))
        assert not session.cut, f"{session.cut}: {session.stderr.decode(errors='replace')}"
        return session

    # ── before a session ──

    def write_config(self, text: str) -> None:
        """The person's own config, which needs no trust."""
        _write(self.user_config, text)

    def write_project_config(self, text: str) -> None:
        """The config that the project brings, which needs it."""
        _write(Path(self.room.project, "hookline.yaml"), text)

    @property
    def user_config(self) -> Path:
        """Where the person's own config is."""
        return Path(self.room.env["XDG_CONFIG_HOME"], "hookline", "hookline.yaml")

    def install(self, *options: str) -> None:
        """``hookline install`` for this client, and ``hookline trust`` for the project's config."""
        install_hookline(self.room, self.client.dialect, *options)
        trust_room(self.room)

    def uninstall(self) -> None:
        """``hookline uninstall`` for this client."""
        done = self.hookline("uninstall", self.client.dialect)
        assert done.exit_code == 0, done.stderr

    def hookline(self, *words: str, env: Mapping[str, str] | None = None) -> Finished:
        """``hookline WORDS`` as the person in this room would type it, who has the client and says yes."""
        path = (os.path.dirname(self.stage.program.argv[0]), self.room.env["PATH"])
        argv = command_line(*words, says="yes")
        env = {**self.room.env, "PATH": os.pathsep.join(path), **(env or {})}
        return asyncio.run(
            run_process(argv, stdin=b"", cwd=self.room.project, env=env, timeout=120)
        )

    # ── after it ──

    def ran(self, name: str) -> bool:
        """Whether the project has a file of this name: acts of a script leave one."""
        return os.path.lexists(os.path.join(self.room.project, name))

    def file(self, name: str) -> str:
        """What is in a file of the project."""
        return Path(self.room.project, name).read_text(encoding="utf-8")

    def beside(self, name: str) -> str:
        """What is in a file beside the project, where hooks leave notes; empty without one."""
        path = Path(self.room.root, name)
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def witnessed(self, session: Session | None = None) -> Sequence[Mapping[str, Any]]:
        """The events that a `witness` was shown, in the order in which it was.

        Those of one session are told apart by time, so that a test sees the same ones whichever
        others ran before it.
        """
        folder = Path(self.room.root, WITNESSED)
        since, until = self._span(session)
        return [
            json.loads(path.read_bytes())
            for path in sorted(folder.glob("[!.]*"))
            if since <= int(path.name.partition("-")[0]) < until
        ]

    def _span(self, session: Session | None) -> tuple[int, float]:
        """From the beginning of a session to that of the next."""
        if session is None:
            return 0, inf
        place = next(at for at, (_, played) in enumerate(self._began) if played is session)
        later = self._began[place + 1 :]
        return self._began[place][0], later[0][0] if later else inf

    def natives(self) -> list[str]:
        """The client's own names of the events that a `witness` was shown."""
        return [str(each["native_event"]) for each in self.witnessed()]

    def journal(self) -> Sequence[Mapping[str, Any]]:
        """What hookline wrote down: to explain what is seen, never as proof of it."""
        return journal_of(self.room)


@contextmanager
def arena(
    client: Client,
    program: Program,
    *,
    config: str = "",
    project: str = "",
    files: Mapping[str, str] | None = None,
    options: Sequence[str] = (),
    install: bool = True,
) -> Iterator[Arena]:
    """A furnished room with hookline installed; nothing of it is left at the end.

    ``config`` is the person's own hookline.yaml, ``project`` the one of the project, which is
    trusted, both with ``{root}`` for the room; ``options`` are those of ``hookline install``.
    """
    with furnished_room(files) as room, stage(client, room=room, program=program) as set_up:
        os.mkdir(os.path.join(room.root, WITNESSED))
        made = Arena(set_up)
        if config:
            made.write_config(config.replace("{root}", room.root))
        if project:
            made.write_project_config(project.replace("{root}", room.root))
        if install:
            made.install(*options)
        yield made


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


# ── configs ──


def config(*hooks: Mapping[str, Any], **more: Any) -> str:
    """A hookline.yaml with these hooks and other keys; JSON is YAML."""
    return json.dumps({"version": 1, "hooks": list(hooks), **more})


def rule(name: str, on: str | Sequence[str], **keys: Any) -> Mapping[str, Any]:
    """One hook: ``rule("no", "pre_tool_use", match={"command": "*x*"}, deny="MK_NO")``."""
    return {"name": name, "on": on, **keys}


def witness(*events: str, name: str = "witness") -> Mapping[str, Any]:
    """A hook that keeps every event it is shown, and says nothing of it."""
    # Under its name at last, so that who looks meanwhile never sees half of it.
    keep = f"n=$(date +%s%N)-$$ && cd {{root}}/{WITNESSED} && cat > .$n && mv .$n $n"
    return rule(name, list(events), run=keep, priority=0)


# ── what the model was sent ──


def conversation(session: Session, lane: str = "") -> list[Asked]:
    """The requests of one conversation: the main one, or that of a sub-agent by its prompt."""
    return [each for each in session.asked if not each.side and each.lane == lane]


def texts(value: object) -> str:
    """Every string inside a request or a part of one, unescaped, one to a line."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "\n".join(texts(each) for each in value.values())
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "\n".join(texts(each) for each in value)
    return ""
