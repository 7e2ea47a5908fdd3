"""One-liners of other languages: calls that delete, write, or run a shell, with their arguments.

Finds calls by name and reads the texts among their arguments; a text alone is no danger.
"""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.deleting import removed
from hookline.builtin.shell_guard.families.writing import written
from hookline.builtin.shell_guard.model import Act, Family, Finding, risky
from hookline.builtin.shell_guard.secret_files import is_secret
from hookline.builtin.shell_guard.targets import Target, targets
from hookline.builtin.shell_guard.world import Place, World

__all__ = ["FAMILY", "call_arguments", "judged_code", "texts_in"]

_MAX_CODE = 65_536
_MAX_CALLS = 200

_TREES = re.compile(
    r"\b(?:rmtree|rm_rf|rm_r|remove_tree|rmSync|rmdirSync|removeSync|remove_dir_all|rimraf"
    r"|emptyDirSync"
    r"|removedirs|remove_entry_secure|RemoveAll|fs\.rm|fs\.promises\.rm|Deno\.remove)\b[\s(]*"
)
_FILES = re.compile(
    r"\bos\.remove\b\s*\(|\bos\.unlink\b\s*\(|\bunlink(?:Sync)?\b[\s(]+|\bos\.rmdir\b\s*\("
    r"|\brmdir\b\s*\(|\bFile\.delete\b[\s(]+|\bFileUtils\.(?:rm|remove)\w*[\s(]+"
    r"|\bfile_put_contents\b\s*\("
    r"|\btruncate(?:Sync)?\b\s*\(|\bPath\.unlink\b\s*\("
)
_SHELLS = re.compile(
    r"\b(?:os\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawn|execute)|subprocess\.\w+"
    r"|exec(?:Sync|File|FileSync)?"
    r"|spawn(?:Sync)?|system|popen[234]?|io\.popen|shell_exec|passthru|proc_open|check_call"
    r"|check_output"
    r"|Popen|getoutput|Open3\.\w+|pty\.spawn|Deno\.Command|Bun\.spawn\w*|run)\b\s*\(?"
    r"|(?:\bqx|%x)\s*(?=[{(\[/])"
)
# In perl, ruby and php these run a command; elsewhere they only hold a text.
_TICKS = re.compile(r"(?:^|(?<=[=;({\s]))`([^`]*)`")
_OPENS = re.compile(r"\bopen\s*\(|\bio\.open\s*\(|\bfopen\s*\(|\bFile\.(?:open|write)\b[\s(]*")
_WRITES = re.compile(
    r"\b(?:writeFileSync|writeFile|appendFileSync|write_text|write_bytes|copyfile|copy2?|move"
    r"|rename(?:Sync)?|symlink|copyFileSync)\s*\("
)
_PATH_BEFORE = re.compile(
    r"Path\(\s*(['\"])(?P<path>[^'\"]*)\1\s*\)\.(?P<call>unlink|rmdir|write_text|write_bytes"
    r"|touch|open)\s*\("
)
_TEXT = re.compile(
    r"'''(.*?)'''|\"\"\"(.*?)\"\"\"|'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"|`([^`]*)`"
    r"|\{([^{}]*)\}",
    re.DOTALL,
)
_HOMES = re.compile(r"\bhome\(\)|expanduser|\bHOME\b|homedir\(\)|Dir\.home|userInfo\(\)")
_MODE = re.compile(r"r?b?[wax]b?\+?t?|[rab]+\+b?|[><]{1,2}")
_HIDDEN = re.compile(
    r"b64decode|base64|fromhex|unhexlify|atob\(|marshal\.loads|zlib\.decompress|codecs\.decode"
    r"|rot13"
    r"|urlopen|urlretrieve|requests\.get|fetch\(|pack\(|decode64|http\.get|Net::HTTP|LWP::Simple"
    r"|chr\("
)
_RUNS_TEXT = re.compile(
    r"\b(?:exec|eval|compile|Function|runpy|loadstring|load|instance_eval|vm\.run\w*"
    r"|__import__)\s*\(?"
)
_SENDS = re.compile(
    r"urlopen|requests\.(?:post|put|get)|http\.client|socket\.|fetch\(|axios|Net::HTTP|smtplib"
    r"|HTTPSConnection|https?\.request|ftplib"
)
_ENVIRONMENT = re.compile(
    r"os\.environ\b(?!\s*(?:\[|\.get))|process\.env\b(?!\s*[.\[])|ENV\.to_h|%ENV|environ\.copy"
)
_SIGNALS = re.compile(r"\bos\.kill(?:pg)?\s*\(\s*(-?1)\b|process\.kill\(\s*-?1\b")


def judged_code(code: str, act: Act, world: World) -> Iterator[Finding]:
    """What speaks against running code that is not shell."""
    code = code[:_MAX_CODE]
    yield from _removals(code, act, world)
    yield from _commands(code, act, world)
    yield from _written(code, act, world)
    if _RUNS_TEXT.search(code) and _HIDDEN.search(code):
        yield risky(
            "runs-unseen-code",
            f"{act.name}: {_shown(code)}",
            "it runs what nobody can read here",
            radius="high",
        )
    if _SENDS.search(code) and _ENVIRONMENT.search(code):
        yield risky(
            "sends-out",
            f"{act.name}: {_shown(code)}",
            "all variables leave, secrets too",
            radius="high",
        )
    if _SIGNALS.search(code):
        yield risky("kills", f"{act.name}: {_shown(code)}", "every process would be signalled")
    for text in texts_in(code):
        if is_secret(text) and re.search(r"\bopen\b|read|load|Path|slurp|File|fs\.|copy", code):
            yield risky("reads-secret", text, "that file usually holds secrets")


def _shown(code: str) -> str:
    return " ".join(code.split())[:100]


def texts_in(code: str) -> list[str]:
    return ["".join(part or "" for part in found) for found in _TEXT.findall(code)]


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


def _removals(code: str, act: Act, world: World) -> Iterator[Finding]:
    for pattern, deep in ((_TREES, True), (_FILES, False)):
        for count, match in enumerate(pattern.finditer(code)):
            if count == _MAX_CALLS:
                return
            given = call_arguments(code, match.end())
            call = match.group().strip(" (")
            for target in _named(given, act, world):
                yield from _said(
                    removed(act, target, deep=deep, world=world), act, f"{call}({target.word})"
                )
    for match in _PATH_BEFORE.finditer(code):
        for target in _named(f"'{match['path']}'", act, world):
            if match["call"] in ("unlink", "rmdir"):
                yield from removed(act, target, deep=False, world=world)
            else:
                yield from written(act, target, f"{match['call']} {target.word}")
    if re.search(r"['\"](?:unlink|rmdir)['\"]\s*,", code):
        yield risky(
            "deletes", f"{act.name}: {_shown(code)}", "every file that is found goes", radius="high"
        )
    if re.search(r"\.(?:unlink|rmdir)\(\s*(?:missing_ok=\w+)?\s*\)", code) and re.search(
        r"r?glob\(|walk\(|iterdir|listdir|scandir", code
    ):
        yield risky(
            "deletes", f"{act.name}: {_shown(code)}", "every file that is found goes", radius="high"
        )


def _said(found: Iterator[Finding], act: Act, words: str) -> Iterator[Finding]:
    from msgspec import structs

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
        from msgspec import structs

        globs = structs.replace(act, exact=not re.search(r"[*?\[]", word))
        yield from targets(word, globs, world)


def _commands(code: str, act: Act, world: World) -> Iterator[Finding]:
    from hookline.builtin.shell_guard.judging import found_in

    if act.name.startswith(("perl", "ruby", "php")):
        for text in _TICKS.findall(code)[:_MAX_CALLS]:
            yield from found_in(text, world, nested=True)
    for count, match in enumerate(_SHELLS.finditer(code)):
        if count == _MAX_CALLS:
            return
        given = call_arguments(code, match.end())
        words = texts_in(given)
        if not words:
            continue
        text = words[0] if " " in words[0] or len(words) == 1 else " ".join(words)
        yield from found_in(text.replace("\\'", "'").replace('\\"', '"'), world, nested=True)


def _written(code: str, act: Act, world: World) -> Iterator[Finding]:
    for match in _OPENS.finditer(code):
        words = texts_in(call_arguments(code, match.end()))
        writes = "File.write" in match.group() or any(_MODE.fullmatch(word) for word in words[1:2])
        if words and (writes or words[0].startswith(">")):
            for target in targets(words[0].lstrip("> "), act, world):
                yield from written(act, target, f"open {words[0]}", adds="a" in "".join(words[1:2]))
    for match in _WRITES.finditer(code):
        for word in texts_in(call_arguments(code, match.end()))[:2]:
            for target in targets(word, act, world) if "/" in word or word.startswith("~") else ():
                yield from written(act, target, f"{match.group().strip('(')} {word}")


_CODE_OPTIONS = {
    "python": ("-c",),
    "perl": ("-e", "-E"),
    "ruby": ("-e",),
    "node": ("-e", "--eval", "-p", "--print"),
    "deno": ("eval",),
    "bun": ("-e", "--eval"),
    "php": ("-r", "-B", "-R"),
    "lua": ("-e",),
    "Rscript": ("-e",),
    "osascript": ("-e",),
    "julia": ("-e", "-E"),
}


def _interpreter(act: Act, world: World) -> Iterator[Finding]:
    kind = next((name for name in _CODE_OPTIONS if act.name.startswith(name)), "python")
    code = list(_codes(act, _CODE_OPTIONS[kind]))
    operands = [word for word in act.words[1:] if not word.startswith("-")]
    if not code and (not operands or "-" in act.words[1:]):
        code = [*act.inputs]
    for text in code:
        if not act.exact and text.lstrip("'\"").startswith(("$(", "`", "$")) and kind != "perl":
            yield risky(
                "runs-unseen-code",
                f"{act.name} {text[:60]}",
                "what it runs comes from another command",
                radius="high",
            )
        yield from judged_code(text, act, world)
    if kind in ("perl", "ruby") and code:
        yield from _in_place(act, code, world)
    if operands and operands[0].rpartition("/")[2] in (
        "manage.py",
        "artisan",
        "console",
        "rake",
        "rails",
    ):
        from hookline.builtin.shell_guard.families.databases import FAMILY as DATABASES

        yield from DATABASES["rails"](act, world)


def _codes(act: Act, options: tuple[str, ...]) -> Iterator[str]:
    words = act.words
    for at, word in enumerate(words[1:], start=1):
        letters = [option[1] for option in options if len(option) == 2]
        clustered = word[:1] == "-" and word[1:].isalpha() and word[-1:] in letters
        if (word in options or clustered) and at + 1 < len(words):
            yield words[at + 1]
        elif word[:2] in options and len(word) > 2 and not clustered:
            yield word[2:]


def _in_place(act: Act, code: list[str], world: World) -> Iterator[Finding]:
    if not any(re.match(r"-\w*i", word) for word in act.words[1:]):
        return
    for word in act.words[1:]:
        if word in code or word.startswith("-"):
            continue
        for target in targets(word, act, world):
            yield from written(act, target, f"{act.name} -i {word}")


_VERSIONS = ("", "2", "3", *(f"3.{minor}" for minor in range(6, 20)))

FAMILY: Family = {
    **{f"python{version}": _interpreter for version in _VERSIONS},
    **dict.fromkeys(
        ("perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "Rscript",
         "julia",
         "pypy", "pypy3", "osascript", "ipython"),
        _interpreter,
    ),
}  # fmt: skip
