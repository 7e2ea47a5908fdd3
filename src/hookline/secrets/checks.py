"""What a token's form alone does not say: checksums, structure, whether it is made at random."""

import re
from binascii import Error, a2b_base64, crc32

import msgspec

from hookline.secrets.likely import entropy, is_example

__all__ = ["bech32", "crc", "jwt", "mixed", "pem", "random"]

_BASE62 = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BECH32 = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_GENERATOR = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_DIGIT = re.compile(rb"[0-9]")
_PARTS = re.compile(rb"[A-Za-z0-9]+")
_WORD = re.compile(rb"[A-Z]?[a-z]+|[A-Z]+|[0-9]{1,4}")


def crc(token: bytes) -> bool:
    """Ends in its own checksum, as those of GitHub and npm do; or else is no example.

    One with a wrong checksum may be a token with a typing error: it is withheld all the same.
    """
    head, _, body = token.rpartition(b"_")
    if _base62(crc32(body[:-6])) == body[-6:]:
        return True
    # One with more than its first part is a name: `ghp_token_of_the_bot`.
    return mixed(token) if b"_" in head else not is_example(token)


def _base62(number: int) -> bytes:
    shown = bytearray()
    for _ in range(6):
        number, rest = divmod(number, 62)
        shown.append(_BASE62[rest])
    return bytes(reversed(shown))


def bech32(token: bytes) -> bool:
    """Ends in its own checksum, as a key of age does; or else is no example."""
    prefix, _, body = token.lower().rpartition(b"1")
    numbers = [_BECH32.find(byte) for byte in body]
    if -1 in numbers:
        return not is_example(token)
    spread = [byte >> 5 for byte in prefix] + [0] + [byte & 31 for byte in prefix]
    return _polymod(spread + numbers) == 1 or not is_example(token)


def _polymod(numbers: list[int]) -> int:
    sum_ = 1
    for number in numbers:
        top = sum_ >> 25
        sum_ = (sum_ & 0x1FFFFFF) << 5 ^ number
        for place, factor in enumerate(_GENERATOR):
            sum_ ^= factor if top >> place & 1 else 0
    return sum_


def jwt(token: bytes) -> bool:
    """Begins with a header that names an algorithm, and signs or encrypts what follows."""
    head = token.partition(b".")[0]
    try:
        header = msgspec.json.decode(a2b_base64(head.translate(_STANDARD) + b"=="))
    except (Error, ValueError):
        return False
    return isinstance(header, dict) and str(header.get("alg", "none")).lower() != "none"


_STANDARD = bytes.maketrans(b"-_", b"+/")


def pem(token: bytes) -> bool:
    """Has a key between its lines, or the beginning of one; not only the line that begins it."""
    body = token.partition(b"KEY")[2].partition(b"-----END")[0]
    return sum(map(len, _PARTS.findall(body))) >= 40


def mixed(token: bytes) -> bool:
    """No example, and in one of its parts no word and no name: those have few digits."""
    if is_example(token):
        return False
    parts = _PARTS.findall(token)
    return any(len(part) >= 8 and not _reads(part) for part in parts) or _crowd(parts)


def _reads(part: bytes) -> bool:
    """Whether it can be read: words, and numbers at their end."""
    if _DIGIT.search(part) is None and part.islower():
        return True
    return len(part) / len(_WORD.findall(part)) >= 3.5


def _crowd(parts: list[bytes]) -> bool:
    """Whether many short parts hold digits, as a token that was cut by its own signs does."""
    return sum(1 for part in parts if _DIGIT.search(part) is not None and not part.isdigit()) >= 3


def random(token: bytes) -> bool:
    """As hard to guess as what a machine makes up: for forms that other things have too."""
    return not is_example(token) and entropy(token[:200]) >= 2.8
