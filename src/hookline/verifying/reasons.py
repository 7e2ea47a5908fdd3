"""Why a line is not as it should be, as far as hookline's own journal tells.

The journal never decides whether a line is good: it says what hookline thinks it did.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.verifying.lines import Names

__all__ = ["reason"]

Journal = Sequence[Mapping[str, Any]]

_STRONG = ("halt", "deny", "ask")


def reason(journal: Journal, names: Names, claim: tuple[str, str] | None, *, failed: bool) -> str:
    """What hookline made of the probe's events, in one sentence.

    Only of a line that ``failed`` is it known that the client did otherwise.
    """
    if not journal:
        return "hookline was never called, or keeps no journal"
    event = claim[0] if claim else ""
    about = [each for each in journal if _is_about(each, names, event)]
    if not about:
        what = event or "such an event"
        return f"{what} never reached hookline for it"
    if claim is None:
        return _of_the_person(about)
    broken = next((each["failure"] for each in about if each.get("failure")), "")
    if broken:
        return f"hookline failed at it: {broken}"
    said = next((word for word in _STRONG if any(e.get("verdict") == word for e in about)), "")
    if said:
        return f"hookline said {said}" + (", and the client did otherwise" if failed else "")
    # A part of a reply to several hooks is the canary's only if its text is in it.
    effects = {name: what for each in about for name, what in (each.get("answer") or {}).items()}
    if ours := [name for name, what in effects.items() if _is_ours(what, names)]:
        did = ", and the client did otherwise" if failed else ""
        return f"hookline answered with {' and '.join(ours)}{did}"
    hooks = {run["hook"] for each in about for run in each.get("runs") or ()}
    if any(hook.startswith(names.word) for hook in hooks):
        return f"the canary hook ran on {event}, and hookline made nothing of its answer"
    return f"hookline saw {event} and let it pass: the canary hook did not match"


def _is_ours(what: object, names: Names) -> bool:
    text = json.dumps(what, ensure_ascii=False)
    return names.mark in text or names.word in text


def _of_the_person(about: Journal) -> str:
    """What stopped an act that no canary hook is about: a rule of the person's own."""
    for each in about:
        if each.get("verdict") in (*_STRONG, "allow"):
            who = ", ".join(f"`{name}`" for name in each.get("decided_by") or ())
            return f"a hook of your own said {each['verdict']}: {who or each.get('reason')}"
    return "hookline let it pass"


def _is_about(recorded: Mapping[str, Any], names: Names, event: str) -> bool:
    if event and recorded.get("event") != event:
        return False
    text = json.dumps(recorded.get("payload"), default=str, ensure_ascii=False)
    # A session's start and end carry no word of ours.
    wordless = event in {"session_start", "stop"}
    return wordless or names.word in text
