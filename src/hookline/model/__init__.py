"""The nouns: events, tools, answers, outcomes, hooks, ports and errors. No I/O, no other layer."""
