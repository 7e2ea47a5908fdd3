"""The verbs: select → run → merge."""
