"""What is tried on a client, one value each; every module here has ``PROBES``."""
