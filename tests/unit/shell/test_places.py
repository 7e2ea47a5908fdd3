"""Which paths words stand for, once ``cd`` and one known variable are followed."""

import pytest

from hookline.shell import PathWord, read_path_words


def paths(text: str) -> dict[str, str]:
    """The words that have a slash, each with its path, marked where there is doubt."""
    return {
        word.text: f"{word.path}{'?' * word.doubt}"
        for word in read_path_words(text, "ROOT", "/srv")
        if "/" in word.text
    }


def test_a_word_keeps_its_place_in_the_text() -> None:
    assert read_path_words('sh "$ROOT/é.sh" x', "ROOT", "/srv") == (
        PathWord("sh", "sh", 0, 2, is_argument=True, is_executed=True),
        PathWord(
            "$ROOT/é.sh", "/srv/é.sh", 3, 15, is_argument=True, is_executed=True, interpreter="sh"
        ),
        PathWord("x", "x", 16, 17, is_argument=True),
    )


@pytest.mark.parametrize(
    "word", ["$ROOT/a", "${ROOT}/a", '"$ROOT/a"', '"${ROOT}/a"', '"$ROOT"/a', '"$ROOT/"a']
)
def test_the_variable_may_lead_a_word_in_any_spelling(word: str) -> None:
    assert paths(f"exec {word}") == {"$ROOT/a": "/srv/a"}


@pytest.mark.parametrize(
    "text",
    [
        "'$ROOT/a'",
        "\\$ROOT/a",
        "x$ROOT/a",
        "--in=$ROOT/a",
        "$ROOT/$ROOT/a",
        "${ROOT:-.}/a",
        "$ROOTS/a",
        "ROOT=x; $ROOT/a",
        "read ROOT; $ROOT/a",
        "$ROOT.d/a",
        "$OTHER/a",
    ],
)
def test_any_other_use_of_it_is_no_known_path(text: str) -> None:
    assert not any(path.startswith("/srv") for path in paths(text).values())


def test_without_a_variable_none_is_known() -> None:
    [word] = read_path_words("$ROOT/a")
    assert word.is_computed


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("cd s && ./a", "s/./a"),
        ("cd s; ./a", "s/./a"),
        ("cd s\n./a", "s/./a"),
        ("cd s || exit; ./a", "s/./a"),
        ("cd s || exit 1\n./a", "s/./a"),
        ("cd 's t' && x ./a", "s t/./a"),
        ("cd s && cd t && ./a", "s/t/./a"),
        ("set -e\ncd s\n./a", "s/./a"),
        ("echo 1 && echo 2; cd s; ./a", "s/./a"),
        ('cd "$ROOT" && ./a', "/srv/./a"),
        ("cd /etc && ./a", "/etc/./a"),
        ("cd s; echo ok; ./a", "s/./a"),
        ("cd s && $X ./a", "./a?"),
        ("(cd s && ./a)", "s/./a"),
        ("(cd s; ./a) || x", "s/./a"),
        ("x || (cd s && ./a $X)", "s/./a"),
        ("x | (cd s && ./a)", "s/./a"),
        ("if (cd s && ./a); then x; fi", "s/./a"),
        ("{ cd s && ./a; }", "s/./a"),
        ("(cd s && true); ./a", "./a"),
        ("cd s && (cd t && x) && ./a", "s/./a"),
        ("cd s; (x; (cd t; ./a); x)", "s/t/./a"),
    ],
)
def test_a_cd_that_is_sure_to_run_is_followed(text: str, path: str) -> None:
    assert paths(text)["./a"] == path


@pytest.mark.parametrize(
    "text",
    [
        "(cd s && $X); ./a",
        "(cd s && x $X); ./a",
        "f() (cd s; ./a)",
        "cd s & ./a",
        "cd s | ./a",
        "cd s || true; ./a",
        "cd s || exit 1 2; ./a",
        "cd s || exit && ./a",
        "cd; ./a",
        "cd - && ./a",
        "cd -P s && ./a",
        "cd '' && ./a",
        "cd ~ && ./a",
        "cd $X && ./a",
        "cd s t && ./a",
        "true && cd s; ./a",
        "true || cd s; ./a",
        "if true; then cd s; fi; ./a",
        "f() { cd s; }; f; ./a",
        "command cd s; ./a",
        "pushd s && ./a",
        "env -C s ./a",
        "env --chdir=s ./a",
        "x=$(cd s); ./a",
    ],
)
def test_behind_any_other_words_are_in_doubt(text: str) -> None:
    assert paths(text)["./a"] == "./a?"


@pytest.mark.parametrize("text", ["./a; cd s", "git -C s log; ./a", "echo cds; ./a"])
def test_a_word_that_no_cd_can_reach_is_not(text: str) -> None:
    assert paths(text)["./a"] == "./a"


@pytest.mark.parametrize("text", ["", "cd", "cd s", "cd s ||", "cd s || exit", "cd s || exit 1"])
def test_a_cd_with_nothing_behind_it_leads_nothing_anywhere(text: str) -> None:
    assert paths(text) == {}
