"""What is done to which branch, by git and by the tools of the places it is pushed to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookline.builtin._git_acts import ALL, HEAD, acts
from hookline.builtin.no_workarounds.doings import Deed, Doing
from hookline.workspace import checkout_at

__all__ = ["branch_doings", "named_branch"]

_DEEDS: Mapping[str, Deed] = {
    "push": Deed.PUSH,
    "force-push": Deed.FORCE_PUSH,
    "delete": Deed.DELETE_BRANCH,
    "commit": Deed.COMMIT,
    "merge": Deed.MERGE,
    "rebase": Deed.REBASE,
    "reset": Deed.RESET,
}
_REF = re.compile(r"refs/heads/([^\s?'\"]+)")
_FIELD = re.compile(r"^branch=(.+)$")
_METHOD = re.compile(r"(?i)^(?:-X|--method=)?(POST|PUT|PATCH|DELETE)$")
_CHANGING = re.compile(r"(?i)push|creat|updat|delet|merg|write|commit|edit")


def branch_doings(words: Sequence[str], bases: Sequence[str]) -> Iterator[Doing]:
    """What a command does to branches."""
    name = words[0].rpartition("/")[2]
    if name == "git":
        for act in acts(words[1:]):
            for branch in _checked_out(bases) if act.branch == HEAD else (act.branch,):
                yield Doing(did=_DEEDS[act.deed], target="*" if branch == ALL else branch)
    elif name in {"gh", "glab", "hub"} and "api" in words[1:3]:
        yield from _by_api(words)
    elif name == "curl":
        yield from _by_api(words) if any("/git/refs" in each for each in words) else ()


def named_branch(tool: str, input: Mapping[str, Any]) -> Iterator[Doing]:
    """What a tool of a server does to the branch that it names."""
    branch = input.get("branch")
    if isinstance(branch, str) and branch and _CHANGING.search(tool):
        did = Deed.DELETE_BRANCH if "delete_branch" in tool else Deed.PUSH
        yield Doing(did=did, target=branch.removeprefix("refs/heads/"))


def _checked_out(bases: Sequence[str]) -> Iterator[str]:
    for base in bases:
        found = checkout_at(base)
        if found is not None and found.branch:
            yield found.branch


def _by_api(words: Sequence[str]) -> Iterator[Doing]:
    methods = [found[1].upper() for each in words if (found := _METHOD.match(each))]
    fields = [found[1] for each in words if (found := _FIELD.match(each))]
    refs = [each for word in words for each in _REF.findall(word)]
    if methods or fields:
        did = Deed.DELETE_BRANCH if "DELETE" in methods and not fields else Deed.PUSH
        forced = any(re.fullmatch(r"force=true", each) for each in words)
        for branch in (*fields, *refs):
            yield Doing(did=Deed.FORCE_PUSH if forced else did, target=branch)
