"""Which names announce a secret: ``GITHUB_TOKEN`` does, ``max_tokens`` does not."""

import re

__all__ = ["LONGEST_REST", "NAME", "NAME_WORDS", "WEAK", "is_secret_name"]

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


def is_secret_name(before: bytes, word: bytes, after: bytes) -> bool:
    """Whether a name holds a secret: its beginning, the telling word, and how it goes on."""
    if len(after) > LONGEST_REST or (len(after) > 4 and after.isdigit()):
        return False
    lower = word.lower()
    if _glued(before, word) and not _strong.fullmatch(lower):
        return False  # bypass, oauth
    if lower in {b"pwd", b"pw"} and not before:
        return word == b"Pwd"  # a connection string's; elsewhere it is the working directory
    if lower == b"pwd" and before.lower() == b"old":
        return False
    if after and not _ABOUT.isdisjoint(_words(after)):
        return False
    return lower != b"token" or not before or _OTHER_TOKENS.isdisjoint(_words(before))


def _words(name: bytes) -> list[bytes]:
    return [part.lower() for part in _parts.findall(name)]


def _glued(before: bytes, word: bytes) -> bool:
    """Whether the word goes on from the letters before it."""
    if not before[-1:].isalnum():
        return False
    return not (word[:1].isupper() and before[-1:].islower())
