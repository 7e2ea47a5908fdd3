"""GitHub Copilot CLI."""

from hookline.dialects.copilot.codec import Copilot

DIALECT = Copilot()
