"""A machine to be examined: an empty home, an empty project, and nothing of the real one's."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from hookline.app import App
from hookline.doctoring.examine import Report, examine
from hookline.model.findings import Finding, Severity
from hookline.model.installing import Machine

__all__ = ["Ward"]


class Ward:
    """One person's machine; paths that start with ``~/`` are in the home, with ``/`` in its root."""

    def __init__(self, base: Path) -> None:
        self.home, self.project, self.root = base / "home", base / "project", base / "root"
        self.state, self.bin = base / "state", base / "bin"
        for each in (self.home, self.project, self.root, self.bin):
            each.mkdir(parents=True)
        self.path = f"{self.bin}:/usr/bin:/bin"
        self.env = {"HOME": str(self.home), "PATH": self.path, "XDG_CONFIG_HOME": str(self.home)}
        self.managed = base / "managed/hookline.yaml"
        self.version: tuple[int, ...] | None = None
        """What every program here says of its version; None where none may start."""

    def at(self, path: str) -> Path:
        """Where a file of this machine is."""
        if path.startswith("~/"):
            return self.home / path[2:]
        return self.root / path[1:] if path.startswith("/") else self.project / path

    def write(self, path: str, content: object, mode: int = 0o644) -> Path:
        """A file; what is no text is written as JSON."""
        file = self.at(path)
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            file.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content, indent=2)
            file.write_text(text, encoding="utf-8")
        file.chmod(mode)
        return file

    def script(self, path: str, text: str = "#!/bin/sh\nexit 0\n", mode: int = 0o755) -> Path:
        """A program."""
        return self.write(path, text, mode)

    @property
    def machine(self) -> Machine:
        """As installers see it."""
        return Machine(
            home=str(self.home),
            project=str(self.project),
            env=self.env,
            read=lambda path: Path(path).read_bytes() if Path(path).is_file() else None,
            which=lambda name: shutil.which(name, path=self.path),
            version=None if self.version is None else lambda argv: self.version or (),
        )

    @property
    def app(self) -> App:
        """As hookline sees it."""
        return App(
            env=self.env,
            cwd=str(self.project),
            home=str(self.state),
            managed=str(self.managed),
            trust=self.env.get("HOOKLINE_TRUST"),
        )

    def report(self, *dialects: str) -> Report:
        """Everything that is found."""
        return examine(
            self.app,
            self.machine,
            dialects=dialects,
            root=str(self.root),
            managed=str(self.managed),
        )

    def findings(self, *dialects: str) -> Sequence[Finding]:
        """What is found, the worst first."""
        return self.report(*dialects).findings

    def found(self, id: str, *dialects: str) -> list[Finding]:
        """The findings of one kind."""
        return [each for each in self.findings(*dialects) if each.id == id]

    def one(self, id: str, *dialects: str) -> Finding:
        """The one finding of a kind."""
        (finding,) = self.found(id, *dialects)
        return finding

    def errors(self, *dialects: str) -> list[Finding]:
        """What keeps hooks from firing."""
        return [each for each in self.findings(*dialects) if each.severity is Severity.ERROR]
