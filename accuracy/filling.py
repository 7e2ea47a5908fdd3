"""Fills the holes in a written case: ``{alnum:36}`` is 36 letters and digits, always the same.

So no whole token stands in the repository, and nobody's scanner takes it for a leak.
"""

import re
from base64 import b64encode, urlsafe_b64encode
from hashlib import sha256
from random import Random
from string import ascii_letters, ascii_lowercase, ascii_uppercase, digits
from uuid import UUID
from zlib import crc32

__all__ = ["filled"]

_ALNUM = ascii_letters + digits
_KINDS = {
    "alnum": _ALNUM,
    "alpha": ascii_letters,
    "lower": ascii_lowercase + digits,
    "upper": ascii_uppercase + digits,
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "digit": digits,
    "b32": ascii_uppercase + "234567",
    "b64": _ALNUM + "+/",
    "url": _ALNUM + "_-",
    "word": _ALNUM + "_",
    "bech32": "qpzry9x8gf2tvdw0s3jn54khce6mua7l".upper(),
    "any": _ALNUM + "!%^*~?.",
}
_HOLE = re.compile(r"\{(\w+)(?::(\d+))?\}")


def filled(written: str) -> str:
    """The text that is written so; one that is written otherwise is filled otherwise."""
    random = Random(sha256(written.encode()).digest())

    def fill(hole: re.Match[str]) -> str:
        kind, size = hole[1], int(hole[2] or 0)
        if kind in _MADE:
            return _MADE[kind](random, size)
        return _run(random, _KINDS[kind], size) if kind in _KINDS else hole[0]

    return _HOLE.sub(fill, written)


def _run(random: Random, alphabet: str, size: int) -> str:
    """Signs of an alphabet; at both ends a letter or digit, where a sign would be cut off."""
    plain = [char for char in alphabet if char.isalnum()]
    inner = [random.choice(alphabet) for _ in range(size - 2)]
    ends = [random.choice(plain) for _ in range(min(size, 2))]
    text = "".join([*ends[:1], *inner, *ends[1:]])
    # All of one kind, by chance, is what a person would have typed.
    mixed = any(char.isdigit() for char in text) and not text.isdigit()
    wanted = size >= 8 and any(char.isdigit() for char in plain) and not alphabet.isdigit()
    return text if mixed or not wanted else _run(random, alphabet, size)


def _uuid(random: Random, _: int) -> str:
    return str(UUID(int=random.getrandbits(128), version=4))


def _checked(random: Random, size: int) -> str:
    """Letters and digits that end in their own checksum, as those of GitHub do."""
    body, number, shown = _run(random, _ALNUM, size - 6), 0, ""
    number = crc32(body.encode())
    order = digits + ascii_uppercase + ascii_lowercase
    for _ in range(6):
        number, rest = divmod(number, 62)
        shown = order[rest] + shown
    return body + shown


def _base64(random: Random, size: int) -> str:
    return b64encode(random.randbytes(size)).decode()


def _jwt(random: Random, _: int) -> str:
    texts = [
        b'{"alg":"HS256","typ":"JWT"}',
        b'{"sub":"%d","iat":1700000000}' % random.getrandbits(40),
    ]
    parts = [*texts, random.randbytes(32)]
    return ".".join(urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def _pem(random: Random, _: int) -> str:
    lines = [b64encode(random.randbytes(48)).decode() for _ in range(6)]
    return "\n".join(lines)


_MADE = {"uuid": _uuid, "checked": _checked, "bytes": _base64, "jwt": _jwt, "pem": _pem}
