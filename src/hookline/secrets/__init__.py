"""Takes secrets out of text: a leaf that knows token formats, and nothing of hooks."""

from hookline.secrets.redaction import EFFORT, Redacted, RedactedBytes, redact, redact_bytes
from hookline.secrets.rules import RULES, Rule

__all__ = ["EFFORT", "RULES", "Redacted", "RedactedBytes", "Rule", "redact", "redact_bytes"]
