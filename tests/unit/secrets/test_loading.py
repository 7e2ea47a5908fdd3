"""What redaction costs a process that has nothing to redact, and what the table promises."""

import re._constants as code  # type: ignore[import-not-found]  # the types of `re` leave it out
import re._parser as parser  # type: ignore[import-not-found]  # and this
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import re2

from hookline.secrets import RULES
from hookline.secrets.places import PLACES

SCRIPT = "import sys, hookline.secrets; print('re2' in sys.modules)"


def test_the_regex_library_is_loaded_with_the_first_text_and_not_before() -> None:
    loaded = subprocess.check_output([sys.executable, "-c", SCRIPT], text=True, timeout=60)
    assert loaded.strip() == "False"


def test_every_regex_of_the_table_is_one_that_runs_in_linear_time() -> None:
    for rule in RULES:
        assert re2.compile(rule.regex).groups <= 3, rule.name
        assert re2.compile(rule.hint).groups == 0, rule.name
        assert re2.compile(rule.names).groups == 0, rule.name


def test_every_rule_has_a_name_that_is_safe_inside_json_and_words_to_be_found_by() -> None:
    for rule in RULES:
        assert rule.name.replace("-", "").isalnum(), rule.name
        assert rule.name == rule.name.lower()
        assert all(rule.keywords), rule.name
        assert rule.hint or not any("/" in word for word in rule.keywords), rule.name
    assert len({rule.name for rule in RULES}) == len(RULES)


def spellings(parts: Iterable[tuple[Any, Any]]) -> list[str]:
    """Every text that a regex matches, with a NUL for what it does not spell out."""
    found = [""]
    for kind, value in parts:
        match kind, value:
            case (code.LITERAL, _):
                ends = [chr(value)]
            case (code.IN, [*members]) if all(each is code.LITERAL for each, _ in members):
                ends = [chr(char) for _, char in members]
            case (code.SUBPATTERN, (*_, inner)):
                ends = spellings(inner)
            case (code.BRANCH, (_, branches)):
                ends = [each for branch in branches for each in spellings(branch)]
            case (code.MAX_REPEAT, (0, 1, inner)):
                ends = ["", *spellings(inner)]
            case _:
                ends = ["\0"]
        found = [text + end for text in found for end in dict.fromkeys(ends)]
        assert len(found) < 100_000
    return [text.lower() for text in found]


def test_one_of_the_keywords_of_a_rule_is_in_whatever_is_a_hint_of_it() -> None:
    for rule in RULES:
        if "\\\\" in rule.hint:
            continue  # it reads escapes, and is searched for in every text
        for source in filter(None, (rule.hint, rule.names)):
            for text in spellings(parser.parse(source)):
                assert any(word.lower() in text for word in rule.keywords), (rule.name, text)


def test_one_of_the_words_of_a_place_is_in_whatever_is_a_hint_of_it() -> None:
    for place in PLACES:
        for text in spellings(parser.parse(place.hint)):
            assert any(word.decode() in text for word in place.words), (place.name, text)
