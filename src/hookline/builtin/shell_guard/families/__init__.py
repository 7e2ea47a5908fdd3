"""One module for each kind of program, with a table from program names to what judges them."""
