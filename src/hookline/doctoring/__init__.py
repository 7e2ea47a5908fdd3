"""Examines a machine for hooks that silently do not fire; reads only, and knows no platform."""
