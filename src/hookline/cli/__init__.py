"""One module per command, found by its name; modules that start with ``_`` serve the others."""
