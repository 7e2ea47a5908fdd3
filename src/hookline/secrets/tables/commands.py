"""Programs that are given a secret by an option whose name does not tell so."""

from hookline.secrets.forms import GAP

__all__ = ["COMMANDS"]

_SPACE = r"[ \t]"
# What may stand between the program and the option, in one simple command; and what the shell reads
# as one word, whose quotes may be escaped.
_BETWEEN = r"[ \t](?:(?:[^\n\x02;|&\"']|\"[^\"\n\x02]*\"|'[^'\n\x02]*')*?[ \t])?"
_ARGUMENT = (
    r"(?:\\*\"([^\"\n\x02\\]+)|\\*'([^'\n\x02\\]+)|"
    r"((?:[^\s\"'`\x02\\;|&<>()]|\\[^\s\x02\"'nrt])+))"
)
_LOGIN = r"(?:docker|podman|nerdctl|buildah|skopeo|registry|oras|crane|az|cf|ibmcloud|oc)"

# A word that is in each, how the program is written, and what stands right before the secret.
_OPTIONS = (
    ("mysql", r"mysql\w*", "-p"),
    ("mariadb", r"mariadb(?:-\w+)?", "-p"),
    ("mongo", r"mongo\w*", rf"-p{_SPACE}+"),
    ("sqlcmd", "sqlcmd", rf"-P{_SPACE}*"),
    ("cqlsh", "cqlsh", rf"-p{_SPACE}*"),
    ("-cli", "(?:redis|valkey|keydb)-cli", rf"-a{_SPACE}+"),
    ("rabbitmqadmin", "rabbitmqadmin", rf"-p{_SPACE}*"),
    ("ldap", "ldap(?:add|compare|delete|modify|modrdn|passwd|search|whoami)", rf"-w{_SPACE}*"),
    ("sshpass", "sshpass", rf"-p{_SPACE}*"),
    ("login", _LOGIN + rf"{_SPACE}(?:[^\n\x02;|&]*?{_SPACE})?login", rf"-p{_SPACE}*"),
    ("aws_", "configure", rf"(?:[\w.-]+\.)?aws_(?:secret_access_key|session_token){_SPACE}+"),
    ("_authToken", "(?:npm|pnpm|yarn)", rf"[^\s=]*_authToken{_SPACE}+"),
    ("from-literal", rf"create{_SPACE}+secret", r"--from-literal[ \t=]\\*[\"']?[\w.-]+="),
    ("openssl", "openssl", rf"(?:-[kK]{_SPACE}+|-pass\w*{_SPACE}+pass:)"),
    ("zip", "(?:un)?zip", rf"-P{_SPACE}*"),
    ("7z", "7z[ar]?", "-p"),
    ("lftp", "lftp", rf"-u{_SPACE}*[^\s,]+,"),
    ("smbclient", "smbclient", rf"-U{_SPACE}*\\*[\"']?[^\s%\"']+%"),
    ("freerdp", "[wx]freerdp3?", "/p:"),
)

COMMANDS = tuple(
    (
        word.encode(),
        rf"\b{program}{_BETWEEN}{before}{_ARGUMENT}",
        rf"{program}{_SPACE}(?:[^\n]*?{_SPACE})?{before}".replace(_SPACE, GAP),
    )
    for word, program, before in _OPTIONS
)
"""Such a word, where the secret is, and what the first look searches for."""
