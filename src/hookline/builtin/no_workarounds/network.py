"""Which hosts a command or an address would reach, and whether something is sent there."""

import re
from collections.abc import Iterator, Sequence

from hookline.builtin.no_workarounds.doings import Deed, Doing

__all__ = ["addressed", "code_addressed", "place_of", "reached"]

_ADDRESS = re.compile(r"(?i)\b(?:https?|ftps?|wss?|sftp)://[^\s'\"`<>|;)\]}]+")
_PARTS = re.compile(r"(?i)^[a-z]+://(?:[^/@\s]*@)?([^/?#\s]+)([^?#\s]*)")
_PROGRAMS = frozenset({
    "curl", "wget", "wget2", "http", "https", "xh", "curlie", "aria2c", "axel", "lynx", "w3m",
    "links", "httpie", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "lftp", "ssh", "scp",
    "sftp", "rsync",
})  # fmt: skip
_BARE = re.compile(
    r"^(?:[\w.-]+@)?([a-z\d](?:[a-z\d-]*\.)+[a-z]{2,}|\d+(?:\.\d+){3})(?::(.*))?$", re.I
)
_SENDING = re.compile(
    r"^(?:-d|-F|-T|--data\S*|--form\S*|--upload-file|--json|--post-(?:data|file)\S*|--body-\S+)"
)
_METHODS = re.compile(r"(?i)^(?:-X|--request=|--method=)?(?:POST|PUT|PATCH|DELETE)$")
_PIPES = frozenset({"nc", "ncat", "netcat", "socat", "telnet"})
_COPIES = frozenset({"scp", "rsync", "sftp"})
_CODE_SENDS = re.compile(r"(?i)\b(?:post|put|patch|upload|sendall|send)\b|\bdata\s*=|method\s*:")
_CODE_TALKS = re.compile(
    r"(?i)urlopen|urlretrieve|requests\.|httpx|http\.client|fetch\(|axios|Net::HTTP|open-uri"
    r"|LWP|https?\.(?:get|request)|socket|file_get_contents|urllib|aiohttp|curl"
)


def place_of(address: str) -> str:
    """The host and path of an address, without anything that could be a secret in it."""
    found = _PARTS.match(address)
    return found[1].lower().rpartition("@")[2] + found[2].rstrip("/") if found else ""


def addressed(address: str, did: Deed = Deed.FETCH) -> Iterator[Doing]:
    """The doing to one address."""
    place = place_of(address)
    if place:
        yield Doing(did=did, target=place)


def reached(words: Sequence[str]) -> Iterator[Doing]:
    """What a command does to other machines by its own words."""
    name = words[0].rpartition("/")[2]
    if name not in _PROGRAMS:
        return
    sends = name in _PIPES or any(map(_SENDING.match, words[1:])) or any(map(_METHODS.match, words))
    if name in _COPIES:
        sends = bool(_BARE.match(words[-1])) or name == "sftp"
    did = Deed.SEND if sends else Deed.FETCH
    for word in words[1:]:
        address = _ADDRESS.search(word)
        bare = _BARE.match(word) if address is None and not word.startswith("-") else None
        if address is not None:
            yield from addressed(address.group(), did)
        elif bare is not None:
            yield Doing(did=did, target=bare[1].lower())


def code_addressed(code: str) -> Iterator[Doing]:
    """What a program in another language does to other machines, by the addresses in it."""
    if not _CODE_TALKS.search(code):
        return
    did = Deed.SEND if _CODE_SENDS.search(code) else Deed.FETCH
    for address in dict.fromkeys(_ADDRESS.findall(code)):
        yield from addressed(address, did)
