"""awk: programs that run commands or write files from inside their own language."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.families.calls import call_arguments, texts_in
from hookline.builtin.shell_guard.families.handing import given_to_calls
from hookline.builtin.shell_guard.families.writing import written
from hookline.builtin.shell_guard.model import Act, Family, Finding, risky
from hookline.builtin.shell_guard.targets import targets
from hookline.builtin.shell_guard.world import World

__all__ = ["FAMILY"]


def _awk(act: Act, world: World) -> Iterator[Finding]:
    yield from _in_place(act, world)
    for word in (*act.words[1:], *act.inputs):
        if "system(" in word or "|" in word or ">" in word:
            yield from _awk_program(word, act, world)


def _in_place(act: Act, world: World) -> Iterator[Finding]:
    """``awk -i inplace``: what the program does not print is gone."""
    words = [word for word in act.words[1:] if not word.startswith("-") and word != "inplace"]
    if "inplace" not in act.words or not words:
        return
    for word in words[1:]:
        for target in targets(word, act, world):
            yield from written(act, target, f"awk -i inplace {word}")
    if not re.search(r"print|\b1\b", words[0]):
        yield risky("overwrites", act.text, "the program leaves nothing of the files")


def _awk_program(code: str, act: Act, world: World) -> Iterator[Finding]:
    from hookline.builtin.shell_guard.judging import found_in

    for match in re.finditer(r"system\s*\(|\|\s*(?=\"|getline)|\"\s*\|\s*getline", code):
        given = call_arguments(code, match.end())
        words = texts_in(given) or texts_in(code[max(0, match.start() - 200) : match.end()])
        text = re.sub(r"\\([\"\\])", r"\1", " ".join(words[:3]))
        found = list(found_in(text, world, nested=True)) if text else []
        if not text or not found:
            rest = tuple(
                re.sub(r"^(?:-v)?\w+=", "", word) for word in act.words[1:] if word != code
            )
            found += given_to_calls([given], rest, act, world)
        yield from found
        opens = re.search(r"\"\s*\$|\$\d|\"\s+\w+", given)
        if (
            not found
            and (opens or not text)
            and re.search(r"\b(?:rm|mv|sh|bash|dd|kill|chmod)\b", code)
        ) or (not found and re.fullmatch(r"\s*(?:ba|z|da)?sh\s*", text)):
            yield risky(
                "runs-unseen-code",
                f"awk {' '.join(code.split())[:100]}",
                "it builds commands from its input",
            )
            for each in act.inputs:
                yield from found_in(each, world, nested=True)
    if re.search(r">\s*ENVIRON", code):
        yield risky("overwrites", f"awk {code[:80]}", "where it writes cannot be told")
    for match in re.finditer(r"\bprintf?\b[^;}]*?>{1,2}\s*\"([^\"]+)\"", code):
        for target in targets(match.group(1), act, world):
            yield from written(act, target, f"awk > {match.group(1)}")


FAMILY: Family = dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk)
