"""Programs that are given a secret by an option whose name does not tell so."""

__all__ = ["COMMANDS", "SPACE"]

SPACE = r"[ \t]"

_LOGIN = r"(?:docker|podman|nerdctl|buildah|skopeo|registry|oras|crane|az|cf|ibmcloud|oc)"

# A word that is in each, how the program is written, and what stands right before the secret.
COMMANDS = (
    ("mysql", r"mysql\w*", "-p"),
    ("mariadb", r"mariadb(?:-\w+)?", "-p"),
    ("mongo", r"mongo\w*", rf"-p{SPACE}+"),
    ("sqlcmd", "sqlcmd", rf"-P{SPACE}*"),
    ("cqlsh", "cqlsh", rf"-p{SPACE}*"),
    ("-cli", "(?:redis|valkey|keydb)-cli", rf"-a{SPACE}+"),
    ("rabbitmqadmin", "rabbitmqadmin", rf"-p{SPACE}*"),
    ("ldap", "ldap(?:add|compare|delete|modify|modrdn|passwd|search|whoami)", rf"-w{SPACE}*"),
    ("sshpass", "sshpass", rf"-p{SPACE}*"),
    ("login", _LOGIN + rf"{SPACE}(?:[^\n\x02;|&]*?{SPACE})?login", rf"-p{SPACE}*"),
    ("aws_", "configure", rf"(?:[\w.-]+\.)?aws_(?:secret_access_key|session_token){SPACE}+"),
    ("_authToken", "(?:npm|pnpm|yarn)", rf"[^\s=]*_authToken{SPACE}+"),
    ("from-literal", rf"create{SPACE}+secret", r"--from-literal[ \t=]\\*[\"']?[\w.-]+="),
    ("openssl", "openssl", rf"(?:-[kK]{SPACE}+|-pass\w*{SPACE}+pass:)"),
    ("zip", "(?:un)?zip", rf"-P{SPACE}*"),
    ("7z", "7z[ar]?", "-p"),
    ("lftp", "lftp", rf"-u{SPACE}*[^\s,]+,"),
    ("smbclient", "smbclient", rf"-U{SPACE}*\\*[\"']?[^\s%\"']+%"),
    ("freerdp", "[wx]freerdp3?", "/p:"),
)
