"""Judges SQL by statement: what it drops, empties, or changes in every row."""

import re
from collections.abc import Iterator

from hookline.builtin.shell_guard.model import Finding, fatal, risky

__all__ = ["judged_sql"]

# Comments and texts say nothing; what is between them does.
_QUIET = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|\$\$.*?\$\$", re.DOTALL)
_DROP = re.compile(
    r"drop\s+(?:table|database|schema|view|materialized\s+view|index|user|role|keyspace|collection"
    r"|tablespace|owned|column|extension|type|sequence|function|trigger|policy)\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(r"^\s*truncate\b", re.IGNORECASE)
_DELETE = re.compile(r"\bdelete\s+from\b|\bdelete\s+\w+\s+from\b", re.IGNORECASE)
_UPDATE = re.compile(
    r"^\s*update\s+(?:only\s+)?[\w.\"`\[\]]+(?:\s+(?:as\s+)?\w+)?\s+set\b", re.IGNORECASE
)
_WHERE = re.compile(r"\bwhere\b(?!\s+(?:1\s*=\s*1|true)\b)|\blimit\b|\busing\b", re.IGNORECASE)
_ALTER = re.compile(r"\balter\s+table\b.*\bdrop\b", re.IGNORECASE | re.DOTALL)
_RIGHTS = re.compile(
    r"^\s*(?:grant|revoke|alter\s+(?:user|role|system))\b|\bsuperuser\b", re.IGNORECASE
)
_RUNS = re.compile(
    r"\\!|\bcopy\b.*\b(?:to|from)\s+program\b|\bxp_cmdshell\b|\binto\s+(?:out|dump)file\b",
    re.IGNORECASE | re.DOTALL,
)
_KILLS = re.compile(r"\bpg_terminate_backend\b|^\s*shutdown\b|^\s*kill\b", re.IGNORECASE)
_ROLLED_BACK = re.compile(r"\bbegin\b.*\brollback\s*;?\s*$", re.IGNORECASE | re.DOTALL)
_READ_ONLY = re.compile(r"^\s*(?:explain(?!\s+analy[sz]e)|show|describe)\b", re.IGNORECASE)


def judged_sql(text: str, words: str) -> Iterator[Finding]:
    """What speaks against running these statements."""
    program = _RUNS.search(text)
    if program is not None:
        yield risky(
            "runs-unseen-code",
            program.group(),
            "the server or client runs a program",
            radius="high",
        )
    plain = _QUIET.sub("''", text)
    if _ROLLED_BACK.search(plain):
        return
    for statement in plain.split(";"):
        found = _statement(statement.strip(), words)
        if found is not None:
            yield found


def _statement(statement: str, words: str) -> Finding | None:
    said = f"{words}: {statement[:120]}"
    if _READ_ONLY.search(statement):
        return None
    if _DROP.search(statement) or _ALTER.search(statement):
        return fatal("deletes", said, "what is dropped is gone with all its data")
    if _EMPTY.search(statement):
        return fatal("deletes", said, "every row of the table goes")
    if _DELETE.search(statement) and not _WHERE.search(statement):
        return fatal("deletes", said, "without WHERE every row goes")
    if _UPDATE.search(statement) and not _WHERE.search(statement):
        return risky("overwrites", said, "without WHERE every row is changed", radius="high")
    if _RIGHTS.search(statement):
        return risky("escalates", said, "it changes who may do what")
    if _KILLS.search(statement):
        return risky("kills", said, "others are connected, too")
    return None
