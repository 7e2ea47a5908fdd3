"""The quick way out: commands so plain, of programs so harmless, that nothing needs reading.

Whatever leaves here would pass anyway where `surroundings` finds nothing odd about the directory
and the links in it; a test compares the two ways in several such places.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache

from hookline.builtin.shell_guard.lazy import lazy
from hookline.builtin.shell_guard.names import LOOKERS, PROGRAMS
from hookline.builtin.shell_guard.secret_files import is_secret
from hookline.shell.carriers import carries
from hookline.shell.fields import as_source
from hookline.shell.plain import plain_commands
from hookline.shell.wrapping import wrapper_named

__all__ = ["is_plainly_harmless"]

_MAX_TEXT = 2_000

_Look = Callable[[str], Sequence[int] | None]


class _Words:
    """Words of which one may be in a text, for `re2`: `re` takes many times as long for so many."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self.pattern = source
        self._flagged = f"(?i){source}" if flags & re.IGNORECASE else source

    def search(self, text: str) -> bool:
        """Whether one of them is there."""
        return bool(_kinds(self)(text))


@cache
def _kinds(*kinds: _Words) -> _Look:
    """Which kinds, by their numbers, have a word in a text: one look for all of them."""
    import re2  # only when the first command is judged

    found = re2.Set.SearchSet()
    for each in kinds:
        found.Add(each._flagged)
    found.Compile()
    match: _Look = found.Match
    return match


_BARE = lazy(r"[\w./:@%+,=~^;& -]*", re.ASCII)
_NAME = lazy(r"[^\s\"'|;&=()<>]+")

# A file or variable of these may hold a secret, or lie where secrets are.
_TELLING = _Words(
    r"[~@<]|\.\.|(?:^|[\s\"'=:])/|env|id_|\.ssh|netrc|pgpass|\.my|\.\w+rc\b|cred|passw|token"
    r"|boto|s3cfg"
    r"|cfg|kube|gnupg|config|azure|history|keyring|keychain|shadow|sudoers|pem|key|p12|pfx|jks|kdbx"
    r"|ppk|secret|account|tfstate|wallet|login|cookies|aws|api|docker|terraform|cargo|gem|vault"
    r"|mozilla|\.local",
    re.IGNORECASE,
)
_CODE = lazy(
    r"[ \"']-(?:-\w|\w*[cepErBRi])|[<@]|[ \"']-(?:[ \"']|$)|\beval\b|manage\.py|artisan|console"
    r"|rake"
    r"|rails|hookline"
)
_GIT = _Words(
    r"(?:^|[^\w-])(?:clean|reset|checkout|switch|restore|push|branch|tag|stash|worktree|remote|prune"
    r"|filter-\w+|reflog|gc|lfs|credential\S*|update-ref|rebase|rm|config|submodule|read-tree|checkout-index)"
    r"(?:$|[^\w-])|[~@]|[ \"']-c|bisect|\w+tool|ext::"
)
# What follows these is for the module or the script, and no code.
_MODULE = lazy(
    r" -m (?:pytest|unittest|json\.tool|mypy|ruff|black|isort|flake8|pylint|coverage)(?![\w.]).*"
)
_SCRIPT = lazy(r"^(\S+ [\w./-]+\.(?:py|[cm]?js)) .*")
_FROM_AFAR = lazy(r"^https?:|\b(?:npx|bunx|pnpx|dlx|deno|uvx|run|exec|x)\b[^;&|]*https?:")
_FIND = lazy(r"[ \"'](?:-(?:delete|exec|execdir|ok|okdir|fprint\w*|fls|x|X)\b|--exec)")
_CONTAINER = _Words(
    r"\b(?:run|create|exec|system|volume|prune|rm|rmi|remove|down|kill|push|swarm|stack|service"
    r"|secret|config|node|context|machine|reset|cp)\b"
)
_CLUSTER = _Words(
    r"\b(?:delete|drain|cordon|taint|edit|patch|set|autoscale|apply|create|config|certificate"
    r"|replace|scale|rollout|exec|run|debug|cp|secrets?|uninstall|del|un|rollback|push|upgrade"
    r"|install|label|annotate)\b"
)
_PACKAGES = _Words(
    r"\b(?:publish|unpublish|uninstall|uninstall-all|remove|rm|un|deprecate|config|owner|access"
    r"|token"
    r"|adduser|dist-tag|env|yank|login|release|purge|autoremove|erase|del|delete|zap|history"
    r"|autopurge|downgrade|\w+-upgrade)\b|--(?:break|trust|no-ver|unsafe|glob)|http:"
    r"|[ \"']-[cgRePr]"
    r"|--call|--git|push|hex\.|ecto|ev:|db:|\bpkg\b|ssl|\bsource\b"
)
_CLOUD = _Words(
    r"delet|destroy|terminat|purge|provision|regist|remove|\br[mb]\b|reset|drop|wipe|revoke|detach"
    r"|disable|unset|stop|down|kill|deploy|abandon|cancel|deallocat|expunge|policy|key|profile"
    r"|binding|acl|access|ingress|group|secret|param|token|\bcp\b|sync|move|\bmv\b|publish|promote"
    r"|\bup\b|configure|state|workspace|unlock|taint|import|refresh|apply|all|rollback|bootstrap"
    r"|change|send|push|execut|modify|restore|record|sql|update|reboot|restart|failover|replace|scale"
    r"|invalidat|rbac|prod|live|leave|export|\bssh\b"
    r"|pem|p12|pfx|id_|history|shadow|wallet|kube|gnupg|[~@]|--prod|--command|env|\.\w+rc\b|cred"
)
_SERVICES = _Words(
    r"reboot|poweroff|halt|kexec|suspend|hibernate|rescue|emergency|isolate|exit|stop|disable|mask"
    r"|kill|revert|set|preset|enable|link|edit|daemon|import|full|load|remove|boot|submit"
)

# What programs that are in no table may be told to do.
_ENDS = _Words(
    r"delet|destroy|purg|wipe|eras|terminat|nuke|obliterat|undefin|deprovision|drop|teardown"
    r"|hookline|\.(?:claude|codex|gemini|cursor|copilot|kodelet|opencode|pi|github|vscode)\b"
    r"|uninstall|reset|truncate|flush|fresh|shutdown|remove-all|update \w+ set|\brmi?\b"
    r"|(?:db|data|prod)\S*clean|clean\S*(?:db|data|prod)",
    re.IGNORECASE,
)
# Programs that do harm only with certain words.
_ONLY_WITH: Mapping[str, _Words | re.Pattern[str]] = {
    **dict.fromkeys(LOOKERS, _TELLING),
    **dict.fromkeys(("grep", "egrep", "fgrep", "rg", "ag", "ack"), _TELLING),
    "sed": _Words(rf"[ \"']-\w*i|--in-place|/\w*e\w*[\"']|(?:^|[\W\d])e\s|{_TELLING.pattern}",
    re.IGNORECASE),
    **dict.fromkeys(("find", "fd"), _FIND),
    "git": _GIT,
    "make": lazy(r"SHELL|-f|-E|--ev|shell"),
    **dict.fromkeys(("docker", "podman", "docker-compose"), _CONTAINER),
    **dict.fromkeys(("kubectl", "helm"), _CLUSTER),
    **dict.fromkeys(
        ("npm", "yarn", "pnpm", "bun", "cargo", "pip", "pip3", "uv", "poetry", "gem", "apt",
         "apt-get", "brew", "flutter", "dart", "dotnet", "mix"),
        _PACKAGES,
    ),
    **dict.fromkeys(("gradle", "gradlew", "mvn",
    "mvnw"), lazy("publish|upload|deploy|release")),
    **dict.fromkeys(("terraform", "tofu", "pulumi", "cdk", "aws", "gcloud", "az",
    "gsutil"), _CLOUD),
    **dict.fromkeys(("systemctl", "service"), _SERVICES),
    **{
        name: _CODE
        for name in PROGRAMS
        if name.startswith("python") or name in ("node", "nodejs", "deno")
    },
    **dict.fromkeys(("cd", "chdir", "pushd"), _TELLING),
    "gh": _Words(
        r"\b(?:repo|release|secret|variable|[sg]\w+-key|delete|gist|merge|auth|workflow|extension"
        r"|api)\b"
    ),
}  # fmt: skip
# Of programs that are else read, or not piped into, what is harmless as it stands.
_AS_IT_STANDS: Mapping[str, re.Pattern[str]] = {
    "curl": lazy(
        r"curl(?: -[sSfiIv]+)* https?://(?:localhost|127\.0\.0\.1)(?::\d+)?(?:/[\w./-]*)?"
    ),
    "xargs": lazy(r"xargs (?:-0 )?(?:basename|dirname|file|ls|stat|wc)(?: [\w./-]+)*"),
    **dict.fromkeys(("python", "python3"), lazy(r"python3? -m json\.tool")),
}
# Whatever stands behind these has to be read; `.` reads a file only where a program stands.
_ALWAYS = PROGRAMS - frozenset(_ONLY_WITH)
_READERS = frozenset(name for name, words in _ONLY_WITH.items() if words is _TELLING) | {"sed"}


def is_plainly_harmless(text: str) -> bool:
    """Whether a text needs no closer look."""
    if len(text) > _MAX_TEXT or not text.isprintable():
        return False
    source = as_source(text)
    commands = plain_commands(source)
    if commands is None:
        return False
    for at, (words, start, end, pipeline, _) in enumerate(commands):
        head = words[0].rpartition("/")[2]
        runs_another = _runs_another(head, words)
        whole = _AS_IT_STANDS.get(head)
        if head == "." or (head in _ALWAYS and not runs_another and whole is None):
            return False
        said, part = " ".join(words), source[start:end]
        signs = _signs(head)
        found = signs(said) or ()
        if 0 in found or ("http" in said and _FROM_AFAR.search(said)):
            return False
        # What is piped to a server may be a secret.
        whole = None if head == "curl" and pipeline != at else whole
        if whole is not None and whole.fullmatch(part) and not any(map(is_secret, words)):
            continue
        if runs_another:
            return _all_harmless(source)
        if head in _ALWAYS or not _is_harmless(head, said, words, found):
            return False
        # Some tell themselves by their quotes, and others hide in them.
        if part != said and not _is_harmless(head, part, words, signs(part) or ()):
            return False
        takes_code = head in _ONLY_WITH and head not in _READERS
        if takes_code and (pipeline != at or (">" in said and head != "git")):
            return False  # a word or what comes through the pipe may be code, or a secret
    return True


@lru_cache(1024)
def _signs(name: str) -> _Look:
    """Looks for what ends something, what tells of secrets, and what such a program does harm with.

    These are the numbers of the three; some programs have patterns of another kind for the last.
    """
    telling = _ONLY_WITH.get(name)
    own = (telling,) if isinstance(telling, _Words) and telling is not _TELLING else ()
    return _kinds(_ENDS, *(() if telling is None else (_TELLING, *own)))


def _is_harmless(name: str, part: str, words: Sequence[str], found: Sequence[int]) -> bool:
    """Whether a program does no harm with these words; ``found`` are the signs that are there."""
    telling = _ONLY_WITH.get(name)
    if telling is None:
        # Of a program in no table nobody knows whether it takes code.
        return not any(" " in word for word in words)
    if telling is _TELLING:
        return 1 not in found
    if isinstance(telling, _Words):
        if 2 in found:
            return False
    else:
        if telling is _CODE:
            part = _SCRIPT.sub(r"\1", _MODULE.sub("", part))
        if telling.search(part):
            return False
    # Where that is not about secrets, the names of files that hold them still count.
    if 1 not in found or name in _READERS:
        return True
    return not _TELLING.search(part) or not any(map(is_secret, words))


def _all_harmless(source: str) -> bool:
    """The same where any word may be a program that another one runs."""
    if not _BARE.fullmatch(source) or "://" in source or _ENDS.search(source):
        return False  # what is in quotes or comes through a pipe may be code
    words = _NAME.findall(source)
    names = {word.rpartition("/")[2] for word in words if word != "."}
    return _ALWAYS.isdisjoint(names) and all(
        _is_harmless(each, source, words, _signs(each)(source) or ()) for each in names
    )


def _runs_another(name: str, words: Sequence[str]) -> bool:
    verbs = _verbs(name)
    return verbs is not None and (not verbs or not verbs.isdisjoint(words))


@lru_cache(1024)
def _verbs(name: str) -> frozenset[str] | None:
    """The words with which a program runs another one: empty for any, None for never."""
    wrapper = wrapper_named(name)
    if wrapper is not None:
        return wrapper.verbs
    # What makes those listed here run another program is among the words they are listed with.
    return None if name in _ONLY_WITH or not carries(name) else frozenset()
