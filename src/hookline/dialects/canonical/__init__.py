"""The portable contract itself: canonical JSON in, an answer in JSON out."""

from hookline.dialects.canonical.codec import Canonical

DIALECT = Canonical()
