"""Cursor."""

from hookline.dialects.cursor.codec import Cursor

DIALECT = Cursor()
