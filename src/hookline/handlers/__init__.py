"""One module per way to run a hook; names with an underscore in front are parts they share."""
