"""Takes secrets out of text: a leaf that knows token formats, and nothing of hooks."""

from hookline.secrets.forms import Rule
from hookline.secrets.hints import accelerate, accelerate_soon, looked_through
from hookline.secrets.likely import Scope
from hookline.secrets.redaction import EFFORT, Redacted, RedactedBytes, redact, redact_bytes
from hookline.secrets.rules import RULES

__all__ = [
    "EFFORT",
    "RULES",
    "Redacted",
    "RedactedBytes",
    "Rule",
    "Scope",
    "accelerate",
    "accelerate_soon",
    "looked_through",
    "redact",
    "redact_bytes",
]
