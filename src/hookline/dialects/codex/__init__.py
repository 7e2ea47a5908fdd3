"""Codex."""

from hookline.dialects.codex.codec import Codex

DIALECT = Codex()
