"""The ways an address may be read, so that its spelling neither hides a host nor lends one.

Knows text only: resolves no name, opens nothing, and must not know patterns.
"""

import re

__all__ = ["addresses", "normal_forms"]

# Schemes that clients read with any number of slashes, even none, and the port each one has.
_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.ASCII)
_LINE_BREAKS = str.maketrans("", "", "\t\r\n")
# What prose puts around an address, and what clients drop before they read one.
_AROUND = "\"'`<>(){},;" + "".join(map(chr, range(0x21)))
_TAIL = re.compile(r"[/?#]")
_PORT = re.compile(r":(\d*)$", re.ASCII)
_OLD_IPV4 = re.compile(r"(?:0x[0-9a-f]*|\d+)(?:\.(?:0x[0-9a-f]*|\d+)){0,3}", re.ASCII)
_ESCAPE = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")


def addresses(text: str) -> tuple[str, ...]:
    """Every address in the text: some tools take several, and none may hide behind another."""
    found = text.split()
    if len(found) > 1 and (joined := text.translate(_LINE_BREAKS)) != text:
        # Clients drop line breaks and tabs, also from the middle of a host.
        found += joined.split()
    return tuple(dict.fromkeys(found))


def normal_forms(address: str) -> tuple[str, ...]:
    """The address as its server would see it; with a backslash, each way clients read that.

    Scheme and host in lower case, no user, usual port, trailing dot or fragment, a path that
    starts with ``/`` and has nothing needlessly escaped. Without a scheme there is none here.
    """
    bare = address.strip(_AROUND)
    if "\\" not in bare:
        return (_normal(bare),)
    return tuple({_normal(text): None for text in (bare.replace("\\", "/"), bare)})


def _normal(text: str) -> str:
    scheme, prefix, rest = _without_scheme(text)
    end = _TAIL.search(rest)
    authority, tail = (rest[: end.start()], rest[end.start() :]) if end else (rest, "")
    path, mark, query = tail.partition("#")[0].partition("?")
    query = mark + _unescaped(query)
    return prefix + _host(authority, scheme) + _path(_unescaped(path)) + query


def _without_scheme(text: str) -> tuple[str, str, str]:
    """The scheme, how the normal form starts, and what follows of the text."""
    scheme, colon, rest = text.partition(":")
    scheme = scheme.lower() if colon else ""
    if scheme in _PORTS:
        return scheme, f"{scheme}://", rest.lstrip("/\\")
    if scheme == "file":
        # `file:/x`, `file:///x` and `file://localhost/x` are one file.
        host = rest[2:] if rest.startswith("//") else rest
        return scheme, "file://", re.sub(r"^localhost(?=/)", "", host, flags=re.IGNORECASE)
    if rest.startswith("//") and _SCHEME.fullmatch(scheme):
        return scheme, f"{scheme}://", rest[2:]
    return "", "", text.lstrip("/\\")


def _host(authority: str, scheme: str) -> str:
    # Slow to load, and most events have no address.
    from unicodedata import normalize
    from urllib.parse import unquote

    host = normalize("NFKC", unquote(authority.rpartition("@")[2])).lower()
    host = host.replace("\u3002", ".").translate(_LINE_BREAKS)
    port = _PORT.search(host)
    if port is None:
        return _name(host)
    usual = not port[1] or port[1].lstrip("0") == _PORTS.get(scheme)
    return _name(host[: port.start()]) + ("" if usual else f":{port[1].lstrip('0') or '0'}")


def _name(host: str) -> str:
    name = host.rstrip(".")
    if _OLD_IPV4.fullmatch(name):
        from socket import inet_aton, inet_ntoa

        try:
            # Clients take 2130706433, 0x7f.1 and 0177.0.0.1 for 127.0.0.1; this asks nobody.
            return inet_ntoa(inet_aton(name))
        except OSError:
            return name
    return name


def _path(path: str) -> str:
    """The path without ``.`` and ``..``, as clients send it."""
    names: list[str] = []
    for name in path.split("/")[1:]:
        if name == "..":
            del names[-1:]
        elif name != ".":
            names.append(name)
    if path.endswith(("/.", "/..")):
        names.append("")
    return "/" + "/".join(names)


def _unescaped(text: str) -> str:
    """The text without escapes that mean the same as the character itself."""
    return _ESCAPE.sub(_plain, text) if "%" in text else text


def _plain(escape: re.Match[str]) -> str:
    char = chr(int(escape[1], 16))
    return char if char in _UNRESERVED else escape[0].upper()
