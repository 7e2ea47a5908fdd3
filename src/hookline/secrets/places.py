r"""Secrets that are known by where they stand: after a name, in a header, in a URL.

A regex finds what stands before a secret, and a function decides on that and on the value after it.
The value is read in a second step: a name that holds no secret must not hide the one in its value.

All heads are searched for as one by re2; where one was found, it and its value are read with the
standard library, which is several times faster at that. It may try many ways to read a text, so
the regexes here leave it only one, and no two heads read the same text again and again.
"""

import re
from collections.abc import Callable
from re import Match, Pattern

from msgspec import Struct

from hookline.secrets.forms import ASSIGNS_HINT, GAP, QUOTE
from hookline.secrets.tables.commands import COMMANDS
from hookline.secrets.values import (
    is_placeholder,
    is_reference,
    is_word,
    looks_random,
    names_code,
)

__all__ = ["PLACES", "Place", "Span"]

Span = tuple[int, int]

# Which names announce a secret: ``GITHUB_TOKEN`` does, ``max_tokens`` does not.
_STRONG = r"password|passwd|passphrase|passcode|secret|token|api[_-]?key"
_PARTED = (
    r"(?:access|private|secret|signing|encryption|master|account|service|session|auth|license)"
    r"[_-]?key|credentials?|auth|pass|pwd|pw"
)
NAME = rf"(?i:({_STRONG}|{_PARTED})((?:value|key|string)?(?:\d+|[_.-][\w.-]*)?))"
"""The word in a name that says so, and what follows it there. ``tokens`` and ``author`` go on with
a letter and are others' words. How long it may be is no part of the regex: to count is slow."""
NAME_WORDS = (b"pass", b"secret", b"token", b"key", b"credential", b"auth", b"pwd", b"pw")
"""One of these is in every such name, in lower case."""

WEAK = frozenset({b"auth", b"pass", b"pwd", b"pw", b"credential", b"credentials"})
"""Words that stand for much else: their value must look like a secret too."""

LONGEST_REST = 45
"""No name goes on for longer after its telling word."""
_strong = re.compile(_STRONG.encode())
_parts = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

# What a name goes on with when it speaks about a secret and does not hold it.
_ABOUT = frozenset(
    b"name names id ids count counts type types file files path paths dir url uri urls endpoint "
    b"limit limits ttl age expiry expires expiration expired at in length len size version policy "
    b"arn ref refs field header headers param prefix suffix index budget usage provider method "
    b"mode enabled disabled required optional store manager stdin prompt helper command cmd "
    b"format scope scopes rotation strength hint label description error status valid issuer "
    b"audience env var variable timeout list algorithm alg scheme loader source details fields cls "
    b"style info map num".split()
)
# What a token begins with that is a page of a listing, or a word of a model.
_OTHER_TOKENS = frozenset(
    b"max min num next prev previous page continuation sync eos bos pad unk mask sep cls stop "
    b"total per unexpected".split()
)

Judge = Callable[[bytes, Match[bytes], Pattern[bytes]], Span | None]
"""Decides on a text, the head found in it, and how the value after that is read."""


def is_secret_name(before: bytes, word: bytes, after: bytes) -> bool:
    """Whether a name holds a secret: its beginning, the telling word, and how it goes on."""
    if len(after) > LONGEST_REST or (len(after) > 4 and after.isdigit()):
        return False
    lower = word.lower()
    if _is_glued(before, word) and not _strong.fullmatch(lower):
        return False  # bypass, oauth
    if lower in {b"pwd", b"pw"} and not before:
        return word == b"Pwd"  # a connection string's; elsewhere it is the working directory
    if lower == b"pwd" and before.lower() == b"old":
        return False
    if after and not _ABOUT.isdisjoint(_split_name(after)):
        return False
    return lower != b"token" or not before or _OTHER_TOKENS.isdisjoint(_split_name(before))


def _split_name(name: bytes) -> list[bytes]:
    return [part.lower() for part in _parts.findall(name)]


def _is_glued(before: bytes, word: bytes) -> bool:
    """Whether the word goes on from the letters before it."""
    if not before[-1:].isalnum():
        return False
    return not (word[:1].isupper() and before[-1:].islower())


class Place(Struct, frozen=True):
    """One kind of place: the family it gives, how it is found, and who decides."""

    name: str
    head: str
    """What stands before the value; or all, when nothing is to be read after it."""
    value: str
    hint: str
    """What the first look searches for, in text whose JSON escapes are as written."""
    words: tuple[bytes, ...]
    """One of these, in lower case, is in every hint."""
    judge: Judge
    starts: bytes = b""
    """What a head begins with, in lower case."""
    alone: bytes = b""
    """What is in every head of a place that has to be searched for on its own."""
    resume: Callable[[Match[bytes]], int] = Match.end
    """Where in a head the next may begin; never before its start, so that no text is read twice
    for each of the names in it."""


# How a value is written; each way has its group. Without its closing quote it ends with the line.
_WAYS = ("string", "escaped", "double", "single", "backtick", "bare")
_BARE = r"[^\s\"'`\x02;|<>,&(){}\[#\\][^\s\"'`\x02;|<>&)]*"
_LINE = r"[^\s\"'`\x02][^\r\n\"'`\x02]*"


def _value(bare: str, lead: str = "") -> str:
    """A value in any of the ways; the lead is inside its quotes and stays."""
    return (
        rf"(?:(?:[bfruBFRU]{{1,2}})?(?:\s*+\x02{lead}([^\x02]++)|\\++[\"'`]{lead}([^\"'`\\\n\x02]++)|"
        rf"\"{lead}((?:[^\"\\\n\x02]++|\\[^\n\x02])+)|'{lead}([^'\n\x02]++)|`{lead}([^`\n\x02]++))|"
        rf"{lead}({bare}))"
    )


_CLOSE = rf"(?:{QUOTE}\]?\s*|[ \t]*)"
_TYPED = r":[ \t]*[A-Za-z_][\w.\[\]|]{0,30}[ \t]+=[ \t]"
_OPERATOR = r":=|=>|={1,3}|:"
_SCHEME = (
    r"(?i:(?:bearer|basic|token|digest|negotiate|api-?key|bot|key|oauth|hmac|"
    r"aws4-hmac-sha256)[ \t]+)?"
)
_FLAG_TALK = frozenset(
    b"to and or is are for with flag flags option options in as from the a an if must".split()
)
_NAME_BYTES = bytes(byte for byte in range(128) if chr(byte).isalnum() or chr(byte) in "_.-$")
_WORD_BYTES = frozenset(bytes((byte,)) for byte in _NAME_BYTES if byte != ord("$"))
_SPACE = b" \t\r\n"
_TAIL = 64
_LITERAL = frozenset({"string", "single"})
_HEADER = re.compile(rb"(?i:authorization|cookie|x-api-key)")
_DIGIT = re.compile(rb"[0-9]")
_PORTS = re.compile(rb"[0-9.]+:[0-9:.]+(?:/\w+)?")


def _found(value: Match[bytes]) -> tuple[str, Span]:
    """Which way the value is written, and where it is."""
    group = value.lastindex or len(_WAYS)
    return _WAYS[group - 1], value.span(group)


def _trimmed(text: bytes, span: Span, way: str) -> Span:
    """Without what ends a value and belongs to the text around it."""
    start, end = span
    value = text[start:end].rstrip(_SPACE)
    if way == "bare":
        value = value.rstrip(b",\\ ") if b"{" in value else value.rstrip(b",}\\ ")
    return start, start + len(value)


def _name_before(text: bytes, start: int) -> bytes:
    """How the name begins whose telling word starts there."""
    head = text[max(0, start - 64) : start]
    before = head[len(head.rstrip(_NAME_BYTES)) :]
    if before[:1] in {b"n", b"r", b"t"} and head[: -len(before)].endswith(b"\\"):
        before = before[1:]  # the letter of an escape
    return before.lstrip(b"-$.")


def _begins_line(text: bytes, start: int) -> bool:
    """Whether only the name is before the value on its line."""
    head = text[max(0, start - 120) : start]
    return not head[head.rfind(b"\n") + 1 :].rstrip(_NAME_BYTES).strip(b" \t-\x02\"'")


def _assigned(text: bytes, head: Match[bytes], read: Pattern[bytes]) -> Span | None:
    """The value of ``NAME=value``, ``name: value`` or ``"name": "value"``."""
    word, after, operator = head.groups()
    before = _name_before(text, head.start())
    if not is_secret_name(before, word, after):
        return None
    found = read.match(text, head.end())
    if found is None:
        return None
    way, span = _found(found)
    span = _trimmed(text, span, way)
    value = text[span[0] : span[1]]
    if not value or is_placeholder(value):
        return None
    if is_reference(value, literal=way in _LITERAL):
        return None
    doubtful = operator == b"==" or (not before and not after and word.lower() in WEAK)
    if doubtful and not looks_random(value):
        return None
    if way == "bare" and not _bare_is_secret(text, head, value, before + word + after):
        return None
    return span


def _bare_is_secret(text: bytes, head: Match[bytes], value: bytes, name: bytes) -> bool:
    """Whether an unquoted value is a secret, and no code and no prose."""
    word, operator = head[1].lower(), head[3]
    spaced = text[head.end(3) : head.end(3) + 1] in {b" ", b"\t"}
    if operator == b"=" and not spaced and name.isupper():
        return True  # as a shell or an .env file has it
    if names_code(value, after_colon=operator == b":"):
        return False
    if value.lower() == word or value.split(b".")[-1] == name.split(b".")[-1]:
        return False  # password=password, self.token = other.token
    if looks_random(value):
        return True
    if operator == b":":  # `password: hunter` is YAML; in a sentence it is talk
        return _begins_line(text, head.start())
    if spaced and is_word(value):
        # `password = hunter` may be a settings file; `token = value` is code.
        return word.startswith(b"passw") and _begins_line(text, head.start())
    return True


def _flag(text: bytes, head: Match[bytes], read: Pattern[bytes]) -> Span | None:
    """The argument of ``--password value``."""
    before, word, after, gap = head.groups()
    if _goes_on(text, head.start()) or not is_secret_name(before, word, after):
        return None
    found = read.match(text, head.end())
    if found is None:
        return None
    way, span = _found(found)
    if way == "bare" and b"," in gap:
        return None  # one item of a list, and the next is a variable
    span = _trimmed(text, span, way)
    value = text[span[0] : span[1]]
    if not value or value.startswith(b"-") or is_placeholder(value) or value in _FLAG_TALK:
        return None
    if way == "string" and text[found.end() + 1 : found.end() + 16].lstrip().startswith(b":"):
        return None  # the flag was the value of a member, and this is the key of the next
    return None if is_reference(value, literal=way in _LITERAL) else span


def _goes_on(text: bytes, start: int) -> bool:
    """Whether what starts there is the rest of a word, the letter of an escape aside."""
    before = text[max(0, start - 2) : start]
    return before[-1:] in _WORD_BYTES and before not in {b"\\n", b"\\r", b"\\t"}


def _header(text: bytes, head: Match[bytes], read: Pattern[bytes]) -> Span | None:
    """What follows the name of a header, its scheme aside."""
    found = read.match(text, head.end())
    if found is None:
        return None
    way, (start, end) = _found(found)
    opener = text[head.start() - 1 : head.start()] if head.start() else b""
    if way == "bare" and opener in {b"'", b'"', b"\x02"}:
        # Quoted as a whole: other quote marks are its own.
        end = _before(b"\x02", text, end, _before(b"\n", text, end, _before(opener, text, end)))
    span = _trimmed(text, (start, end), way)
    value = text[span[0] : span[1]]
    if not value or is_placeholder(value) or is_reference(value, literal=False):
        return None
    return None if names_code(value, after_colon=True) else span


def _before(stop: bytes, text: bytes, start: int, end: int | None = None) -> int:
    """Where the piece of text ends, at the latest before the stop."""
    at = text.find(stop, start, end)
    return at if at >= 0 else len(text) if end is None else end


def _url(_: bytes, head: Match[bytes], __: Pattern[bytes]) -> Span | None:
    """The password of ``scheme://user:password@host``."""
    value = head[1]
    if is_placeholder(value) or is_reference(value, literal=False):
        return None
    if value.endswith(b"]") and head[0].startswith(b"://[redacted:"):
        return None  # a token stood there, and its marker is no user with a password
    port = value[:6].replace(b"?", b"#").split(b"#")
    return None if len(port) > 1 and port[0].isdigit() else head.span(1)


def _user(_: bytes, head: Match[bytes], __: Pattern[bytes]) -> Span | None:
    """The password of ``curl -u user:password``, or whatever the last group is."""
    group = head.lastindex or 0
    value = head[group]
    if is_placeholder(value) or is_reference(value, literal=False):
        return None
    # A URL, another option, the rest of a longer name, and ports of a container.
    if value.startswith((b"//", b"-", b"assw")) or _PORTS.fullmatch(value):
        return None
    return head.span(group)


def _bearer(text: bytes, head: Match[bytes], read: Pattern[bytes]) -> Span | None:
    """What follows the word ``Bearer``, when it holds a digit as every long token does."""
    found = read.match(text, head.end())
    return found.span() if found is not None and _DIGIT.search(found[0][:200]) else None


def _in_name(head: Match[bytes]) -> int:
    """At the end of a name, unless it is none for its length or may end in that of a header."""
    rest = head[2]
    if len(rest) <= LONGEST_REST and (len(rest) < 6 or _HEADER.search(rest) is None):
        return head.end(2)  # its colon may begin a URL's `://`
    return _in_tail(head, 2)


def _in_tail(head: Match[bytes], group: int) -> int:
    """Behind the start of a name, and where what is left of it is short enough to be one."""
    return max(head.start() + 1, head.end(group) - _TAIL)


def _header_named(names: str) -> str:
    """A header in text, in a quoted argument, or as a member of a mapping."""
    return rf"(?i:{names}){_CLOSE}(?:{_OPERATOR})[ \t]*"


PLACES = (
    *(
        Place("password", head, "", hint, (word.lower(),), _user, alone=word)
        for word, head, hint in COMMANDS
    ),
    Place(
        "url-password",
        r"://[^\s/@:\"'`\x02<>]*:([^\s/\"'`\x02<>]+)@",
        "",
        r":(?:\\*/){2}[^\s/@:\"'`<>]*:[^\s/\"'`<>]+@",
        (b"@",),
        _url,
        starts=b":",
        resume=lambda head: head.start() + 3,
    ),
    Place(
        "url-password",
        r"(?i:curl)[^\n\x02]*?[ \t](?:-[A-Za-z]*u|-U|--user|--proxy-user)[ \t=]*(?:\\*[\"'])?"
        r"[^\s:\"'\x02]+:([^\s\"'`\x02\\]+)",
        "",
        rf"(?i:curl)[^\n]*?(?:-[A-Za-z]*u|-U|--user|--proxy-user)(?:{GAP}|[=\"'\\])*[^\s:]+:",
        (b"curl",),
        _user,
        alone=b":",
    ),
    Place(
        "netrc",
        r"(?i:login)[ \t\n]+[^\s\x02]+[ \t\n]+(?i:password)[ \t]+([^\s\"'`\x02\\]+)",
        "",
        rf"(?i:login){GAP}+[^\s\\]+{GAP}+(?i:password){GAP}+",
        (b"login",),
        _user,
        starts=b"l",
    ),
    Place(
        "authorization",
        _header_named("authorization|x-api-key"),
        _value(_LINE, _SCHEME),
        rf"(?i:authorization|x-api-key){ASSIGNS_HINT}",
        (b"authorization", b"x-api-key"),
        _header,
        starts=b"ax",
        resume=lambda head: head.start() + 6,
    ),
    Place(
        "cookie",
        _header_named("cookie2?"),
        _value(_LINE, _SCHEME),
        rf"(?i:cookie2?){ASSIGNS_HINT}",
        (b"cookie",),
        _header,
        starts=b"c",
        resume=lambda head: head.start() + 6,
    ),
    Place(
        "bearer",
        r"(?i:bearer)[ \t]+",
        r"[A-Za-z0-9._~+/=-]{20,}+",
        rf"(?i:bearer){GAP}+[A-Za-z0-9._~+/=\\-]{{12}}",
        (b"bearer",),
        _bearer,
        starts=b"b",
    ),
    Place(
        "secret",
        rf"{NAME}{_CLOSE}({_TYPED}|{_OPERATOR})[ \t]*",
        _value(_BARE),
        rf"{NAME}{ASSIGNS_HINT}",
        NAME_WORDS,
        _assigned,
        starts=b"acelmpst",
        resume=_in_name,
    ),
    Place(
        "secret",
        rf"--?((?:[A-Za-z0-9]+[_.-])*){NAME}(?:{QUOTE})?([ \t]*,\s*|[ \t]+)",
        _value(_BARE),
        rf"(?:^|[^A-Za-z0-9_.-]|\\[bfnrt])--?(?:[A-Za-z0-9]+[_.-])*{NAME}(?:{QUOTE}{GAP}*,|{GAP})",
        NAME_WORDS,
        _flag,
        starts=b"-",
        resume=lambda head: _in_tail(head, 3),
    ),
)
