"""Gemini CLI."""

from hookline.dialects.gemini.codec import Gemini

DIALECT = Gemini()
