"""What it means that a hook failed: in words for a person, and as an answer.

Knows a hook's own choice and what an event can take; must not know how hooks are run.
"""

from hookline.model.answers import PASS, Answer, deny, notice
from hookline.model.errors import HandlerError
from hookline.model.events import Event
from hookline.model.hook import Hook, OnError
from hookline.model.text import visible

__all__ = ["failure"]


def failure(hook: Hook, event: Event, exc: BaseException) -> tuple[str, Answer]:
    """Law 3: what a hook's failure means is the hook's own choice, within what the event can do."""
    what = _told(exc, hook)
    text = f"hook `{hook.name}` failed: {what}"
    if hook.on_error is OnError.BLOCK and not event.continues and (event.gate or event.hides):
        reason = f"{text}. It guards this, so this is blocked until it works again."
        return what, deny(reason)
    where = f" ({hook.source})" if hook.source.file else ""
    return what, PASS if hook.on_error is OnError.IGNORE else notice(f"{text}{where}")


def _told(exc: BaseException, hook: Hook) -> str:
    """What happened, in words; never empty, whatever the exception makes of itself."""
    try:
        text = visible(str(exc))
    except Exception:
        text = "(it cannot be shown)"
    if isinstance(exc, HandlerError):
        return text or type(exc).__name__
    if isinstance(exc, TimeoutError):
        return text or f"no answer within {hook.timeout:g} s"
    return f"{type(exc).__name__}: {text}" if text else type(exc).__name__
