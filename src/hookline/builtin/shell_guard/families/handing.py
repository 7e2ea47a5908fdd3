"""Code of other languages that hands a shell on, or runs what it hides or what it is given."""

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import structs

from hookline.builtin.shell_guard.families.calls import call_arguments, shown, texts_in
from hookline.builtin.shell_guard.families.hidden import DECODES, made_names
from hookline.builtin.shell_guard.model import Act, Finding, fatal, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["SHELLS", "given_to_calls", "handed", "hidden_runs", "runs_of_given", "templates"]

_MAX_CALLS = 200

SHELLS = re.compile(
    r"\b(?:os\.(?:system|popen|exec[lv]p?e?|spawn[lv]p?e?|posix_spawn|execute)|subprocess\.\w+"
    r"|exec(?:Sync|File|FileSync)?"
    r"|spawn(?:Sync)?|system|popen[234]?|io\.popen|shell_exec|passthru|proc_open|check_call"
    r"|check_output"
    r"|Popen|getoutput|Open3\.\w+|pty\.spawn|Deno\.Command|Bun\.spawn\w*|run|shell-command"
    r"|call-process|System\.cmd|:os\.cmd|os:cmd|Sys\.command|callCommand|ProcessBuilder|shell/sh"
    r"|run-program|system\*|do shell script|pcntl_exec|getstatusoutput|create_subprocess_\w+"
    r"|execaCommand(?:Sync)?|posix_spawnp)\b\s*\(?"
    r"|(?:\bqx|%x)\s*(?=[{(\[/])"
)
_MORE_SHELLS = re.compile(
    r"\b(?:execa(?:Sync)?|exec[lv]p?e?|eval|spawn[lv]p?e?|startfile|command)\b\s*\(?"
)
_CONNECTS = re.compile(
    r"create_connection\(|fsockopen\(|\bIO::Socket|\bTCPSocket\b|\bnet\.(?:connect|createConnection"
    r"|Socket)\b|\)\.(?:connect|createConnection)\(|stream_socket_client\(|socket_connect\("
    r"|\b(?:Deno|Bun)\.connect\(|socket\.tcp\(|\bsocket\.connect\(|\bconnect\s*\(\s*\w+\s*,\s*"
    r"(?:sockaddr_in|pack_sockaddr_in)|\bTelnet\(|\bopen_connection\("
)
_SOCKET = re.compile(r"\bsocket\b|\bSocket\b|['\"](?:node:)?(?:net|tls)['\"]")
_CONNECT = re.compile(r"\.connect(?:_ex)?\s*\(|\bconnect\s*\(")
_HANDS = re.compile(
    r"\bdup2\b|\bpty\.spawn\b|[<>]&\s*\d|[<>]&\s*[\w$=]|\breopen\b|\bfdopen\b|\.pipe\s*\(|\bstdio\s*:"
    r"|\bproc_open\b|std(?:in|out)\s*=|\bfileno\b|\bpcntl_exec\b|=>\s*\w*s(?:ock\w*)?\b"
)
_INTERACTIVE = re.compile(
    r"['\"`\s(](?:(?:/usr)?/bin/)?(?:env\s+)?(?:(?:ba|z|da|k|a|fi|c|tc)?sh|cmd(?:\.exe)?"
    r"|powershell(?:\.exe)?|pwsh)(?:\s+-[il]{1,2})?(?:\s+[<>\d&][^'\"`]{0,60})?['\"`\s)]"
)
_RECEIVES = re.compile(
    r"\brecv(?:_into)?\b|\bread_until\b|\.gets\b|\.readline\b|\bfgets\b|<\$\w*>|\bwhile\s*\(?\s*<|\.on\(\s*['\"]data|\.sysread\b|:receive\("
)
_FETCHES = re.compile(
    r"\brequests\.(?:get|post)\b|\burlopen\b|\bhttps?\b['\"]?\)?\.get\(|\bfetch\(|\bURI\.open\b"
    r"|\bLWP::Simple\b|\bfile_get_contents\(\s*['\"]https?:|\bcurl_exec\b|\bNet::HTTP\b|\bopen-uri\b"
)
_RUNS = re.compile(
    r"(?<![.\w])(?:eval|exec|system|Function|os\.(?:system|popen)|execSync|shell_exec|passthru"
    r"|loadstring|load)\b\s*\(?"
)
_LOCAL = re.compile(r"['\"](?:localhost|127\.0\.0\.1|::1|0\.0\.0\.0)[:'\"]")
_SCRIPTING = ("node", "nodejs", "bun", "deno", "zx", "tsx", "ts-node")
_TEMPLATE = re.compile(
    r"(?:(?<![\w$\\])\$|\b(?:Bun|zx|dax|execa)\.\$|\b(?:execa|execaCommand|sh|shell))"
    r"(?:\(\{[^{}`]{0,200}\}\))?(?:\.\w{1,20}(?:\([^()`]{0,80}\))?){0,3}`(?P<code>[^`]*+)`"
)
_HOLE = re.compile(r"\$\{[^{}]{0,400}\}")
_NAME = re.compile(r"[\s(\[]*+([$@]?\w+)")
# Where code finds what it is given: arguments, variables, input.
_TAKES = re.compile(
    r"(?i:argv|environ|getenv|stdin|commandargs|on run)|\bENV\b|\benv\b"
    r"|\b(?:args?|shift|gets|input)\b|<>|\bread|\$_"
)
# The name of a variable is no part of a command.
_KEYS = re.compile(r"(?i:environ(?:\.get)?|getenv|\bENV)[\[({]\s*['\"]?\w+['\"]?\s*[\])}]")
_EVALUATES = re.compile(r"\b(?:eval|exec|Function|load\w*)\b")
_MAX_GIVEN = 50


def templates(code: str, act: Act, world: World) -> Iterator[Finding]:
    """Texts that a tag such as ``Bun.$`` or the ``$`` of zx runs as shell commands."""
    from hookline.builtin.shell_guard.judging import found_in

    if "`" not in code or not act.name.startswith(_SCRIPTING):
        return
    for match in islice(_TEMPLATE.finditer(code), _MAX_CALLS):
        # What a hole will hold is as unknown as a variable that nobody has set.
        yield from found_in(_HOLE.sub("${given_to_template}", match["code"]), world, nested=True)


def runs_of_given(code: str, written: str, act: Act, world: World) -> Iterator[Finding]:
    """Commands that code, written so, makes of its arguments, its variables or its input."""
    from hookline.builtin.shell_guard.families.code import judged_code

    if not _TAKES.search(code):
        return
    words = act.words[1:]
    rest = words[words.index(written) + 1 :] if written in words else words
    calls = (call for _, call in _calls(code, SHELLS, _MORE_SHELLS))
    yield from given_to_calls(calls, rest, act, world)
    if written in words and _EVALUATES.search(code):
        for text in rest[:_MAX_GIVEN]:
            yield from judged_code(text, structs.replace(act, words=(act.name,)), world)


def given_to_calls(
    calls: Iterable[str], rest: tuple[str, ...], act: Act, world: World
) -> Iterator[Finding]:
    """What speaks against running what is given, behind what the calls themselves say."""
    from hookline.builtin.shell_guard.judging import found_in

    known = (value for values in act.variables.values() for value in values)
    # A script stands in front of its arguments.
    given = (" ".join(rest), " ".join(rest[1:]), *rest, *act.inputs, *known)
    starts = {" ".join(texts_in(_KEYS.sub("", call))) for call in islice(calls, _MAX_CALLS)}
    if any(not start or "-c" in start.split() for start in starts):
        starts.add("")
    for text in islice(dict.fromkeys(filter(None, given)), _MAX_GIVEN):
        for start in starts:
            yield from found_in(f"{start} {text}".strip(), world, nested=True)


def hidden_runs(code: str, act: Act) -> Iterator[Finding]:
    """Commands that code decodes first, from what could not be decoded here."""
    if not DECODES.search(code):
        return
    names = made_names(code)
    for at, given in _calls(code, SHELLS, _MORE_SHELLS):
        if DECODES.search(given) or _first_name(given) in names:
            words = f"{act.name}: {shown(code[at:])}"
            why = "the command it runs is decoded first, and nobody can read it here"
            yield risky("runs-unseen-code", words, why, radius="high")
            return


def handed(code: str, act: Act) -> Iterator[Finding]:
    """A connection to somewhere together with a shell, or with running what comes from there."""
    fetched = _FETCHES.search(code) is not None
    if not fetched and not _connects(code):
        return
    words = f"{act.name}: {shown(code)}"
    interactive = _INTERACTIVE.search(code) is not None
    if fetched and _runs_unknown(code, _RUNS):
        why = "what it runs comes from another machine, and nobody has read it"
        yield risky("runs-unseen-code", words, why, radius="high")
    if not _connects(code):
        return
    if interactive and (_HANDS.search(code) or _runs_shell(code)):
        yield fatal("sends-out", words, "it hands a shell to another machine")
    elif _RECEIVES.search(code) and _runs_unknown(code, SHELLS, _MORE_SHELLS):
        say = risky if _LOCAL.search(code) else fatal
        yield say("sends-out", words, "it runs what another machine sends", radius="high")


def _connects(code: str) -> bool:
    if _CONNECTS.search(code):
        return True
    return bool(_SOCKET.search(code) and _CONNECT.search(code))


def _runs_shell(code: str) -> bool:
    """Whether a shell is started that is given no script."""
    for _, given in _calls(code, SHELLS, _MORE_SHELLS):
        words = [word for word in texts_in(given) if word]
        if words and "-c" not in words and _INTERACTIVE.fullmatch(f"'{words[0]}'"):
            return True
    return False


def _runs_unknown(code: str, *patterns: re.Pattern[str]) -> bool:
    """Whether something is run that does not stand in the code as it is."""
    for _, given in _calls(code, *patterns):
        name = _first_name(given)
        if name and not name.isdigit() and given.lstrip("( [")[:1] not in "'\"`":
            return True
    return False


def _calls(code: str, *patterns: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """Where each call begins, and what it is given."""
    for pattern in patterns:
        for match in islice(pattern.finditer(code), _MAX_CALLS):
            yield match.start(), call_arguments(code, match.end())


def _first_name(given: str) -> str:
    name = _NAME.match(given)
    return "" if name is None else name[1]
