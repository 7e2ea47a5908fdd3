"""Which calls wait, look at a state that changes by itself, or change something.

To repeat those that wait or look is polling, and no loop; after a change the same call may have
another outcome.
"""

import re

from hookline.model.tools import Tool, ToolKind
from hookline.shell import MAX_BYTES, split
from hookline.store.tool_calls import Trait

__all__ = ["read_traits"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Programs that wait, whatever they are given.
_WAIT = frozenset({"sleep", "usleep", "wait", "watch", "inotifywait", "fswatch", "wait-on"})
# Programs that show a state, whatever they are given.
_LOOK = _words(
    "ps pgrep pidof jobs top htop uptime free df lsof ss netstat ping nc ncat telnet "
    "pg_isready mysqladmin redis-cli squeue sacct qstat sinfo nvidia-smi journalctl dmesg "
    "tail who w date grpcurl dig nslookup host"
)
_FETCH = frozenset({"curl", "wget", "http", "https"})
# What stands beside them in a command, and does nothing by itself.
_BESIDE = _words(
    "echo printf true false : cd export set unset exit test [ [[ grep egrep fgrep rg head cat "
    "less awk sed cut jq yq sort uniq wc tr xargs tee column seq let read break continue "
    "timeout local return"
)
# Sub-commands that show a state or wait for it, of any program.
_STATE_WORDS = _words(
    "status state ps wait watch await poll logs health healthcheck ping ready is-active "
    "is-ready is-enabled is-failed monitor progress checks rollout top stats inspect describe"
)
_WAIT_WORDS = frozenset({"wait", "watch", "await", "sleep", "monitor"})
# `kubectl get`, `gh run view`, `aws ecs describe-tasks`: programs that show what runs elsewhere.
_REMOTE = _words(
    "kubectl oc gh glab aws gcloud az docker podman heroku fly flyctl vercel netlify helm "
    "nomad consul systemctl service supervisorctl pm2 argocd doctl linode-cli circleci "
    "jenkins-cli bk tkn crictl nerdctl"
)
_REMOTE_WORDS = frozenset({"get", "list", "ls", "view", "show"})
_SENDS = re.compile(
    r" (?:-[sSfLikvg]*[dFT]|--(?:data|form|post-|upload-file|json))"
    r"| (?:-X|--request|--method)[= ]?(?! |(?i:GET|HEAD)(?: |$))"
)
_FOLLOWS = frozenset({"-f", "-F", "--follow", "-w", "--watch"})
_SCRIPTS = re.compile(r"(?:python|node|ruby|perl|php|deno|bun|tsx?|(?:ba|z|k|da)?sh)[\d.]*")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_STATE_NAMES = _STATE_WORDS | {"waitfor"}
# Of a tool's name: `BashOutput`, `read_bash`, `write_stdin`, `get_terminal_output`, `wait_agent`.
_READS_BACKGROUND = frozenset({"output", "stdin", "job", "jobs", "processes"})

# Programs that only show something; all others may change something.
_SHOW = _words(
    "ls find file stat which type pwd id whoami env printenv tree diff cmp md5sum sha256sum "
    "hexdump xxd strings nl basename dirname realpath readlink du man uname hostname nproc"
)
_GIT_LOOKS = frozenset({"status", "ls-remote", "fetch"})
_GIT_SHOWS = _words(
    "diff log show blame grep rev-parse rev-list branch ls-files ls-tree cat-file describe "
    "shortlog reflog remote config tag version"
)
_READING_NAMES = _words("get list search read fetch view find query describe show lookup check")
_CHANGING_NAMES = _words(
    "write edit create update delete remove set insert move rename apply replace patch add"
)
_READING_KINDS = frozenset(
    {ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH, ToolKind.TASK, ToolKind.ASK, ToolKind.PLAN}
)
# Files that programs in the background write to.
_LOGS = (".log", ".out", ".output")


def read_traits(tool: Tool) -> int:
    """What a call does beside what it is for."""
    if tool.kind is ToolKind.SHELL and tool.command is not None:
        return _read_command(tool.command)
    if tool.kind is ToolKind.READ and tool.path and tool.path.endswith(_LOGS):
        return Trait.LOOKS
    words = {part.lower() for part in _PARTS.findall(tool.mcp.tool if tool.mcp else tool.name)}
    # What is typed into a program that runs is no look at it.
    if not ((words & _CHANGING_NAMES and tool.kind is ToolKind.MCP) or tool.input.get("chars")):
        if words & (_WAIT_WORDS | _READS_BACKGROUND) or words == {"read", "bash"}:
            return Trait.LOOKS | Trait.WAITS
        # What is to do may change by other agents.
        if words & _STATE_NAMES or (tool.kind is ToolKind.TASK and words & _READING_NAMES):
            return Trait.LOOKS
        if tool.kind in _READING_KINDS or words & _READING_NAMES:
            return 0
    return Trait.CHANGES


def _read_command(text: str) -> int:
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return Trait.CHANGES
    read = split(text)
    writes = any(">" in each.operator for each in read.redirections)
    found = Trait.CHANGES if writes else 0
    others = False
    for command in read.commands:
        if command.words:
            traits = _read_words(command.name, command.words[1:])
            found |= traits
            others |= not traits & Trait.LOOKS and command.name not in _BESIDE
    # What waits first and then acts is tried again when it is worth it.
    return found & ~Trait.LOOKS if others and not found & Trait.WAITS else found


def _read_words(name: str, rest: tuple[str, ...]) -> int:
    follows = Trait.WAITS if _FOLLOWS & {*rest} else 0
    if name in _WAIT:
        return Trait.LOOKS | Trait.WAITS
    if name in _FETCH:
        sends = _SENDS.search(" ".join(("", *rest)))
        return Trait.CHANGES if sends else Trait.LOOKS
    if name in _LOOK:
        return Trait.LOOKS | follows
    if (name in {"sed", "perl"} and any(word.startswith("-i") for word in rest)) or name == "tee":
        return Trait.CHANGES
    if name in _BESIDE or name in _SHOW:
        return Trait.LOOKS if any(word.endswith(_LOGS) for word in rest) else 0
    if name == "git":
        verb = next((word for word in rest if not word.startswith("-")), "")
        return Trait.LOOKS if verb in _GIT_LOOKS else 0 if verb in _GIT_SHOWS else Trait.CHANGES
    plain = {word for word in rest[:4] if not word.startswith("-")}
    if plain & _STATE_WORDS or (name in _REMOTE and any(map(_shows, plain))):
        waits = plain & _WAIT_WORDS or (name in _REMOTE and follows)
        return Trait.LOOKS | (Trait.WAITS if waits else 0)
    script = rest[0] if _SCRIPTS.fullmatch(name) and rest else name
    parts = {part.lower() for part in _PARTS.findall(script.rpartition("/")[2])}
    if parts & _STATE_NAMES:
        return Trait.LOOKS | (Trait.WAITS if parts & _WAIT_WORDS else 0)
    return Trait.CHANGES


def _shows(word: str) -> bool:
    return word in _REMOTE_WORDS or word.startswith(("describe-", "get-", "list-"))
