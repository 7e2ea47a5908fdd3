"""Native hook files as a host runs them: read, made into hooks, and fired with real handlers.

Knows files, handlers and the engine; must not know any one platform.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from hookline import registry
from hookline.config.copies import FreeFiles
from hookline.dialects._files import Files
from hookline.engine.engine import Engine
from hookline.engine.plan import Bound
from hookline.model.events import Event
from hookline.model.hook import HandlerSpec, Hook, Layer
from hookline.model.models import ModelEntry
from hookline.model.native import NativeFile
from hookline.model.outcome import Outcome
from hookline.model.ports import Caller, Services

__all__ = ["bind", "host"]


_SERVICES = Services(
    codec=registry.dialect, builtin=registry.builtin, pins=lambda hook: FreeFiles()
)


def bind(hook: Hook, models: Mapping[str, ModelEntry] | None = None) -> Bound:
    """A hook with its real handler, or with the one that says why it cannot run."""
    services = replace(_SERVICES, models=models or {})
    module = registry.handlers()[hook.handler.kind]
    problems = module.check(hook.handler.values, hook, _SERVICES)
    if problems:
        hook = replace(hook, handler=HandlerSpec("native", {"why": problems[0].message}))
    return Bound(hook, registry.handlers()[hook.handler.kind].make(hook, services))


def host(
    platform: Files,
    files: Sequence[Path | NativeFile],
    event: Event,
    *,
    project: Path,
    env: Mapping[str, str] | None = None,
    layer: Layer = Layer.USER,
    home: str = "",
    models: Mapping[str, ModelEntry] | None = None,
) -> Outcome:
    """What hookline concludes on ``event`` with these files of a platform in force."""
    read = [
        platform.read(str(file), file.read_bytes()) if isinstance(file, Path) else file
        for file in files
    ]
    hooks = platform.hooks(read, layer=layer, project_dir=str(project))
    named = [replace(hook, name=hook.name or f"hook {n}") for n, hook in enumerate(hooks, 1)]
    bound = [bind(hook, models) for hook in named]
    engine = Engine(bound, tools=registry.tools, project_allow=True)
    env = {"PATH": os.environ["PATH"], **(env or {})}
    caller = Caller(env=env, project_dir=str(project), home=home)
    placed = event if event.cwd else replace(event, cwd=str(project))
    return asyncio.run(engine.handle(placed, caller))
