"""Hooks that ship with hookline: one module each, found by its name, written with `-` or `_`.

A module states EVENTS (where it runs unless `on:` says otherwise), PRIORITY, GUARD, Options and
``make(options)``. It may state NEEDS (programs that it starts), ALSO (further events that `on:` may
name), EFFECT (the cell of support tables that it is for, such as `context`), ALL_OF (those of
EVENTS that all have to fire), FIRES (events that it finds, and announces beside its answer), JUDGES
(it blocks, though it is no guard: its failure does not), WAITS (it takes long enough to need a
thread), ACTS (the events on which it does more than answer: what is judged again does not ask it
there), MOMENT (it answers from how things are just then: judged again, what it said then counts if
it is the same still) and ``misfits(options, events)`` (what is wrong with these together). Of
WAITS, ACTS and MOMENT a function may tell it from the options. Names with an underscore in front
are parts they share.
"""
