"""`unload` and `http_post`: what is posted, where to, and what becomes of a bad address."""

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from time import monotonic
from typing import Any

import msgspec
import pytest
from msgspec import ValidationError, convert

from hookline import registry
from hookline.builtin import http_post, unload
from hookline.builtin._posting import is_public
from hookline.model.answers import PASS, Answer
from hookline.model.errors import HandlerUnavailable
from hookline.model.events import AgentSwitch, SessionEnd, TurnStart
from hookline.model.ports import NOBODY, Caller
from hookline.testing import assert_passed, fire
from support.receiving import Receiver


def unloaded(models: Any, caller: Caller = NOBODY, **fields: Any) -> Answer:
    """What is said when an agent with these models hands over, as docker-agent tells of it."""
    raw = msgspec.Raw(msgspec.json.encode({"from_agent_models": models}))
    event = AgentSwitch(**{"from_agent": "a", "to_agent": "b", "raw": raw, **fields})
    return unload.make(unload.Options())(event, caller)


def model(**keys: str) -> dict[str, str]:
    return {"provider": "dmr", "model": "ai/x", **keys}


@pytest.mark.parametrize(
    ("base", "api", "path"),
    [
        ("/engines/v1", "", "/engines/_unload"),
        ("/engines/v1/", "", "/engines/_unload"),
        ("/v1", "", "/_unload"),
        ("", "", "/_unload"),
        ("/engines", "", "/engines/_unload"),
        ("/engines/v1", "/models/drop", "/models/drop"),
        ("/engines/v1", "models/drop", "/models/drop"),
    ],
)
def test_a_model_is_unloaded_beside_where_it_is_served(base: str, api: str, path: str) -> None:
    with Receiver() as runner:
        assert unloaded([model(base_url=runner.url + base, unload_api=api)]) == PASS
    assert runner.seen == [(path, {"model": "ai/x"})]
    assert runner.headers[0]["content-type"] == "application/json"


def test_a_whole_address_to_unload_at_counts_alone() -> None:
    with Receiver() as runner:
        named = model(base_url="http://nowhere.invalid/v1", unload_api=f"{runner.url}/out")
        assert unloaded([named, model(unload_api=f"{runner.url}/two")]) == PASS
    assert [path for path, _ in runner.seen] == ["/out", "/two"]


def test_each_model_of_the_runner_is_unloaded_and_no_other() -> None:
    with Receiver() as runner:
        others = [{"provider": "openai", "model": "y", "base_url": runner.url}, model()]
        ours = [model(base_url=runner.url), {**model(base_url=runner.url), "model": "ai/z"}]
        assert unloaded([*others, *ours]) == PASS
    assert [body["model"] for _, body in runner.seen] == ["ai/x", "ai/z"]


@pytest.mark.parametrize("fields", [{"from_agent": ""}, {"to_agent": "a"}])
def test_nothing_is_unloaded_when_nobody_leaves(fields: dict[str, Any]) -> None:
    with Receiver() as runner:
        assert unloaded([model(base_url=runner.url)], **fields) == PASS
    assert runner.seen == []


def test_a_runner_that_refuses_is_written_down_and_changes_nothing() -> None:
    with Receiver(status=500) as runner:
        answer = unloaded([model(base_url=f"{runner.url}/secret"), model(base_url="/relative")])
    assert answer.verdict is PASS.verdict
    assert answer.notice == ()
    noted = answer.metadata["unload"]
    assert noted == f"{runner.url} answered 500; no whole address for `ai/x`"


def test_models_can_be_named_where_the_event_does_not_name_them() -> None:
    with Receiver() as runner:
        options = {"models": {"a": [model(base_url=runner.url)]}}
        answering = unload.make(convert(options, unload.Options))
        assert answering(AgentSwitch(from_agent="a", to_agent="b"), NOBODY) == PASS
        assert answering(AgentSwitch(from_agent="c", to_agent="b"), NOBODY) == PASS
        assert answering(TurnStart(), NOBODY) == PASS
    assert len(runner.seen) == 1


def test_docker_agents_own_event_tells_which_models_go() -> None:
    with Receiver() as runner:
        payload = {
            "hook_event_name": "on_agent_switch",
            "from_agent": "coder",
            "to_agent": "reviewer",
            "agent_switch_kind": "handoff",
            "from_agent_models": [model(base_url=f"{runner.url}/engines/v1")],
        }
        event = registry.dialect("docker-agent").decode(json.dumps(payload).encode(), None)
        assert_passed(fire("version: 1\nhooks: [{use: unload}]\n", event))
    assert runner.seen == [("/engines/_unload", {"model": "ai/x"})]


@contextmanager
def silent() -> Iterator[str]:
    """A server that takes connections and says one byte at a time, for ever."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        open_ones: list[socket.socket] = []

        def drip() -> None:
            connection, _ = listener.accept()
            open_ones.append(connection)
            try:
                while True:
                    connection.sendall(b"H")
                    connection.recv(65536)
            except OSError:
                pass

        thread = Thread(target=drip, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for each in open_ones:
            each.close()


def test_a_runner_that_never_answers_is_waited_for_no_longer_than_there_is_time() -> None:
    with silent() as url:
        caller = Caller(deadline=monotonic() + 0.3)
        answer = unloaded([model(base_url=url), model(base_url=url)], caller)
    first, second = answer.metadata["unload"].split("; ")
    assert "no answer within" in first
    assert "no time left" in second


def posting(**options: Any) -> Answer:
    return http_post.make(convert(options, http_post.Options))(SessionEnd(), NOBODY)


def test_a_text_of_the_config_is_posted_as_it_is() -> None:
    with Receiver() as receiver:
        assert posting(url=f"{receiver.url}/hook?x=1", body='{"a": 1}', private=True) == PASS
    assert receiver.seen == [("/hook?x=1", {"a": 1})]
    assert receiver.headers[0]["content-type"] == "application/json"


def test_docker_agents_arguments_cannot_reach_this_machine() -> None:
    with Receiver() as receiver:
        answer = posting(args=[f"{receiver.url}/token-in-path", "{}"])
        named = posting(args=[receiver.url.replace("127.0.0.1", "localhost")])
    assert receiver.seen == []
    assert "private" in answer.metadata["http_post"]
    assert "token-in-path" not in str(answer)
    assert "private" in named.metadata["http_post"]


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("::127.0.0.1", False),
        ("::ffff:0:127.0.0.1", False),
        ("64:ff9b:1::7f00:1", False),
        ("fec0::1", False),
        ("192.0.0.8", False),
        ("8.8.8.8", True),
        ("2606:4700:4700::1111", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:127.0.0.1", False),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
        ("no address", False),
    ],
)
def test_only_addresses_of_the_internet_are_public(address: str, public: bool) -> None:
    assert is_public(address) is public


@pytest.mark.parametrize("url", ["ftp://example.com", "file:///etc/passwd", "example.com", "http:"])
def test_what_is_no_http_address_is_a_failure(url: str) -> None:
    with pytest.raises(HandlerUnavailable, match="only http and https"):
        posting(args=[url])


@pytest.mark.parametrize("args", [[], [""], ["", "{}"]])
def test_no_address_means_that_nothing_is_posted(args: list[str]) -> None:
    assert posting(args=args) == PASS


def test_errors_of_the_receiver_are_swallowed_and_written_down_without_its_path() -> None:
    with Receiver(status=404) as receiver:
        answer = posting(url=f"{receiver.url}/secret-path", private=True)
    assert answer == Answer(metadata={"http_post": f"{receiver.url} answered 404"})
    gone = posting(url=f"{receiver.url}/secret-path", private=True)
    assert gone.metadata["http_post"] == f"{receiver.url}: talking to it failed (ConnectError)"


def test_a_redirect_is_not_followed() -> None:
    with Receiver() as other, Receiver(307, {"Location": f"{other.url}/x"}) as receiver:
        answer = posting(url=receiver.url, private=True)
    assert (len(receiver.seen), other.seen) == (1, [])
    assert "answered 307" in answer.metadata["http_post"]


def test_a_password_in_the_address_goes_into_a_header_and_into_no_text() -> None:
    with Receiver(status=500) as receiver:
        answer = posting(url=receiver.url.replace("//", "//me:word@") + "/x", private=True)
    assert receiver.headers[0]["authorization"].startswith("Basic ")
    assert "word" not in str(answer)


@pytest.mark.parametrize("options", [{}, {"url": "nowhere"}, {"address": "http://a"}])
def test_a_bad_option_is_refused(options: Any) -> None:
    with pytest.raises(ValidationError):
        convert(options, http_post.Options)


def test_it_works_from_a_config() -> None:
    with Receiver() as receiver:
        config = f"""
version: 1
hooks:
  - use: http-post
    on: turn_start
    with: {{url: "{receiver.url}/turn", body: "{{}}", private: true}}
"""
        assert_passed(fire(config, TurnStart()))
    assert receiver.seen == [("/turn", {})]
