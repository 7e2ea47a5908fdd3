"""BaseCoat has no tools of its own: an envelope names those of the runtime that sent it."""

from hookline.model.tools import CANONICAL_TOOLS

__all__ = ["TOOLS"]

TOOLS = CANONICAL_TOOLS
