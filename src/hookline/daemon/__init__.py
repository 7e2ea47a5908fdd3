"""The process that stays: answers events over a Unix socket, and no event waits for Python.

It knows how requests come in, wait their turn and are answered, and how one process per user and
version comes and goes. What answers a request is given to it; it must not know hooks.
"""
