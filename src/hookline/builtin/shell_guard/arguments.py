"""Tells the options of a command from its operands, wherever they stand."""

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

__all__ = ["Arguments", "is_only_asked", "parse"]


class Arguments(NamedTuple):
    """Options with their values, and operands, in order."""

    options: dict[str, str]
    operands: list[str]

    def has(self, *names: str) -> bool:
        """Whether one of these options is given."""
        return any(name in self.options for name in names)

    def value(self, *names: str) -> str:
        """The value of the first of these options that is given."""
        return next((self.options[name] for name in names if name in self.options), "")


def parse(words: Sequence[str], valued: Collection[str] = (), *, long: bool = False) -> Arguments:
    """Read the words behind a program. With ``long``, ``-word`` is one option, as in terraform."""
    options: dict[str, str] = {}
    operands: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--":
            operands += rest
        elif len(word) < 2 or word[0] != "-":
            operands.append(word)
        elif long or word.startswith("--"):
            name, equals, value = word.partition("=")
            options[name] = value if equals or name not in valued else next(rest, "")
        else:
            _cluster(word, valued, options, rest)
    return Arguments(options, operands)


def _cluster(
    word: str, valued: Collection[str], options: dict[str, str], rest: Iterator[str]
) -> None:
    """``-rf`` is two options, and ``-ofile`` one with its value."""
    for at, letter in enumerate(word[1:], start=2):
        name = f"-{letter}"
        if name in valued:
            options[name] = word[at:] or next(rest, "")
            return
        options[name] = ""


_QUESTIONS = frozenset({"--help", "--usage", "-help", "-version"})
_REHEARSALS = frozenset({"--dry-run", "--dryrun", "--just-print", "--whatif", "--what-if"})


# Their first word is a command of theirs; elsewhere `help` may be the name of a file.
_WITH_COMMANDS = frozenset({
    "apt", "apt-get", "argocd", "aws", "az", "brew", "bun", "bundle", "cargo", "cdk", "conda",
    "deno", "docker", "dotnet", "eksctl", "firebase", "flatpak", "flutter", "fly", "flyctl",
    "flux", "gcloud", "gem", "gh", "git", "glab", "go", "hcloud", "helm", "heroku", "hg",
    "hookline", "jj", "kind", "kubectl", "minikube", "mix", "netlify", "nomad", "npm", "oc",
    "pip", "pip3", "pnpm", "podman", "poetry", "pulumi", "rails", "rclone", "rustup", "sam",
    "serverless", "snap", "supabase", "svn", "terraform", "terragrunt", "tofu", "uv", "vagrant",
    "vault", "vercel", "wrangler", "yarn", "zfs", "zpool",
})  # fmt: skip


def is_only_asked(words: Sequence[str]) -> bool:
    """Whether a program is asked for help, its version, or what it would do."""
    name = words[0].rpartition("/")[2]
    if words[1:2] in (("help",), ("version",)):
        return name in _WITH_COMMANDS
    if words[-1] == "help" and len(words) > 1 and name == "aws":
        return True
    for at, word in enumerate(words[1:], start=1):
        if word == "--":
            return False
        # A version may also be asked for: `cargo yank --version 1.2.0`.
        if word in _QUESTIONS or (word == "--version" and at == len(words) - 1):
            return True
        name, _, value = word.partition("=")
        if name in _REHEARSALS and value not in ("none", "false", "no"):
            return f"--no-{name[2:]}" not in words
    return False
