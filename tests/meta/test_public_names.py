"""The public names are a promise: sorted, complete, and importable."""

import hookline
from hookline import testing
from hookline.model.events import EVENTS


def test_every_public_name_can_be_imported() -> None:
    for name in hookline.__all__:
        assert getattr(hookline, name) is not None


def test_public_names_are_sorted() -> None:
    assert list(hookline.__all__) == sorted(hookline.__all__)
    assert list(testing.__all__) == sorted(testing.__all__)


def test_every_event_class_is_public() -> None:
    assert {cls.__name__ for cls in EVENTS.values()} <= set(hookline.__all__)


def test_the_names_of_the_guide_are_there() -> None:
    from hookline import Hooks, PreToolUse, allow, ask, context, deny, hook, main, rewrite

    assert all(
        callable(name)
        for name in (Hooks, PreToolUse, allow, ask, context, deny, hook, main, rewrite)
    )


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(hookline, "no_such_name")
