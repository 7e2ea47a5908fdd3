"""MCP servers and tools by list: what is denied, asked about, let through, and from where."""

from typing import Any

import msgspec
import pytest
from msgspec import ValidationError, convert

from hookline import registry
from hookline.builtin import mcp_guard
from hookline.model.answers import PASS, Answer, Verdict
from hookline.model.events import PreToolUse
from hookline.model.ports import NOBODY
from hookline.model.tools import tool
from hookline.testing import assert_asked, assert_denied, assert_passed, fire

LISTS: dict[str, Any] = {
    "allow": ["github.get_*", "docs"],
    "ask": ["github.create_*"],
    "deny": ["github.delete_*", "shady"],
}


def answered(name: str, raw: object = None, **options: Any) -> Answer:
    """What is said about a call of a tool."""
    guard = mcp_guard.make(convert(options, mcp_guard.Options))
    event = PreToolUse(tool=tool(name), raw=msgspec.Raw(msgspec.json.encode(raw)))
    return guard(event, NOBODY)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("mcp__github__get_issue", Verdict.PASS),
        ("mcp__github__create_issue", Verdict.ASK),
        ("mcp__github__delete_repo", Verdict.DENY),
        ("mcp__docs__search", Verdict.PASS),
        ("mcp__shady__anything", Verdict.DENY),
        ("mcp__other__get_issue", Verdict.ASK),
        ("mcp__docs2__search", Verdict.ASK),
    ],
)
def test_the_lists_decide_by_server_and_tool(name: str, verdict: Verdict) -> None:
    assert answered(name, **LISTS).verdict is verdict


@pytest.mark.parametrize("unknown", ["ask", "deny", "pass"])
def test_what_no_list_names_is_treated_as_the_option_says(unknown: str) -> None:
    assert answered("mcp__new__tool", unknown=unknown).verdict == unknown


def test_without_options_every_mcp_tool_is_asked_about() -> None:
    assert answered("mcp__github__get_issue").verdict is Verdict.ASK


def test_the_strictest_list_counts() -> None:
    options = {"allow": ["a.b"], "ask": ["a.b"], "deny": ["a.b"]}
    assert answered("mcp__a__b", **options).verdict is Verdict.DENY
    assert answered("mcp__a__b", **options | {"deny": []}).verdict is Verdict.ASK


def test_a_deny_cannot_be_dodged_by_case_and_an_allow_cannot_be_won_by_it() -> None:
    assert answered("mcp__GitHub__Delete_Repo", **LISTS).verdict is Verdict.DENY
    assert answered("mcp__GitHub__get_issue", **LISTS).verdict is Verdict.ASK


def test_a_server_with_an_underscore_in_its_name_is_denied_however_its_name_is_cut() -> None:
    # Gemini CLI and VS Code write `mcp_SERVER_TOOL`, so `my_server` may be read as `my`.
    event = registry.dialect("gemini").decode(
        b'{"hook_event_name": "BeforeTool", "tool_name": "mcp_my_server_wipe", "tool_input": {}}',
        "BeforeTool",
    )
    guard = mcp_guard.make(mcp_guard.Options(deny=("my_server.wipe",), unknown="pass"))
    assert guard(event, NOBODY).verdict is Verdict.DENY


def test_other_tools_are_none_of_its_business() -> None:
    assert answered("Bash", unknown="deny") is PASS


def test_the_answer_never_grants_what_the_client_would_ask() -> None:
    assert answered("mcp__docs__search", **LISTS) is PASS


PINNED = {"unknown": "pass", "origins": {"github": ["npx -y gh-mcp@1.2.3", "https://gh.example/*"]}}


@pytest.mark.parametrize(
    "told",
    [
        {"server_name": "github", "command": "npx", "args": ["-y", "gh-mcp@1.2.3"]},
        {"server_name": "github", "url": "https://gh.example/mcp"},
        {"server_name": "github"},
        None,
    ],
)
def test_a_server_that_is_started_as_pinned_passes_and_so_does_one_that_is_not_told(
    told: object,
) -> None:
    assert answered("mcp__github__x", {"mcp_context": told}, **PINNED) is PASS


@pytest.mark.parametrize(
    "told",
    [
        {"command": "npx", "args": ["-y", "gh-mcp@9.9.9"]},
        {"command": "/tmp/evil"},
        {"url": "https://evil.example/mcp"},
        {"tcp": "evil.example:80"},
    ],
)
def test_a_server_under_a_pinned_name_that_is_started_otherwise_is_denied(told: object) -> None:
    answer = answered("mcp__github__x", {"mcp_context": told}, **PINNED)
    assert answer.verdict is Verdict.DENY
    assert "not started as it was pinned" in answer.reason


def test_a_pin_counts_even_for_a_tool_that_is_allowed() -> None:
    told = {"mcp_context": {"command": "/tmp/evil"}}
    options = PINNED | {"allow": ["github"]}
    assert answered("mcp__github__x", told, **options).verdict is Verdict.DENY


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unknown": "maybe"}, "maybe"),
        ({"deny": [""]}, "cannot be empty"),
        ({"origins": {"github": []}}, "name a command or an address"),
        ({"servers": []}, "servers"),
    ],
)
def test_a_bad_option_is_refused_in_words_that_help(options: Any, words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        convert(options, mcp_guard.Options)


CONFIG = """
version: 1
hooks:
  - use: mcp-guard
    with: {allow: [docs], deny: [shady], unknown: ask}
"""


def test_it_works_from_a_config() -> None:
    assert_passed(fire(CONFIG, PreToolUse(tool=tool("mcp__docs__search"))))
    assert_denied(fire(CONFIG, PreToolUse(tool=tool("mcp__shady__x"))), "deny list")
    assert_asked(fire(CONFIG, PreToolUse(tool=tool("mcp__new__x"))), "no list")
