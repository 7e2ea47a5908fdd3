"""Turns the data of a Document into a msgspec type, or into every Problem that prevents it.

Knows nothing of any one type; what is wrong is for ``mistakes`` to say.
"""

from typing import Any, TypeVar

import msgspec

from hookline.config.document import Document
from hookline.model.errors import ConfigError, Problem

__all__ = ["convert", "problems_in"]

T = TypeVar("T")


def convert(doc: Document, into: type[T]) -> T:
    """The data as ``into``; raises ConfigError with every mistake in it."""
    try:
        return msgspec.convert(doc.data, into, strict=True)
    except msgspec.ValidationError as error:
        raise ConfigError(_explain(doc, into, error)) from None


def problems_in(doc: Document, into: type[Any]) -> list[Problem]:
    """Every mistake that keeps the data from being ``into``, in the order of their lines."""
    try:
        msgspec.convert(doc.data, into, strict=True)
    except msgspec.ValidationError as error:
        return _explain(doc, into, error)
    return []


def _explain(doc: Document, into: type[Any], error: msgspec.ValidationError) -> list[Problem]:
    from hookline.config.mistakes import mistakes_in

    return mistakes_in(doc, into, error)
