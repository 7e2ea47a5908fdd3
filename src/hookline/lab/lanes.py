"""Which turn of a script a request is to be answered with.

The main conversation is one lane, and so is every sub-agent's. Knows scripts and histories; must
not know wires or sockets.
"""

from collections.abc import Callable, Iterator
from hashlib import blake2b

from msgspec import Struct, json

from hookline.lab.ports import Said, ToolCall
from hookline.lab.script import Act, Agent, Script, Turn
from hookline.lab.sides import SUMMARY, closing
from hookline.lab.wires._exchange import Message, Question

__all__ = ["Lanes", "Served"]

AT_THE_END = Said("Done.")


class Served(Struct, frozen=True):
    """One answer that is given: what it says, and at which turn of its lane."""

    number: int
    """Counted over the whole session."""
    lane: str
    turn: int
    said: Said
    fail: int = 0
    """The HTTP status that is sent instead of the words."""


class _Lane:
    """One conversation: its turns in order, and what was already answered to what.

    A bare counter would skip a turn when a client asks again after a broken stream, and would not
    know a second sub-agent with the same prompt from the first. So the place in the script comes
    from the history that the client sends: the tool calls in it are known by the ids we gave them.
    The last of these is where the conversation stands. The same words after it are the same
    question again; other words are the next one, because a turn without calls leaves no id.
    """

    def __init__(
        self, prompt: str, turns: tuple[Turn, ...], say: Callable[[Act], ToolCall]
    ) -> None:
        self.prompt = prompt
        self._said = tuple(Said(turn.say, tuple(map(say, turn.do))) for turn in turns)
        self._turns = turns
        self._next = 0
        self._answered: dict[tuple[int, str], int] = {}
        self._latest: dict[int, int] = {}

    @property
    def begun(self) -> bool:
        """Whether any of its turns was given."""
        return self._next > 0

    def turn(self, question: Question, since: Served | None) -> int:
        """Which turn answers the question; ``since`` is the last answer its history shows."""
        stands = since.number if since else 0
        asked = (stands, _digest(question.messages))
        turn = self._answered.get(asked)
        if turn is None:
            turn = self._following(question, since)
        # A failure is no answer: who asks again after it does not want it a second time.
        if not self.fail(turn):
            self._answered[asked] = turn
        self._latest[stands] = turn
        self._next = max(self._next, turn + 1)
        return turn

    def said(self, turn: int) -> Said:
        """What the model says at a turn; past the script's end, that it is done."""
        return self._said[turn] if turn < len(self._said) else AT_THE_END

    def fail(self, turn: int) -> int:
        """The HTTP status that a turn fails with; 0 for one that does not."""
        return self._turns[turn].fail if turn < len(self._turns) else 0

    def starts(self, turn: int) -> Iterator[str]:
        """The prompts of the sub-agents that a turn starts."""
        acts = self._turns[turn].do if turn < len(self._turns) else ()
        return (act.prompt for act in acts if isinstance(act, Agent))

    def _following(self, question: Question, since: Served | None) -> int:
        if since is not None:
            return self._latest.get(since.number, since.turn) + 1
        last = self._latest.get(0, 0)
        if self.fail(last) and self.begun:
            return last + 1
        # A sub-agent may begin a second time. The main conversation begins only once, so what
        # looks like its beginning is what a compaction left of it.
        return 0 if self.prompt and _is_fresh(question) else self._next


class Lanes:
    """All lanes of a script, and the answers given so far."""

    def __init__(self, script: Script, say: Callable[[Act], ToolCall]) -> None:
        self._main = _Lane("", script.turns, say)
        self._by_prompt = {"": self._main}
        for agent in _agents(script.turns):
            if agent.prompt not in self._by_prompt:
                self._by_prompt[agent.prompt] = _Lane(agent.prompt, agent.turns, say)
        openings = {**self._by_prompt, script.prompt: self._main}
        del openings[""]
        self._openings = sorted(openings.items(), key=lambda each: len(each[0]), reverse=True)
        self._prompt = script.prompt
        self._offered: frozenset[str] = frozenset()
        self._calls: dict[str, tuple[Served, ToolCall]] = {}
        self._followed: dict[int, str] = {}
        self._due: list[str] = []
        self._count = 0

    def serve(self, question: Question) -> Served:
        """The answer to a question, noted as given; `remember` has to follow."""
        since = self._since(question)
        lane = self._lane(question, since)
        if lane is self._main:
            self._offered = frozenset(question.tools)
        self._count += 1
        if since is not None and (calls := self._follow_ups(question, since)):
            return Served(self._count, lane.prompt, since.turn, Said("", calls))
        turn = lane.turn(question, since)
        said = lane.said(turn)
        self._due = [prompt for prompt in self._due if prompt != lane.prompt]
        self._due.extend(lane.starts(turn))
        if lane is not self._main and not said.calls:
            said = closing(question, said.text)
        return Served(self._count, lane.prompt, turn, said, lane.fail(turn))

    def remember(self, served: Served, ids: tuple[str, ...]) -> None:
        """Know the answer by the ids of its tool calls when they come back."""
        made = zip(ids, served.said.calls, strict=True)
        self._calls |= {id: (served, call) for id, call in made}

    def place(self, question: Question) -> str:
        """The lane that a question belongs to, by its sub-agent's prompt."""
        return self._lane(question, self._since(question)).prompt

    def admits(self, question: Question) -> bool:
        """Whether the question is of the main conversation or of one of the script's sub-agents.

        Clients hold conversations of their own, such as a hook that is an agent. They show neither
        a prompt nor a call nor a summary of ours, and are offered other tools.
        """
        if self._since(question) is not None or not self._main.begun:
            return True
        said = [message.text for message in question.messages if message.role == "user"]
        if any(mark in text for text in said for mark in (self._prompt, SUMMARY)):
            return True
        if self._opened(question) is not None:
            return True
        if self._due and _is_fresh(question):
            # It begins when a sub-agent is due: a hook has rewritten the prompt that it was given.
            opening = "\n".join(_opening(question.messages))
            self._openings.insert(0, (opening, self._by_prompt[self._due[0]]))
            return True
        return frozenset(question.tools) == self._offered

    def _since(self, question: Question) -> Served | None:
        """The last of our answers with calls that the history shows."""
        for message in reversed(question.messages):
            for call in (*message.calls, *message.results):
                if found := self._calls.get(call):
                    return found[0]
        return None

    def _lane(self, question: Question, since: Served | None) -> _Lane:
        if since is not None:
            return self._by_prompt[since.lane]
        return self._opened(question) or self._main

    def _opened(self, question: Question) -> _Lane | None:
        """The lane whose prompt the conversation opens with; the longest, if one is in another.

        Some clients give a sub-agent its work with its instructions, and a word to begin as prompt.
        """
        told = [m.text for m in question.messages if m.role == "system"]
        for first in ("\n".join(_opening(question.messages)), "\n".join([question.system, *told])):
            for prompt, lane in self._openings:
                if prompt in first:
                    return lane
        return None

    def _follow_ups(self, question: Question, since: Served) -> tuple[ToolCall, ...]:
        """The calls that the results of the last ones ask for, unless they were made already."""
        results: dict[str, str] = {}
        for message in question.messages:
            results |= message.results
        made = [(id, call) for id, (served, call) in self._calls.items() if served is since]
        calls = (call.then(results[id]) for id, call in made if call.then and id in results)
        found = tuple(call for call in calls if call is not None)
        asked = _digest(question.messages)
        if found and self._followed.setdefault(since.number, asked) != asked:
            return ()
        return found


def _opening(messages: tuple[Message, ...]) -> Iterator[str]:
    """What the user said before the model first spoke."""
    for message in messages:
        if message.role == "assistant":
            return
        if message.role == "user":
            yield message.text


def _is_fresh(question: Question) -> bool:
    """Whether the model was not heard yet, not even in a summary."""
    return not any(m.role == "assistant" or SUMMARY in m.text for m in question.messages)


def _agents(turns: tuple[Turn, ...]) -> Iterator[Agent]:
    """Every sub-agent of the turns, and theirs."""
    for turn in turns:
        for act in turn.do:
            if isinstance(act, Agent):
                yield act
                yield from _agents(act.turns)


def _digest(messages: tuple[Message, ...]) -> str:
    return blake2b(json.encode(messages), digest_size=16).hexdigest()
