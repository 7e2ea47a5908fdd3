"""What a writer claims to say, the platform's own reader reads; and nobody loses a word of it."""

from pathlib import Path
from typing import Any

import pytest

from hookline.converting.platforms import platform, platform_names
from hookline.model.errors import UnknownNameError
from hookline.model.native import NativeEntry

WORDS = "x 'a b' \"c\" $HOME \\n # ü {{}} %s"
VALUES: dict[str, Any] = {
    "timeout": 12.0,
    "env": {"LEVEL": "high: 'a' #1"},
    "background": True,
    "fails_closed": True,
    "name": "a guard: no. 1",
    "priority": 7,
    "sequential": True,
}
FILES = [name for name in platform_names() if name != "kodelet"]


def gate(name: str) -> str:
    return platform(name).native_for("pre_tool_use")


def read_back(name: str, *entries: NativeEntry) -> tuple[NativeEntry, ...]:
    side = platform(name)
    ((path, content),) = side.writer.write(entries).items()
    file = side.rules.read(f"/srv/{path}", content)
    assert file.flaws == ()
    return file.entries


@pytest.mark.parametrize("name", FILES)
def test_a_command_is_read_back_to_the_letter(name: str) -> None:
    (entry,) = read_back(name, NativeEntry(event=gate(name), command=WORDS))
    assert (entry.event, entry.command, entry.matcher or "*") == (gate(name), WORDS, "*")


@pytest.mark.parametrize(
    ("name", "field"),
    [
        pytest.param(name, field, id=f"{name}-{field}")
        for name in FILES
        for field in VALUES
        if platform(name).writer.can_say(field, platform(name).native_for("pre_tool_use"))
    ],
)
def test_every_field_that_a_format_has_a_place_for_is_read_back(name: str, field: str) -> None:
    given = NativeEntry(event=gate(name), command="x", **{field: VALUES[field]})
    (entry,) = read_back(name, given)
    if (name, field) == ("docker-agent", "fails_closed"):
        assert platform(name).rules.on_error(entry) == "block"
    elif field == "env":
        assert VALUES["env"].items() <= entry.env.items()
    else:
        assert getattr(entry, field) == VALUES[field]


@pytest.mark.parametrize("name", [each for each in FILES if each not in {"vscode", "basecoat"}])
def test_a_matcher_for_names_is_read_back_with_its_own_hooks(name: str) -> None:
    matcher = platform(name).writer.matcher(["a", "b"])
    entries = read_back(
        name,
        NativeEntry(event=gate(name), command="x", matcher=matcher),
        NativeEntry(event=gate(name), command="y", matcher=matcher),
        NativeEntry(event=gate(name), command="z"),
    )
    assert [(each.command, each.matcher in {None, "*"}) for each in entries] == [
        ("x", False),
        ("y", False),
        ("z", True),
    ]


def test_docker_agent_closes_other_gates_by_a_word_of_its_own() -> None:
    given = NativeEntry(event="pre_compact", command="x", fails_closed=True)
    (entry,) = read_back("docker-agent", given)
    assert platform("docker-agent").rules.on_error(entry) == "block"


def test_kodelets_programs_say_what_they_are_for(tmp_path: Path) -> None:
    import subprocess

    files = platform("kodelet").writer.write([NativeEntry(event="agent_stop", command="echo ran")])
    ((path, content),) = files.items()
    program = tmp_path / Path(path).name
    program.write_bytes(content)
    program.chmod(0o755)
    said = [
        subprocess.run([program, word], capture_output=True, text=True, check=False)
        for word in ("hook", "run", "other")
    ]
    assert [(each.stdout, each.returncode) for each in said] == [
        ("agent_stop\n", 0),
        ("ran\n", 0),
        ("", 1),
    ]


def test_programs_keep_their_order_by_name() -> None:
    entries = [NativeEntry(event="agent_stop", command=str(n)) for n in range(12)]
    names = list(platform("kodelet").writer.write(entries))
    assert names == sorted(names)


def test_a_platform_that_nobody_knows_is_an_error_with_the_names_there_are() -> None:
    with pytest.raises(UnknownNameError, match="claude-code"):
        platform("claude")
