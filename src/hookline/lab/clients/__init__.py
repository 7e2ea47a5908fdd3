"""One module per coding agent: where it comes from and how it is run headless."""
