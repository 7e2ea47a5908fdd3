"""docker-agent's prompts: Go templates over its payload."""

import sys
from typing import Any

import pytest

from hookline.handlers._judge.go_templates import filled, mistake_in
from hookline.model.errors import HandlerCrashed, HandlerUnavailable

PAYLOAD: dict[str, Any] = {
    "session_id": "s1",
    "hook_event_name": "pre_tool_use",
    "tool_name": "shell",
    "tool_use_id": "c1",
    "tool_input": {"cmd": "ls <b> && pwd", "n": 3, "list": ["x", "y"]},
    "iteration": 2,
    "tool_error": True,
}


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("no template", "no template"),
        (
            "{{ .ToolName }} {{.SessionID}} {{.ToolUseID}} {{.HookEventName}}",
            "shell s1 c1 pre_tool_use",
        ),
        (
            "{{ .ToolInput | toJSON }}",
            '{"cmd":"ls \\u003cb\\u003e \\u0026\\u0026 pwd","list":["x","y"],"n":3}',
        ),
        ("{{ toJSON .ToolInput.list }}", '["x","y"]'),
        ("{{ .ToolInput.cmd | truncate 2 }}", "ls…"),
        ("{{ truncate 0 .ToolName }}|{{ truncate 99 .ToolName }}", "shell|shell"),
        ('{{ "ééé" | truncate 3 }}', "é…"),
        ("{{ if .ToolError }}failed{{ else }}fine{{ end }}", "failed"),
        ("{{ if .Prompt }}a{{ else if gt .Iteration 1 }}b{{ end }}", "b"),
        ("{{ range $i, $e := .ToolInput.list }}{{ $i }}{{ $e }}{{ end }}", "0x1y"),
        ("a {{- /* words */ -}} b", "ab"),
        ("{{ with .ToolName }}<{{ . }}>{{ end }}", "<shell>"),
        ('{{ printf "%s:%d %v" .ToolName .Iteration .ToolInput.list }}', "shell:2 [x y]"),
        ("{{ .ToolInput.missing }}", "<no value>"),
        ("{{ .StopResponse }}|{{ .Cwd }}", "|"),
        ('{{ eq .ToolName "shell" }}', "true"),
        ('{{ index .ToolInput "cmd" }}', "ls <b> && pwd"),
    ],
)
def test_a_template_is_filled_in_as_go_does(source: str, text: str) -> None:
    assert not mistake_in(source)
    assert filled(source, PAYLOAD) == text


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("{{ .ToolName", "unclosed"),
        ("{{ if }}", "missing value"),
        ("{{ end }}", "unexpected"),
        ("{{ shout .ToolName }}", "shout"),
        ("{{ if .ToolName }}x", ""),
    ],
)
def test_what_is_no_template_is_known_when_the_file_is_loaded(source: str, says: str) -> None:
    assert says in mistake_in(source)
    assert mistake_in(source)


def test_a_missing_library_is_no_mistake_of_the_file_and_is_said_when_it_runs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gotpl", None)
    source = "{{ .ToolName }} without its library"
    assert mistake_in(source) == ""
    with pytest.raises(HandlerUnavailable, match=r"pip install 'hookline\[judge\]'"):
        filled(source, PAYLOAD)


@pytest.mark.parametrize(
    "source",
    [
        "{{ .ToolNmae }}",
        "{{ .ToolName.Length }}",
        "{{ .__class__ }}",
        "{{ .ToolInput.cmd.__class__ }}",
        "{{ truncate 3 .ToolInput }}",
        '{{ template "elsewhere" }}',
        '{{ range $a := .ToolInput.list }}{{ template "prompt" $ }}{{ end }}',
    ],
)
def test_what_a_payload_has_not_is_a_failure(source: str) -> None:
    with pytest.raises(HandlerCrashed, match="template"):
        filled(source, PAYLOAD)
