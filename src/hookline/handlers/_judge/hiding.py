"""Whether taking secrets out of a text took out more than secrets.

Whoever writes a command chooses where its secrets seem to be, and a shell runs what stands there.
"""

import re

__all__ = ["hides_more"]

_BREAK = r"(?:\r?\n|(?:\\+r)?\\+n)"  # as it is, or as JSON writes it
_HEADER = r"[A-Z][A-Za-z-]{2,30}: [A-Za-z0-9,./+=-]+"
_FULL = r"[A-Za-z0-9+/]{60,76}"
# A short line could be a command's name; one of a key has more than small letters in it.
_LAST = r"(?=[^\s\\]*[A-Z0-9])[A-Za-z0-9+/]{1,76}={0,2}"
_KEY = re.compile(
    rf"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----{_BREAK}"
    rf"(?:{_HEADER}{_BREAK}){{0,8}}(?:{_BREAK})?(?:{_FULL}{_BREAK}){{0,300}}(?:{_LAST}{_BREAK})?"
    rf"(?:=[A-Za-z0-9+/]{{4}}{_BREAK})?-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----"
)
# No secret has a blank in it, or what a shell would act on; a command can hardly do without.
_TELLING = (r"\$[({]", "`", r"[;|&<>]", r"\s", r"\\+[nrtvf]", r"\\+u00")


def hides_more(text: str, redacted: str) -> bool:
    """Whether what was taken out has in it what a secret has not."""
    if text == redacted:
        return False
    # Markers have nothing of all this, so whatever is rarer now was taken out.
    before, after = _KEY.sub("", text), _KEY.sub("", redacted)
    return any(len(re.findall(sign, after)) < len(re.findall(sign, before)) for sign in _TELLING)
