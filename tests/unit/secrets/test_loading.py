"""What redaction costs a process that has nothing to redact, and what the table promises."""

import subprocess
import sys

import re2

from hookline.secrets import RULES

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
