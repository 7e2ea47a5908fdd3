"""What leaves this machine: secrets in a request, a pipe into one, a shell for somebody else."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.secrets import VARIABLE, names_secret
from hookline.builtin.shell_guard.families.writing import written
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.secret_files import is_secret_name
from hookline.builtin.shell_guard.targets import targets
from hookline.builtin.shell_guard.world import Place, World

__all__ = ["FAMILY"]

_SENDERS = frozenset({
    "curl", "wget", "nc", "ncat", "netcat", "socat", "scp", "sftp", "rsync", "ftp", "telnet",
    "http",
    "https", "httpie", "xh", "ssh", "mail", "sendmail", "mutt", "nslookup", "dig", "host",
    "openssl",
    "aws", "gsutil", "rclone", "gh", "croc", "wormhole", "magic-wormhole", "transfer", "lftp",
    "tftp",
    "ping", "busybox", "aria2c", "s3cmd", "mc", "gcloud", "az", "pastebinit", "wget2", "curlie",
})  # fmt: skip
_LOCAL = re.compile(
    r"(?:^|[/@\s])(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\]|host\.docker\.internal)(?:[:/]|$)"
)
_ATTACHED = re.compile(
    r"(?:^|=)@(.+)$|^--(?:post|body|upload)-file=(.+)$|<(.+)$|^--data(?:-\w+)?=@(.+)$"
)
_SENDS_FILE = ("-T", "--upload-file", "--post-file", "--body-file")


def _sends(act: Act, world: World) -> Iterator[Finding]:
    local = any(_LOCAL.search(word) for word in act.words[1:])
    if act.name in ("nc", "ncat", "netcat", "socat"):
        yield from _connects(act)
    for before, word in zip(act.words, act.words[1:], strict=False):
        attached = _ATTACHED.search(word)
        file = next((part for part in attached.groups() if part), "") if attached else ""
        if before in _SENDS_FILE or (
            act.name in ("scp", "sftp", "rsync", "aws", "gsutil", "rclone", "croc")
            and before != "-i"
        ):
            file = file or word
        file = file.partition(";")[0]
        if file and file != "-" and names_secret(file, act, world) and not local:
            yield fatal("sends-out", f"{act.name} {word}", "a secret would leave this machine")
            return
        names = [] if act.exact else VARIABLE.findall(word)
        leaks = act.name in ("nslookup", "dig", "host", "ping", "nc", "ncat") or "?" in word
        if leaks and any(is_secret_name(name) for name in names) and not local:
            yield risky(
                "sends-out",
                f"{act.name} {word}"[:120],
                "a secret would be part of an address",
                radius="high",
            )
            return
    if not local and act.producers:
        yield from _read_from(act, world)
    if not local:
        yield from _belongings(act, world)


# Where anybody can fetch what is put there.
_DROPS = re.compile(
    r"(?i)//(?:[\w-]+\.)*(?:transfer\.sh|file\.io|0x0\.st|termbin\.com|paste\.rs|ix\.io|bashupload\.com"
    r"|gofile\.io|temp\.sh|oshi\.at|catbox\.moe|anonfiles\.com|pastebin\.com|webhook\.site|requestbin\.\w+"
    r"|pipedream\.net|oast\.\w+|oastify\.com|interact\.sh|burpcollaborator\.net)(?:[/:?]|$)"
)
_VALUED = ("-i", "-F", "-o", "-P", "-e", "--rsh", "--exclude", "--include", "--config")
_GIVES = ("-T", "-F", "-d", "--upload-file", "--form", "--data", "--json", "--post", "--body")


def _belongings(act: Act, world: World) -> Iterator[Finding]:
    """Somebody's own files for another machine, or anything for a place that is open to all."""
    words = act.words[1:]
    if any(_DROPS.search(word) for word in words) and any(
        word.startswith(_GIVES) for word in words
    ):
        yield risky("sends-out", act.text[:120], "anybody could read it there", radius="high")
    remote = (
        act.name in ("scp", "rsync", "rclone")
        and len(words) > 1
        and ":" in words[-1].partition("/")[0]
    )
    for before, word in zip(act.words, words[:-1] if remote else (), strict=False):
        if word.startswith("-") or before in _VALUED or ":" in word.partition("/")[0]:
            continue
        for target in targets(word, act, world):
            if target.place in (Place.PERSONAL, Place.HOME):
                why = f"{target.place.value} would leave this machine"
                yield risky("sends-out", f"{act.name} {word}", why, radius="high")
                return


def _variables(act: Act, world: World) -> Iterator[Finding]:
    """``curl -d "$(env)"``."""
    if act.carrier in _SENDERS and len(act.words) == 1:
        words = f"{act.carrier} $({act.name} …)"
        yield risky("sends-out", words, "all variables leave, secrets too", radius="high")


def _connects(act: Act) -> Iterator[Finding]:
    words = act.words[1:]
    runs = {"-e", "-c", "--exec", "--sh-exec", "-k"}.intersection(words)
    if (runs and not {"-z"}.intersection(words)) or any(
        re.search(r"EXEC:|SYSTEM:", w, re.IGNORECASE) for w in words
    ):
        yield fatal("sends-out", act.text, "it hands a shell to another machine")


# What these write is a whole database, or what a person has just copied.
_DUMPS = frozenset({
    "mysqldump", "mariadb-dump", "pg_dump", "pg_dumpall", "mongodump", "xclip", "xsel", "pbpaste",
    "wl-paste",
})  # fmt: skip


def _read_from(act: Act, world: World) -> Iterator[Finding]:
    """What is piped into something that sends it away."""
    for producer in act.producers:
        words = f"{producer.text[:60]} | {act.name}"
        if (
            producer.name in ("env", "printenv", "set", "export", "history", "declare")
            and len(producer.words) == 1
        ):
            yield fatal("sends-out", words, "all variables leave, secrets too")
            return
        if producer.name in _DUMPS and act.name != "ssh":
            yield risky("sends-out", words, "all of it would leave this machine", radius="high")
            return
        for word in producer.words[1:]:
            if not word.startswith("-") and names_secret(word, producer, world):
                yield fatal("sends-out", words, "a secret would leave this machine")
                return


def _curl(act: Act, world: World) -> Iterator[Finding]:
    yield from _sends(act, world)
    method = ""
    for before, word in zip(act.words, (*act.words[1:], ""), strict=True):
        method = word if before in ("-X", "--request", "--method") else method
        if before.startswith(("-X", "--request=", "--method=")) and len(before) > 2:
            method = before.removeprefix("-X").rpartition("=")[2]
    if not method and act.name != "curl" and act.words[1:2] in (("DELETE",), ("PURGE",)):
        method = act.words[1]  # of httpie, the method is a word
    address = next((word for word in act.words[1:] if re.search(r"://|^localhost|:\d+", word)), "")
    if method.upper() in ("DELETE", "PURGE"):
        wide = re.search(r":9200(?:/|$)|/(?:_all|\*)|^[^/]*//[^/]+/?$|[?*]$", address)
        if wide or not _LOCAL.search(address):
            yield risky(
                "changes-remote",
                f"{act.name} -X {method} {address}",
                "nothing brings it back",
                radius="high",
            )
    elif method.upper() in ("PATCH", "PUT") and _is_signed(act) and not _LOCAL.search(address):
        words = f"{act.name} -X {method} {address}"
        yield risky("changes-remote", words, "it changes something for everybody", radius="high")
    if _KEYS.search(address):
        yield risky("reads-secret", f"{act.name} {address}", "it shows the keys of the machine")
    if _IN_SOMEBODYS_NAME.search(address) and any(word.startswith(_GIVES) for word in act.words):
        words = f"{act.name} {address}"
        yield risky("changes-remote", words, "it is done in somebody's name", radius="high")
    if _ENDS.search(address):
        yield risky(
            "changes-remote", f"{act.name} {address}", "nothing brings it back", radius="high"
        )
    yield from _saved(act, world)


_ENDS = re.compile(
    r"/(?:_delete_by_query|_shutdown|_forcemerge)\b|[?&]action=(?i:unload|delete\w*)\b"
    r"|/tsdb/(?:delete_series|clean_tombstones)"
)
# Whoever asks there from a machine of a cloud is given its keys.
_KEYS = re.compile(
    r"//(?:169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200)(?:[:/]|$)"
)
_IN_SOMEBODYS_NAME = re.compile(
    r"//(?:api\.(?:sendgrid|stripe|twilio|mailgun|telegram|postmarkapp)\.\w+|slack\.com/api"
    r"|hooks\.slack\.com|discord(?:app)?\.com/api/webhooks)(?:[:/]|$)"
)


def _is_signed(act: Act) -> bool:
    """Whether it is sent in somebody's name."""
    return any(
        re.match(r"(?i)authorization:|x-api-key:|private-token:", word) for word in act.words
    )


def _saved(act: Act, world: World) -> Iterator[Finding]:
    for before, word in zip(act.words, act.words[1:], strict=False):
        if before in ("-o", "--output", "-O", "--output-document") and (
            act.name != "curl" or before != "-O"
        ):
            for target in targets(word, act, world) if word != "-" else ():
                yield from written(act, target, f"{act.name} {before} {word}")


FAMILY: Family = {
    **dict.fromkeys(_SENDERS, _sends),
    **dict.fromkeys(("env", "printenv"), _variables),
    **dict.fromkeys(("curl", "wget", "http", "https", "xh"), _curl),
}
