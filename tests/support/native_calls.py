"""Tool calls by the names and inputs that each platform's hooks see.

Written by hand from captures and documentation, not by the dialects' own tables.
"""

from collections.abc import Callable
from typing import Any

from hookline.lab.script import Edit, Mcp, Read, Shell, Write

__all__ = [
    "Call",
    "basecoat",
    "canonical",
    "claude_code",
    "codex",
    "copilot",
    "copilot_pascal",
    "cursor",
    "docker_agent",
    "gemini",
    "kodelet",
    "response",
    "vscode",
]

Call = Shell | Write | Edit | Read | Mcp
Named = tuple[str, dict[str, Any]]
"""Name and input of a call."""
At = Callable[[str], str]
"""Makes a path whole, as most clients do before hooks see it."""


def basecoat(act: Call, at: At) -> Named:
    # It has no tools of its own; an envelope names those of the runtime that sends it.
    return claude_code(act, at)


def claude_code(act: Call, at: At) -> Named:
    match act:
        case Shell(command):
            return "Bash", {"command": command, "description": "Do it"}
        case Write(path, content):
            return "Write", {"file_path": at(path), "content": content}
        case Edit(path, old, new):
            return "Edit", {"file_path": at(path), "old_string": old, "new_string": new}
        case Read(path):
            return "Read", {"file_path": at(path)}
        case Mcp(tool, given, server):
            return f"mcp__{server}__{tool}", dict(given)


def codex(act: Call, at: At) -> Named:
    match act:
        case Shell(command):
            return "Bash", {"command": command}
        case Write() | Edit():
            return "apply_patch", {"command": _patch(act)}
        case Read(path):
            return "Bash", {"command": f"cat {path}"}  # it has no tool for that
        case Mcp(tool, given, server):
            return f"mcp__{server}__{tool}", dict(given)


def copilot(act: Call, at: At) -> Named:
    match act:
        case Shell(command):
            return "bash", {"command": command, "description": "Do it"}
        case Write(path, content):
            return "create", {"path": at(path), "file_text": content}
        case Edit(path, old, new):
            return "edit", {"path": at(path), "old_str": old, "new_str": new}
        case Read(path):
            return "view", {"path": at(path)}
        case Mcp(tool, given, server):
            return f"{server}-{tool}", dict(given)


def copilot_pascal(act: Call, at: At) -> Named:
    name, given = copilot(act, at)
    return {"bash": "Bash", "create": "Write", "edit": "Edit", "view": "Read"}.get(
        name, name
    ), given


def cursor(act: Call, at: At) -> Named:
    match act:
        case Shell(command):
            return "Shell", {"command": command, "working_directory": ""}
        case Write(path, content):
            return "Write", {"file_path": at(path), "content": content}
        case Edit(path, old, new):
            return "Write", {"file_path": at(path), "old_string": old, "new_string": new}
        case Read(path):
            return "Read", {"path": path}
        case Mcp(tool, given):
            return f"MCP:{tool}", dict(given)


def docker_agent(act: Call, at: At) -> Named:
    match act:
        case Shell(command):
            return "shell", {"cmd": command, "cwd": "."}
        case Write(path, content):
            return "write_file", {"path": path, "content": content}
        case Edit(path, old, new):
            return "edit_file", {"path": path, "edits": [{"oldText": old, "newText": new}]}
        case Read(path):
            return "read_file", {"path": path}
        case Mcp(tool, given, server):
            return f"mcp:{server}:{tool}", dict(given)


def gemini(act: Call, at: At) -> Named:
    match act:
        case Shell(command):
            return "run_shell_command", {"command": command, "description": "Do it"}
        case Write(path, content):
            return "write_file", {"file_path": at(path), "content": content}
        case Edit(path, old, new):
            given = {"file_path": at(path), "instruction": "Change it"}
            return "replace", {**given, "old_string": old, "new_string": new}
        case Read(path):
            return "read_file", {"file_path": at(path)}
        case Mcp(tool, given, server):
            return f"mcp_{server}_{tool}", dict(given)


def kodelet(act: Call, at: At) -> Named:
    match act:
        case Shell(command):
            return "bash", {"command": command, "description": "Do it", "timeout": 10}
        case Write(path, content):
            return "file_write", {"file_path": at(path), "text": content}
        case Edit(path, old, new):
            return "file_edit", {"file_path": at(path), "old_text": old, "new_text": new}
        case Read(path):
            return "file_read", {"file_path": at(path)}
        case Mcp(tool, given, server):
            return f"mcp__{server}_{tool}", dict(given)


def vscode(act: Call, at: At) -> Named:
    match act:
        case Shell(command):
            given = {"command": command, "explanation": "Do it", "isBackground": False}
            return "run_in_terminal", given
        case Write(path, content):
            return "create_file", {"filePath": at(path), "content": content}
        case Edit(path, old, new):
            given = {"filePath": at(path), "oldString": old, "newString": new}
            return "replace_string_in_file", given
        case Read(path):
            return "read_file", {"filePath": at(path), "startLine": 1, "endLine": 20}
        case Mcp(tool, given, server):
            return f"mcp_{server}_{tool}", dict(given)


def canonical(act: Call) -> dict[str, Any]:
    match act:
        case Shell(command):
            return {"kind": "shell", "command": command}
        case Write(path, content):
            return {"kind": "write", "path": path, "content": content}
        case Edit(path, old, new):
            return {"kind": "edit", "path": path, "old": old, "new": new}
        case Read(path):
            return {"kind": "read", "path": path}
        case Mcp(tool, given, server):
            return {"mcp": {"server": server, "tool": tool}, "input": dict(given)}


def response(dialect: str, act: Call, output: str) -> Any:
    """What a tool answered, in the shape that the platform has for it."""
    match dialect:
        case "claude-code":
            return _claude_response(act, output)
        case "codex" if isinstance(act, Mcp):
            return {"content": [{"type": "text", "text": output}]}
        case "gemini":
            return _gemini_response(act, output)
        case _:
            return output


def _claude_response(act: Call, output: str) -> Any:
    if isinstance(act, Mcp):
        return [{"type": "text", "text": output}]
    if isinstance(act, Read):
        lines = output.count("\n") + 1
        file = {"filePath": act.path, "content": output, "numLines": lines, "startLine": 1}
        return {"type": "text", "file": {**file, "totalLines": lines}}
    rest = {"interrupted": False, "isImage": False, "noOutputExpected": False}
    return {"stdout": output, "stderr": "", **rest}


def _gemini_response(act: Call, output: str) -> Any:
    text = f"<untrusted_context>\nOutput: {output}\n</untrusted_context>"
    return {
        "llmContent": [{"text": text}] if isinstance(act, Mcp) else text,
        "returnDisplay": output,
    }


def _patch(act: Write | Edit) -> str:
    match act:
        case Write(path, content):
            added = "".join(f"+{line}\n" for line in content.splitlines())
            return f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
        case Edit(path, old, new):
            lines = f"*** Update File: {path}\n@@\n-{old}\n+{new}\n"
            return f"*** Begin Patch\n{lines}*** End Patch\n"
