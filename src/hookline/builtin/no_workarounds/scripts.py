"""The files that a command would run, read at the moment it is about to run them."""

import os
import re
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct, structs

from hookline.builtin.no_workarounds.doings import Ground
from hookline.files import read_regular

__all__ = ["SYSTEM", "Script", "recipes", "script", "text_of"]

_MAX_BYTES = 65_536
SYSTEM = ("/bin/", "/sbin/", "/usr/", "/opt/", "/nix/", "/snap/")
_CODE_NAMES = re.compile(r"\.(?:py|js|mjs|cjs|ts|rb|pl|php|lua|jl|R)$")
_CODE_LINE = re.compile(rb"^#!.*\b(?:python|node|deno|bun|ruby|perl|php|lua)")
_RULE = re.compile(r"([^\s#:=][^:=]*)::?(?!=)([^#]*)")
_VARIABLE = re.compile(r"(?m)^(\w+)\s*[:?]?=\s*([^\n#]*)")
_MAX_RECIPES = 40
_LONGEST = 200
_RUNNERS = frozenset({"npm", "yarn", "pnpm", "bun"})
_BUILT_IN = frozenset({"test", "start", "stop", "restart"})
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


class Script(Struct, frozen=True):
    """A file that is run."""

    path: str
    text: str
    shell: bool
    """Whether a shell reads it; else it is another language."""


def text_of(word: str, bases: tuple[str, ...], ground: Ground) -> tuple[str, str] | None:
    """The place and the text of a file that is there, as far as a script is read."""
    places = structs.replace(ground.places, bases=bases)
    for path in places.spots(word):
        try:
            if not os.path.isfile(path):
                continue
            if not ground.may_read():
                return None
            content = read_regular(path, _MAX_BYTES + 1)
        except (OSError, ValueError):
            continue
        if b"\0" in content[:1024]:
            return path, ""
        if len(content) > _MAX_BYTES:
            ground.overdraw()
        return path, content[:_MAX_BYTES].decode("utf-8", "replace")
    return None


def script(word: str, bases: tuple[str, ...], ground: Ground) -> Script | None:
    """The script that a word names; None for a program of the system and what is no text."""
    if word.startswith(SYSTEM):
        return None
    found = text_of(word, bases, ground)
    if found is None or not found[1]:
        return None
    path, text = found
    code = _CODE_NAMES.search(path) or _CODE_LINE.match(text[:200].encode("utf-8", "replace"))
    return Script(path, text, shell=code is None)


def recipes(words: Sequence[str], bases: tuple[str, ...], ground: Ground) -> Iterator[str]:
    """The shell texts that ``make`` or a package manager's ``run`` would run."""
    name = words[0].rpartition("/")[2]
    given = [each for each in words[1:] if not each.startswith("-")]
    if name in {"make", "gmake"}:
        yield from _made(words, given, bases, ground)
    elif name in _RUNNERS and given:
        wanted = given[1:2] if given[0] in {"run", "run-script"} else given[:1]
        named = given[0] in {"run", "run-script"} or name != "npm" or given[0] in _BUILT_IN
        if wanted and named:
            yield from _packaged(wanted[0], bases, ground)


def _made(
    words: Sequence[str], given: Sequence[str], bases: tuple[str, ...], ground: Ground
) -> Iterator[str]:
    chosen = [words[at + 1] for at, each in enumerate(words[:-1]) if each in {"-f", "--file"}]
    found = next(
        filter(None, (text_of(each, bases, ground) for each in chosen or _MAKEFILES)), None
    )
    if found is None:
        return
    pairs = [*_VARIABLE.findall(found[1]), *(each.split("=", 1) for each in given if "=" in each)]
    variables = {name: value[:_LONGEST] for name, value in pairs}
    rules = _rules(found[1])
    goals = [each for each in given if "=" not in each and each not in chosen]
    first = next((names[0] for names, _, _ in rules if not names[0].startswith(".")), "")
    waiting, done = goals or [first], set[str]()
    while waiting and len(done) < _MAX_RECIPES:
        goal = waiting.pop(0)
        done.add(goal)
        for names, needs, recipe in rules:
            if goal in names:
                waiting += [each for each in needs if each not in done]
                yield _recipe(recipe, variables)
    if waiting:
        ground.overdraw()


def _rules(text: str) -> list[tuple[list[str], list[str], list[str]]]:
    """Of each rule the goals, what they need first, and the lines that make them."""
    rules: list[tuple[list[str], list[str], list[str]]] = []
    for line in text.splitlines():
        if line.startswith("\t"):
            if rules:
                rules[-1][2].append(line)
        elif (found := _RULE.match(line)) is not None:
            needs, _, inline = found[2].partition(";")
            rules.append((found[1].split(), needs.split(), [inline] if inline else []))
    return rules


def _recipe(recipe: Sequence[str], variables: dict[str, str]) -> str:
    lines = (re.sub(r"^[\t ]*[@+-]*", "", line) for line in recipe)
    text = "\n".join(lines)
    for _ in range(3):
        text = re.sub(r"\$[({](\w+)[)}]", lambda m: variables.get(m[1], m[0]).strip(), text)
        text = text[:_MAX_BYTES]
    return text.replace("$$", "$")


def _packaged(name: str, bases: tuple[str, ...], ground: Ground) -> Iterator[str]:
    found = text_of("package.json", bases, ground)
    try:
        scripts = msgspec.json.decode(found[1])["scripts"] if found else {}
    except (msgspec.DecodeError, KeyError, TypeError):
        return
    for each in (f"pre{name}", name, f"post{name}"):
        if isinstance(scripts, dict) and isinstance(text := scripts.get(each), str):
            yield text
