"""Things that belong to one event loop and end with it."""

import asyncio

from hookline.handlers._per_loop import PerLoop


class Thing:
    """Something that must be closed."""

    def __init__(self) -> None:
        self.closed = 0

    async def close(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1


def things() -> PerLoop[Thing]:
    return PerLoop(Thing, Thing.close)


def test_a_loop_gets_the_same_thing_every_time_and_it_ends_with_the_loop() -> None:
    kept = things()

    async def twice() -> Thing:
        first, second = await asyncio.gather(kept.get(), kept.get())
        assert first is second is await kept.get()
        assert not first.closed
        return first

    one, other = asyncio.run(twice()), asyncio.run(twice())
    assert one is not other
    assert (one.closed, other.closed) == (1, 1)


def test_a_thing_can_be_closed_early_and_is_made_again() -> None:
    kept = things()

    async def scenario() -> None:
        await kept.aclose()
        first = await kept.get()
        await kept.aclose()
        assert first.closed == 1
        assert await kept.get() is not first

    asyncio.run(scenario())


def test_a_loop_that_ended_without_ceremony_is_forgotten() -> None:
    kept = things()
    loop = asyncio.new_event_loop()
    loop.run_until_complete(kept.get())
    loop.close()
    asyncio.run(kept.get())
    assert not kept._kept
