"""One-liners of other languages: calls that delete, write, or run a shell, with their arguments.

Finds calls by name and reads the texts among their arguments; a text alone is no danger.
"""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.calls import (
    call_arguments,
    quotes_in,
    removals,
    shown,
    texts_in,
)
from hookline.builtin.shell_guard.families.handing import (
    SHELLS,
    handed,
    hidden_runs,
    runs_of_given,
    templates,
)
from hookline.builtin.shell_guard.families.spelling import spelled
from hookline.builtin.shell_guard.families.sql import judged_sql
from hookline.builtin.shell_guard.families.writing import WIPES, written
from hookline.builtin.shell_guard.model import Act, Family, Finding, risky
from hookline.builtin.shell_guard.secret_files import is_secret
from hookline.builtin.shell_guard.targets import targets
from hookline.builtin.shell_guard.world import Place, World

__all__ = ["FAMILY", "ROWS", "judged_code"]

_MAX_CODE = 65_536
_MAX_CALLS = 200
# Characters that are spelled out in one step.
_PER_STEP = 512

# In perl, ruby and php these run a command; elsewhere they only hold a text.
_TICKS = re.compile(r"(?:^|(?<=[=;({\s]))`([^`]*)`")
_OPENS = re.compile(
    r"\bopen\s*\(|\bio\.open\s*\(|\bfopen\s*\(|\bFile\.(?:open|write)\b[\s(]*"
    r"|\b(?:File|IO)\.(?:binwrite|write|truncate)\b[\s(]*"
    r"|\bopen\s+(?:my\s+)?\$?\w+\s*,"
)
_WRITES = re.compile(
    r"\b(?:writeFileSync|writeFile|appendFileSync|write_text|write_bytes|copyfile|copy2?|move"
    r"|rename(?:Sync)?|symlink|copyFileSync|createWriteStream|appendFile|writeTextFile(?:Sync)?"
    r"|outputFile(?:Sync)?|cpSync|copyFile|Bun\.write|symlinkSync|copytree|copy_file|mv|cp|os\.replace)\s*\("
    r"|\brename\s+(?=['\"])|\bFileUtils\.(?:cp|mv|copy|move|ln|install)\w*\s+(?=['\"])"
)
_WRITES_AT_ONCE = re.compile(r"write|truncate")
_PERL_MODE = re.compile(r"\+?[<>]{1,2}(?::[\w():-]{1,40})?")
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
_ROWS_HINT = re.compile(r"(?i:delete|destroy|drop|truncate|flush|update|alter)")
ROWS = re.compile(
    r"\.all\(\)\.delete\(\)|\b(?:delete|destroy)_all\b|\bdrop_all\(|::truncate\(|\bdropDatabase\("
    r"|\.flush(?:all|db)\(|\.deleteMany\(\s*(?:\{\s*\})?\s*\)"
)
_EXECUTES = re.compile(r"\b(?:execute\w*|query|exec|raw|run|text|do|prepare)\b\s*\(?")
_STATEMENT = re.compile(r"\s*(?:drop|truncate|delete\s+from|update\s+\w+\s+set|alter)\b", re.I)
_SCRIPTED = re.compile(r"\b(?:delete|shut down|restart|log out|empty (?:the )?trash|erase)\b")
_SIGNALS = re.compile(r"\bos\.kill(?:pg)?\s*\(\s*(-?1)\b|process\.kill\(\s*-?1\b")


def judged_code(code: str, act: Act, world: World) -> Iterator[Finding]:
    """What speaks against running code that is not shell."""
    code = code[:_MAX_CODE]
    yield from _judged(code, act, world)
    if not world.spend(1 + len(code) // _PER_STEP):
        return
    plain = spelled(code)
    if plain != code:
        # Beside what is written, never in its place: no spelling makes code better.
        yield from _judged(plain, act, world)
    yield from hidden_runs(plain, act)
    yield from handed(plain, act)
    yield from templates(plain, act, world)
    yield from runs_of_given(plain, code, act, world)


def _judged(code: str, act: Act, world: World) -> Iterator[Finding]:
    yield from removals(code, act, world)
    yield from _commands(code, act, world)
    yield from _written(code, act, world)
    if _RUNS_TEXT.search(code) and _HIDDEN.search(code):
        yield risky(
            "runs-unseen-code",
            f"{act.name}: {shown(code)}",
            "it runs what nobody can read here",
            radius="high",
        )
    if _SENDS.search(code) and _ENVIRONMENT.search(code):
        yield risky(
            "sends-out",
            f"{act.name}: {shown(code)}",
            "all variables leave, secrets too",
            radius="high",
        )
    if _ROWS_HINT.search(code):
        yield from _rows(code, act)
    if act.name == "osascript" and _SCRIPTED.search(code):
        yield risky("deletes", f"{act.name}: {shown(code)}", "programs are told to end or remove")
    if _SIGNALS.search(code):
        yield risky("kills", f"{act.name}: {shown(code)}", "every process would be signalled")
    for text in dict.fromkeys((*texts_in(code), *quotes_in(code))):
        if is_secret(text) and re.search(r"\bopen\b|read|load|Path|slurp|File|fs\.|copy", code):
            yield risky("reads-secret", text, "that file usually holds secrets")


def _rows(code: str, act: Act) -> Iterator[Finding]:
    """What goes from a database: by a call of its library, or by a statement."""
    rows = ROWS.search(code)
    if rows is not None:
        yield risky("deletes", f"{act.name}: {rows.group()}", "every row goes", radius="high")
    if _EXECUTES.search(code):
        for text in texts_in(code):
            if _STATEMENT.match(text):
                yield from judged_sql(text, act.name)


def _commands(code: str, act: Act, world: World) -> Iterator[Finding]:
    from hookline.builtin.shell_guard.judging import found_in

    if act.name.startswith(("perl", "ruby", "php")):
        for text in _TICKS.findall(code)[:_MAX_CALLS]:
            if text.startswith("#{"):  # ruby's own code says what is run
                why = "what it runs is made by other code"
                yield risky("runs-unseen-code", f"{act.name} {text[:60]}", why, radius="high")
            yield from found_in(text, world, nested=True)
    for count, match in enumerate(SHELLS.finditer(code)):
        if count == _MAX_CALLS:
            return
        given = call_arguments(code, match.end())
        words = texts_in(given)
        if not words:
            continue
        text = words[0] if " " in words[0] or len(words) == 1 else " ".join(words)
        yield from found_in(text.replace("\\'", "'").replace('\\"', '"'), world, nested=True)
        if text is not words[0] and any(" " in word for word in words[1:]):
            # `["sh", "-c", "a b"]`: what is one word there is one for the shell.
            from shlex import join  # slow to load, and few commands are lists in code

            yield from found_in(join(words), world, nested=True)


def _piped(words: list[str], act: Act, world: World) -> Iterator[Finding]:
    """perl's ``open(F, "|CODE")`` and ``open(F, "CODE|")``."""
    from hookline.builtin.shell_guard.judging import found_in

    text = words[0].strip("|- ") or " ".join(words[1:])
    yield from found_in(text, world, nested=True)
    if re.fullmatch(r"\s*(?:/\w+)*/?(?:ba|z|da|k)?sh\s*", text):
        words_of_it = f"{act.name}: open {words[0]}"
        yield risky("runs-unseen-code", words_of_it, "a shell runs what is written to it")


def _written(code: str, act: Act, world: World) -> Iterator[Finding]:
    for match in _OPENS.finditer(code):
        words = texts_in(call_arguments(code, match.end()))
        if len(words) > 1 and _PERL_MODE.fullmatch(words[0]):
            words = [f"{words[0].strip('+<')}{words[1]}" if ">" in words[0] else words[1]]
        if act.name.startswith("perl") and words and "|" in (words[0][:1], words[0][-1:]):
            yield from _piped(words, act, world)
        writes = _WRITES_AT_ONCE.search(match.group()) is not None or any(
            _MODE.fullmatch(word) for word in words[1:2]
        )
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
    "irb": ("-e",),
    "node": ("-e", "--eval", "-p", "--print"),
    "deno": ("eval",),
    "bun": ("-e", "--eval"),
    "zx": ("-e", "--eval"),
    "tsx": ("-e", "--eval", "-p", "--print"),
    "ts-node": ("-e", "--eval", "-p", "--print"),
    "php": ("-r", "-B", "-R"),
    "lua": ("-e",),
    "Rscript": ("-e",),
    "osascript": ("-e",),
    "julia": ("-e", "-E"),
    "elixir": ("-e", "--eval"),
    "erl": ("-eval",),
    "emacs": ("--eval", "-eval", "--execute", "-execute"),
    "groovy": ("-e",),
    "scala": ("-e",),
    "kotlin": ("-e",),
    "swift": ("-e",),
    "ghc": ("-e",),
    "clojure": ("-e", "--eval"),
    "clj": ("-e", "--eval"),
    "bb": ("-e",),
    "racket": ("-e",),
    "guile": ("-c",),
    "sbcl": ("--eval",),
    "expect": ("-c",),
    "tclsh": (),
    "jshell": (),
    "R": ("-e",),
}


def _interpreter(act: Act, world: World) -> Iterator[Finding]:
    # `python3.12` is python, and `clojure` no `clj`: the longest name that fits.
    kind = max(
        (name for name in _CODE_OPTIONS if act.name.startswith(name)), default="python", key=len
    )
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
    if act.words[1:2] == ("exec",) and kind == "bun":
        yield from _shell_of_bun(act, world)
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


def _shell_of_bun(act: Act, world: World) -> Iterator[Finding]:
    """``bun exec CODE`` takes shell commands, not a program's name."""
    from hookline.builtin.shell_guard.judging import found_in

    for text in act.words[2:3]:
        yield from found_in(text, world, nested=True)


def _codes(act: Act, options: tuple[str, ...]) -> Iterator[str]:
    words = act.words
    for at, word in enumerate(words[1:], start=1):
        letters = [option[1] for option in options if len(option) == 2]
        clustered = word[:1] == "-" and word[1:].isalpha() and word[-1:] in letters
        if (word in options or clustered) and at + 1 < len(words):
            yield words[at + 1]
        elif word[:2] in options and len(word) > 2 and not clustered:
            yield word[2:]
        elif word.startswith("--") and word.partition("=")[0] in options:
            yield word.partition("=")[2]


def _in_place(act: Act, code: list[str], world: World) -> Iterator[Finding]:
    if not any(re.match(r"-\w*i", word) for word in act.words[1:]):
        return
    wipes = any(WIPES.fullmatch(text.strip()) for text in code)
    for word in act.words[1:]:
        if word in code or word.startswith("-"):
            continue
        for target in targets(word, act, world):
            yield from written(act, target, f"{act.name} -i {word}")
            if wipes and target.place not in (Place.BUILD, Place.TEMP):
                why = "the script leaves nothing of the file"
                yield risky("overwrites", f"{act.name} -i {word}", why)


_VERSIONS = ("", "2", "3", *(f"3.{minor}" for minor in range(6, 20)))

FAMILY: Family = {
    **{f"python{version}": _interpreter for version in _VERSIONS},
    **dict.fromkeys(
        ("perl", "ruby", "node", "nodejs", "deno", "bun", "php", "lua", "luajit", "Rscript",
         "julia",
         "pypy", "pypy3", "osascript", "ipython", "elixir", "erl", "emacs", "groovy", "scala",
         "kotlin", "swift", "ghc", "clojure", "clj", "bb", "racket", "guile", "sbcl", "expect",
         "tclsh", "jshell", "R", "irb", "zx", "tsx", "ts-node"),
        _interpreter,
    ),
}  # fmt: skip
