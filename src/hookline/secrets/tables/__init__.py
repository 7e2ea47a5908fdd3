"""The families of tokens, by what they open."""
