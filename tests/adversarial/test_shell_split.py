"""Shell text made to hide a command, to hang the reader, or to break it."""

import cProfile
import shutil
import subprocess
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.shell import MAX_BYTES, ShellText, literal_words, split
from hookline.shell.splitting import _split

BASH = shutil.which("bash")

# Far above what any of these needs on a busy machine, far below what a hang would take.
DID_NOT_HANG_SECONDS = 30.0


def split_uncached(text: str) -> ShellText:
    return _split(text)


@pytest.mark.parametrize(
    "text",
    [
        "rm${IFS}-rf${IFS}/x",
        "rm$IFS-rf$IFS/x",
        "r\\m -rf /x",
        "r''m -rf /x",
        '"rm" "-rf" "/x"',
        "'r'\"m\" -r\\f /x",
        "$'\\x72\\x6d' -rf /x",
        "$'\\162m' $'-r\\u0066' /x",
        "{rm,-rf,/x}",
        "r\\\nm -rf /x",
        "rm \\\n-rf \\\n/x",
        "\\rm -rf /x",
        "X=rm; $X -rf /x",
        "X='rm -rf'; $X /x",
        "A=r; B=m; $A$B -rf /x",
        "A=1 rm -rf /x",
        "> /dev/null rm -rf /x",
        "rm > /dev/null -rf /x",
        "rm -rf /x # ls",
        "ls;rm -rf /x",
        "ls&rm -rf /x",
        "ls|rm -rf /x",
        "ls\nrm -rf /x",
        "echo hi \\\n# comment\nrm -rf /x",
        "echo a#b; rm -rf /x",
        "echo 'a'#b; rm -rf /x",
        "echo $#; rm -rf /x",
        "echo ${#x}; rm -rf /x",
        "echo ${x#y}; rm -rf /x",
        "echo \\\\; rm -rf /x",
        "echo '\\'; rm -rf /x",
        'echo "\\\\"; rm -rf /x',
        "echo $'\\''; rm -rf /x",
        "cat <<E\ntext\nE\nrm -rf /x",
        "cat <<'E'\ntext\nE\nrm -rf /x",
        "cat <<E\nE \nE\nrm -rf /x",
        "cat <<-E\n\t\tE\nrm -rf /x",
        "cat <<'E F'\nE\nE F\nrm -rf /x",
        "cat <<E; rm -rf /x\ntext\nE",
        "cat <<E && rm -rf /x\ntext\nE",
        "cat <<E | tee f; rm -rf /x\nE",
        "cat <<E\n$(rm -rf /x)\nE",
        "cat <<E\n`rm -rf /x`\nE",
        "if false; then :; else rm -rf /x; fi",
        "case a in b) ;; *) rm -rf /x;; esac",
        "f() { rm -rf /x; }; f",
        "time { rm -rf /x; }",
        "! { rm -rf /x; }",
        "coproc { rm -rf /x; }",
        "time A=1 rm -rf /x",
        "((rm -rf /x))",
        "[[ a || rm -rf /x ]]",
        "echo $(rm -rf /x)",
        "echo `rm -rf /x`",
        'echo "$(rm -rf /x)"',
        "echo ${x:-$(rm -rf /x)}",
        "echo ${x:-`rm -rf /x`}",
        "echo ${ rm -rf /x; }",
        "echo $((1 + $(rm -rf /x)))",
        "echo $((rm -rf /x) )",
        "a[$(rm -rf /x)]=1",
        "for i in $(rm -rf /x); do :; done",
        "[[ $(rm -rf /x) ]]",
        "diff <(rm -rf /x) y",
        "ls > >(rm -rf /x)",
        "diff =(rm -rf /x) y",
        "bash -c 'rm -rf /x'",
        "bash -c \"bash -c 'rm -rf /x'\"",
        "sh<<<'rm -rf /x'",
        "bash <<E\nrm -rf /x\nE",
        "eval rm -rf /x",
        "eval 'r''m' -rf /x",
        "echo 'rm -rf /x' | sh",
        "trap 'rm -rf /x' EXIT",
        "alias ls='rm -rf /x'",
        "env -S 'rm -rf /x'",
        "sudo -u root -- env -i A=1 timeout 5 nice rm -rf /x",
        "busybox rm -rf /x",
        "xargs rm -rf /x < f",
        "find . -exec rm -rf /x \\;",
        "ssh host 'rm -rf /x'",
        "docker exec box sh -c 'rm -rf /x'",
        "kubectl exec pod -- rm -rf /x",
        "repeat 3 rm -rf /x",
        "rm\0 -rf /x",
        "echo \ud800; rm -rf /x",
        "ls | | rm -rf /x",
        "fi; rm -rf /x",
        "( rm -rf /x",
        "echo a(b; rm -rf /x",
        "echo ) ; rm -rf /x",
    ],
)
def test_the_hidden_command_is_found(text: str) -> None:
    assert "rm -rf /x" in [command.text for command in split(text).commands]


@pytest.mark.parametrize(
    "text",
    [
        "echo 'rm -rf /x'",
        "git commit -m 'rm -rf /x'",
        "# rm -rf /x",
        "cat > f <<'E'\nrm -rf /x\n$(rm -rf /x)\nE",
        "grep -r 'rm -rf /x' .",
        "echo \\$(rm -rf /x",
        "echo rm -rf /x",
        "rmdir -rf /x",
    ],
)
def test_text_that_only_mentions_a_command_does_not_run_it(text: str) -> None:
    if text.startswith("echo \\$("):
        assert split(text).unreadable
    else:
        assert not any(c.name == "rm" for c in split(text).commands)
        assert not split(text).unreadable


N = MAX_BYTES // 2
HEAVY = {
    "nested parentheses": "(" * 10_000 + ")" * 10_000,
    "open parentheses": "(" * N,
    "parentheses that are no arithmetic": "((a);" * (N // 5),
    "substitutions": "$(" * (N // 2),
    "quoted substitutions": '"$(' * (N // 3),
    "arithmetic": "$((1+" * 5000 + "1" + "))" * 5000,
    "open arithmetic": "$((" * (N // 3),
    "parameters": "${a:-" * (N // 5),
    "old arithmetic": "$[" * (N // 2),
    "backticks": "`" * N,
    "quotes": "'\"" * (N // 2),
    "braces": "{" * N,
    "brace lists": "{a,b}" * (N // 5),
    "separate brace lists": "{a,b}{a,b}{a,b}{a,b} " * (N // 21),
    "brackets": "[a" * (N // 2),
    "groups": "{ " * (N // 2),
    "tests": "[[ " * (N // 3),
    "commands": "a;" * (N // 2),
    "pipes": "a|" * (N // 2),
    "piped echoes": "echo a|" * 290 + "sh",
    "lists": "a&&" * (N // 3),
    "redirections": "<" * N,
    "process substitutions": "a<(" * (N // 3),
    "here-documents": "cat <<A\n" * (N // 8),
    "here-document": "cat <<A\n" + "$(a) `b`\n" * (N // 10),
    "cases": "case x in a) " * (N // 13),
    "ifs": "if a; then " * (N // 11),
    "functions": "f() { " * (N // 6),
    "arrays": "a=(" * (N // 3),
    "backslashes": "\\" * N,
    "words": "a " * (N // 2),
    "values": "X=" + "y" * 250 + ";" + "$X " * (N // 4),
    "variables": "".join(f"V{n}=a;$V{n};" for n in range(3000)),
    "separators": "a$IFS" * (N // 5),
    "wrappers": "sudo " * (N // 5),
    "carriers": "ssh a " * (N // 6),
    "evals": "eval 'a';" * (N // 9),
    "finds": "find " + "-exec a \\; " * (N // 12),
    "long identifier": "((" + "a" * (N - 10) + " ))",
    "zeros": "\0" * N,
    "multibyte": "é" * (N // 2),
}


@pytest.mark.parametrize("name", HEAVY)
def test_a_heavy_text_is_read_in_bounded_time(name: str) -> None:
    text = HEAVY[name][:N]
    started = time.process_time()
    split(text)
    literal_words(text)
    assert time.process_time() - started < DID_NOT_HANG_SECONDS


# Each is repeated to the limit: what it costs must not grow with its square, or worse.
UNITS = [
    "xargs ", "xargs -I a ", "sudo -u a ", "env -Senv ", "env A=1 ", "mise exec ", "uv run ",
    "cat <<A|sh\nx\nA\n", "cat <<A\n$(\nA\n", "cat <<A\n`\nA\n", "cat <<A\n$(a\nA\n)\n",
    "$(cat <<A\n$(a)\nA\n) ", "sh <<<a;", "echo a|sh;", "printf a|sh|", "a|b|", "$(a;", "`a` ",
    "\"$(a)\"", "''", "f(){ a;};", "f(){ ", "a=1;", "X=1;$X;", "export X=a;$X;", "set -- a;$@;",
    "eval ", "eval 'a;';", "bash -c '$1' a b;", "{a,b} ", "(a);", "((rm ((", "[[ a && rm b ]];",
    "case a in b) c;; ", "<(a) ", "${ a;} ", "find . -exec find . -exec ", "parallel ::: a ",
    "kubectl exec p -- ", "PAGER=a ",
]  # fmt: skip
SHAPES = {
    **{unit: unit * (MAX_BYTES // len(unit)) for unit in UNITS},
    "values of many words": "X='" + "a " * 120 + "';" + "$X " * 20_000,
    "arguments of many words": "set -- " + "a " * 10_000 + ";" + '"$@" ' * 8_000,
    "arguments of a shell": "bash -c '" + '"$@";' * 4_000 + "' _ " + "a " * 10_000,
    "a long word in braces": "{a,b}{a,b}{a,b}{a,b}{a,b}" + "''" * 32_000,
    "much to read for many shells": "printf " + "a b " * 13_000 + "|sh" * 300,
    "different texts for many shells": "".join(f"cat <<A|sh\nx{n}\nA\n" for n in range(3_900)),
    "holes in many words": "xargs -I a " * 3_000 + "b " * 10_000,
    "parallel": "parallel " + "a " * 8_000 + ":::" + " b" * 16_000,
    "code in code": "eval " * 8 + "a\\;" * 20_000,
    "words with options and a late surprise": "ls -l x -a " * 5_000 + "(",
    "errors for the grammar": ("$(" + "x|" * 400 + ") ") * 80,
}
# Some twenty calls a step; one that grew with the square of the text would make many millions.
MAX_CALLS = 3_000_000


def calls_of(text: str) -> int:
    """How many functions are called to split a text: its cost on any machine."""
    profile = cProfile.Profile()
    profile.runcall(split_uncached, text)
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("name", SHAPES)
def test_the_work_for_any_text_is_bounded(name: str) -> None:
    assert calls_of(SHAPES[name][:MAX_BYTES]) <= MAX_CALLS


@pytest.mark.parametrize(
    "unit",
    ["sudo -u a ", "timeout 1 ", "cat <<A|sh\nx\nA\n", "echo a|sh;", "f(){ a;};", "a=1;", "''",
     "$(a)", "eval a;", "bash -c '$1' a b;", "X=1;$X;", "(a);", "'a' "],
)  # fmt: skip
def test_a_text_twice_as_long_costs_twice_as_much(unit: str) -> None:
    short, long = (calls_of(unit * (size // len(unit))) for size in (8_000, 16_000))
    assert long < 2.3 * short


@pytest.mark.parametrize(
    "text",
    [
        "cat <<A\n$(\nA\n" * 100 + "\nrm -rf /x",
        "xargs " * 10_000 + "rm -rf /x",
        "echo " + "${a:-" * 25 + "}" * 25 + "; rm -rf /x",
        "echo " + "$(a " * 9 + ")" * 9 + "; rm -rf /x",
        "X='" + "a " * 120 + "'; echo " + "$X " * 10_000 + "; rm -rf /x",
    ],
)
def test_a_text_not_read_to_its_end_says_so(text: str) -> None:
    result = split(text)
    assert result.incomplete
    assert result.unreadable
    assert not result.plain


@pytest.mark.parametrize(
    "text",
    [
        "true;" * 600 + "echo 'rm -rf /x' | sh",
        "x() " * 700 + "; echo 'rm -rf /x' | sh",
        "sudo " * 10_000 + "rm -rf /x",
        "cat <<A|sh\ntrue\nA\n" * 600 + "sh <<< 'rm -rf /x'",
        "echo " + "'a b' " * 8_000 + "; rm -rf /x",
        "cat > f <<'E'\n" + "line `of` $(code)\n" * 3_000 + "E\nrm -rf /x",
    ],
)
def test_padding_does_not_hide_a_command(text: str) -> None:
    result = split(text)
    assert not result.incomplete
    assert "rm -rf /x" in [command.text for command in result.commands]


def test_a_text_that_is_too_much_work_has_no_literal_words() -> None:
    assert literal_words("cat <<A\n$(\nA\n" * 4_000) == ()


@pytest.mark.parametrize("text", ["a" * (MAX_BYTES + 1), "a;" * 500_000, "é" * N + "a"])
def test_a_text_over_the_limit_is_unreadable_and_not_read(text: str) -> None:
    result = split(text)
    assert result.unreadable
    assert result.incomplete
    assert result.commands == ()


@pytest.mark.parametrize("depth", [8, 9, 40])
def test_code_nested_too_deep_is_unreadable(depth: int) -> None:
    substituted = "echo $(" * depth + "a" + ")" * depth
    evaluated = "eval " * depth + "a"
    carried = "kubectl exec p -- " * depth + "a"
    for text in (substituted, evaluated, carried):
        assert split(text).unreadable == (depth > 8), text
        assert split(text).incomplete == (depth > 8), text
        assert max(command.depth for command in split(text).commands) == 8


def test_a_text_with_too_much_code_inside_is_unreadable() -> None:
    assert split("a | b;" * 1000).unreadable
    assert split("eval 'a|a|a|a|a|a|a|a|a|a|a|a';" * 250).unreadable
    assert split("eval 'a';" * (MAX_BYTES // 9)).incomplete


@pytest.mark.parametrize("text", ["a\0b", "\0", "\ud800", "a \udfff b", "\udc80\udc81"])
def test_characters_no_shell_can_be_given_are_unreadable(text: str) -> None:
    assert split(text).unreadable


SHELL_TEXT = st.text(
    st.sampled_from("ab=1 \t\n'\"\\$(){}[];|&<>#`*?!~-/,.\0\r\x0cé\ud800"), max_size=60
)
FRAGMENTS = st.lists(
    st.sampled_from([
        "a", "rm -rf x", " ", "\n", ";", "|", "&&", "&", "(", ")", "{ ", "; }", "if ", "; then ",
        "; fi", "while ", "; do ", "; done", "for x in a", "case x in ", "a) ", ";;", " esac", "'",
        '"', "$", "$x", "${x:-", "}", "$(", "`", "$((", "))", "((", "[[ ", " ]]", "\\", "\\\n",
        " #", "<", ">", "<<E\n", "\nE\n", "<<<", "<(", "f() ", "function ", "! ", "time ", "A=",
        "A=(", "{a,b}", "$'", "eval ", "bash -c ", "sudo ", "env -S ", "xargs ", "find -exec ",
        "ssh h ", "docker run i ", "su -c ", "parallel ", "::: ", "--", "-c ", "coproc ",
    ]),
    max_size=14,
).map("".join)  # fmt: skip


@settings(max_examples=400)
@given(st.one_of(SHELL_TEXT, FRAGMENTS, st.text(max_size=60)))
def test_no_text_breaks_the_reader_and_the_answer_is_always_the_same(text: str) -> None:
    result = split_uncached(text)
    assert result == split_uncached(text)
    size = len(text.encode("utf-8", "surrogatepass"))
    for command in result.commands:
        assert command.words
        assert set(command.words) <= set(command.full) or "env" in command.wrappers
        assert 0 <= command.start <= command.end <= size
        assert 0 <= command.depth <= 8
    literal_words(text)


def single(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def double(word: str) -> str:
    return '"' + "".join(f"\\{c}" if c in '$`"\\' else c for c in word) + '"'


def escaped(word: str) -> str:
    return "".join("'\n'" if c == "\n" else f"\\{c}" for c in word) or "''"


def ansi_c(word: str) -> str:
    return "$'" + "".join(f"\\x{byte:02x}" for byte in word.encode()) + "'"


def unicode_escaped(word: str) -> str:
    return "$'" + "".join(f"\\U{ord(c):08x}" for c in word) + "'"


QUOTINGS = st.sampled_from([single, double, escaped, ansi_c, unicode_escaped])
WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12)


@st.composite
def spelled(draw: st.DrawFn) -> tuple[str, str]:
    """A word, and a spelling of it in which every piece is quoted in its own way."""
    word = draw(WORDS)
    cuts = sorted(draw(st.sets(st.integers(0, len(word)), max_size=3)) | {0, len(word)})
    pieces = [word[a:b] for a, b in pairwise(cuts)]
    return word, "".join(draw(QUOTINGS)(piece) for piece in pieces)


@given(st.lists(spelled(), min_size=1, max_size=4))
def test_however_a_word_is_quoted_it_is_the_same_word(pairs: list[tuple[str, str]]) -> None:
    text = "echo " + " ".join(spelling for _, spelling in pairs)
    result = split_uncached(text)
    assert [command.words for command in result.commands] == [("echo", *(w for w, _ in pairs))]
    assert result.commands[0].exact
    assert result.plain
    assert [word.text for word in literal_words(text)] == ["echo", *(w for w, _ in pairs)]


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
@settings(max_examples=60)
@given(
    st.lists(
        st.text(st.sampled_from("ab1 '\"\\{},.=#~é%-"), min_size=1, max_size=10), max_size=4
    ).map(" ".join)
)
def test_words_are_those_that_bash_passes_on(arguments: str) -> None:
    assert BASH is not None
    result = split_uncached(f"printf '%s\\0' x {arguments}")
    # No program, path or operator can be spelled with these characters: bash only prints.
    ran = subprocess.run(
        [BASH, "--norc", "-c", f"printf '%s\\0' x {arguments}"],
        capture_output=True,
        env={"PATH": "/nonexistent", "HOME": "~", "LC_ALL": "C.UTF-8"},
        check=False,
    )
    if result.plain and result.commands[0].exact and ran.returncode == 0:
        assert "\0".join(result.commands[0].words[2:]) + "\0" == ran.stdout.decode()
    elif ran.returncode:
        assert result.unreadable
