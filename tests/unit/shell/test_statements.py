"""Which commands a text holds, where they stand, and what else it does."""

import pytest

from hookline.shell import ShellText, split


def texts(text: str) -> list[str]:
    """The commands of a text, one string each."""
    return [command.text for command in split(text).commands]


@pytest.mark.parametrize("text", ["", " ", "\n\n", "# only a comment", " \\\n "])
def test_a_text_without_commands_is_plain(text: str) -> None:
    assert split(text) == ShellText()
    assert split(text).plain


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a; b", ["a", "b"]),
        ("a\nb\n", ["a", "b"]),
        ("a & b &", ["a", "b"]),
        ("a && b || c", ["a", "b", "c"]),
        ("a&&\n# why\nb", ["a", "b"]),
        ("a | b |& c", ["a", "b", "c"]),
        ("! a", ["a"]),
        ("(a; b)", ["a", "b"]),
        ("( (a) ; (b) )", ["a", "b"]),
        ("((a); (b))", ["a", "b"]),
        ("{ a; b; }", ["a", "b"]),
        ("{ { a; } }", ["a"]),
        ("if a; then b; elif c; then d; else e; fi", ["a", "b", "c", "d", "e"]),
        ("if (a) then b; fi", ["a", "b"]),
        ("while a; do b; done", ["a", "b"]),
        ("until a\ndo b\ndone", ["a", "b"]),
        ("for x in a b; do c; done", ["c"]),
        ("for x in a # why\ndo c; done", ["c"]),
        ("for x; do c; done", ["c"]),
        ("for x do c; done", ["c"]),
        ("for ((i = 0; i < 3; i++)); do c; done", ["c"]),
        ("select x in a b; do c; done", ["c"]),
        ("case x in a) b;; (c|d) e ;& *) f ;;& g) esac", ["b", "e", "f"]),
        ("case x in\n  a | 'b c')\n    d\n    ;;\nesac", ["d"]),
        ("case x in a) b\nesac", ["b"]),
        ("case x in esac", []),
        ("f() { a; }; f", ["a", "f"]),
        ("f ()\n{ a; }", ["a"]),
        ("function f { a; }", ["a"]),
        ("function f() ( a )", ["a"]),
        ("f() { a; } > /dev/null", ["a"]),
        ("[[ -f x && y == *z || a < b ]] && c", ["c"]),
        ("[[ x =~ ^(a|b)$ ]] || c", ["c"]),
        ("[ -f x ] && test -f y", ["[ -f x ]", "test -f y"]),
        ("((x++)) && a", ["a"]),
        ("time { a; }", ["a"]),
        ("time -p ( a )", ["a"]),
        ("! { a; }", ["a"]),
        ("coproc { a; }", ["a"]),
        ("coproc NAME { a; }", ["a"]),
        ("a if then fi", ["a if then fi"]),
        ("'if' a", ["if a"]),
        ("a # b; c\nd", ["a", "d"]),
        ("a;#b", ["a"]),
        ("a \\\n  b", ["a b"]),
        ("A=1 B=2 a", ["a"]),
        ("A=1", []),
        ("A=(1 2) B=()", []),
        ("A=(\n  1 # one\n  'two'\n)\na", ["a"]),
        ("A+=(1); A[2]=3", []),
        ("declare -a x=(1 2) y", ["declare -a x=(1 2) y"]),
        ("export A=1; unset A; let x=1", ["export A=1", "unset A", "let x=1"]),
        ('echo "rm -rf /"', ["echo rm -rf /"]),
        ("> /dev/null a", ["a"]),
        ("a > /dev/null b", ["a b"]),
        ("2>/dev/null", []),
    ],
)
def test_the_commands_of_every_construct_are_found(text: str, commands: list[str]) -> None:
    assert texts(text) == commands
    assert not split(text).unreadable


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("echo $(a; b)", ["a", "b"]),
        ("echo `a \\`b\\``", ["a `b`", "b"]),
        ('echo "$(a)" "x `b \\"c\\"` y"', ["a", "b c"]),
        ("diff <(a) >(b)", ["a", "b"]),
        ("echo $((1 + $(a)))", ["a"]),
        ("echo $[1 + $(a)]", ["a"]),
        ('echo ${x:-$(a)} ${y:-`b`} "${z:-"$(c)"}"', ["a", "b", "c"]),
        ("echo ${x[$(a)]}", ["a"]),
        ("((x = $(a)))", ["a"]),
        ("[[ $(a) == `b` ]]", ["a", "b"]),
        ("for x in $(a) `b`; do :; done", ["a", "b", ":"]),
        ("for (($(a);;)); do :; done", ["a", ":"]),
        ("case $(a) in $(b)) :;; esac", ["a", "b", ":"]),
        ("A=$(a) B=(`b` $(c))", ["a", "b", "c"]),
        ("export A=$(a)", ["a"]),
        ("echo > $(a)", ["a"]),
        ("cat <<E\nx $(a) `b` ${c:-$(d)}\nE\n", ["a", "b", "d"]),
        ("cat <<< $(a)", ["a"]),
        ("echo $(case x in a) b;; esac)", ["b"]),
        ('echo "$(cat <<E\n)\nE\n)"', ["cat"]),
        ("echo $((a) | (b))", ["a", "b"]),
    ],
)
def test_the_commands_of_substitutions_are_found_wherever_they_stand(
    text: str, commands: list[str]
) -> None:
    result = split(text)
    found = [c.text for c in result.commands if c.words[0] not in ("echo", "diff", "export")]
    assert [c for c in found if c != "cat" or "cat" in commands] == commands
    assert result.substitutes
    assert not result.unreadable
    assert not result.plain


def test_quoted_substitutions_are_text() -> None:
    assert split('echo \'$(a)\' \\$\\(a\\) "\\$(a)" "\\`b\\`"').plain


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("cat <<E\nrm -rf /\nE", ["cat"]),
        ("cat <<'E'\n$(rm)\nE\nls", ["cat", "ls"]),
        ('cat <<"E F"\n`rm`\nE F\nls', ["cat", "ls"]),
        ("cat <<\\E\n$(rm)\nE\nls", ["cat", "ls"]),
        ("cat <<-E\n\trm\n\tE\nls", ["cat", "ls"]),
        ("cat <<E\nrm\n E\nE\nls", ["cat", "ls"]),
        ("cat <<A <<B\nrm\nA\nrm\nB\nls", ["cat", "ls"]),
        ("cat <<E | wc && ls\nrm\nE\n", ["cat", "wc", "ls"]),
        ("cat <<E arg\nrm\nE\n", ["cat arg"]),
        ("while a; do b; done <<E\nrm\nE\nls", ["a", "b", "ls"]),
        ("cat <<$x\nrm\n$x\nls", ["cat", "ls"]),
        ("cat 3<<E\nrm\nE\nls", ["cat", "ls"]),
        ("cat <<E\n\\$(rm) \\\nrm\nE\nls", ["cat", "ls"]),
    ],
)
def test_the_body_of_a_here_document_is_no_command(text: str, commands: list[str]) -> None:
    assert texts(text) == commands
    assert split(text).plain


@pytest.mark.parametrize(
    "text",
    [
        "a > f", "a >> f", "a >| f", "a &> f", "a &>> f", "a >& f", "a <> f", "a 2> f", "> f",
        "a {fd}> f", "(a) > f", "a > $x", "a > /dev/tty", "a >& $x", "x=1 > f", "a <> /dev/null",
        "a | b > f", "if a; then b; fi > f", "bash -c 'a > f'", "echo $(a > f)", "a > {f,g}",
    ],
)  # fmt: skip
def test_redirection_to_a_file_is_noticed(text: str) -> None:
    assert split(text).writes_files
    assert not split(text).plain


@pytest.mark.parametrize(
    "text",
    [
        "a > /dev/null", "a 2>/dev/null", "a >& /dev/null", "a 2>&1", "a >&2", "a 2>&-", "a >&3-",
        "a < f", "a <<< x", "a > /dev/stdout 2> /dev/stderr", "a <&3", "echo '>' f", "[[ a > b ]]",
        "((a > b))", "a > '/dev/null'",
    ],
)  # fmt: skip
def test_redirection_that_writes_no_file_is_plain(text: str) -> None:
    assert split(text).plain


@pytest.mark.parametrize(
    "text",
    [
        "a |", "| a", "a &&", "a ;; b", "a ; ; b", "(a", "a)", "{ a", "a; }", "if a; then b",
        "if a; fi", "fi", "do a", "while a; do b", "for x in a; b", "case x in a) b", "case x",
        "case x y", "case a in b; c", "[[ a", "f( { a; }", "a (b)", "a(b)", "(a) b", "{ a; } b",
        "cat <<E", "cat <<E\nx", "echo $(cat <<E)", "cat <<E $(\nE\n)", "a >", "a > # b", "a < ;",
        "A=(1", "A=(1; a", "case x in <<E\nE\nesac", "diff =(a) b", "echo ${ a; }", "echo ${|a; }",
        "for", "function", "case",
    ],
)  # fmt: skip
def test_a_text_the_shell_would_refuse_is_unreadable(text: str) -> None:
    assert split(text).unreadable


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a | | b; c", ["a", "b", "c"]),
        ("(a; b", ["a", "b"]),
        ("a; fi; b", ["a", "b"]),
        ("echo a(b c)", ["echo a", "b c"]),
        ("echo ${ b c; }", ["echo ${ b c; }", "b c"]),
    ],
)
def test_commands_are_found_even_where_the_text_is_unreadable(
    text: str, commands: list[str]
) -> None:
    assert texts(text) == commands


@pytest.mark.parametrize("program", ["$x", '"$x"', "${x}y", "$(a)", "`a`", "./*.sh", "sudo $x"])
def test_a_program_that_is_not_known_makes_the_text_unreadable(program: str) -> None:
    assert split(f"{program} y").unreadable


def test_spans_are_bytes_of_the_text_given() -> None:
    text = "é=1; écho 'ü' > /dev/null && ls $(pwd)"
    raw = text.encode()
    found = [raw[c.start : c.end].decode() for c in split(text).commands]
    assert found == ["é=1", "écho 'ü' > /dev/null", "ls $(pwd)", "pwd"]


def test_a_command_in_rewritten_text_has_the_span_of_what_carries_it() -> None:
    outer, inner = split("ls; bash -c 'cd x && make'").commands[1:3]
    assert (inner.start, inner.end) == (outer.start, outer.end) == (4, 26)
    assert split("echo a `ls`").commands[1].start == 7


def test_depth_counts_what_runs_what() -> None:
    depths = [(c.words[0], c.depth) for c in split("ls; echo $(a `b`); bash -c 'c $(d)'").commands]
    assert depths == [("ls", 0), ("echo", 0), ("a", 1), ("b", 2), ("bash", 0), ("c", 1), ("d", 2)]


def test_a_command_knows_its_text_and_name() -> None:
    (command,) = split("sudo /usr/bin/rm  -rf 'a b'").commands
    assert command.text == "/usr/bin/rm -rf a b"
    assert command.name == "rm"
    assert command.full == ("sudo", "/usr/bin/rm", "-rf", "a b")


def test_the_same_text_is_read_once() -> None:
    assert split("ls -l") is split("ls -l")
    assert split("ls " * 2000) == split("ls " * 2000)
