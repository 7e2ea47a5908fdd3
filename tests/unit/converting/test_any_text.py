"""Whatever a person wrote into a hook file arrives at the adapter to the letter, on every platform."""

import shlex

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hookline.cli.adapt import parse
from hookline.converting.convert import Converted, convert
from hookline.converting.platforms import platform, platform_names
from hookline.model.native import NativeEntry, Where

TEXT = st.text(min_size=1, max_size=40)
NAMES = [name for name in platform_names() if name != "claude-code"]


def converted(target: str, command: str, matcher: str = "") -> Converted:
    hook = {"type": "command", "command": command}
    data = {"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [hook]}]}}
    path, where = "/srv/.claude/settings.json", Where(project="/srv", home="/home/dev")
    return convert("claude-code", target, path, msgspec.json.encode(data), where)


def arrives(target: str, done: Converted) -> NativeEntry:
    """The entry as the adapter in the new file understands it."""
    ((path, content),) = done.files.items()
    if target == "hookline":
        words = yaml.safe_load(content)["hooks"][0]["run"]
    elif target == "kodelet":
        script = content.decode().partition("\nrun)")[2].partition("\n  ;;\n*)")[0]
        words = shlex.split(script)
    else:
        read = platform(target).rules.read(f"/srv/{path}", content)
        assert not [flaw for flaw in read.flaws if flaw.voids != "nothing"]
        words = shlex.split(str(read.entries[-1].command))
    options = parse(words[words.index("adapt") + 1 :])
    return msgspec.structs.replace(options.what.entry, matcher="".join(options.what.matchers))


@pytest.mark.parametrize("target", [*NAMES, "hookline"])
@given(command=TEXT.filter(str.strip), matcher=TEXT)
def test_a_command_and_a_matcher_arrive_to_the_letter(
    target: str, command: str, matcher: str
) -> None:
    done = converted(target, command, matcher)
    (entry,) = done.report.entries
    if not entry.becomes:
        assert [each.status for each in entry.findings] == ["lost"]
        assert "\0" in command + matcher or entry.findings[0].why
        return
    found = arrives(target, done)
    said = found.command if isinstance(found.command, str) else " ".join(found.command)
    assert said == (command if isinstance(found.command, str) else " ".join(command.split()))
    assert found.matcher == ("" if matcher.strip() in {"", "*"} else matcher)


@pytest.mark.parametrize("command", ["a\0b", "a\ud800b"])
@pytest.mark.parametrize("target", [*NAMES, "hookline"])
def test_a_text_that_no_program_can_be_given_is_lost_aloud(command: str, target: str) -> None:
    escaped = command.replace("\0", "\\u0000").replace("\ud800", "\\ud800")
    content = f'{{"version": 1, "hooks": {{"stop": [{{"command": "{escaped}"}}]}}}}'
    where = Where(project="/srv", home="/home/dev")
    if target == "cursor":
        return
    done = convert("cursor", target, "/srv/.cursor/hooks.json", content.encode(), where)
    (entry,) = done.report.entries
    assert "no program could be started" in entry.findings[0].why
