"""Hooks that ship with hookline: one module each, found by its name, written with `-` or `_`.

A module states EVENTS (where it runs unless `on:` says otherwise), PRIORITY, GUARD, Options and
``make(options)``. It may state ALSO (further events that `on:` may name), WAITS (it takes long
enough to need a thread), ACTS (the events on which it does more than answer: what is only judged
again does not ask it there) and ``misfits(options, events)`` (what is wrong with these together).
Of WAITS and ACTS a function may tell it from the options. Names with an underscore in front are
parts they share.
"""
