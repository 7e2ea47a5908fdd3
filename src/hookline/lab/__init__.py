"""Real agents against a scripted model on loopback: nothing is spent, nothing leaves."""
