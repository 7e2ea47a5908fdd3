"""Judges every case and prints both error rates by family, with every miss."""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from accuracy import secrets_run
from accuracy.cases import Case, cases
from hookline.app import App
from hookline.cli.init import starter
from hookline.model.answers import BLOCKING
from hookline.pipeline.judge import judge
from hookline.testing import shell


class Judged(Struct, frozen=True):
    """A case, and what was said of it."""

    case: Case
    verdict: str
    reason: str

    @property
    def right(self) -> bool:
        """Whether danger was flagged and harmless things passed."""
        return self.case.dangerous == (self.verdict in {each.value for each in BLOCKING})


def main() -> int:
    """Exits with 0 whatever the rates are: what they have to be, a test says."""
    parser = argparse.ArgumentParser(prog="accuracy")
    parser.add_argument("part", nargs="?", choices=("shell", "secrets"), default="shell")
    parser.add_argument("--config", type=Path, help="a hookline.yaml; default: the starter config")
    parser.add_argument("--scope", choices=("tokens", "likely", "all"), default="likely")
    parser.add_argument(
        "--building", action="store_true", help="keep the misses among those held back out of sight"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.part == "secrets":
        found = secrets_run.judge({"scope": options.scope})
        if options.json:
            print(json.dumps(secrets_run.report(found, building=options.building), indent=1))
        else:
            secrets_run.show(found, building=options.building)
        return 0
    content = options.config.read_bytes() if options.config else starter()
    with tempfile.TemporaryDirectory(prefix="hookline-accuracy-") as root:
        judged = asyncio.run(_judge(Path(root).resolve(), content))
    if options.json:
        print(json.dumps(_data(judged, building=options.building), indent=1))
    else:
        _show(judged, building=options.building)
    return 0


async def _judge(root: Path, config: bytes) -> list[Judged]:
    home, project = _world(root, config)
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin", "USER": home.name}
    app = App(env=env, cwd=str(project), home=str(root / "state"))
    judged = []
    for case in cases():
        command = case.command(home=str(home), project=str(project))
        outcome = await judge(shell(command, cwd=str(project)), app)
        judged.append(Judged(case, outcome.verdict.value, outcome.reason.split("\n")[0]))
    await app.aclose()
    return judged


def _world(root: Path, config: bytes) -> tuple[Path, Path]:
    """As README.md describes it."""
    home = root / "home" / "dev"
    project = home / "project"
    texts = {
        home / ".config/hookline/hookline.yaml": config,
        project / ".gitignore": b"build/\ndist/\nnode_modules/\n.env\n",
        project / "README.md": b"# A project\n",
        project / "setup.cfg": b"[metadata]\nname = project\n",
        project / "src/app.py": b"print('hello')\n",
        project / "src/main.py": b"import app\n",
        project / ".env": b"PASSWORD=\n",
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    for name in ("build", "dist", "node_modules"):
        (project / name).mkdir()
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "Begin"]):
        who = ["-c", "user.name=Dev", "-c", "user.email=dev@example.com"]
        subprocess.run(["git", "-C", str(project), *who, *words], check=True)
    return home, project


def _rates(judged: Sequence[Judged]) -> dict[str, float | int]:
    flagged = [each.right for each in judged if each.case.dangerous]
    passed = [each.right for each in judged if not each.case.dangerous]
    return {
        "dangerous": len(flagged),
        "flagged": round(sum(flagged) / max(len(flagged), 1), 4),
        "harmless": len(passed),
        "passed": round(sum(passed) / max(len(passed), 1), 4),
    }


def _halves(judged: Sequence[Judged]) -> dict[str, dict[str, float | int]]:
    return {
        "in sight": _rates([each for each in judged if not each.case.held_back]),
        "held back": _rates([each for each in judged if each.case.held_back]),
        "all": _rates(judged),
    }


def _by_file(judged: Sequence[Judged]) -> dict[str, dict[str, float | int]]:
    """What was written before the guard, and what after it: the half that is held back of each."""
    found: dict[str, dict[str, float | int]] = {}
    for file in dict.fromkeys(each.case.file for each in judged):
        own = [each for each in judged if each.case.file == file]
        held = [each for each in own if each.case.held_back]
        found[f"{file}.txt"] = _rates(own)
        if held:
            found[f"{file}.txt, held"] = _rates(held)
    return found


def _missed(judged: Sequence[Judged], *, building: bool) -> list[Judged]:
    """Every miss; while a guard is built, only those that it may be built with."""
    return [each for each in judged if not each.right and not (building and each.case.held_back)]


def _by_family(judged: Sequence[Judged]) -> dict[str, dict[str, float | int]]:
    families = dict.fromkeys(each.case.family for each in judged)
    return {name: _rates([one for one in judged if one.case.family == name]) for name in families}


def _data(judged: Sequence[Judged], *, building: bool = False) -> dict[str, object]:
    misses = [
        {
            "family": each.case.family,
            "dangerous": each.case.dangerous,
            "command": each.case.written,
            "verdict": each.verdict,
            "reason": each.reason,
        }
        for each in _missed(judged, building=building)
    ]
    return {
        "halves": _halves(judged),
        "files": _by_file(judged),
        "families": _by_family(judged),
        "misses": misses,
    }


def _show(judged: Sequence[Judged], *, building: bool) -> None:
    head = f"{'':<22} {'dangerous':>9} {'flagged':>8} {'harmless':>9} {'passed':>8}"
    print(head)
    for name, rates in (_halves(judged) | _by_file(judged) | _by_family(judged)).items():
        print(
            f"{name:<22} {rates['dangerous']:>9} {_share(rates, 'dangerous', 'flagged'):>8} "
            f"{rates['harmless']:>9} {_share(rates, 'harmless', 'passed'):>8}"
        )
    for each in _missed(judged, building=building):
        what = "not flagged" if each.case.dangerous else f"{each.verdict}: {each.reason}"
        print(f"miss [{each.case.family}] {each.case.written}  ({what})")


def _share(rates: dict[str, float | int], count: str, rate: str) -> str:
    return f"{rates[rate]:.1%}" if rates[count] else "—"


if __name__ == "__main__":
    sys.exit(main())
