"""Hooks, calls and services for handler tests, with as little in them as a test allows."""

from collections.abc import Mapping
from typing import Any

import pytest

from hookline import registry
from hookline.config.copies import FreeFiles
from hookline.dialects.canonical.codec import Canonical
from hookline.model.events import Event
from hookline.model.hook import HandlerSpec, Hook
from hookline.model.ports import AnswerCodec, Call, Caller, Match, PinnedFiles, Services

PATH = "/usr/local/bin:/usr/bin:/bin"


class Kit:
    """Builds what handlers are given."""

    def hook(self, values: Mapping[str, Any], *events: str, **more: Any) -> Hook:
        spec = HandlerSpec(kind="under test", values=values)
        return Hook(name="h", events=events or ("pre_tool_use",), handler=spec, **more)

    def services(
        self, pins: PinnedFiles | None = None, codec: AnswerCodec | None = None
    ) -> Services:
        files, speaks = pins or FreeFiles(), codec or Canonical()
        return Services(
            codec=lambda name: speaks, builtin=registry.builtin, pins=lambda hook: files
        )

    def call(
        self,
        event: Event,
        hook: Hook,
        *,
        env: Mapping[str, str] | None = None,
        timeout: float = 20.0,
        match: Match | None = None,
        **caller: Any,
    ) -> Call:
        who = Caller(env={"PATH": PATH} if env is None else env, **caller)
        return Call(event, hook, who, match or Match(), timeout)


@pytest.fixture
def kit() -> Kit:
    return Kit()
