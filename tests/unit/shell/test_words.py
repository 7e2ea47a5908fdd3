"""Quote removal and the expansions whose value the text itself gives."""

import pytest

from hookline.shell import SimpleCommand, split


def only(text: str) -> SimpleCommand:
    """The one command of a text."""
    (command,) = split(text).commands
    return command


@pytest.mark.parametrize(
    "spelling",
    [
        "rm",
        "'rm'",
        '"rm"',
        "r'm'",
        'r"m"',
        "'r'\"m\"",
        r"\r\m",
        "r\\\nm",
        '"r\\\nm"',
        "$'rm'",
        r"$'\x72m'",
        r"$'r\155'",
        r"$'\u0072\U0000006d'",
        '$"rm"',
        "r''m",
        '""rm',
        "'r'$'m'",
        "{rm,-x}",
        "r${IFS}-x",
    ],
)
def test_every_spelling_of_a_program_is_the_same_program(spelling: str) -> None:
    assert only(f"{spelling} file").words[0] == ("r" if "IFS" in spelling else "rm")


@pytest.mark.parametrize(
    ("quoted", "text"),
    [
        (r"$'a\nb\tc'", "a\nb\tc"),
        (r"$'\a\b\e\E\f\r\v\\\'\"\?'", "\a\b\x1b\x1b\f\r\v\\'\"?"),
        (r"$'\xc3\xa9\351x'", "é\ufffdx"),
        (r"$'\u00e9\U0001f600'", "é😀"),
        (r"$'\UFFFFFFFF'", "\ufffd"),
        (r"$'\cA\z'", "\x01\\z"),
        (r"$'cut\0off'", "cut"),
        (r'"a\$b\`c\"d\\e\f"', 'a$b`c"d\\e\\f'),
        (r'"it' "'" r's"', "it's"),
        (r"'a\b'", r"a\b"),
        (r"a\ b", "a b"),
        ("'é'", "é"),
        ("é\\ ü", "é ü"),
        ("a#b", "a#b"),
        ("''", ""),
        ('""', ""),
        ("$", "$"),
        ("a$", "a$"),
        ('"$"', "$"),
        ("~/x", "~/x"),
        ("[", "["),
        ("{}", "{}"),
        ("a=b", "a=b"),
        ("trailing\\", "trailing\\"),
    ],
)
def test_quotes_are_removed_as_the_shell_removes_them(quoted: str, text: str) -> None:
    command = only(f"echo {quoted}")
    assert command.words == ("echo", text)
    assert command.exact


@pytest.mark.parametrize(
    "source",
    [
        "$x", "${x}", "$1", "$@", "$?", "$$", "${x:-y}", "${x//a/b}", "${#x}", "${!x}",
        "${a[@]}", "${x:-'}'}", "${x:-\\}}", "$((1 + 2))", "$[1 + 2]", "*.py", "a?", "[ab]c",
        "$(ls)", "`ls`", "<(ls)", "{1..3}", "${x:-{a,b}}",
    ],
)  # fmt: skip
def test_what_cannot_be_evaluated_stays_source_and_is_not_exact(source: str) -> None:
    command = split(f"echo {source}").commands[0]
    assert command.words == ("echo", source)
    assert not command.exact


def test_an_expansion_in_quotes_stays_source_without_its_quotes() -> None:
    assert only('echo "a $x b"').words == ("echo", "a $x b")
    assert only("""echo "${x:-'}" """).words == ("echo", "${x:-'}")


@pytest.mark.parametrize("blank", ["$IFS", "${IFS}", "${IFS:0:1}", "${IFS%??}", "$IFS$IFS"])
def test_the_field_separator_separates_words(blank: str) -> None:
    assert only(f"rm{blank}-rf{blank}/tmp/x").words == ("rm", "-rf", "/tmp/x")


def test_the_field_separator_is_unknown_once_the_text_sets_it() -> None:
    unknown, possible = split("IFS=x; rm${IFS}y").commands
    assert unknown.words == ("rm${IFS}y",)
    assert possible.words == ("rm", "y")
    unknown, possible = split("IFS=x X=rmxy; $X z").commands
    assert unknown.words == ("$X", "z")
    assert possible.words == ("rmxy", "z")
    assert only("$IFSX y").words == ("$IFSX", "y")
    assert only('echo "$IFS"').words == ("echo", "$IFS")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("X=rm; $X -rf /", ("rm", "-rf", "/")),
        ("X=rm\n${X} y", ("rm", "y")),
        ('X=rm && "$X" y', ("rm", "y")),
        ("X='rm -rf'; $X y", ("rm", "-rf", "y")),
        ("X=' rm '; $X y", ("rm", "y")),
        ("X=r; ${X}m y", ("rm", "y")),
        ("X=; $X rm y", ("rm", "y")),
        ("A=r B=m; $A$B y", ("rm", "y")),
        ("A=rm; B=$A; $B y", ("rm", "y")),
        ("sleep 1 & X=rm; $X y", ("rm", "y")),
    ],
)
def test_a_variable_with_one_literal_value_is_substituted(
    text: str, words: tuple[str, ...]
) -> None:
    command = split(text).commands[-1]
    assert command.words == words
    assert command.exact
    assert not split(text).unreadable


@pytest.mark.parametrize(
    "text",
    [
        "X=ls; X=rm; $X y",
        "X=ls; read X; $X y",
        "X=ls; unset X; $X y",
        "X=rm $X y",
        "if a; then X=rm; fi; $X y",
        "a && X=rm; $X y",
        "X=rm & $X y",
        "X=rm | $X y",
        "(X=rm); $X y",
        "f() { X=rm; }; $X y",
        "X+=rm; $X y",
        "X[1]=rm; $X y",
        "X=(rm); $X y",
        "X=$(ls); $X y",
        "a=$(X=rm); $X y",
        "X=rm; bash -c '$X y'",
        f"X={'r' * 300}; $X y",
        "$X y; X=rm",
    ],
)
def test_a_variable_that_may_have_another_value_is_not_substituted(text: str) -> None:
    assert split(text).unreadable
    assert any("$X" in command.text for command in split(text).commands)


def test_code_in_the_same_shell_knows_the_variables_around_it() -> None:
    assert split("X=rm; eval '$X y'").commands[-1].words == ("rm", "y")
    assert split("X=rm; echo $($X y)").commands[-1].words == ("rm", "y")
    assert split("X=rm; echo `$X y`").commands[-1].words == ("rm", "y")
    assert split("echo $(X=rm; $X y)").commands[-1].words == ("rm", "y")


def test_a_value_with_a_glob_is_substituted_but_not_exact() -> None:
    command = split("X='*.py'; rm $X").commands[-1]
    assert command.words == ("rm", "*.py")
    assert not command.exact


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("{rm,-rf,/x}", ("rm", "-rf", "/x")),
        ("a{b,c}d", ("abd", "acd")),
        ("{a,b}{c,d}", ("ac", "ad", "bc", "bd")),
        ("{a,{b,c}}", ("a", "b", "c")),
        ("x{a,'b c'}", ("xa", "xb c")),
        ("{a,b\\,c}", ("a", "b,c")),
        ("'{a,b}'", ("{a,b}",)),
        ("{a", ("{a",)),
        ("{a}{b,c}", ("{a}b", "{a}c")),
        ("${x}{b,c}", ("${x}b", "${x}c")),
    ],
)
def test_brace_lists_are_expanded(word: str, words: tuple[str, ...]) -> None:
    assert only(f"echo {word}").words[1:] == words


@pytest.mark.parametrize("word", ["{a,b}" * 7, "{" * 9 + "}" * 9, "{" + "a," * 40 + "}"])
def test_a_brace_list_that_would_grow_too_large_is_left_alone(word: str) -> None:
    command = only(f"echo {word}")
    assert command.words == ("echo", word)
    assert not command.exact


@pytest.mark.parametrize(
    "text",
    ["echo 'a", 'echo "a', "echo $'a", "echo `a", "echo $(a", "echo ${a", "echo $((1", "echo <(a"],
)
def test_what_is_never_closed_is_unreadable(text: str) -> None:
    assert split(text).unreadable
    assert split(text).commands[0].words[0] == "echo"
