"""Which calls wait, look at a state that changes by itself, or change something.

To repeat those that wait or look is polling, and no loop; after a change the same call may have
another outcome.
"""

import re
from collections.abc import Iterator

from hookline.model.tools import Tool, ToolKind
from hookline.shell import MAX_BYTES, ShellText, split
from hookline.store.tool_calls import Trait

__all__ = ["read_traits"]

_NONE = Trait(0)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Programs that wait, whatever they are given.
_WAIT = frozenset({"sleep", "usleep", "wait", "watch", "inotifywait", "fswatch", "wait-on"})
# Programs that show a state, whatever they are given.
_LOOK = _words(
    "ps pgrep pidof jobs top htop uptime free df lsof ss netstat ping nc ncat telnet "
    "pg_isready mysqladmin redis-cli squeue sacct qstat sinfo nvidia-smi journalctl dmesg "
    "tail who w date curl wget http https grpcurl dig nslookup host"
)
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
_SENDS = re.compile(r"-(?:[a-zA-Z]*[dFT]|-data\S*|-form\S*|-upload-file|-json|-post-\S+)(?:=.*)?")
_METHOD = re.compile(r"(?:-X|--request=?|--method=?)(.*)")
_FOLLOWS = frozenset({"-f", "-F", "--follow", "-w", "--watch"})
_SCRIPTS = re.compile(r"(?:python|node|ruby|perl|php|deno|bun|tsx?|(?:ba|z|k|da)?sh)[\d.]*")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_STATE_NAMES = _STATE_WORDS | {"waitfor"}
# Of a tool's name: `BashOutput`, `read_bash`, `write_stdin`, `get_terminal_output`, `wait_agent`.
_READS_BACKGROUND = frozenset({"output", "stdin", "job", "jobs", "processes"})

_CHANGE = _words(
    "rm mv cp mkdir rmdir touch tee patch ln chmod chown truncate dd install unzip tar rsync "
    "kill pkill killall black gofmt prettier isort apply_patch"
)
_CHANGE_WORDS = _words(
    "install add remove uninstall update upgrade ci sync init commit checkout restore reset "
    "stash merge rebase apply switch pull clone clean revert cherry-pick am fix format fmt "
    "migrate up down start stop restart create delete --write --fix"
)
# Programs that only show something.
_SHOW = _words(
    "ls find file stat which type pwd id whoami env printenv tree diff cmp md5sum sha256sum "
    "hexdump xxd strings nl basename dirname realpath readlink du man uname hostname nproc"
)
_READING_NAMES = _words("get list search read fetch view find query describe show lookup check")
_CHANGING_NAMES = _words(
    "write edit create update delete remove set insert move rename apply replace patch add"
)
_EDITS = frozenset({ToolKind.WRITE, ToolKind.EDIT, ToolKind.DELETE})
_CODE = frozenset({"-c", "-e", "-p", "-", "--eval"})


def read_traits(tool: Tool) -> Trait:
    """What a call does beside what it is for."""
    if tool.kind in _EDITS:
        return Trait.CHANGES
    if tool.kind is ToolKind.SHELL and tool.command is not None:
        return _read_command(tool.command)
    words = {part.lower() for part in _PARTS.findall(tool.mcp.tool if tool.mcp else tool.name)}
    if words & _CHANGING_NAMES and tool.kind is ToolKind.MCP:
        return Trait.CHANGES
    if tool.input.get("chars"):
        return _NONE  # what is typed into a program that runs is no look at it
    if words & (_WAIT_WORDS | _READS_BACKGROUND) or words == {"read", "bash"}:
        return Trait.LOOKS | Trait.WAITS
    if words & _STATE_NAMES:
        return Trait.LOOKS
    reads = words & _READING_NAMES or tool.kind not in {ToolKind.MCP, ToolKind.OTHER}
    return _NONE if reads else Trait.MAY_CHANGE


def _read_command(text: str) -> Trait:
    if len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return _NONE
    read = split(text)
    found = Trait.CHANGES if _writes(read) else _NONE
    others = False
    for words in _list_commands(read):
        traits = _read_words(words)
        found |= traits
        others |= not traits & Trait.LOOKS and words[0] not in _BESIDE
    # What waits first and then acts is tried again when it is worth it.
    return found & ~Trait.LOOKS if others and not found & Trait.WAITS else found


def _list_commands(read: ShellText) -> Iterator[tuple[str, ...]]:
    for command in read.commands:
        if command.words:
            yield (command.name, *command.words[1:])


def _read_words(words: tuple[str, ...]) -> Trait:
    name, rest = words[0], words[1:]
    if name in _WAIT:
        return Trait.LOOKS | Trait.WAITS
    if name in {"curl", "wget", "http", "https"}:
        return _NONE if _sends(rest) else Trait.LOOKS
    if name in _LOOK:
        return Trait.LOOKS | (Trait.WAITS if _FOLLOWS & {*rest} else _NONE)
    in_place = name in {"sed", "perl"} and any(word.startswith("-i") for word in rest)
    if name in _CHANGE or in_place:
        return Trait.CHANGES
    if name in _BESIDE or name in _SHOW:
        return _NONE
    return _read_git(rest) if name == "git" else _read_verb(name, rest)


def _read_verb(name: str, rest: tuple[str, ...]) -> Trait:
    early = {*rest[:4]}
    plain = {word for word in early if not word.startswith("-")}
    if plain & _STATE_WORDS or (name in _REMOTE and any(map(_shows, plain))):
        waits = plain & _WAIT_WORDS or (name in _REMOTE and _FOLLOWS & {*rest})
        return Trait.LOOKS | (Trait.WAITS if waits else _NONE)
    script = rest[0] if _SCRIPTS.fullmatch(name) and rest else name
    parts = {part.lower() for part in _PARTS.findall(script.rpartition("/")[2])}
    if parts & _STATE_NAMES:
        return Trait.LOOKS | (Trait.WAITS if parts & _WAIT_WORDS else _NONE)
    is_code = _SCRIPTS.fullmatch(name) is not None and (not rest or not early.isdisjoint(_CODE))
    return Trait.CHANGES if early & _CHANGE_WORDS or is_code else Trait.MAY_CHANGE


def _shows(word: str) -> bool:
    return word in _REMOTE_WORDS or word.startswith(("describe-", "get-", "list-"))


def _sends(rest: tuple[str, ...]) -> bool:
    for place, word in enumerate(rest):
        method = _METHOD.fullmatch(word)
        if method is not None:
            following = rest[place + 1] if place + 1 < len(rest) else ""
            if (method[1] or following).upper() not in {"GET", "HEAD"}:
                return True
        elif _SENDS.fullmatch(word):
            return True
    return False


def _read_git(rest: tuple[str, ...]) -> Trait:
    verbs = [word for word in rest if not word.startswith("-")]
    verb = verbs[0] if verbs else ""
    if verb in {"status", "ls-remote", "fetch"}:
        return Trait.LOOKS
    return Trait.CHANGES if verb in _CHANGE_WORDS else _NONE


def _writes(read: ShellText) -> bool:
    return any(">" in each.operator for each in read.redirections)
