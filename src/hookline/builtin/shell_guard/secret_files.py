"""Names of files that hold secrets, and of variables that do."""

import re

__all__ = ["is_secret", "is_secret_name", "secret_in"]

# By the end of a path; a pattern such as `~/.ssh/*` means what is in there.
_FILES = re.compile(
    r"(?:^|[/@=:\s'\"(])(?:"
    r"\.env(?:\.(?!example|sample|template|dist|defaults?\b|schema|test\b|ci\b)[\w.-]+)?|\.envrc"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)(?:_\w+)?|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc"
    r"|\.git-credentials|\.htpasswd|\.vault-token|\.boto|\.s3cfg|\.dockercfg|kubeconfig"
    r"|\.aws/(?:credentials|\*|sso(?:/\S*)?|cli/cache/\S*)|\.aws|\.kube/(?:config|\*)|\.kube"
    r"|\.ssh/(?:[*?]\S*|id_\*|identity|[\w.-]+\.pem)|\.ssh/?|\.gnupg(?:/\S*)?"
    r"|\.docker/config\.json|\.config/gh/(?:hosts\.yml|\*)|\.config/gcloud(?:/\S*)?"
    r"|\.config/(?:op|doppler|hub|sops)(?:/\S*)?|\.password-store(?:/\S*)?|\.azure(?:/\S*)?"
    r"|\.cargo/credentials(?:\.toml)?|\.gem/credentials|\.terraform\.d/credentials\.tfrc\.json"
    r"|\.bash_history|\.zsh_history|\.local/share/keyrings(?:/\S*)?|Library/Keychains(?:/\S*)?"
    r"|etc/(?:shadow|gshadow|sudoers|master\.passwd)-?|etc/ssh/ssh_host_\w+_key"
    r"|[\w.*-]+\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc\.key)"
    r"|(?:credentials|secrets?|service[-_]account|client_secret)[\w-]*\.(?:json|ya?ml|toml|env"
    r"|txt|ini)"
    r"|(?:master|production|staging)\.key|terraform\.tfstate|wallet\.dat|Login Data|Cookies"
    r"|logins\.json|key[34]\.db|cookies\.sqlite|secrets/kubernetes\.io/serviceaccount/token"
    r"|proc/(?:self|\d+|\*)/environ"
    r")$"
)
_PUBLIC = re.compile(
    r"\.pub$|(?:^|/)(?:known_hosts|authorized_keys|config)$|public[\w.-]*\.(?:pem|key)$"
)
_NAMES = re.compile(
    r"(?:^|_)(?:SECRETS?|TOKENS?|PASSWORDS?|PASSWD|PASSPHRASE|PRIVATE_KEY|API_?KEY|ACCESS_KEY"
    r"|CREDENTIALS?|AUTH_KEY)(?:_|$)",
    re.IGNORECASE,
)


def is_secret(path: str) -> bool:
    """Whether a file of this path usually holds secrets."""
    return bool(_FILES.search(path.rstrip("/"))) and (
        not _PUBLIC.search(path) or path.endswith((".kube/config", ".aws/config/"))
    )


def is_secret_name(variable: str) -> bool:
    """Whether a variable of this name usually holds one."""
    return bool(_NAMES.search(variable))


def secret_in(text: str) -> str:
    """The first secret file that stands in a text among other words; empty if none does."""
    for word in re.split(r"[\s'\"(),;|&<>=@]+", text):
        if word and is_secret(word):
            return word
    return ""
