"""Which turn a request is answered with: repeats, follow-ups, compactions, sub-agents."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import httpx
import pytest

from hookline.lab.ports import ToolCall
from hookline.lab.script import Act, Agent, Script, Shell, Turn
from hookline.lab.server import ModelServer
from hookline.lab.sides import SUMMARY
from support.model_clients import CLIENTS, Anthropic, Chat, Gemini, ModelClient

PROMPT = "Clean up MK_PROMPT."


def say(act: Act) -> ToolCall:
    """Acts in the words of no client in particular."""
    assert isinstance(act, Shell | Agent)
    if isinstance(act, Shell):
        return ToolCall("tool", {"command": act.command})
    return ToolCall("agent", {"prompt": act.prompt})


@contextmanager
def serving(
    *turns: Turn, prompt: str = PROMPT, words: Callable[[Act], ToolCall] = say
) -> Iterator[ModelServer]:
    """A server for these turns."""
    with ModelServer(Script(prompt=prompt, turns=turns), words) as server:
        yield server


@pytest.fixture(params=CLIENTS, ids=lambda kind: kind.__name__.lower())
def kind(request: pytest.FixtureRequest) -> type[ModelClient]:
    """A client of each wire."""
    found: type[ModelClient] = request.param
    return found


def shell(*commands: str, say: str = "") -> Turn:
    """A turn of shell commands."""
    return Turn(say, tuple(map(Shell, commands)))


def test_used_up_turns_end_in_done(kind: type[ModelClient]) -> None:
    with serving(Turn("only")) as server:
        client = kind(server.url)
        assert [client.ask(text).text for text in (PROMPT, "more", "and more")] == [
            "only",
            "Done.",
            "Done.",
        ]


def test_a_script_without_turns_is_done_at_once(kind: type[ModelClient]) -> None:
    with serving() as server:
        assert kind(server.url).ask(PROMPT).text == "Done."


def test_a_repeated_request_is_answered_the_same_with_new_ids(kind: type[ModelClient]) -> None:
    with serving(shell("1", say="a"), shell("2", say="b"), Turn("c")) as server:
        client = kind(server.url)
        first = client.ask(PROMPT)
        before = [*client.history[:1]]
        again = kind(server.url)
        again.history = before
        repeated = again.ask()
        assert (repeated.text, repeated.calls[0][2]) == ("a", {"command": "1"})
        assert repeated.calls[0][0] != first.calls[0][0]
        # Whichever of the two answers the client goes on with, the next turn is the second.
        for each, heard in ((again, repeated), (client, first)):
            each.history.extend(each.results(heard, "ok"))
            assert each.ask().text == "b"


def test_a_repeated_request_after_a_text_is_answered_the_same(kind: type[ModelClient]) -> None:
    with serving(Turn("a"), Turn("b"), Turn("c")) as server:
        client = kind(server.url)
        client.ask(PROMPT)
        client.history.append(client.user("go on"))
        kept = [*client.history]
        assert client.ask().text == "b"
        client.history = kept
        assert client.ask().text == "b"
        assert client.ask("and on").text == "c"


def test_a_follow_up_prompt_takes_the_next_turn(kind: type[ModelClient]) -> None:
    with serving(shell("1"), Turn("I stop."), shell("2"), Turn("Now I do.")) as server:
        client = kind(server.url)
        first = [heard.text for heard in client.ask_and_do(PROMPT)]
        second = [heard.text for heard in client.ask_and_do("The tests do not pass yet.")]
    assert (first, second) == (["", "I stop."], ["", "Now I do."])


def test_an_answer_that_a_hook_rewrote_still_counts(kind: type[ModelClient]) -> None:
    with serving(shell("1"), Turn("the secret"), Turn("next")) as server:
        client = kind(server.url)
        client.ask_and_do(PROMPT)
        client.history[-1:] = [client.user("[removed by a hook]")]
        assert client.ask("go on").text == "next"


def test_a_compaction_that_leaves_nothing_does_not_start_over(kind: type[ModelClient]) -> None:
    with serving(shell("1"), shell("2"), Turn("c")) as server:
        client = kind(server.url)
        heard = client.ask(PROMPT)
        client.history.extend(client.results(heard, "ok"))
        client.ask()
        client.history = [client.user(f"This is a summary: {SUMMARY}")]
        assert client.ask().text == "c"


def test_a_compaction_that_keeps_the_latest_calls_goes_on_after_them(
    kind: type[ModelClient],
) -> None:
    with serving(shell("1"), shell("2"), shell("3"), Turn("d")) as server:
        client = kind(server.url)
        for _ in range(2):
            heard = client.ask(PROMPT if not client.history else "")
            client.history.extend(client.results(heard, "ok"))
        client.history = [client.user("summary"), *client.history[-2:]]
        assert client.ask().calls[0][2] == {"command": "3"}


def test_a_sub_agent_has_its_own_turns(kind: type[ModelClient]) -> None:
    agent = Agent("look around MK_AGENT", (shell("sub"), Turn("nothing here")))
    with serving(Turn("", (agent,)), Turn("I know now.")) as server:
        main, sub = kind(server.url), kind(server.url)
        heard = main.ask(PROMPT)
        said = sub.ask_and_do(f"Context first.\n{agent.prompt}")
        main.history.extend(main.results(heard, said[-1].text))
        assert main.ask().text == "I know now."
        asked = server.asked
    assert said[0].calls[0][2] == {"command": "sub"}
    assert said[1].text == "nothing here"
    assert [each.lane for each in asked] == ["", agent.prompt, agent.prompt, ""]


def test_a_sub_agent_that_is_started_again_starts_over(kind: type[ModelClient]) -> None:
    agent = Agent("look around", (shell("sub"), Turn("nothing here")))
    with serving(Turn("", (agent, agent))) as server:
        kind(server.url).ask(PROMPT)
        for greeting in ("", "It is later now. "):
            said = kind(server.url).ask_and_do(greeting + agent.prompt)
            assert [heard.text for heard in said] == ["", "nothing here"]
            assert said[0].calls[0][2] == {"command": "sub"}


def test_a_sub_agent_that_was_compacted_does_not_start_over(kind: type[ModelClient]) -> None:
    agent = Agent("look around", (shell("sub"), Turn("nothing here")))
    with serving(Turn("", (agent,))) as server:
        kind(server.url).ask(PROMPT)
        sub = kind(server.url)
        sub.ask(agent.prompt)
        sub.history = [sub.user(f"{agent.prompt}\n{SUMMARY}")]
        assert sub.ask().text == "nothing here"


def test_agents_inside_agents_and_prompts_inside_prompts_are_told_apart(
    kind: type[ModelClient],
) -> None:
    inner = Agent("look", (Turn("I am the inner one."),))
    outer = Agent("look around", (Turn("", (inner,)), Turn("I am the outer one.")))
    with serving(
        Turn("", (outer,)), Turn("I am the main one."), prompt="please look around"
    ) as server:
        main, first, second = (kind(server.url) for _ in range(3))
        heard = main.ask("please look around")
        delegated = first.ask("look around")
        assert delegated.calls[0][2] == {"prompt": "look"}
        assert second.ask("look").text == "I am the inner one."
        first.history.extend(first.results(delegated, "ok"))
        main.history.extend(main.results(heard, "ok"))
        assert first.ask().text == "I am the outer one."
        assert main.ask().text == "I am the main one."


def test_agents_at_the_same_time_do_not_take_each_others_turns(kind: type[ModelClient]) -> None:
    agents = [Agent(f"task {n}.", tuple(shell(f"{n}{i}") for i in range(4))) for n in range(6)]
    with serving(Turn("", tuple(agents))) as server:
        kind(server.url).ask(PROMPT)

        def run(agent: Agent) -> list[str]:
            answers = kind(server.url).ask_and_do(agent.prompt)
            return [given["command"] for heard in answers for _, _, given in heard.calls]

        with ThreadPoolExecutor(6) as pool:
            found = list(pool.map(run, agents))
    assert found == [[f"{n}{i}" for i in range(4)] for n in range(6)]


def test_a_call_that_has_to_be_followed_is_followed_before_the_next_turn(
    kind: type[ModelClient],
) -> None:
    def words(act: Act) -> ToolCall:
        def wait(result: str) -> ToolCall | None:
            return ToolCall("tool", {"wait_for": result}) if result != "refused" else None

        return ToolCall("tool", {"start": True}, wait)

    with serving(shell("x", "y"), shell("z"), Turn("end"), words=words) as server:
        client = kind(server.url)
        heard = client.ask(PROMPT)
        client.history.extend(client.results(heard, "agent-7"))
        kept = [*client.history]
        for _ in range(2):
            client.history = [*kept]
            waiting = client.ask()
            assert [given for _, _, given in waiting.calls] == [{"wait_for": "agent-7"}] * 2
        client.history.extend(client.results(waiting, "ended"))
        heard = client.ask()
        assert [given for _, _, given in heard.calls] == [{"start": True}]
        client.history.extend(client.results(heard, "refused"))
        assert client.ask().text == "end"


def test_a_client_that_drops_the_following_call_is_not_held_up(kind: type[ModelClient]) -> None:
    def words(act: Act) -> ToolCall:
        return ToolCall("tool", {}, lambda result: ToolCall("tool", {"wait_for": result}))

    with serving(shell("x"), Turn("end"), words=words) as server:
        client = kind(server.url)
        heard = client.ask(PROMPT)
        client.history.extend(client.results(heard, "agent-7"))
        kept = [*client.history]
        assert client.ask().calls
        client.history = [*kept, client.user("go on")]
        assert client.ask().text == "end"


def test_a_conversation_that_lost_all_its_words_is_known_by_its_tools(
    kind: type[ModelClient],
) -> None:
    with serving(Turn("a"), Turn("b")) as server:
        client = kind(server.url)
        client.ask(PROMPT)
        client.history = [client.user("What was said before was replaced by a hook.")]
        assert client.ask().text == "b"


def test_an_agent_that_has_to_hand_over_its_last_words_does(kind: type[ModelClient]) -> None:
    agent = Agent("look around", (shell("sub"), Turn("nothing here")))
    with serving(Turn("", (agent,)), Turn("end")) as server:
        main = kind(server.url)
        main.tools = ("tool", "complete_task")
        heard = main.ask(PROMPT)
        sub = kind(server.url)
        sub.tools = ("tool", "complete_task")
        said = sub.ask(agent.prompt)
        sub.history.extend(sub.results(said, "ok"))
        last = sub.ask()
        main.history.extend(main.results(heard, "ok"))
        assert main.ask().text == "end"
    assert [name for _, name, _ in last.calls] == ["complete_task"]


def test_the_last_words_fill_the_tool_that_takes_them() -> None:
    agent = Agent("look around", (Turn("nothing here"),))
    result = {
        "type": "object",
        "properties": {"response": {"type": "string"}},
        "required": ["response"],
    }
    schema = {"type": "object", "properties": {"result": result}, "required": ["result"]}
    declared = [{"name": "complete_task", "parametersJsonSchema": schema}]
    with serving(Turn("", (agent,))) as server:
        Gemini(server.url).ask(PROMPT)
        [call] = (
            Gemini(server.url).ask(agent.prompt, tools=[{"functionDeclarations": declared}]).calls
        )
    assert call[1:] == ("complete_task", {"result": {"response": "nothing here"}})


def test_a_sub_agent_whose_prompt_a_hook_rewrote_is_still_that_sub_agent(
    kind: type[ModelClient],
) -> None:
    agent = Agent("look around", (shell("sub"), Turn("nothing here"), Turn("still nothing")))
    with serving(Turn("", (agent,)), Turn("end")) as server:
        main, sub = kind(server.url), kind(server.url)
        heard = main.ask(PROMPT)
        said = sub.ask_and_do("MK_REWRITTEN by a hook")
        assert [each.text for each in said] == ["", "nothing here"]
        assert sub.ask("are you sure?").text == "still nothing"
        main.history.extend(main.results(heard, "ok"))
        assert main.ask().text == "end"
        assert [each.lane for each in server.asked] == ["", *[agent.prompt] * 3, ""]


def test_a_sub_agent_may_fail_before_its_first_words(kind: type[ModelClient]) -> None:
    agent = Agent("look around", (Turn(fail=500), Turn(fail=503), Turn("nothing here")))
    with serving(Turn("", (agent,))) as server:
        kind(server.url).ask(PROMPT)
        sub = kind(server.url)
        sub.history.append(sub.user(agent.prompt))
        for status in ("500", "503"):
            with pytest.raises(httpx.HTTPStatusError, match=status):
                sub.ask()
        assert sub.ask().text == "nothing here"


def test_a_compacted_conversation_goes_on_with_other_tools(kind: type[ModelClient]) -> None:
    with serving(Turn("a"), Turn("b")) as server:
        client = kind(server.url)
        client.ask(PROMPT)
        client.history = [client.user(f"Before: {SUMMARY}")]
        client.tools = ("tool", "a_new_one")
        assert client.ask().text == "b"


def test_a_resumed_session_with_another_script_begins_with_its_first_turn() -> None:
    with serving(shell("1"), Turn("b")) as server:
        client = Chat(server.url)
        client.ask_and_do(PROMPT)
    with serving(Turn("new"), prompt="Another prompt.") as server:
        client.url = server.url
        assert client.ask("Another prompt.").text == "new"


def test_the_main_prompt_may_be_asked_after_other_text() -> None:
    with serving(Turn("a")) as server:
        client = Anthropic(server.url)
        client.history.append(client.user("<system-reminder>context</system-reminder>"))
        assert client.ask(PROMPT).text == "a"
