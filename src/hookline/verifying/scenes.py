"""The sessions of a verification. As few as possible: whatever can share one does."""

from hookline.verifying.lines import Scene

__all__ = ["ASK", "HALT", "PERSON", "PROMPT", "STOP", "WORK"]

WORK = Scene("work", "tools, context and output", 10)
# A client may wait for an answer for ever; on a busy machine it needs a while to get that far.
ASK = Scene("ask", "asking the person", 15, patience=60.0)
PERSON = Scene("person", "a person who says yes to everything", 16, person=True)
HALT = Scene("halt", "ending a run", 20)
PROMPT = Scene("prompt", "a prompt that is blocked", 30)
# The last one: the file that switches its hook on stays in the project.
STOP = Scene("stop", "keeping the agent going", 90)
