"""All families of tokens. To add one, add a row to a table; ``forms`` says what keeps it safe."""

from hookline.secrets.tables.clouds import CLOUDS
from hookline.secrets.tables.code import CODE
from hookline.secrets.tables.named import NAMED
from hookline.secrets.tables.services import MESSAGES, MODELS, MONEY, WORK

__all__ = ["RULES"]

RULES = (*CODE, *CLOUDS, *MODELS, *MONEY, *MESSAGES, *WORK, *NAMED)
"""Of two families that fit equally well, the first is told."""
