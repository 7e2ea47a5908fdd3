"""Laws of taking shell text apart that hold for any text."""

import re
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from hookline import shell
from hookline.shell import split
from hookline.shell.wrapping import wrapper_named

SOURCES = Path(shell.__file__).parent
# Every name that anything is known about, and some about which nothing is.
NAMES = sorted(
    {
        name
        for source in SOURCES.glob("*.py")
        for text in re.findall(r'"([^"\n]*)"', source.read_text())
        for name in text.split()
        if re.fullmatch(r"[a-z.][a-z0-9-]*", name)
    }
    | {"ls", "rm", "git", "a/b"}
)
ARGUMENTS = [
    "-c", "-exec", "-u", "root", "--", "-rf", "/", "x.txt", "-i", "--flag=1", "-", "--command",
    "-x", "5", "a:b", "%1", "@x", "+x", "-S", "--eval", "-e", "2", "a=b", "-a=b",
]  # fmt: skip
plain_commands = st.builds(
    lambda name, rest: " ".join([name, *rest]),
    st.sampled_from(NAMES),
    st.lists(st.sampled_from(NAMES) | st.sampled_from(ARGUMENTS), max_size=6),
)


def test_the_names_that_are_tried_hold_wrappers_keywords_and_shells() -> None:
    assert {"if", "time", "coproc", "bash", "eval", "xargs", "sudo", "find"} <= set(NAMES)
    assert wrapper_named("sudo") is not None


@settings(max_examples=300)
@given(plain_commands)
@example("time rm x")
@example("coproc x rm y")
@example("sudo -u root sh -c reboot")
def test_a_command_of_words_alone_is_what_the_full_reader_makes_of_it(command: str) -> None:
    # With a semicolon it means the same, and needs the full reader.
    assert split(command) == split(f"{command};")


QUOTED = [
    "'rm -rf ~'", '"a b"', "'a; b | c'", "''", "a'b'c", "--include='*.py'", "*.py", "~/x", "A=b",
    "2>&1", ">/dev/null", "2> /dev/null", "&>/dev/null", ">&2", "'two\nlines'", '"it\'s"', "x'*'*",
    "'{a,b}'", "a=~/b", "1>&2x",
]  # fmt: skip
joined_commands = st.lists(
    st.tuples(
        st.sampled_from([" && ", " | ", "; ", " || ", "|", ";", "&&"]),
        st.sampled_from(NAMES),
        st.lists(
            st.sampled_from(NAMES) | st.sampled_from(ARGUMENTS) | st.sampled_from(QUOTED),
            max_size=4,
        ),
    ),
    min_size=1,
    max_size=5,
).map(
    lambda parts: "".join(
        ("" if at == 0 else operator) + " ".join([name, *words])
        for at, (operator, name, words) in enumerate(parts)
    )
)


@settings(max_examples=500)
@given(joined_commands)
@example("echo 'rm -rf ~' | sh")
@example("echo 'a | b' | cat | cat && at now")
@example("a | b || c | sh")
@example("ls | wc; sh")
@example("sudo bash -c 'rm -rf ~' 2>&1 | tee log && make")
@example("for 'rm -rf ~'")
def test_plain_commands_are_what_the_full_reader_makes_of_them(text: str) -> None:
    first, second = split(text), split(f"{text};")
    # Of what no shell can read both say so; where its pieces end nobody can tell.
    assert first == second or (first.unreadable and second.unreadable)
