"""The quick way out: commands so plain, of programs so harmless, that nothing needs reading.

Whatever leaves here would pass anyway; a test compares the two ways.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from hookline.builtin.shell_guard.names import LOOKERS, PROGRAMS
from hookline.shell.carriers import carried
from hookline.shell.fields import Field
from hookline.shell.wrapping import wrapper_named

__all__ = ["is_plainly_harmless"]

_MAX_TEXT = 2_000

# Words and whole quotes, joined by operators: a text of which no shell makes anything else. Each
# part can be read in one way only, so that a text that fails late is not tried in many.
_COMMAND = (
    r"(?!(?:if|while|until|for|select|case|function|then|else|elif|do|fi|done|esac|time|coproc"
    r"|in)\b"
    r"|\w+=|[!=~])"
    r"[\w./:@%+][\w./:@%+,=~-]*+"
    r"(?: (?:2>&1|[12]?> ?/dev/null|\"[^\"$`\\!]*+\"|'[^']*+'|[\w./:@%+,^-][\w./:@%+,=~^*-]*+"
    r"|~/[\w./-]*+|\*[\w./*-]*+))*+"
)
_PLAIN = re.compile(rf"{_COMMAND}(?: ?(?:&&|\|\||[;|]) ?{_COMMAND})*+", re.ASCII)
_BARE = re.compile(r"[\w./:@%+,=~^;& -]*", re.ASCII)
_OPERATOR = re.compile(r" ?(?:&&|\|\||[;|]) ?")
_NAME = re.compile(r"[^\s\"'|;&=()<>]+")

# A file or variable of these may hold a secret, or lie where secrets are.
_TELLING = re.compile(
    r"[~@<]|\.\.|(?:^|[\s\"'=:])/|env|id_|\.ssh|netrc|pgpass|\.my|\.\w+rc\b|cred|passw|token"
    r"|boto|s3cfg"
    r"|cfg|kube|gnupg|config|azure|history|keyring|keychain|shadow|sudoers|pem|key|p12|pfx|jks|kdbx"
    r"|ppk|secret|account|tfstate|wallet|login|cookies|aws|api|docker|terraform|cargo|gem|vault",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"[ \"']-(?:-\w|\w*[cepErBRi])|[|<@]|[ \"']-(?:[ \"']|$)|\beval\b|manage\.py|artisan|console"
    r"|rake"
    r"|rails|hookline"
)
_GIT = re.compile(
    r"(?<![\w-])(?:clean|reset|checkout|switch|restore|push|branch|tag|stash|worktree|remote|prune"
    r"|filter-\w+|reflog|gc|update-ref|rebase|rm|add|config|submodule|read-tree|checkout-index)"
    r"(?![\w-])|\.env|key|pem|secret|cred|id_|\.\w+rc\b|[~@]|[ \"']-c|bisect|\w+tool|kube|aws"
    r"|history|shadow|netrc|wallet"
)
_FROM_AFAR = re.compile(
    r"(?:^|[;&|] ?)https?:|\b(?:npx|bunx|pnpx|dlx|deno|uvx|run|exec|x)\b[^;&|]*https?:"
)
_FIND = re.compile(r"[ \"'](?:-(?:delete|exec|execdir|ok|okdir|fprint\w*|fls|x|X)\b|--exec)")
_CONTAINER = re.compile(
    r"\b(?:run|create|exec|system|volume|prune|rm|rmi|remove|down|kill|push|swarm|stack|service"
    r"|secret|config|node|context|machine|reset|cp)\b"
)
_CLUSTER = re.compile(
    r"\b(?:delete|drain|cordon|taint|edit|patch|set|autoscale|apply|create|config|certificate"
    r"|replace|scale|rollout|exec|run|debug|cp|secrets?|uninstall|del|un|rollback|push)\b"
)
_PACKAGES = re.compile(
    r"\b(?:publish|unpublish|uninstall|uninstall-all|remove|rm|un|deprecate|config|owner|access"
    r"|token"
    r"|adduser|dist-tag|env|yank|login|release|purge|autoremove|erase|del|delete|zap|history"
    r"|autopurge|downgrade|\w+-upgrade)\b|--(?:break|trust|no-ver|unsafe|glob)|http:"
    r"|[ \"']-[cgRePr]"
    r"|--call|push|hex\.|ecto|ev:|db:"
)
_CLOUD = re.compile(
    r"delet|destroy|terminat|purge|provision|regist|remove|\br[mb]\b|reset|drop|wipe|revoke|detach"
    r"|disable|unset|stop|down|kill|deploy|abandon|cancel|deallocat|expunge|policy|key|profile"
    r"|binding|acl|access|ingress|group|secret|param|token|\bcp\b|sync|move|\bmv\b|publish|promote"
    r"|\bup\b|configure|state|workspace|unlock|taint|import|refresh|apply|all|rollback|bootstrap"
    r"|pem|p12|pfx|id_|history|shadow|wallet|kube|gnupg|[~@]|--prod|--command|env|\.\w+rc\b|cred"
)
_SERVICES = re.compile(
    r"reboot|poweroff|halt|kexec|suspend|hibernate|rescue|emergency|isolate|exit|stop|disable|mask"
    r"|kill|revert|set|preset|enable|link|edit|daemon|import|full|load|remove|boot|submit"
)

# Programs that do harm only with certain words.
_ONLY_WITH: Mapping[str, re.Pattern[str]] = {
    **dict.fromkeys(LOOKERS, _TELLING),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "ag", "ack"), _TELLING),
    "sed": re.compile(rf"[ \"']-\w*i|--in-place|/\w*e\w*[\"']|(?:^|[\W\d])e\s|{_TELLING.pattern}",
    re.IGNORECASE),
    **dict.fromkeys(("find", "fd"), _FIND),
    "git": _GIT,
    "make": re.compile(r"SHELL|-f"),
    **dict.fromkeys(("docker", "podman", "docker-compose"), _CONTAINER),
    **dict.fromkeys(("kubectl", "helm"), _CLUSTER),
    **dict.fromkeys(
        ("npm", "yarn", "pnpm", "bun", "cargo", "pip", "pip3", "uv", "poetry", "gem", "apt",
         "apt-get", "brew", "flutter", "dart", "dotnet", "mix"),
        _PACKAGES,
    ),
    **dict.fromkeys(("gradle", "gradlew", "mvn",
    "mvnw"), re.compile("publish|upload|deploy|release")),
    **dict.fromkeys(("terraform", "tofu", "pulumi", "cdk", "aws", "gcloud", "az",
    "gsutil"), _CLOUD),
    **dict.fromkeys(("systemctl", "service"), _SERVICES),
    **{name: _CODE for name in PROGRAMS if name.startswith(("python", "node", "deno"))},
    **dict.fromkeys(("cp", "tar", "unzip"), _TELLING),
    "gh": re.compile(
        r"\b(?:repo|release|secret|variable|[sg]\w+-key|delete|gist|merge|auth|workflow|extension"
        r"|api)\b"
    ),
}  # fmt: skip
# Whatever stands behind these has to be read; `.` reads a file only where a program stands.
_ALWAYS = PROGRAMS - frozenset(_ONLY_WITH)


def is_plainly_harmless(text: str) -> bool:
    """Whether a text needs no closer look."""
    if len(text) > _MAX_TEXT or not text.isprintable() or _PLAIN.fullmatch(text) is None:
        return False
    if "http" in text and _FROM_AFAR.search(text):
        return False
    names: set[str] = set()
    for part in _OPERATOR.split(text):
        words = _NAME.findall(part)
        if not words:
            continue
        head = words[0].rpartition("/")[2]
        if _runs_another(head, part):
            if not _BARE.fullmatch(text) or "://" in text:
                return False  # what is in quotes or comes through a pipe may be code
            # Any of its words may be a program.
            names.update(word.rpartition("/")[2] for word in _NAME.findall(text) if word != ".")
            break
        names.add(head)
    return _ALWAYS.isdisjoint(names) and not any(
        name in _ONLY_WITH and _ONLY_WITH[name].search(text) for name in names
    )


def _runs_another(name: str, part: str) -> bool:
    verbs = _verbs(name)
    return verbs is not None and (not verbs or not verbs.isdisjoint(part.split()))


@lru_cache(1024)
def _verbs(name: str) -> frozenset[str] | None:
    """The words with which a program runs another one: empty for any, None for never."""
    wrapper = wrapper_named(name)
    if wrapper is not None:
        return wrapper.verbs
    # What makes those listed here run another program is among the words they are listed with.
    return None if name in _ONLY_WITH or carried((Field(name),)) == () else frozenset()
