"""The whole way of one event, from the bytes that came to the bytes that go back: read this first.

The daemon, ``hookline hook`` and whoever embeds hookline bring a ``Call`` and take the reply.
Whatever goes wrong on the way is answered as the platform obeys it: a gate closes.
"""

from hookline.model.line_test import LINE_TEST
from hookline.model.outcome import Reply
from hookline.pipeline.call import Call, Exchange
from hookline.pipeline.parts import Parts

__all__ = ["answer"]


async def answer(call: Call, parts: Parts) -> Reply:
    """The reply in the client's words. When it is there, the journal has the event."""
    exchange = Exchange(call)
    app = None
    try:
        client = exchange.recognise()  # who may be reading, which event the line names
        app = parts.app_for(call)
        if call.payload == LINE_TEST:
            return exchange.report(app)
        event = exchange.decode()
        # Slow to load, and a mistake on the line is answered without.
        from hookline.pipeline.judge import judge_once

        outcome = await judge_once(event, app, call, client)  # with the moments it brings
        reply = exchange.encode(outcome)  # at least as strict for every reader
    except Exception as exc:
        reply = exchange.refuse(exc)
    except BaseException as exc:
        # Cancelled, or interrupted. In a coroutine that is thrown away nothing can be awaited.
        if not isinstance(exc, GeneratorExit):
            exchange.failure = "the client ended before it had an answer"
            await parts.record_gone(exchange.make_entry(Reply()), app)
        raise
    warning = await parts.record(exchange.make_entry(reply), app)
    return exchange.warn(reply, warning) if warning else reply
