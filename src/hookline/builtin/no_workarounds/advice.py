"""Which way a hook names in place of the one it denies: "use the Edit tool instead of sed"."""

import re
from collections.abc import Collection, Sequence

from hookline.model.answers import Answer
from hookline.secrets import redact

__all__ = ["advised"]

_NAMED = re.compile(
    r"(?i)(?<!not )(?<!n't )(?<!never )(?<!cannot )\b(?:use|prefer|try|run|call)\b([^.;!?\n]{1,80})"
)
# Behind these stands what is not to be used.
_OTHERWISE = re.compile(r"(?i)\b(?:instead of|rather than|over|not|never|in place of)\b")
_INSTEAD = re.compile(r"(?i)([^.;!?\n]{1,80})\binstead\b(?! of)")
_NO = re.compile(r"(?i)\b(?:not|never|cannot|no)\b|n't\b")
_NAME = re.compile(r"[A-Za-z][\w+-]{1,29}")
_MAX_NAMES = 16


def advised(answers: Sequence[Answer], denied: Collection[str]) -> tuple[str, ...]:
    """Names of programs or tools, other than those that were denied, and whole commands."""
    found: dict[str, None] = {}
    for answer in answers:
        reason = answer.reason
        safer = answer.metadata.get("safer")
        if isinstance(safer, str) and safer:
            # Only this one command is meant, and not all that its program can do.
            reason = reason.replace(f"Rather: `{safer}`", "")
            found[safer.strip()] = None
        for text in _NAMED.findall(reason):
            found |= dict.fromkeys(_names(_OTHERWISE.split(text)[0]))
        for text in _INSTEAD.findall(reason):
            if not _NO.search(text):
                found |= dict.fromkeys(_names(text))
    kept = [each for each in found if each not in denied and redact(each).text == each]
    return tuple(kept)[:_MAX_NAMES]


def _names(text: str) -> list[str]:
    return [each.lower() for each in _NAME.findall(text)]
