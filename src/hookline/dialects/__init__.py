"""One folder per platform; each holds everything hookline knows about it."""
