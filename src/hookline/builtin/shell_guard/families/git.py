"""git: work that was never committed, history that others have, and what leaves the machine."""

import os
from collections.abc import Callable, Iterator, Mapping

from hookline.builtin.shell_guard.arguments import Arguments, parse
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.targets import targets
from hookline.builtin.shell_guard.world import Place, World

__all__ = ["FAMILY"]

_GLOBAL = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix")
_LOST = "changes that were never committed would be gone"
_SHARED = "others may have what this rewrites or removes"
_SHORTEST = len("--k")


def _git(act: Act, world: World) -> Iterator[Finding]:
    words = list(act.words[1:])
    settings: list[str] = []
    while words and words[0].startswith("-"):
        option = words.pop(0)
        if option in _GLOBAL and words:
            settings.append(words.pop(0))
        elif option in ("--version", "--help"):
            return
    judge = _VERBS.get(words[0]) if words else None
    if judge is not None:
        yield from judge(_Call(act, words, settings, world))


class _Call:
    """One git command: its verb, options and operands."""

    def __init__(self, act: Act, words: list[str], settings: list[str], world: World) -> None:
        self.act = act
        self.verb = words[0]
        self.words = words[1:]
        self.settings = settings
        self.world = world
        self.arguments: Arguments = parse(self.words, _VALUED.get(self.verb, ()))

    @property
    def text(self) -> str:
        return f"git {self.verb} {' '.join(self.words)}".strip()

    def has(self, *names: str) -> bool:
        return self.arguments.has(*names)

    def names_path(self, word: str) -> bool:
        """Whether a word is a file or directory here."""
        found = targets(word, self.act, self.world)
        return any(each.path and os.path.exists(each.path) for each in found)


_VALUED: Mapping[str, tuple[str, ...]] = {
    "clean": ("-e", "--exclude"),
    "push": ("-o", "--push-option", "--receive-pack", "--repo", "--exec"),
    "checkout": ("-b", "-B", "--orphan", "--conflict"),
    "switch": ("-c", "-C", "--orphan", "--conflict"),
    "restore": ("-s", "--source"),
    "rebase": ("--onto", "-x", "--exec", "-s", "-X"),
    "commit": ("-m", "--message", "-F", "--file", "-C", "-c", "--author", "--date", "-t"),
    "branch": ("-u", "--set-upstream-to", "--sort", "--format", "--contains"),
    "tag": ("-m", "-F", "-u", "--sort", "--format"),
    "config": ("-f", "--file"),
}


def _clean(call: _Call) -> Iterator[Finding]:
    forced = call.has("-f", "--force") or "clean.requireForce=false" in call.settings
    if not forced or call.has("-n", "--dry-run", "-i", "--interactive"):
        return
    for word in call.arguments.operands or ["."]:
        for target in targets(word, call.act, call.world):
            if target.place not in (Place.BUILD, Place.TEMP):
                yield risky(
                    "discards-work", call.text, "files that git does not keep would be gone"
                )
                return


def _reset(call: _Call) -> Iterator[Finding]:
    # git takes any beginning of an option that is no other's.
    hard = any(
        len(name) > _SHORTEST and option.startswith(name)
        for name in call.arguments.options
        for option in ("--hard", "--merge", "--keep")
    )
    if hard:
        yield risky("discards-work", call.text, _LOST)


def _read_tree(call: _Call) -> Iterator[Finding]:
    if call.has("-u", "--reset", "-f", "--force"):
        yield risky("discards-work", call.text, _LOST)


def _checkout(call: _Call) -> Iterator[Finding]:
    if call.has("-b", "--orphan") or (call.verb == "switch" and call.has("-c")):
        return
    forced = call.has("-f", "--force", "--discard-changes", "-B", "-C")
    operands = call.arguments.operands
    separated = "--" in call.words and call.words[-1] != "--"
    whole = any(word in (".", ":/", "*", "./") for word in operands)
    path = call.verb == "checkout" and any(call.names_path(word) for word in operands)
    if forced or separated or whole or path:
        yield risky("discards-work", call.text, _LOST)


def _restore(call: _Call) -> Iterator[Finding]:
    if call.has("-S", "--staged") and not call.has("-W", "--worktree"):
        return
    if call.arguments.operands or call.has("--pathspec-from-file"):
        yield risky("discards-work", call.text, _LOST)


def _push(call: _Call) -> Iterator[Finding]:
    if call.has("-n", "--dry-run") and not call.has("--no-dry-run"):
        return
    leased = any(name.startswith("--force-") for name in call.arguments.options)
    forced = call.has("-f", "--force", "--mirror", "--delete", "-d", "--prune") or leased
    refs = any(word[:1] in ("+", ":") for word in call.arguments.operands)
    if forced or refs:
        yield risky("rewrites-history", call.text, _SHARED, radius="medium" if leased else "high")
    elif call.has("--all", "--mirror") or any("://" in w for w in call.arguments.operands):
        yield risky("sends-out", call.text, "all branches leave, to wherever that remote is")


def _branch(call: _Call) -> Iterator[Finding]:
    deletes = call.has("-d", "--delete")
    forced = call.has("-f", "--force")
    if call.has("-D", "-M", "-C") or (deletes and forced):
        yield risky("discards-work", call.text, "commits on it that are nowhere else would be lost")
    elif forced and call.arguments.operands:
        yield risky("discards-work", call.text, "the branch would point elsewhere")


def _tag(call: _Call) -> Iterator[Finding]:
    if call.has("-d", "--delete", "-f", "--force"):
        yield risky("rewrites-history", call.text, "releases may be built from that tag")


def _stash(call: _Call) -> Iterator[Finding]:
    if call.words[:1] in (["drop"], ["clear"]):
        yield risky("discards-work", call.text, "what is stashed is nowhere else")


def _worktree(call: _Call) -> Iterator[Finding]:
    if call.words[:1] == ["remove"] and call.has("-f", "--force"):
        yield risky("discards-work", call.text, _LOST)


def _remote(call: _Call) -> Iterator[Finding]:
    verb = call.words[0] if call.words else ""
    if verb in ("remove", "rm"):
        yield risky("discards-work", call.text, "its branches and settings go, too")
    elif verb == "set-url":
        yield risky("sends-out", call.text, "what is pushed would go elsewhere")


def _history(call: _Call) -> Iterator[Finding]:
    yield fatal("rewrites-history", call.text, "every commit is written anew, and the old ones go")


def _reflog(call: _Call) -> Iterator[Finding]:
    if call.words[:1] in (["expire"], ["delete"]):
        yield fatal("rewrites-history", call.text, "it is the last way back to lost commits")


def _gc(call: _Call) -> Iterator[Finding]:
    pruned = call.arguments.value("--prune", "--expire")
    if pruned in ("now", "all") or "now" in call.words:
        yield fatal("rewrites-history", call.text, "lost commits can then not be found again")
    elif call.verb == "prune" and not call.has("-n", "--dry-run"):
        yield risky("rewrites-history", call.text, "lost commits can then not be found again")


def _update_ref(call: _Call) -> Iterator[Finding]:
    if call.has("-d", "--delete", "--stdin"):
        yield risky("rewrites-history", call.text, "branches and tags go without a question")


def _rebase(call: _Call) -> Iterator[Finding]:
    if call.has("--root"):
        yield risky("rewrites-history", call.text, _SHARED)


def _rm(call: _Call) -> Iterator[Finding]:
    if call.has("--cached", "-n", "--dry-run"):
        return
    whole = any(word in (".", ":/", "*", "./") for word in call.arguments.operands)
    if call.has("-f", "--force") or (whole and call.has("-r")):
        yield risky("discards-work", call.text, _LOST)


def _add(call: _Call) -> Iterator[Finding]:
    from hookline.builtin.shell_guard.secret_files import is_secret

    for word in call.arguments.operands:
        if is_secret(word):
            yield risky("publishes", f"git add {word}", "that file usually holds secrets")


def _shows(call: _Call) -> Iterator[Finding]:
    from hookline.builtin.shell_guard.secret_files import is_secret

    named_only = call.has("--stat", "--name-only", "--name-status", "--oneline")
    for word in call.words if not named_only else ():
        if is_secret(word):
            yield risky("reads-secret", call.text, "that file usually holds secrets")


_RUNS = frozenset({
    "core.hookspath", "core.sshcommand", "core.pager", "core.fsmonitor", "init.templatedir",
})  # fmt: skip


_LEADS = frozenset({"http.proxy", "https.proxy", "core.gitproxy", "http.sslverify"})


def _config(call: _Call) -> Iterator[Finding]:
    operands = call.arguments.operands
    key = operands[0].lower() if operands else ""
    if len(operands) > 1 and (key in _LEADS or key.endswith("insteadof")):
        why = "what git fetches and pushes would go another way"
        yield risky("sends-out", call.text, why)
    alias = key.startswith("alias.") and operands[1:] and operands[1].startswith("!")
    if len(operands) > 1 and (alias or key in _RUNS or key.startswith(("filter.", "credential."))):
        why = "git runs what stands there, later and unseen"
        yield risky("runs-unseen-code", call.text, why)


def _submodule(call: _Call) -> Iterator[Finding]:
    if call.words[:1] == ["deinit"] and call.has("-f", "--force"):
        yield risky("discards-work", call.text, _LOST)


_VERBS: Mapping[str, Callable[[_Call], Iterator[Finding]]] = {
    "clean": _clean,
    "reset": _reset,
    "read-tree": _read_tree,
    "checkout-index": _read_tree,
    **dict.fromkeys(("show", "diff", "blame", "cat-file", "log", "archive"), _shows),
    "checkout": _checkout,
    "switch": _checkout,
    "restore": _restore,
    "push": _push,
    "branch": _branch,
    "tag": _tag,
    "stash": _stash,
    "worktree": _worktree,
    "remote": _remote,
    "filter-branch": _history,
    "filter-repo": _history,
    "reflog": _reflog,
    "gc": _gc,
    "prune": _gc,
    "update-ref": _update_ref,
    "rebase": _rebase,
    "rm": _rm,
    "add": _add,
    "config": _config,
    "submodule": _submodule,
}


def _rewriter(act: Act, world: World) -> Iterator[Finding]:
    yield fatal("rewrites-history", act.text, "every commit is written anew")


FAMILY: Family = {
    "git": _git,
    **dict.fromkeys(("bfg", "git-filter-repo", "git-filter-branch"), _rewriter),
}
