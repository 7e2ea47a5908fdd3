"""Kodelet, by its hook executables (ADR 021)."""

from hookline.dialects.kodelet.codec import Kodelet

DIALECT = Kodelet()
