"""Looks for an agent that runs this command, in the environment and among the live ancestors.

Knows which variables and programs are an agent's; must not know what is refused to one.
"""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from hookline.model.errors import TrustError

__all__ = ["Process", "find_agent", "parse_ps", "read_lineage"]

# What agents set for the programs they start. Only such names: others with the same prefixes
# (CODEX_HOME, CLAUDE_CODE_USE_BEDROCK, COPILOT_MODEL) are settings that people keep in their shell,
# and Cursor sets CURSOR_TRACE_ID in every terminal that a person opens in it. With a value, only
# that one counts.
_MARKERS = """
    AGENT AGENT_THREAD_ID AI_AGENT AMP_CURRENT_THREAD_ID ANTIGRAVITY_AGENT AUGMENT_AGENT CLAUDECODE
    CLAUDE_CODE CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_IS_COWORK
    CLAUDE_CODE_SESSION_ID CLINE_ACTIVE CLINE_TASK_ID CODEX_CI CODEX_SANDBOX
    CODEX_SANDBOX_NETWORK_DISABLED CODEX_SESSION_ID CODEX_THREAD_ID COPILOT_AGENT
    COPILOT_AGENT_JOB_ID COPILOT_AGENT_SESSION_ID COPILOT_CLI CRUSH CURSOR_AGENT
    CURSOR_CONVERSATION_ID CURSOR_EXTENSION_HOST_ROLE=agent-exec CURSOR_SANDBOX GEMINI_CLI
    GH_COPILOT GOOSE_TERMINAL GROK_AGENT HERMES_SESSION_ID HOOKLINE_DEPTH IFLOW_CLI
    KILOCODE_FEATURE=cli OPENCODE OPENCODE_CLIENT OPENCODE_SESSION_ID OPENCLAW_SHELL OZ_RUN_ID
    PI_CODING_AGENT PI_SESSION_ID QWEN_CODE QWEN_CODE_SESSION_ID ROO_ACTIVE ROO_CLI_RUNTIME
    ROO_CODE_TASK_ID TRAE_AI_SHELL_ID VSCODE_COPILOT_TERMINAL VTCODE WINDSURF_CASCADE_TERMINAL
"""
# The whole name of an agent's program, script or Python module, in lower case. Windsurf is an
# editor too, but its older versions set nothing in the terminals of its agent alone.
_PROGRAMS = """
    aider amp auggie blackbox cagent claude claude-code cline codebuff codebuddy codex copilot
    crush cursor-agent devin docker-agent droid gemini goose goosed gptme grok hermes iflow
    interpreter jules junie kilo kilocode kimi kiro-cli kiro-cli-chat kodelet letta mini-swe-agent
    nanocoder opencode openclaw openhands pi plandex qchat qodercli qwen roo rovodev sweagent
    trae-cli vibe vtcode windsurf
"""
MARKERS, PROGRAMS = frozenset(_MARKERS.split()), frozenset(_PROGRAMS.split())
# Where an agent is installed whose program has another name, such as `cli.js`, `node` or `2.1.3`.
_INSTALLED = re.compile(
    r"/node_modules/(?:@anthropic-ai/claude-(?:code|agent-sdk)|@openai/codex|@google/gemini-cli"
    r"|@github/copilot|@sourcegraph/amp|@ampcode/cli|@qwen-code/qwen-code|@augmentcode/auggie"
    r"|@[\w.-]+/pi-coding-agent|@[\w.-]+/(?:claude-code|codex)-acp|@charmland/crush|@factory/cli"
    r"|@kilocode/cli|@iflow-ai/iflow-cli|@letta-ai/letta-code|@tencent-ai/codebuddy-code|cline"
    r"|opencode-ai)(?:-[\w-]+)?/|/share/(claude|cursor-agent)/versions/|/Windsurf\.app/"
)
# What packagers put around a name: `codex-x86_64-unknown-linux-musl`, `node-copilot`, `claude.exe`.
_PACKED = re.compile(
    r"^node-|[-_.](?:exe|linux|darwin|macos|windows|win32|x86_64|x64|amd64|aarch64|arm64|cli)"
    r"(?![a-z]).*"
)
_INTERPRETER = re.compile(r"node|nodejs|bun|deno|python[\d.]*")
_WITH_VALUE = frozenset({"-r", "--require", "--import", "--loader", "-W", "-X"})


class Process(NamedTuple):
    """A live process; what the system does not show of it is empty."""

    parent: int = 0
    name: str = ""
    exe: str = ""
    argv: tuple[str, ...] = ()
    variables: frozenset[str] = frozenset()
    """The names of those that are set, and not to nothing; markers with a value as they stand."""


def find_agent(lineage: Iterable[Process]) -> str:
    """Which agent is among these processes; empty if there is none."""
    for process in lineage:
        for path in (process.name, process.exe, *process.argv[:1], _script(process)):
            name = os.path.basename(path.removesuffix(" (deleted)"))
            lower = name.lower()
            if {lower, _PACKED.sub("", lower)} & PROGRAMS or _INSTALLED.search(path):
                return f"`{name}`"
        if process.variables & MARKERS:
            return "an agent"
    return ""


def _script(process: Process) -> str:
    """The file or the module that an interpreter was told to run."""
    names = map(os.path.basename, (process.exe, *process.argv[:1]))
    words = iter(process.argv[1:] if any(map(_INTERPRETER.fullmatch, names)) else ())
    for word in words:
        if re.fullmatch(r"-[a-zA-Z]*m", word):
            return next(words, "").partition(".")[0]
        if word in _WITH_VALUE:
            next(words, "")
        elif word != "run" and not word.startswith("-"):  # `bun run FILE`
            return word
    return ""


def read_lineage() -> Iterator[Process]:
    """This process and its live ancestors, the nearest first. Raises TrustError."""
    yield Process(variables=_read_variables("=".join(pair) for pair in os.environ.items()))
    if os.path.exists("/proc/self/stat"):
        pid = os.getpid()
        while pid > 0:
            process = _read_process(pid)
            yield process
            pid = process.parent
        return
    listing = ["/bin/ps", "-axEww", "-o", "pid=,ppid=,command="]
    try:
        text = subprocess.check_output(  # noqa: S603 - a fixed program with fixed arguments
            listing, text=True, errors="replace", timeout=10
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise TrustError("the programs that run this cannot be seen") from error
    yield from parse_ps(text, os.getpid())


def _read_process(pid: int) -> Process:
    def read(name: str) -> str:
        try:
            with open(f"/proc/{pid}/{name}", "rb") as file:
                return os.fsdecode(file.read())
        except OSError:  # another user's, or gone since
            return ""

    try:
        exe = os.readlink(f"/proc/{pid}/exe")
    except OSError:
        exe = ""
    name, _, rest = read("stat").partition("(")[2].rpartition(")")
    variables = _read_variables(read("environ").split("\0"))
    parent = int(rest.split()[1]) if rest else 0
    return Process(parent, name, exe, tuple(read("cmdline").split("\0")), variables)


def _read_variables(settings: Iterable[str]) -> frozenset[str]:
    pairs = ((each, *each.partition("=")) for each in settings)
    return frozenset(each if each in MARKERS else name for each, name, _, value in pairs if value)


def parse_ps(text: str, pid: int) -> Iterator[Process]:
    """The process and its ancestors in a listing of pid, parent, and words with the environment."""
    rows = {row[0]: row for line in text.splitlines() if (row := line.split())}
    while row := rows.pop(str(pid), []):
        variables = _read_variables(row[2:])
        yield Process(int(row[1]), argv=tuple(row[2:]), variables=variables)
        pid = int(row[1])
