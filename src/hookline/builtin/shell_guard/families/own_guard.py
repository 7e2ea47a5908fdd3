"""What guards the agent: hookline's commands, processes, variables and files."""

import re
from collections.abc import Iterator
from itertools import pairwise

from hookline.builtin._agent_files import AGENT_DIRS, SHARED_DIRS
from hookline.builtin._touch_programs import has_named_targets
from hookline.builtin.shell_guard.arguments import is_only_asked, parse
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.reading import Story
from hookline.builtin.shell_guard.world import World
from hookline.shell.carriers import SHELLS

__all__ = ["FAMILY", "find_in_text"]

_PERSON = "only a person decides about hookline itself, on their own terminal"
_GUARDS = (
    "an agent's settings, hooks or hookline itself are there, and a person should see it first"
)
_AGENTS = (
    "claude", "codex", "gemini", "opencode", "cursor-agent", "aider", "goose", "amp", "qwen",
    "droid", "kiro", "copilot", "pi", "kodelet", "docker-agent",
)  # fmt: skip
# To these, a command of hookline is only a text.
_TALKERS = frozenset({
    "base32", "base64", "bat", "batcat", "bzip2", "cat", "cmp", "code", "colordiff", "column",
    "comm", "cut", "delta", "diff", "echo", "fold", "gzip", "hd", "head", "hexdump", "jq", "less",
    "more", "most", "nano", "nl", "od", "paste", "pr", "printf", "rev", "sdiff", "sort", "split",
    "strings", "tac", "tail", "tr", "uniq", "vimdiff", "xxd", "xz", "yq", "zcat",
    "[", "[[", "ack", "ag", "egrep", "fgrep", "find", "gh", "git", "glab", "grep", "ls", "man",
    "rg", "sed", "wc", "which",
})  # fmt: skip
_LOCATORS = _TALKERS | {
    "basename", "command", "dirname", "file", "ldd", "md5sum", "readlink", "realpath", "sha256sum",
    "stat", "type", "xargs",
}  # fmt: skip
_COPIERS = ("cp", "install", "link", "ln", "mv", "rename", "rsync", "scp")
_MOVERS = frozenset({"cd", "chdir", "pushd"})
_CREATORS = (
    "7z", "7za", "7zz", "aria2c", "bindfs", "bsdtar", "cpio", "curl", "ditto", "gh", "git", "gtar",
    "hg", "install", "mount", "patch", "pax", "rclone", "robocopy", "svn", "tar", "unrar", "unzip",
    "wget", "wget2",
)  # fmt: skip
_GIT_READS = frozenset({
    "add", "blame", "cat-file", "check-ignore", "commit", "describe", "diff", "fetch", "grep",
    "log", "ls-files", "ls-tree", "mv", "push", "rev-list", "rev-parse", "rm", "shortlog", "show",
    "status", "tag",
})  # fmt: skip
_SAVES = re.compile(r"-[a-zA-Z]*[OJo].*|--(?:remote|output).*")
_EXTRACTS = re.compile(r"-?[a-zA-Z]*x[a-zA-Z]*|--(?:extract|get)")
_DIRS = "|".join(map(re.escape, (*AGENT_DIRS, *SHARED_DIRS)))
_AIM = re.compile(
    rf"(?i)(?:.*[/=:]|-[a-z])?(?:{_DIRS}|\.local/bin|\.local/state/hookline|\.config/hookline)"
    r"(?:/(?:hooks|plugins?|extensions|dev-mods|installed-plugins|hookline)(?:[./].*)?)?/?"
)
_PROGRAM = re.compile(r"(?:^|[\s/(`])hookline(?:-client)?(?=[\s)`'\"]|$)")
_WEAKENS = re.compile(
    r"(?:^|[\s/'\"`(=;&|,\[]|-\w*m)hookline(?:\.exe|\.__main__)?[\s'\",\]]+(?:-[^\s'\",]+[\s'\",]+)*"
    r"(?:trust|uninstall|pause|undo|daemon\W+(?:stop|restart)|mcp\W+(?:pin|forget))\b"
    r"|\bhookline(?:\.| import )(?:cli|config|installing|store|__main__)\b|run_module\(\W*hookline"
    r"|HOOKLINE_\w+:?=|\bTIOCSTI\b"
)
_REMOVES = frozenset({"uninstall", "remove"})
_MOVES = re.compile(
    r"(?:CLAUDE|DOCKER_AGENT|CAGENT)_CONFIG_DIR=|(?:CODEX|COPILOT)_HOME=|GEMINI_CLI_SYS\w+="
    r"|CLAUDE_CODE_SIMPLE=|KODELET_NO_HOOKS="
)
_ROOMS = frozenset({"bwrap", "chroot", "firejail", "proot", "unshare"})
_MOVES_ALL = re.compile(r"(?:HOME|XDG_\w+_HOME)=")
_VERBS = frozenset({"trust", "uninstall", "pause", "install", "init", "undo", "approvals"})
_OPEN = re.compile(r"[$`*?\[{]")
# Where hookline lies, for another command to do something to it.
_FOUND = re.compile(
    r"(?:which|command -[vV]|type -\w+|whereis|readlink|realpath)\b[^)`]*\bhookline\b"
)


def _hookline(act: Act, world: World) -> Iterator[Finding]:
    words = [word for word in act.words[1:] if not word.startswith("-")]
    if (
        (not words and "xargs" in act.wrappers)
        or (words[:1] and (words[0] in _VERBS or (not act.exact and _OPEN.search(words[0]))))
        or words[:2] in (["daemon", "stop"], ["daemon", "restart"])
        or words[:2] in (["mcp", "pin"], ["mcp", "forget"])
    ):
        yield fatal("weakens-guard", act.text, _PERSON)


def _declares(act: Act, world: World) -> Iterator[Finding]:
    for word in act.words[1:]:
        if re.match(r"HOOKLINE_\w+", word):
            yield fatal("weakens-guard", f"{act.name} {word}", _PERSON)
            return


def find_in_text(story: Story) -> Iterator[Finding]:
    """What a text does to hookline or an agent's settings, wherever it stands in the words."""
    commands = story.shell.commands
    given = [f"{name}={value}" for name, value in story.traces.assigned]
    for command in commands:
        # What a wrapper is given counts whatever it runs: `env HOOKLINE_HOME=/tmp/x ls`.
        wrapper = command.full[: len(command.full) - len(command.words)]
        words = wrapper if command.name in _TALKERS else command.full
        text = " ".join(words)
        asked = command.name == "hookline" and is_only_asked(command.words)
        if not asked and (found := _WEAKENS.search(text)):
            yield fatal("weakens-guard", found[0].strip(), _PERSON)
        elif (
            any(map(_AIM.fullmatch, wrapper))  # `bwrap --bind x ~/.claude`
            or (command.name in _COPIERS and _PROGRAM.search(text))
            or (command.name not in _LOCATORS and any(map(_FOUND.search, words[1:])))
            or ("hookline" in words and not _REMOVES.isdisjoint(words))
        ):
            yield risky("weakens-guard", text[:100], _GUARDS)
        given += words
    runs_agent = any(command.name in _AGENTS for command in commands)
    for word in given:
        if word.startswith("HOOKLINE_") and "=" in word:
            yield fatal("weakens-guard", word, _PERSON)
        elif _MOVES.match(word) or (runs_agent and _MOVES_ALL.match(word)):
            yield risky("weakens-guard", word, "that agent would use other settings and hooks")
    yield from _find_inside(story)


def _find_inside(story: Story) -> Iterator[Finding]:
    """What may write where it runs, in a directory that the session or a `cd` of the text is in."""
    aimed = set[str]()
    for before, act in zip((*story.acts[:1], *story.acts), story.acts, strict=False):
        # A subshell that ended leaves the shell where it was.
        if before.name in _MOVERS and act.cwd != before.cwd:
            aimed |= {act.cwd for word in before.words if _AIM.fullmatch(word)}
        if (act.cwd in aimed or _AIM.fullmatch(act.cwd)) and not act.elsewhere:
            is_shared = act.cwd.endswith(SHARED_DIRS) and act.name not in _CREATORS
            if not (is_shared or _is_only_reading(act) or has_named_targets(act.words)):
                yield risky("weakens-guard", act.text[:100], _GUARDS)


def _is_only_reading(act: Act) -> bool:
    """Whether a program that may create files by itself is told to do nothing of the kind."""
    if act.name == "git":
        operands = parse(act.words[1:], ("-C", "-c")).operands
        return not operands or operands[0] in _GIT_READS
    if act.name.endswith("tar"):
        return not any(map(_EXTRACTS.fullmatch, act.words[1:]))
    if act.name == "curl":
        return not any(map(_SAVES.fullmatch, act.words[1:]))
    return act.name == "eval" or (act.name in SHELLS and "-c" in act.words)


def _find_target(act: Act, world: World) -> Iterator[Finding]:
    """Programs that unpack, fetch, copy or mount into a directory which they are given."""
    words = act.words[1:]
    if act.name in _COPIERS and act.name != "mv":
        # What is copied from there is only read.
        words = (*words[-1:], *(value for key, value in pairwise(words) if key[:2] == "-t"))
    found = next((word for word in words if _AIM.fullmatch(word)), "")
    if found and not _is_only_reading(act):
        yield risky("weakens-guard", f"{act.name} {found}", _GUARDS)


_UNGUARDED = re.compile(
    r"--dangerously-\S+|--yolo|--allow-all(?:-\w+)?|--trust-all-tools|--yes-always"
    r"|--skip-permissions\S*|--full-auto|--approval-mode=yolo|bypassPermissions|danger-full-access"
)


_OTHER_SETTINGS = re.compile(
    r" --(?:settings|setting-sources|plugin-dir|config-dir|bare|safe-mode|pure"
    r"|no-(?:hooks|plugins|extensions))\b"
    r"| (?:-c|--config|--enable|--disable|(?:config|settings) set)[ =]?\S*[hH]ooks"
    r"| hooks (?:disable|remove|uninstall)\b"
    r"| (?:plugins?|extensions?) (?!list\b|validate\b|--?h)\w[\w-]*"
)


def _agent(act: Act, world: World) -> Iterator[Finding]:
    """Another agent that is started without its own questions."""
    found = next((word for word in act.words[1:] if _UNGUARDED.fullmatch(word)), "")
    if found:
        why = "that agent would ask nobody before it acts"
        yield risky("escalates", f"{act.name} {found}", why, radius="high")
    if room := next((each for each in act.wrappers if each in _ROOMS), ""):
        yield risky("weakens-guard", f"{room} {act.name}", "it would find other files there")
    if other := _OTHER_SETTINGS.search(act.text):
        yield risky(
            "weakens-guard", f"{act.name}{other[0]}", "it would use other settings or hooks"
        )


FAMILY: Family = {
    **dict.fromkeys(_AGENTS, _agent),
    **dict.fromkeys((*_CREATORS, *_COPIERS), _find_target),
    "hookline": _hookline,
    **dict.fromkeys(
        ("export", "declare", "typeset", "unset", "env", "setenv", "readonly", "launchctl"),
        _declares,
    ),
}
