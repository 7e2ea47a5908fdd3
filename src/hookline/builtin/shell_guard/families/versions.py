"""Version control beside git: what was never committed, and history that goes."""

from hookline.builtin.shell_guard.families.tables import Verb, verbs
from hookline.builtin.shell_guard.model import Family

__all__ = ["FAMILY"]

_LOST = "changes that were never committed would be gone"
_HISTORY = "commits go, and others may have them"

_HG = verbs(
    (
        Verb("(strip|purge|rollback|histedit)", "discards-work", _HISTORY, radius="high"),
        Verb("debugstrip", "discards-work", _HISTORY, radius="high"),
        Verb("(update|up|checkout|co|goto) (-C|--clean)", "discards-work", _LOST),
        Verb("(revert|shelve) (-a|--all|--delete)", "discards-work", _LOST),
        Verb("push (-f|--force)", "rewrites-history", _HISTORY, radius="high"),
    ),
    skipped="-R --repository --config --cwd",
)
_SVN = verbs(
    (
        Verb("revert (-R|--recursive|--depth|--depth=\\w+)", "discards-work", _LOST),
        Verb("cleanup --remove-(unversioned|ignored)", "discards-work", _LOST),
        Verb("(delete|del|remove|rm) \\S+://\\S+", "changes-remote", _HISTORY, radius="high"),
    )
)
_JJ = verbs(
    (
        Verb("(abandon|restore|undo)", "discards-work", _LOST),
        Verb("(op|operation) (abandon|restore)", "discards-work", _HISTORY, radius="high"),
        Verb("git push --deleted", "rewrites-history", _HISTORY, radius="high"),
    ),
    skipped="-R --repository --config",
)
_OTHERS = verbs(
    (
        Verb("(revert|uncommit|obliterate|shun|purge)", "discards-work", _LOST, radius="high"),
        Verb("(clean|clean-tree) (-f|--force|-x)", "discards-work", _LOST),
    )
)

FAMILY: Family = {
    **dict.fromkeys(("hg", "sl", "chg"), _HG),
    "svn": _SVN,
    "jj": _JJ,
    **dict.fromkeys(("bzr", "brz", "fossil", "p4", "darcs", "pijul"), _OTHERS),
}
