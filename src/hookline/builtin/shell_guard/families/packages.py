"""Package managers and registries: what is removed from this machine, or published for all."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Act, Family, Finding, fatal, risky
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY"]

_NEEDED = "other programs may need what is removed"
_ALL = "what is published cannot be taken back"
_SYSTEM = verbs(
    (
        Verb(
            "(remove|purge|autoremove|autopurge|erase|uninstall|rm|del|delete|zap|dist-upgrade"
            "|full-upgrade|downgrade|history)",
            "changes-system",
            _NEEDED,
            radius="high",
            denied=False,
            unless="-s --simulate --just-print --no-act -n",
        ),
    )
)


def _system(act: Act, world: World) -> Iterator[Finding]:
    if act.name in ("pacman", "yay", "paru", "rpm", "dpkg"):
        for word in act.words[1:]:
            if (
                re.fullmatch(r"-R[a-z]*|--remove|-e\w*|--erase|-P|--purge|-r", word)
                and "--test" not in act.words
            ):
                yield risky("changes-system", act.text, _NEEDED, radius="high")
                return
        return
    yield from _SYSTEM(act, world)


_PIP = ("pip", "pip3", "pipx", "uv", "conda", "mamba", "micromamba")


def _pip(act: Act, world: World) -> Iterator[Finding]:
    words = act.words[1:]
    if "uninstall" in words and (
        {"-r", "--requirement", "--all"}.intersection(words) or "xargs" in act.wrappers
    ):
        yield risky("changes-system", act.text, "every package that is listed goes")
    elif words[:1] == ("uninstall-all",):
        yield risky("changes-system", act.text, "every package goes")
    if "--break-system-packages" in words or (act.raised and "install" in words):
        yield risky("changes-system", act.text, "it changes the Python of the whole system")
    if ("env" in words and "remove" in words) or (
        "remove" in words and {"--all", "base"}.intersection(words)
    ):
        yield risky("deletes", act.text, "the whole environment goes", radius="high")
    if "publish" in words and act.name == "uv":
        yield risky("publishes", act.text, _ALL, radius="high")
    yield from _odd_source(act)


def _odd_source(act: Act) -> Iterator[Finding]:
    """Packages straight from an address nobody vouches for."""
    insecure = {"--trusted-host", "--no-verify-ssl", "--unsafe-perm"}
    if "install" in act.words and insecure.intersection(act.words):
        yield risky("runs-unseen-code", act.text, "what is installed may be anybody's")
    for word in act.words:
        if re.match(r"(?:git\+)?http://", word) and {"install", "add", "i"}.intersection(act.words):
            yield risky(
                "runs-unseen-code",
                f"{act.name} {word}",
                "it comes over a connection anybody can change",
            )


def _npm(act: Act, world: World) -> Iterator[Finding]:
    words = [word for word in act.words[1:] if not word.startswith("-")]
    globally = {"-g", "--global", "global"}.intersection(act.words)
    if "unpublish" in words:
        yield fatal("publishes", act.text, "others depend on what is taken away")
    elif "publish" in words[:3]:
        yield risky("publishes", act.text, _ALL, radius="high")
    elif {"uninstall", "remove", "rm", "un"}.intersection(words[:2]) and globally:
        yield risky("changes-system", act.text, _NEEDED)
    elif _moves_source(words):
        why = "packages would come from somewhere else from then on"
        yield risky("runs-unseen-code", act.text, why, radius="high")
    elif words[:1] in (
        ["deprecate"],
        ["owner"],
        ["access"],
        ["token"],
        ["adduser"],
        ["dist-tag"],
    ) and words[1:2] not in (["ls"], ["list"]):
        yield risky("publishes", act.text, "it changes a package for all who use it")
    yield from _odd_source(act)


def _moves_source(words: list[str]) -> bool:
    """``npm config set registry …``, and the same in other words."""
    given = (
        words[2:] if words[:2] == ["config", "set"] else words[1:] if words[:1] == ["set"] else []
    )
    return (
        bool(given)
        and re.match(
            r"(?:@[\w-]+:)?registry\b|https?-proxy\b|proxy\b|strict-ssl\b|ca(?:file)?\b", given[0]
        )
        is not None
    )


_PUBLISHERS = {
    "cargo": verbs(
        (
            Verb("(publish|yank|owner|login)", "publishes", _ALL, radius="high"),
            Verb("uninstall", "changes-system", _NEEDED, radius="low"),
        )
    ),
    "gem": verbs((Verb("(push|yank|owner)", "publishes", _ALL, radius="high"),)),
    "poetry": verbs((Verb("publish", "publishes", _ALL, radius="high"),)),
    "twine": verbs((Verb("upload", "publishes", _ALL, radius="high"),)),
    "flit": verbs((Verb("publish", "publishes", _ALL, radius="high"),)),
    "hatch": verbs((Verb("publish", "publishes", _ALL, radius="high"),)),
    "pdm": verbs((Verb("publish", "publishes", _ALL, radius="high"),)),
    "mvn": verbs((Verb("\\S*(deploy|release:\\w+)", "publishes", _ALL, radius="high"),)),
    "mvnw": verbs((Verb("\\S*(deploy|release:\\w+)", "publishes", _ALL, radius="high"),)),
    "gradle": verbs((Verb("\\S*(publish\\w*|uploadArchives)", "publishes", _ALL, radius="high"),)),
    "gradlew": verbs((Verb("\\S*(publish\\w*|uploadArchives)", "publishes", _ALL, radius="high"),)),
    "vsce": verbs((Verb("(publish|unpublish)", "publishes", _ALL, radius="high"),)),
    "ovsx": verbs((Verb("publish", "publishes", _ALL, radius="high"),)),
    "dotnet": verbs((Verb("nuget (push|delete)", "publishes", _ALL, radius="high"),)),
    "nuget": verbs((Verb("(push|delete)", "publishes", _ALL, radius="high"),)),
    "pod": verbs((Verb("trunk (push|delete|deprecate)", "publishes", _ALL, radius="high"),)),
    "mix": verbs((Verb("hex\\.(publish|retire)", "publishes", _ALL, radius="high"),)),
    "dart": verbs((Verb("pub publish", "publishes", _ALL, radius="high"),)),
    "flutter": verbs((Verb("pub publish", "publishes", _ALL, radius="high"),)),
    "lerna": verbs((Verb("publish", "publishes", _ALL, radius="high"),)),
    "changeset": verbs((Verb("publish", "publishes", _ALL, radius="high"),)),
    "semantic-release": verbs(
        (Verb("", "publishes", _ALL, radius="high", denied=False, unless="--dry-run -d"),)
    ),
    "np": verbs((Verb("", "publishes", _ALL, radius="high", denied=False, unless="--preview"),)),
    "goreleaser": verbs(
        (Verb("release", "publishes", _ALL, radius="high", denied=False, unless="--snapshot"),)
    ),
    "fastlane": verbs(
        (Verb("(release|deliver|supply|pilot|beta|upload\\w*)", "publishes", _ALL, radius="high"),)
    ),
    "eas": verbs((Verb("(submit|update)", "publishes", _ALL, radius="high"),)),
    "oras": verbs((Verb("(push|copy)", "publishes", _ALL, radius="high"),)),
    **dict.fromkeys(
        ("skopeo", "crane"),
        verbs((Verb("(copy|sync|delete|push|tag)", "publishes", _ALL, radius="high"),)),
    ),
}
_GH = verbs(
    (
        Verb(
            "repo (delete|archive|rename|edit|transfer)",
            "changes-remote",
            "everybody sees the change, or loses the repository",
            radius="high",
        ),
        Verb("(repo) create (--public)", "publishes", "everybody could read it"),
        Verb("release (create|delete|upload|edit|delete-asset)", "publishes", _ALL, radius="high"),
        Verb(
            "(secret|variable|ssh-key|gpg-key) (set|delete|remove|add)",
            "changes-remote",
            "it changes what workflows trust",
            radius="high",
        ),
        Verb(
            "(issue|label|cache|codespace|gist|project|ruleset|run) delete",
            "changes-remote",
            "nothing brings it back",
        ),
        Verb("gist create (-p|--public)", "publishes", "everybody could read it"),
        Verb("pr merge", "publishes", "it reaches the branch others work on"),
        Verb("auth (token|logout|refresh)", "reads-secret", "the token would be shown or changed"),
        Verb(
            "workflow (run|disable|enable)",
            "changes-remote",
            "it starts or stops what runs elsewhere",
        ),
        Verb("extension (install)", "runs-unseen-code", "it runs what nobody has read"),
    ),
    skipped="-R --repo",
)


def _gh(act: Act, world: World) -> Iterator[Finding]:
    yield from _GH(act, world)
    if act.words[1:2] == ("api",):
        method = next(
            (b for a, b in zip(act.words, act.words[1:], strict=False) if a in ("-X", "--method")),
            "",
        )
        joined = " ".join(act.words)
        method = method or ("DELETE" if re.search(r"-XDELETE|--method=DELETE", joined) else "")
        if method.upper() == "DELETE":
            yield risky("changes-remote", act.text, "nothing brings it back", radius="high")
        elif method.upper() in ("PUT", "PATCH", "POST"):
            yield risky("changes-remote", act.text, "it changes something for everybody")


FAMILY: Family = {
    **dict.fromkeys(
        ("apt", "apt-get", "aptitude", "dnf", "yum", "zypper", "apk", "snap", "flatpak", "brew",
         "port",
         "pacman", "yay", "paru", "rpm", "dpkg", "emerge", "xbps-remove", "choco", "scoop",
         "winget", "nix-env"),
        _system,
    ),
    **dict.fromkeys(_PIP, _pip),
    **dict.fromkeys(("npm", "yarn", "pnpm", "bun", "jsr"), _npm),
    **_PUBLISHERS,
    **dict.fromkeys(("gh", "glab", "hub"), _gh),
}  # fmt: skip
