"""Texts that other languages' code holds in disguise: base64, hex, numbers, turned round."""

import base64
import binascii
import codecs
import re
from collections.abc import Callable
from itertools import islice

__all__ = ["DECODES", "made_names", "quoted", "uncovered"]

_MAX_NAMES = 100
_MAX_TEXT = 16_384
_LOOK_BACK = 300

# Calls that make a text which does not stand in the code as it is.
DECODES = re.compile(
    r"b(?:64|32|16|85)decode|decode(?:64|_base64|bytes)|base64_decode|\batob\b|fromhex|unhexlify"
    r"|hex2bin|codecs\.decode|rot_?13|zlib\.(?:decompress|inflate)|gz(?:inflate|uncompress|decode)"
    r"|fromCharCode|fromCodePoint|\bchr\b|\b(?:un)?pack1?\b|inflate|gunzip|marshal\.loads|strrev"
    r"|string\.char|\[::-1\]|\breverse\b|['\"](?:base64|hex)['\"]|\bord\b|\^\s*0?x?\d"
    r"|\btr/|maketrans"
)
_SIGNS = re.compile(
    r"decode|atob|fromhex|unhexlify|hex2bin|Buffer\.from|pack|chr|[Cc]har|\[::-1\]|\\[xu]"
)
_OWNER = (
    r"(?:__import__\(\s*+['\"]\w{1,20}['\"]\s*+\)\.|require\(\s*+['\"][\w:]{1,20}['\"]\s*+\)\.)?"
)
_TAIL = r"(?:\.(?:decode|toString|to_s|strip|trim|force_encoding)\b(?:\([^()]{0,40}\))?){0,3}"
_ENCODED = r"\s*+[bru]?(?P<q>['\"])(?P<text>[\w+/=\s-]{2,16384})(?P=q)\s*+"
_BASE64 = re.compile(
    rf"{_OWNER}(?:\bBase64\.|\bbase64\.|\bMIME::Base64::)?"
    rf"\b(?:(?:urlsafe_|standard_)?b64decode|(?:urlsafe_|strict_)?decode64|decode_?base64"
    rf"|base64_decode|atob|decodebytes)\s*+\(?{_ENCODED}\)?{_TAIL}"
)
_HEX = re.compile(
    rf"{_OWNER}(?:\bbinascii\.|\bbytes\.|\bbytearray\.)?"
    rf"\b(?:unhexlify|fromhex|hex2bin|pack\s*+\(?\s*+['\"]H\*['\"]\s*+,)\s*+\(?{_ENCODED}\)?{_TAIL}"
)
_BUFFER = re.compile(
    rf"\bBuffer\.from\({_ENCODED},\s*+['\"](?P<how>base64|hex|base64url)['\"]\s*+\){_TAIL}"
)
_CODEC = re.compile(
    rf"{_OWNER}(?:\bcodecs\.)decode\(\s*+[bru]?(?P<q>['\"])(?P<text>[^'\"\n]{{1,4096}})(?P=q)\s*+,"
    rf"\s*+['\"](?P<how>rot_?13|hex|base64)[\w-]{{0,8}}['\"]\s*+\){_TAIL}"
)
_RUBY = re.compile(
    r"\[?\s*(?P<q>['\"])(?P<text>[\w+/=-]{2,16384})(?P=q)\s*\]?"
    r"\.(?:unpack1?|pack)\(?\s*['\"](?P<how>m0?|H\*)['\"]\s*\)?(?:\[0\]|\.first)?"
)
_NUMBERS = re.compile(
    r"\b(?:String\.from(?:CharCode|CodePoint)|string\.char|chr)\s*+\(\s*+"
    r"(?P<numbers>\d{1,3}(?:\s*+,\s*+\d{1,3}){0,2000}+)\s*+\)"
)
_MAPPED = re.compile(
    r"(?:['\"]['\"]\.join\(|\bbytes\()\s*(?:map\(\s*chr\s*,\s*|chr\(\w+\)\s*for\s+\w+\s+in\s*)?"
    r"[(\[]+\s*(?P<numbers>\d{1,3}(?:\s*+,\s*+\d{1,3}){1,2000}+)\s*,?\s*[)\]]+"
    rf"{_TAIL}\)?"
)
_TURNED = re.compile(
    r"(?P<q>['\"])(?P<text>[^'\"\\\n]{1,4096})(?P=q)(?:\[::-1\]|\.reverse\b(?:\(\))?)"
    r"|\b(?:strrev|reverse)\(\s*(?P<p>['\"])(?P<php>[^'\"\\\n]{1,4096})(?P=p)\s*\)"
    r"|(?<!\.)\breverse\s*(?P<s>['\"])(?P<perl>[^'\"\\\n]{1,4096})(?P=s)"
)
_ESCAPE = re.compile(r"\\x\{?([0-9a-fA-F]{2})\}?|\\u00([0-9a-fA-F]{2})")
_ASSIGNED = re.compile(r"\s*(?:(?:my|our|local|const|let|var)\s+)?([$@]?\w+)\s*=(?!=)")


def uncovered(code: str) -> str:
    """The code with every text that can be told written as it is."""
    if not _SIGNS.search(code) and "reverse" not in code and "strrev" not in code:
        return code
    code = _BASE64.sub(_with(_of_base64), code)
    code = _HEX.sub(_with(_of_hex), code)
    for pattern in (_BUFFER, _CODEC, _RUBY):
        code = pattern.sub(_by_name, code)
    for pattern in (_NUMBERS, _MAPPED):
        code = pattern.sub(_by_numbers, code)
    code = _TURNED.sub(_turned, code)
    return _ESCAPE.sub(_escaped, code)


def made_names(code: str) -> set[str]:
    """The variables that are given a text which was decoded."""
    found: set[str] = set()
    for match in islice(DECODES.finditer(code), _MAX_NAMES):
        begin = max(0, match.start() - _LOOK_BACK)
        begin = max(begin, *(code.rfind(mark, begin, match.start()) + 1 for mark in ";\n"))
        assigned = _ASSIGNED.match(code, begin)
        if assigned is not None:
            found.add(assigned[1])
    return found


def quoted(text: str) -> str:
    """A text as code, in the marks that it needs no escapes in, if there are any."""
    text = text.replace("\r", "").replace("\n", ";")
    mark = next((each for each in "\"'" if each not in text), "")
    if mark:
        return f"{mark}{text}{mark}"
    return '"' + text.replace('"', '\\"') + '"'


Decoder = Callable[[str], str]


def _with(decode: Decoder) -> Callable[[re.Match[str]], str]:
    def replaced(match: re.Match[str]) -> str:
        return _told(decode, match["text"]) or match.group()

    return replaced


def _told(decode: Decoder, text: str) -> str:
    """The decoded text in quotes; nothing when it is no text after all."""
    try:
        plain = decode(text[:_MAX_TEXT])
    except (binascii.Error, ValueError):
        return ""
    return quoted(plain) if "\0" not in plain else ""


def _of_base64(text: str) -> str:
    packed = "".join(text.split()).rstrip("=")
    return base64.b64decode(packed + "=" * (-len(packed) % 4), altchars=_marks(packed)).decode()


def _marks(text: str) -> bytes:
    return b"-_" if "-" in text or "_" in text else b"+/"


def _of_hex(text: str) -> str:
    return bytes.fromhex(text).decode()


def _of_rot13(text: str) -> str:
    return codecs.decode(text, "rot13")


def _by_name(match: re.Match[str]) -> str:
    how = match["how"]
    decode = _of_rot13 if how.startswith("rot") else _of_base64
    if how in ("hex", "H*"):
        decode = _of_hex
    return _told(decode, match["text"]) or match.group()


def _by_numbers(match: re.Match[str]) -> str:
    return quoted("".join(chr(int(each)) for each in match["numbers"].split(",")))


def _turned(match: re.Match[str]) -> str:
    return quoted((match["text"] or match["php"] or match["perl"])[::-1])


def _escaped(match: re.Match[str]) -> str:
    letter = chr(int(match[1] or match[2], 16))
    return letter if letter.isprintable() and letter not in "'\"\\`" else match.group()
