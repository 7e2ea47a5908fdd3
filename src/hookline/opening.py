"""An app or a loader for the commands of people, who may say in variables where their files are."""

import os
from collections.abc import Mapping

from hookline.app import App
from hookline.config.load import Loader
from hookline.model.errors import HooklineError

__all__ = ["open_app", "open_loader"]


def _directory() -> str:
    try:
        return os.getcwd()
    except OSError as exc:
        raise HooklineError(f"the current directory cannot be used: {exc.strerror}") from exc


def _from_here(path: str | None) -> str | None:
    """A name in the environment is meant from where the person is, not the event."""
    return os.path.join(_directory(), path) if path else None


def open_loader(
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    *,
    config: str | None = None,
    edited: bool = False,
) -> Loader:
    """A loader for people's commands, which may take their settings from the environment."""
    return open_app(env, cwd, config=config, edited=edited).loader


def open_app(
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    *,
    config: str | None = None,
    edited: bool = False,
    remember: bool = False,
) -> App:
    """An app for people's commands: HOOKLINE_HOME, _CONFIG and _TRUST are honoured."""
    env = os.environ if env is None else env
    return App(
        env=dict(env),
        cwd=os.path.abspath(cwd) if cwd else _directory(),
        home=env.get("HOOKLINE_HOME") or None,
        config=config or _from_here(env.get("HOOKLINE_CONFIG")),
        edited=edited,
        trust=env.get("HOOKLINE_TRUST") or None,
        remember=remember,
    )
