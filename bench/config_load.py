"""Loading a config of a hundred hooks, against a bare parse of the same file."""

import yaml

from bench.measure import Ratio, alternate, ratio
from hookline import registry
from hookline.app import App
from hookline.config.compile import compile_file
from hookline.model.hook import Layer


def config(hooks: int = 100) -> bytes:
    """A config of that many rules."""
    rules = "".join(
        f"""
  - name: rule {i}
    on: pre_tool_use
    match: {{tool: shell, command: "*kubectl*--context prod{i}*"}}
    deny: Production changes go through the pipeline.
    priority: 30
"""
        for i in range(hooks)
    )
    return f"version: 1\nhooks:{rules}".encode()


def run() -> list[Ratio]:
    """Read, check and compile, against PyYAML's C parser alone."""
    raw = config()
    kit = App(env={"HOME": "/nonexistent"}, cwd="/", home="/nonexistent").kit
    assert registry.handlers()

    def load() -> None:
        compiled = compile_file(
            raw, file="hookline.yaml", layer=Layer.PROJECT, project_dir="/", kit=kit, read=_no_file
        )
        assert len(compiled.hooks) == 100

    times = alternate(load, lambda: yaml.load(raw, Loader=yaml.CSafeLoader), 60)
    return [ratio("load a 100-hook config", "PyYAML C parse", times, 4.0)]


def _no_file(path: str) -> bytes:
    raise FileNotFoundError(path)
