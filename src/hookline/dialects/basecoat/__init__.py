"""BaseCoat's portable hook contract."""

from hookline.dialects.basecoat.codec import BaseCoat

DIALECT = BaseCoat()
