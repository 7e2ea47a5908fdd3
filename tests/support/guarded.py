"""A project that hookline guards, and events that arrive there as each client sends them."""

import asyncio
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any

from hookline.model.outcome import Reply
from hookline.pipeline.answer import answer
from hookline.pipeline.call import Call
from hookline.pipeline.parts import LastingJournals, Parts
from support.clients.effects import Does, Effect
from support.native_acts import Act, Arrival, arrivals, obey

__all__ = ["FILES", "Place", "guarded", "lanes"]

FILES = {
    "README.md": "x\n",
    "src/app.py": "a\n",
    "build/out.txt": "x\n",
    ".env": "A=1\n",
    ".env.example": "A=\n",
}


class Place:
    """A project with hookline in it, and the parts with which every event of a client is answered."""

    def __init__(self, root: Path, runner: asyncio.Runner) -> None:
        self.root = root
        self.project = root / "project"
        self._runner = runner
        self._parts = Parts(LastingJournals())
        for name, text in FILES.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-q", "-m", "Begin")):
            self._git(*words)

    def _git(self, *words: str) -> None:
        who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root), "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *who, *words], cwd=self.project, env=env, check=True)

    def config(self, *uses: Mapping[str, Any]) -> Path:
        """A config with these builtins."""
        text = json.dumps({"version": 1, "hooks": list(uses)})
        path = self.root / f"{sha256(text.encode()).hexdigest()}.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    def reply(self, arrival: Arrival, config: Path, home: str = "state") -> Reply:
        """What ``hookline hook DIALECT EVENT`` answers; another ``home`` remembers nothing of this."""
        options = {
            "--home": str(self.root / home),
            "--user-config": str(self.root / "none"),
            "--config": str(config),
        }
        call = Call(
            argv=[arrival.dialect, arrival.native, *chain(*options.items())],
            payload=json.dumps(arrival.payload).encode(),
            env={"PATH": os.environ["PATH"], "HOME": str(self.root), "TMPDIR": str(self.root)},
            cwd=str(self.project),
        )
        return self._runner.run(answer(call, self._parts))

    def arrival(self, act: Act, lane: str) -> Arrival:
        """The act as it comes by this lane."""
        told = arrivals(act, str(self.project))
        return next(each for each in told if f"{each.dialect} {each.native}" == lane)

    def does(
        self, act: Act, lane: str, *uses: Mapping[str, Any], home: str = "state"
    ) -> tuple[Reply, Effect]:
        """The reply to an act that comes by this lane, and what the client does with it."""
        arrival = self.arrival(act, lane)
        reply = self.reply(arrival, self.config(*uses), home)
        effect = obey(arrival, reply)
        assert not effect.failed, effect.failed
        return reply, effect

    def permission(self, act: Act, dialect: str, native: str, *uses: Mapping[str, Any]) -> Does:
        """What the client does with the answer when it is about to ask a person about an act."""
        told = next(each for each in arrivals(act, str(self.project)) if each.dialect == dialect)
        words = {"hook_event_name": native, "hookName": native}
        payload = {**told.payload, **{key: words[key] for key in words if key in told.payload}}
        if "toolArgs" in payload:
            payload |= {"toolInput": payload.pop("toolArgs"), "hookName": native}
        arrival = Arrival(dialect, native, payload)
        effect = obey(arrival, self.reply(arrival, self.config(*uses)))
        assert not effect.failed, effect.failed
        return effect.does

    def close(self) -> None:
        """Ends what the parts have begun."""
        self._runner.run(self._parts.aclose())


@contextmanager
def guarded(root: Path) -> Iterator[Place]:
    """A place in this directory."""
    with asyncio.Runner() as runner:
        made = Place(root, runner)
        try:
            yield made
        finally:
            made.close()


def lanes(act: Act) -> list[str]:
    """Dialect and native event of each way that an act comes by."""
    return [f"{each.dialect} {each.native}" for each in arrivals(act, "/")]
