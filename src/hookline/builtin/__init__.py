"""Hooks that ship with hookline: one module each, found by its name, written with `-` or `_`.

A module states EVENTS (where it runs unless `on:` says otherwise), PRIORITY, GUARD, Options and
``make(options)``. It may state ALSO (further events that `on:` may name), WAITS (it takes long
enough to need a thread; a function tells it from the options) and ``misfits(options, events)``
(what is wrong with these together). Names with an underscore in front are parts they share.
"""
