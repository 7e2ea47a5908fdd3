"""Our reading of command structure, compared with that of shfmt's parser."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.shell import split

SHFMT = Path(sys.executable).parent / "shfmt"

SNIPPETS = [
    "ls",
    "ls -la /tmp",
    "a; b; c",
    "a\nb\nc\n",
    "a && b || c",
    "a | b | c | d",
    "a |& b",
    "a & b & wait",
    "! a",
    "A=1 B=2 cmd arg",
    "A=1",
    "A=(1 2 3); echo ${A[0]}",
    "cmd > /dev/null 2>&1",
    "cmd < in > out arg",
    "> out",
    "cmd <<< word arg",
    "cat <<EOF\nbody; rm x\nEOF\nnext",
    "cat <<-'EOF' | grep x\n\tbody\n\tEOF\n",
    "cat <<A && cat <<B\none\nA\ntwo\nB\nnext",
    "if a; then b; fi",
    "if a; then b; elif c; then d; else e; fi",
    "if ! a && b; then c; fi",
    "while a; do b; c; done",
    "until a; do b; done < in",
    "for i in 1 2 3; do a $i; done",
    "for i in *.py # all\ndo a; done",
    "for ((i = 0; i < 3; i++)); do a; done",
    "case $x in a) b ;; c | d) e; f ;; *) g ;; esac",
    "case x in\n(a) b\n;;\nesac",
    "(a; b) | c",
    "{ a; b; } > out",
    "( ( a ) ; { b; } )",
    "f() { a; b; }",
    "f() ( a )",
    "function g { a; }\ng",
    "[ -f x ] && a",
    "[[ -f x && $y == z* ]] && a",
    "((i++)) || a",
    "test -d x || mkdir x",
    "echo 'a; b' \"c | d\" e\\;f",
    "echo \"it's\" 'a \"b\"'",
    "echo a#b # c; d\ne",
    "a \\\n  b \\\n  c; d",
    "echo $x \"${y:-z}\" ${w%%/*}",
    "echo $((1 + 2)) $((x << 2))",
    "echo {a,b}{c,d} *.txt ?x [ab]",
    "echo $'a\\'b' $\"c\"",
    "echo ~ ~/x",
    "a; # trailing",
    "# leading\na",
    "\n\n  a\n\n",
    "select x in a b; do c; break; done",
    "while read -r l; do a \"$l\"; done < f",
    "a && { b || c; } && d",
    "if { a; }; then (b); fi",
    "if a; then if b; then c; fi; fi; d",
    "for a in x; do for b in y; do c; done; done",
    "case a in b) case c in d) e ;; esac ;; esac; f",
    "a 2>&1 | b 3>&- >&2",
    "set -e; cd /x; make -j4 all",
    "git commit -m \"fix: a && b; c\"",
    "[[ $x =~ ^(a|b)$ ]]; y",
    "echo a >b c >>d e",
    "f() { a; } 2>/dev/null; f",
    "a() { b; }; c() { d; }; a | c",
]  # fmt: skip


def calls(node: object) -> Iterator[object]:
    """Every call in shfmt's syntax tree."""
    if isinstance(node, list):
        for item in node:
            yield from calls(item)
    elif isinstance(node, dict):
        if node.get("Type") == "CallExpr" and node.get("Args"):
            yield node
        yield from calls(list(node.values()))


@pytest.mark.skipif(not SHFMT.exists(), reason="shfmt is not installed")
@pytest.mark.parametrize("snippet", SNIPPETS)
def test_we_see_as_many_commands_as_shfmt(snippet: str) -> None:
    tree = subprocess.run(
        [SHFMT, "-tojson", "-ln=bash"], input=snippet, capture_output=True, text=True, check=True
    ).stdout
    result = split(snippet)
    assert not result.unreadable
    assert sum(command.depth == 0 for command in result.commands) == len(
        list(calls(json.loads(tree)))
    )
