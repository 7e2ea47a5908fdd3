"""A short name for a value: equal for equal values, in every process and every version."""

from collections.abc import Mapping
from hashlib import sha256

from msgspec import json

__all__ = ["digest"]


def digest(value: object) -> str:
    """Of a value as JSON, its keys in order; long enough that no two are taken for each other."""
    try:
        text = json.encode(value, enc_hook=_plain, order="sorted")
    except UnicodeEncodeError:  # half a character, which no JSON can hold
        text = repr(value).encode("utf-8", "surrogatepass")
    return sha256(text).hexdigest()[:12]


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else repr(value)
