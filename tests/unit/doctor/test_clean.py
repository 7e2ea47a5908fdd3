"""No false alarms: what the platforms' own pages show as right gives no error."""

import shutil
from pathlib import Path

import pytest

from hookline import registry
from hookline.dialects.codex.doctor import hook_hash
from support.doctors import Ward

HOSTS = Path(__file__).parents[2] / "conformance/hosts"
EXAMPLES = Path(__file__).parents[3] / "examples"
DOCKER_AGENT = EXAMPLES / "docker-agent"
# Which of its examples go where.
PLACES = {
    "claude-code": [("claude_code/project", "")],
    "codex": [
        ("codex/hooks.json", ".codex/hooks.json"),
        ("codex/config.toml", ".codex/config.toml"),
        ("codex/hooks", "hooks"),
    ],
    "gemini": [("gemini/settings.json", ".gemini/settings.json"), ("gemini/hooks", "hooks")],
    "cursor": [("cursor/hooks.json", ".cursor/hooks.json"), ("cursor/hooks", ".cursor/hooks")],
    "copilot": [
        ("copilot/native.json", ".github/hooks/native.json"),
        ("copilot/telemetry.json", ".github/hooks/telemetry.json"),
        ("copilot/scripts", "scripts"),
    ],
    "vscode": [("vscode", "")],
    "kodelet": [(EXAMPLES / "kodelet", "")],
    "basecoat": [(EXAMPLES / "basecoat", "")],
}


def trust_everything(ward: Ward) -> None:
    """What a person answers when each client asks."""
    ward.write("~/.gemini/trustedFolders.json", {str(ward.project): "TRUST_FOLDER"})
    ward.write("~/.copilot/config.json", {"trustedFolders": [str(ward.project)]})
    rows = [f'[projects."{ward.project}"]\ntrust_level = "trusted"\n']
    for name in ("hooks.json", "config.toml"):
        file = ward.at(f".codex/{name}")
        if file.exists():
            read = registry.native_files()["codex"].read(str(file), file.read_bytes())
            rows += [
                f'[hooks.state."{entry.options["key"]}"]\ntrusted_hash = "{hook_hash(entry)}"\n'
                for entry in read.entries
            ]
    ward.write("~/.codex/config.toml", "".join(rows))


@pytest.mark.parametrize("dialect", PLACES)
def test_the_examples_of_a_platform_give_no_error(ward: Ward, dialect: str) -> None:
    for source, target in PLACES[dialect]:
        place = ward.project / target
        if (HOSTS / source).is_dir():
            shutil.copytree(HOSTS / source, place, dirs_exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(HOSTS / source, place)
    trust_everything(ward)
    report = ward.report(dialect)
    assert report.files[dialect]
    assert [each for each in report.findings if each.severity == "error"] == []


@pytest.mark.parametrize(
    "name",
    sorted(path.name for path in DOCKER_AGENT.glob("*.yaml") if path.name != "hookline.yaml"),
)
def test_the_examples_of_docker_agent_give_no_error(ward: Ward, name: str) -> None:
    for folder in ("scripts", "hooks"):
        shutil.copytree(DOCKER_AGENT / folder, ward.project / folder)
    ward.write(f"~/.config/cagent/hooks.d/{name}", (DOCKER_AGENT / name).read_bytes())
    assert ward.errors("docker-agent") == []
