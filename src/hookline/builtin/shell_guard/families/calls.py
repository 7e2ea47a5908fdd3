"""Calls in the code of other languages: their arguments, and what those remove."""

import re
from collections.abc import Iterator

from msgspec import structs

from hookline.builtin.shell_guard.families.deleting import removed
from hookline.builtin.shell_guard.families.writing import written
from hookline.builtin.shell_guard.model import Act, Finding, risky
from hookline.builtin.shell_guard.targets import Target, targets
from hookline.builtin.shell_guard.world import Place, World

__all__ = ["call_arguments", "quotes_in", "removals", "shown", "texts_in"]

_MAX_CALLS = 200

_TREES = re.compile(
    r"\b(?:rmtree|rm_rf!?|rm_r|remove_tree|rmSync|rmdirSync|removeSync|remove_dir_all|rimraf"
    r"|emptyDirSync|emptyDir|deleteRecursively|deleteDirectory|deleteDir|delete-directory|delete-tree"
    r"|delete_recursive|removeDirectoryRecursive|removePathForcibly|removeItem|del_dir_r"
    r"|file delete(?: -force)?"
    r"|removedirs|remove_entry_secure|RemoveAll|fs\.rm|fs['\"]\)\.rm|fs\.promises\.rm|Deno\.remove)[\s(]+"
    r"|(?<![\w.-])rm\s*\((?=[^\n]{0,200}recursive)"
)
_FILES = re.compile(
    r"\bos\.remove\b\s*\(|\bos\.unlink\b\s*\(|\bunlink(?:Sync)?\b[\s(]+|\bos\.rmdir\b\s*\("
    r"|\brmdir\b\s*\(|\bFile\.delete\b[\s(]+|\bFileUtils\.(?:rm|remove)\w*[\s(]+"
    r"|\bfile_put_contents\b\s*\("
    r"|\btruncate(?:Sync)?\b\s*\(|\btruncate\s+(?=['\"])|\bPath\.unlink\b\s*\(|\bfile\.remove\b\s*\(|\bFile\.rm!?[\s(]+"
    r"|\bdelete-file[\s(]+|\bFiles\.delete\w*\s*\(|\bremoveFile[\s(]+"
)
# A file that is named as it stands there.
_ONE = re.compile(r"\s*\(?\s*['\"][^'\"{$]*['\"]\s*(?:,[^'\"]*)?\)?\s*")
_MAPPED = re.compile(r"['\"](?:unlink|rmdir)['\"]\s*,")
_EACH = re.compile(r"\.(?:unlink|rmdir|delete)\(\s*(?:missing_ok=\w+)?\s*\)")
_SYMBOL = re.compile(r"\b(?:Pathname|Dir)\b[^\n]{0,300}&:(?:delete|unlink|rmtree|rmdir)\b")
_LISTS = re.compile(
    r"(?P<of>['\"][^'\"\n]*['\"])?[)]*\.?\b(?:r?glob|walk|iterdir|listdir|scandir|readdir(?:Sync)?"
    r"|opendir|list\.files|list_files|listFiles|Dir\.(?:glob|entries|each_child|children))[\s(]+"
)
_PATH_BEFORE = re.compile(
    r"Path\(\s*(?P<q>['\"])(?P<path>[^'\"]*)(?P=q)\s*\)(?:\.expanduser\(\))?\."
    r"(?P<call>unlink|rmdir|write_text|write_bytes|touch|open|rename|replace)\s*\("
    # What Ruby calls so, and any text that became a path before.
    r"|Pathname(?:\.new)?\(\s*(?P<r>['\"])(?P<ruby>[^'\"]*)(?P=r)\s*\)(?:\.expand_path)?\."
    r"(?P<has>unlink|rmdir|rmtree|delete|rename|write)\b"
    r"|(?P<p>['\"])(?P<other>[~/.][^'\"]*)(?P=p)\s*\)?(?:\.expanduser\(\))?\."
    r"(?P<does>unlink|rmdir|write_text|write_bytes|rmtree)\b"
)
_TEXT = re.compile(
    r"'''(.*?)'''|\"\"\"(.*?)\"\"\"|'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`([^`]*)`"
    r"|\{([^{}]*)\}",
    re.DOTALL,
)
# An escaped mark begins no text: else the rest would be read again from each.
_QUOTED = re.compile(r"\\.|'((?:[^'\\\n]|\\.)*+)'|\"((?:[^\"\\\n]|\\.)*+)\"")
_HOMES = re.compile(
    r"\bhome\(\)|expanduser|\bHOME\b|homedir\(\)|Dir\.home|userInfo\(\)|user_home!?\(\)"
    r"|user\.home|UserHomeDir|(?<![\w/\"'])~(?![\w/=])"
)


def shown(code: str) -> str:
    """Code as one line of a message."""
    return " ".join(code.split())[:100]


def texts_in(code: str) -> list[str]:
    """The texts that are written in code."""
    return ["".join(part or "" for part in found) for found in _TEXT.findall(code)]


def quotes_in(code: str) -> list[str]:
    """The texts in quotes alone, those between braces too."""
    return [one or other for one, other in _QUOTED.findall(code)]


def call_arguments(code: str, start: int) -> str:
    """The source up to where a call ends: its closing bracket, or its line."""
    level, quote = 1 if code[start - 1 : start] in ("(", "[") else 0, ""
    for at in range(start, min(len(code), start + 2000)):
        mark = code[at]
        if quote:
            quote = "" if mark == quote and code[at - 1] != "\\" else quote
        elif mark in "'\"`":
            quote = mark
        elif mark in "([{":
            level += 1
        elif mark in ")]}":
            level -= 1
            if level <= 0:
                return code[start : at + 1]
        elif mark in ";\n" and level <= 0:
            return code[start:at]
    return code[start : start + 2000]


def removals(code: str, act: Act, world: World) -> Iterator[Finding]:
    """What speaks against the calls that remove files."""
    listed = _LISTS.search(code) is not None
    for pattern, deep in ((_TREES, True), (_FILES, False)):
        for count, match in enumerate(pattern.finditer(code)):
            if count == _MAX_CALLS:
                return
            given = call_arguments(code, match.end())
            if not deep and not texts_in(given) and listed and not _lists(code, act, world):
                continue  # only left-overs are gone through
            call = match.group().strip(" (")
            for target in _named(given, act, world):
                yield from _said(
                    removed(act, target, deep=deep, world=world), act, f"{call}({target.word})"
                )
    for match in _PATH_BEFORE.finditer(code):
        path = match["path"] or match["ruby"] or match["other"] or ""
        call = match["call"] or match["has"] or match["does"]
        for target in _named(f"'{path}'", act, world):
            if call in ("unlink", "rmdir", "rmtree", "delete"):
                yield from removed(act, target, deep=call == "rmtree", world=world)
            else:
                yield from written(act, target, f"{call} {target.word}")
    each = listed and (
        _EACH.search(code)
        or any(
            not _ONE.fullmatch(call_arguments(code, match.end())) for match in _FILES.finditer(code)
        )
    )
    by_symbol = _SYMBOL.search(code) and (not listed or _lists(code, act, world))
    if _MAPPED.search(code) or by_symbol or (each and _lists(code, act, world)):
        yield risky(
            "deletes", f"{act.name}: {shown(code)}", "every file that is found goes", radius="high"
        )


def _lists(code: str, act: Act, world: World) -> bool:
    """Whether code goes through files that are no left-overs."""
    for match in _LISTS.finditer(code):
        words = texts_in(call_arguments(code, match.end()) + (match["of"] or ""))
        places = [each for word in words[:4] for each in targets(word, act, world)]
        if not places or not all(
            each.junk or each.place in (Place.BUILD, Place.TEMP) for each in places
        ):
            return True
    return False


def _said(found: Iterator[Finding], act: Act, words: str) -> Iterator[Finding]:
    for each in found:
        yield structs.replace(each, words=f"{act.name}: {words}")


def _named(given: str, act: Act, world: World) -> Iterator[Target]:
    """The paths among the arguments of a call; something unknown when there are none."""
    if _HOMES.search(given) and not re.search(r"['\"]~?/\w", given):
        yield Target(word="~", path=world.home, place=Place.HOME)
        return
    words = [
        word
        for word in texts_in(given)
        if word and not re.fullmatch(r"\s*\w+\s*:.*", word, re.DOTALL)
    ]
    if not words:
        yield Target(
            word=given.strip(" ()")[:40] or "its argument",
            path="",
            place=Place.UNKNOWN,
            pattern="*",
            known=False,
        )
    for word in words[:8]:
        globs = structs.replace(act, exact=not re.search(r"[*?\[]", word))
        yield from targets(word, globs, world)
