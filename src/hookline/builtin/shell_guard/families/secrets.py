"""Secrets: files, variables and stores that are shown, copied, packed or sent away."""

import os
import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, risky
from hookline.builtin.shell_guard.secret_files import is_secret, is_secret_name
from hookline.builtin.shell_guard.targets import targets
from hookline.builtin.shell_guard.world import Place, World

__all__ = [
    "COPIERS",
    "ELSEWHERE",
    "FAMILY",
    "FILTERS",
    "KEYS",
    "READERS",
    "SCRIPTED",
    "VARIABLE",
    "names_secret",
]

_SHOWN = "what an agent reads goes to its model, and that file usually holds secrets"
VARIABLE = re.compile(r"\$\{?!?([A-Za-z_]\w*)")
# `${TOKEN:+set}` and `${#TOKEN}` say whether there is one, and not which.
_TESTED = re.compile(r"\$\{\w+:?\+[^${}]*\}|\$\{#\w+\}")
_SEARCHES = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack", "zgrep"})
_SCRIPTED = frozenset({"sed", "awk", "gawk", "jq", "yq", "perl", "gsed"})
_DEEP = re.compile(r"-[a-zA-Z]*[rR][a-zA-Z]*|--recursive")
_TREES = re.compile(
    r"/\.(?:config|ssh|aws|gnupg|kube|azure|docker|password-store|mozilla|local/share)(?:/|$)"
)


def _reads(act: Act, world: World) -> Iterator[Finding]:
    words = [word for word in act.words[1:] if not word.startswith("-")]
    if act.name in _SEARCHES or act.name in _SCRIPTED:
        words = words[1:] if not {"-f", "-e", "--file"}.intersection(act.words) else words
    for word in words:
        if names_secret(word, act, world):
            yield risky("reads-secret", f"{act.name} {word}", _SHOWN)
            return
    if act.name in _SEARCHES and (
        act.name in ("rg", "ag", "ack") or any(_DEEP.fullmatch(w) for w in act.words)
    ):
        for word in words:
            for target in targets(word, act, world):
                if target.place in (Place.HOME,) or _TREES.search(f"{target.path}/"):
                    yield risky("reads-secret", act.text, "it searches where secrets are kept")
                    return


def names_secret(word: str, act: Act, world: World) -> bool:
    if is_secret(word):
        return True
    if "/" not in word and "$" not in word and "*" not in word:
        return False
    return any(
        is_secret(f"{target.path}/{target.pattern}" if target.pattern else target.path)
        for target in targets(word, act, world)
    )


def _copies(act: Act, world: World) -> Iterator[Finding]:
    """All but the last operand are read."""
    words = [word for word in act.words[1:] if not word.startswith("-")]
    sources = words[:-1] if act.name in ("cp", "mv", "ln", "install", "rsync", "scp") else words[1:]
    if act.name in ("tar", "gtar", "bsdtar"):
        sources = [] if any(re.match(r"-?[a-z]*[xt]", word) for word in act.words[1:2]) else words
    beside = act.name in ("cp", "mv", "ln", "install") and bool(words) and _stays(words[-1])
    for word in sources if not beside else ():
        if names_secret(word, act, world):
            yield risky("reads-secret", f"{act.name} {word}", "a copy of a secret is made")
            return


def _stays(word: str) -> bool:
    """Whether a copy is one beside the original: ``cp .env .env.bak``."""
    return is_secret(word) and ":" not in word


def _hands_on(act: Act, world: World) -> Iterator[Finding]:
    """``docker cp`` and ``gh gist create``: copies in other places."""
    if act.words[1:2] == ("cp",) or act.words[1:3] in (("gist", "create"), ("release", "upload")):
        for word in act.words[2:]:
            if names_secret(word, act, world):
                yield risky("sends-out", f"{act.name} {word}", "a copy of a secret is made")
                return


def _says(act: Act, world: World) -> Iterator[Finding]:
    for word in act.words[1:]:
        shown = _TESTED.sub("", word)
        names = (
            [word] if act.name == "printenv" else VARIABLE.findall(shown) if not act.exact else []
        )
        secret = next((name for name in names if is_secret_name(name)), "")
        if secret:
            yield risky("reads-secret", f"{act.name} {word}"[:120], "the value usually is a secret")
            return


_STORES = verbs(
    (
        Verb("find-(generic|internet)-password", "reads-secret", "the password would be shown"),
        Verb("(dump-keychain|export|delete-\\S+)", "reads-secret", "the passwords would be shown"),
        Verb("item (get|delete|edit)", "reads-secret", "the password would be shown"),
        Verb("(read|inject|signin)", "reads-secret", "the password would be shown"),
        Verb(
            "(show|get|lookup|decrypt|dump|export)", "reads-secret", "the password would be shown"
        ),
        Verb(
            "(secrets|kv|secret) (get|download|read)", "reads-secret", "the secret would be shown"
        ),
        Verb(
            "(-d|--decrypt|--export-secret-keys|--export-secret-subkeys|--delete-secret-keys)",
            "reads-secret",
            "the secret would be shown",
        ),
    )
)


def _filters(act: Act, world: World) -> Iterator[Finding]:
    """``env | grep -i secret``."""
    for producer in act.producers:
        if producer.name in ("env", "printenv", "set", "export", "history", "declare"):
            for word in act.words[1:]:
                if re.search(r"secret|token|passw|key|credential|aws|api", word, re.IGNORECASE):
                    words = f"{producer.name} | {act.text}"
                    yield risky("reads-secret", words, "the values usually are secrets")
                    return


_SPEAKS_TLS = frozenset({"s_client", "s_server", "x509", "verify", "req", "-noout"})


def _openssl(act: Act, world: World) -> Iterator[Finding]:
    """Prints the key that it is given."""
    if not _SPEAKS_TLS.intersection(act.words):
        for option, word in zip(act.words, act.words[1:], strict=False):
            if option not in ("-out", "-keyout") and names_secret(word, act, world):
                yield risky("reads-secret", f"{act.name} {word}", _SHOWN)
                return


def _keygen(act: Act, world: World) -> Iterator[Finding]:
    if "-y" in act.words:
        yield from _openssl(act, world)
    elif not {"-l", "-R", "-F", "-e"}.intersection(act.words):
        for option, word in zip(act.words, act.words[1:], strict=False):
            found = targets(word, act, world) if option == "-f" else []
            if any(os.path.exists(each.path) for each in found):
                yield risky("overwrites", act.text, "a key that is in use would be replaced")


READERS = (
    "cat", "bat", "batcat", "less", "more", "head", "tail", "nl", "tac", "strings", "xxd", "od",
    "hexdump", "base64", "base32", "cut", "sort", "uniq", "paste", "vi", "vim", "nano", "emacs",
    "view", "code", "diff", "cmp", "comm", "colordiff", "delta", "sdiff", "vimdiff", "fold", "rev",
    "dd", "gzip", "bzip2", "xz", "pr", "column", "tr", "split", "most", "hd", "zcat", "jq", "yq",
    "sqlite3", "sqlite",
    *_SEARCHES,
)  # fmt: skip

FAMILY: Family = {
    **dict.fromkeys(READERS, _reads),
    **dict.fromkeys(("echo", "printf", "printenv"), _says),
    **dict.fromkeys(
        (
            "security",
            "op",
            "pass",
            "gopass",
            "secret-tool",
            "keyring",
            "sops",
            "gpg",
            "gpg2",
            "age",
            "bw",
            "lpass",
            "doppler",
            "vault",
            "infisical",
        ),
        _STORES,
    ),
}
FILTERS: Family = dict.fromkeys((*_SEARCHES, "awk", "sed"), _filters)
KEYS: Family = {"openssl": _openssl, "ssh-keygen": _keygen}
ELSEWHERE: Family = dict.fromkeys(("docker", "podman", "gh", "kubectl"), _hands_on)
COPIERS: Family = dict.fromkeys(
    ("cp", "mv", "ln", "install", "tar", "gtar", "bsdtar", "zip", "7z"), _copies
)
SCRIPTED: Family = dict.fromkeys(("sed", "gsed", "awk", "gawk", "mawk"), _reads)
