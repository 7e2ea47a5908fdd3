"""Splits shell text into the simple commands it would run; knows nothing of hooks or policy."""

from hookline.shell.literals import literal_words
from hookline.shell.model import ShellText, SimpleCommand, Word
from hookline.shell.splitting import MAX_BYTES, split

__all__ = ["MAX_BYTES", "ShellText", "SimpleCommand", "Word", "literal_words", "split"]
