"""Why a hook is certain not to run on this machine, each reason with its fix.

Reads names, modes and first lines of files; runs and imports nothing of theirs.
"""

import ast
import os
import shutil
import sys
import tokenize
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec
from shlex import quote
from symtable import Symbol, symtable

from hookline.config.named import find_executed_files
from hookline.model.errors import Problem
from hookline.model.events import EVENTS
from hookline.model.hook import Hook, Layer, OnError, Start, clean_path
from hookline.model.ports import BuiltinModule
from hookline.shell.programs import Program, Trouble, find_command_troubles, find_troubles

__all__ = ["RunProblem", "find_run_problems"]


# What is fixed by another content of a file, which nobody has trusted then.
_CHANGES_FILES = {
    *("script-missing", "script-empty", "script-bom", "script-crlf", "script-invalid"),
    *("script-without-interpreter", "interpreter-missing", "program-invalid", "function-missing"),
}


class RunProblem(Problem, frozen=True):
    """Why one hook cannot run."""

    id: str = ""
    """Stable, in kebab-case."""


def find_run_problems(
    hook: Hook,
    env: Mapping[str, str],
    *,
    builtin: Callable[[str], BuiltinModule],
    runs_copy: Callable[[str], bool] = lambda path: False,
    is_untrusted: Callable[[str], bool] = lambda path: False,
) -> Iterator[RunProblem]:
    """Every reason why ``hook`` is certain to fail where the environment is ``env``.

    ``runs_copy`` tells of a file whose trusted copy runs in its place, ``is_untrusted`` of one
    that came after its config was trusted.
    """
    start = hook.start or Start()
    env = {**env, "HOOKLINE_PROJECT_DIR": hook.project_dir, **start.variables}
    which = partial(shutil.which, path=clean_path(env.get("PATH", "")))
    values = hook.handler.values
    found: Iterator[Trouble] = iter(())
    if "run" in values:
        known = {name: env[name] for name in ("HOME", "HOOKLINE_PROJECT_DIR") if env.get(name)}
        found = find_command_troubles(
            values["run"],
            cwd=hook.directory,
            variables={**known, **start.variables},
            which=which,
            shell=start.interpreter[0],
            runs_copy=runs_copy,
            reads_branches=True,
        )
    elif "python" in values:
        found = _find_in_python(hook, values["python"], runs_copy)
    elif "use" in values:
        needs = getattr(builtin(values["use"]), "NEEDS", ())
        found = (each for name in needs for each in find_troubles(Program(name=name), which))
    for each in (*find_untrusted(hook, is_untrusted), *found):
        who = f"on {hook.native}" if hook.native else f"hook `{hook.name}` cannot run"
        what = f"{who}: {each.what}"
        if hook.on_error is OnError.BLOCK and any(map(_closes, hook.events)):
            what += "; until then it blocks what it guards"
        fix = each.fix
        if hook.source.layer is Layer.PROJECT and each.id in _CHANGES_FILES:
            fix += ", then `hookline trust`"
        yield RunProblem(hook.source.file, hook.source.line, what, fix, id=each.id)


def _closes(event: str) -> bool:
    """Whether a failure blocks there; where an agent stops it never does."""
    cls = EVENTS[event]
    return not cls.continues and (cls.gate or cls.hides)


def find_untrusted(hook: Hook, is_untrusted: Callable[[str], bool]) -> Iterator[Trouble]:
    """What a hook executes, and nobody has trusted because it came later."""
    for path, word in find_executed_files(hook).items():
        if is_untrusted(path):
            what = f"`{word.text}` was not there when the config was trusted"
            yield Trouble("script-not-trusted", what, "look at it and run `hookline trust`")


def _find_in_python(hook: Hook, target: str, runs_copy: Callable[[str], bool]) -> Iterator[Trouble]:
    source, _, function = target.rpartition(":")
    is_file = source.endswith(".py") or "/" in source
    base = os.path.join(hook.directory, source if is_file else source.replace(".", "/"))
    paths = (base,) if is_file else (f"{base}.py", f"{base}/__init__.py")
    # A relative one is looked for where the event happens.
    if not os.path.isabs(base) or any(map(runs_copy, paths)):
        return
    path = next(filter(os.path.isfile, paths), None)
    if path is not None:
        yield from _find_in_source(
            path, function, os.path.dirname(path) if is_file else hook.directory
        )
    elif is_file:
        yield from find_troubles(Program(path=base, is_run=os.path.isdir(base)), shutil.which)
    else:
        yield from _find_in_module(source, function, hook.directory, paths[0])


def _find_in_module(name: str, function: str, folder: str, path: str) -> Iterator[Trouble]:
    """Whether a module that need not be the project's is there; imports nothing."""
    parts = name.split(".")
    spec = _find_top(parts[0], folder)
    for end in range(2, len(parts) + 1):
        if spec is None or spec.submodule_search_locations is None or parts[0] in sys.modules:
            break
        with suppress(KeyError):  # a package of no file's, which only an import can follow
            spec = PathFinder.find_spec(".".join(parts[:end]), [*spec.submodule_search_locations])
    if spec is None:
        what = f"there is no Python module `{name}` in the project or installed with hookline"
        yield Trouble("script-missing", what, f"put {path} back, or name the file itself")
    elif spec.name == name and (spec.origin or "").endswith(".py"):
        yield from _find_in_source(spec.origin or "", function, "")


def _find_top(name: str, folder: str) -> ModuleSpec | None:
    with suppress(ValueError):  # one that is loaded and does not say from where
        return find_spec(name) or PathFinder.find_spec(name, [folder])
    return ModuleSpec(name, None)


def _find_in_source(path: str, function: str, folder: str) -> Iterator[Trouble]:
    """Whether a file of Python's defines a function, and finds what it imports, as far as a parse
    can tell; ``folder`` is where it looks, or empty for an installed one.
    """
    try:
        # As Python itself reads it, in the encoding that its first lines name.
        with tokenize.open(path) as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            source = file.read()
            table = symtable(source, path, "exec")
    except OSError as error:
        what = f"`{path}` cannot be read: {error.strerror}"
        yield Trouble("script-unreadable", what, f"chmod u+r {quote(path)}")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        yield Trouble("script-invalid", f"`{path}` is not valid Python: {error}", "correct it")
    else:
        names = {each.get_name() for each in table.get_symbols() if _is_bound(each)}
        if function not in names and "__getattr__" not in names and "import *" not in source:
            what = f"`{path}` has no function `{function}`"
            fix = f"define `{function}` there, or correct the name"
            yield Trouble("function-missing", what, fix)
        for name in _find_imports(source) if folder else ():
            if _find_top(name, folder) is None:
                what = f"`{path}` imports `{name}`, which is not installed with hookline"
                yield Trouble("module-missing", what, f"install {name} where hookline is")


def _find_imports(source: str) -> Iterator[str]:
    """The packages that loading a file is certain to import."""
    if "sys.path" in source or "addsitedir" in source:
        return
    for each in ast.parse(source).body:
        if isinstance(each, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in each.names)
        elif isinstance(each, ast.ImportFrom) and not each.level and each.module:
            yield each.module.partition(".")[0]


def _is_bound(symbol: Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
