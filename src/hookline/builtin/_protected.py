"""The paths that protect-paths guards without being told, each with what is done about it.

The first line that a path matches counts, so what is left alone stands in front.
"""

from typing import Literal, NamedTuple

from msgspec import Struct

from hookline.model.answers import Verdict

__all__ = ["DEFAULTS", "FINE", "KEY_FOLDERS", "Judged", "Line"]


class Judged(NamedTuple):
    """What is said about one path, and why."""

    verdict: Verdict
    reason: str


KEY_FOLDERS = (".ssh", ".gnupg", ".aws")
"""In a home directory: what is taken with them is taken with all keys."""

FINE = Judged(Verdict.PASS, "")


class Line(Struct, frozen=True):
    """Some paths, and the verdict for reading and for changing or deleting them."""

    what: str
    globs: tuple[str, ...]
    read: Literal["pass", "ask", "deny"]
    write: Literal["pass", "ask", "deny"]
    may_be_made: bool = False
    """Where nothing is yet, nothing can be lost."""


def _globs(text: str) -> tuple[str, ...]:
    return tuple(text.split())


DEFAULTS: tuple[Line, ...] = (
    Line(
        "an example",
        tuple(
            f".env{middle}.{end}"
            for middle in ("", ".*")
            for end in ("example", "sample", "template", "dist", "defaults")
        ),
        read="pass",
        write="pass",
    ),
    Line("a public key", ("*.pub",), read="pass", write="ask"),
    Line(
        "a message that git takes from a file",
        (".git/COMMIT_EDITMSG", ".git/MERGE_MSG", ".git/SQUASH_MSG", ".git/info/exclude"),
        read="pass",
        write="pass",
    ),
    # Left behind by a git that was killed, or held by one that is at work.
    Line("a lock of git's", (".git/index.lock",), read="pass", write="ask"),
    Line(
        "an environment file",
        (".env", ".env.*", ".envrc"),
        read="ask",
        write="deny",
        may_be_made=True,
    ),
    Line(
        "a private key",
        _globs("~/.ssh/id_* id_rsa id_dsa id_ecdsa id_ed25519 ~/.gnupg *.ppk"),
        read="deny",
        write="deny",
    ),
    Line(
        "an ssh setting",
        ("~/.ssh/config", "~/.ssh/config.d"),
        read="ask",
        write="deny",
    ),
    Line("an ssh setting", ("~/.ssh",), read="pass", write="deny"),
    Line(
        "a file of credentials",
        _globs(
            ".netrc ~/.aws/credentials .git-credentials ~/.config/git/credentials .pgpass .pypirc"
            " ~/.cargo/credentials ~/.cargo/credentials.toml ~/.config/gh/hosts.yml"
            " ~/.config/gcloud/credentials.db"
            " ~/.config/gcloud/application_default_credentials.json"
            " ~/.azure/msal_token_cache.json ~/.codex/auth.json ~/.claude/.credentials.json"
        ),
        read="deny",
        write="deny",
    ),
    Line(
        "a file that often holds credentials",
        (".npmrc", "~/.docker/config.json", "~/.kube/config", "~/.aws", "~/.config/gcloud"),
        read="ask",
        write="ask",
    ),
    Line(
        "a key or certificate",
        ("*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore"),
        read="ask",
        write="ask",
    ),
    Line("a part of git's own", (".git",), read="pass", write="deny"),
    Line(
        "a lock file, which its package manager writes",
        _globs(
            "package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb"
            " Cargo.lock poetry.lock uv.lock Pipfile.lock pdm.lock Gemfile.lock composer.lock"
            " go.sum flake.lock mix.lock pubspec.lock Podfile.lock packages.lock.json"
            " gradle.lockfile deno.lock"
        ),
        read="pass",
        write="ask",
    ),
)
