"""The HTTP formats that models are asked in, one module each."""
