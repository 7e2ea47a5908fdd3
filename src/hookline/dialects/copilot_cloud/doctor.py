"""How hooks silently do not fire in the Copilot cloud agent."""

from hookline.dialects._copilot.doctor import findings

__all__ = ["findings"]
