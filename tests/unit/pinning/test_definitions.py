"""Which servers are found, in which files, and which of two counts."""

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.pinning.definitions import Definition, Flaw, Surroundings, definitions

SERVER = {"command": "npx", "args": ["-y", "server@1"]}


class Disk:
    """A person's home and a project, with files in them."""

    def __init__(self, base: Path) -> None:
        self.home, self.project = base / "home", base / "project"
        self.env: dict[str, str] = {}

    def write(self, path: str, content: Any, *, home: bool = False) -> None:
        file = (self.home if home else self.project) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))

    def found(self) -> tuple[Definition, ...]:
        servers, flaws = self.both()
        assert flaws == ()
        return servers

    def both(self) -> tuple[tuple[Definition, ...], tuple[Flaw, ...]]:
        return definitions(Surroundings(str(self.project), str(self.home), self.env))


@pytest.fixture(name="disk")
def _disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path)


@pytest.mark.parametrize(
    ("path", "home", "content", "client"),
    [
        (".mcp.json", False, {"mcpServers": {"a": SERVER}}, "claude-code copilot"),
        (".mcp.json", False, {"a": SERVER}, "claude-code copilot"),
        (".github/mcp.json", False, {"mcpServers": {"a": SERVER}}, "copilot"),
        (".claude.json", True, {"mcpServers": {"a": SERVER}}, "claude-code"),
        (".vscode/mcp.json", False, '{"servers": {"a": {"command": "npx"},}} // x', "vscode"),
        (".config/Code/User/mcp.json", True, {"servers": {"a": SERVER}}, "vscode"),
        (".codex/config.toml", False, '[mcp_servers.a]\ncommand = "npx"', "codex"),
        (".codex/config.toml", True, '[mcp_servers.a]\ncommand = "npx"', "codex"),
        (".gemini/settings.json", False, {"mcpServers": {"a": SERVER}}, "gemini"),
        (".gemini/settings.json", True, {"mcpServers": {"a": SERVER}}, "gemini"),
        (".cursor/mcp.json", False, {"mcpServers": {"a": SERVER}}, "cursor"),
        (".cursor/mcp.json", True, {"mcpServers": {"a": SERVER}}, "cursor"),
        (".copilot/mcp-config.json", True, {"mcpServers": {"a": SERVER}}, "copilot"),
    ],
)
def test_every_clients_file_is_read(
    disk: Disk, path: str, home: bool, content: Any, client: str
) -> None:
    disk.write(path, content, home=home)
    (server,) = disk.found()
    assert (server.name, server.clients, server.argv[0]) == ("a", tuple(client.split()), "npx")
    assert server.project == ("" if home else str(disk.project))


def test_all_servers_of_one_name_are_found_whichever_counts(disk: Disk) -> None:
    local = {"mcpServers": {"a": {"command": "local"}}}
    disk.write(".mcp.json", {"mcpServers": {"a": SERVER}})
    everywhere = {"mcpServers": {"a": {"command": "own"}}, "projects": {str(disk.project): local}}
    disk.write(".claude.json", everywhere, home=True)
    found = {(server.argv[0], server.project) for server in disk.found()}
    assert found == {("npx", str(disk.project)), ("local", str(disk.project)), ("own", "")}


def test_variables_that_move_a_clients_directory_are_followed(disk: Disk) -> None:
    elsewhere = disk.home / "elsewhere"
    disk.write("elsewhere/config.toml", '[mcp_servers.a]\nurl = "https://a/mcp"', home=True)
    disk.env["CODEX_HOME"] = str(elsewhere)
    (server,) = disk.found()
    assert (server.url, server.origin) == ("https://a/mcp", "https://a/mcp")
    disk.env["CLAUDE_CONFIG_DIR"] = str(elsewhere)
    disk.write("elsewhere/.claude.json", {"mcpServers": {"b": SERVER}}, home=True)
    disk.write(".claude.json", {"mcpServers": {"c": SERVER}}, home=True)
    assert [server.name for server in disk.found()] == ["a", "b"]


def test_clients_that_know_the_same_server_share_it_and_others_do_not(disk: Disk) -> None:
    disk.write(
        ".claude.json", {"projects": {str(disk.project): {"mcpServers": {"a": SERVER}}}}, home=True
    )
    disk.write(".cursor/mcp.json", {"mcpServers": {"a": SERVER, "b": SERVER}})
    disk.write(".gemini/settings.json", {"mcpServers": {"a": {"command": "other"}}})
    found = [(server.name, server.clients) for server in disk.found()]
    assert found == [("a", ("claude-code", "cursor")), ("a", ("gemini",)), ("b", ("cursor",))]


def test_servers_that_are_switched_off_are_left_out(disk: Disk) -> None:
    disk.write(".codex/config.toml", '[mcp_servers.b]\ncommand = "x"\nenabled = false')
    assert disk.found() == ()


def test_a_switch_that_a_client_does_not_have_switches_nothing_off(disk: Disk) -> None:
    switches = {"disabled": True, "enabled": False}
    disk.write(".mcp.json", {"mcpServers": {"a": {**SERVER, **switches}}})
    assert [server.name for server in disk.found()] == ["a"]


@pytest.mark.parametrize("at", ["", "deep", "deep/er"])
def test_files_on_the_way_down_to_where_an_agent_works_count(disk: Disk, at: str) -> None:
    disk.write(".mcp.json", {"mcpServers": {"top": SERVER}})
    disk.write("deep/.codex/config.toml", '[mcp_servers.a]\ncommand = "npx"')
    disk.write("deep/er/.mcp.json", {"mcpServers": {"b": SERVER}})
    disk.write("deep/other/.mcp.json", {"mcpServers": {"c": SERVER}})
    where = Surroundings(str(disk.project), str(disk.home), {}, str(disk.project / at))
    names = {server.name for server in definitions(where)[0]}
    assert names == {"": {"top"}, "deep": {"top", "a"}, "deep/er": {"top", "a", "b"}}[at]


def test_a_file_above_the_project_counts_for_a_client_that_looks_there(disk: Disk) -> None:
    disk.write("../.mcp.json", {"mcpServers": {"a": SERVER}})
    (server,) = disk.found()
    assert (server.name, server.clients) == ("a", ("claude-code",))


def test_the_origin_shows_no_secret(disk: Disk) -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    servers = {
        "a": {"command": "x", "args": ["--token", token]},
        "b": {"url": f"https://b/mcp?key={token}"},
        "c": {"url": "https://me:word@c/mcp"},
    }
    disk.write(".mcp.json", {"mcpServers": servers})
    origins = {server.name: server.origin for server in disk.found()}
    assert token not in "".join(origins.values())
    assert (origins["b"], origins["c"]) == ("https://b/mcp", "https://c/mcp")


def test_the_digest_changes_with_anything_that_is_said(disk: Disk) -> None:
    def digest(**keys: Any) -> str:
        disk.write(".mcp.json", {"mcpServers": {"a": {**SERVER, **keys}}})
        return disk.found()[0].digest("salt")

    changed = {digest(env={"A": value}) for value in ("1", "2")} | {digest(cwd="/")}
    assert len(changed | {digest()}) == 4
    assert digest() == digest()
    assert disk.found()[0].digest("other") != digest()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no JSON"),
        ('{"mcpServers": []}', "no mapping"),
        ('{"mcpServers": {' + ",".join(f'"s{n}": {{}}' for n in range(201)) + "}}", "at most 200"),
    ],
)
def test_a_file_of_no_use_is_named_and_the_others_count(
    disk: Disk, content: str, message: str
) -> None:
    disk.write(".mcp.json", content)
    disk.write(".cursor/mcp.json", {"mcpServers": {"b": SERVER}})
    servers, flaws = disk.both()
    assert [server.name for server in servers] == ["b"]
    assert flaws[0].client == "claude-code"
    assert flaws[0].text.startswith(f"{disk.project}/.mcp.json: ")
    assert message in flaws[0].text


@pytest.mark.parametrize("content", ["", "null", "3", '{"other": 1}', '{"mcpServers": {"a": 3}}'])
def test_a_file_that_names_no_server_is_no_trouble(disk: Disk, content: str) -> None:
    disk.write(".mcp.json", content)
    assert disk.found() == ()
